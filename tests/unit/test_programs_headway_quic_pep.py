"""The adapter of Headway's QUIC PEP: what it starts for what a study asks for."""

from __future__ import annotations

from typing import Any

import pytest

from headway.programs.base import Listener, Origin
from headway.programs.headway_quic_pep import HeadwayQuicPep
from headway.study.capture import Capture
from headway.study.family import HostAddress
from headway.study.hop import Pep
from headway.study.host import Protocol

ADAPTER = HeadwayQuicPep()


def arguments(
    protocol: Protocol = Protocol.H3, capture: Capture | None = None, **pep: Any
) -> dict[str, str]:
    """What it is started with: options and their values."""
    asked = Pep.model_validate({"program": "headway-quic-pep", **pep})
    listener = Listener("gateway", HostAddress("10.0.1.2"), frozenset({protocol}), tls=True)
    behind = Origin(HostAddress("10.0.2.2"), protocol, tls=True)
    (program,) = ADAPTER.split(listener, behind, asked, capture or Capture()).programs
    assert (program.namespace, program.service) == ("gateway", True)
    assert program.listens == ("udp:443",)
    assert program.argv[0].endswith("/headway-quic-pep")
    options = [argument.partition("=") for argument in program.argv[1:]]
    return {name: value for name, _, value in options}


def test_it_is_between_client_and_next_hop() -> None:
    given = arguments()
    assert given["--listen"] == "10.0.1.2:443"
    assert given["--to"] == "10.0.2.2:443"
    assert (given["--mode"], given["--pool"], given["--pool-protocol"]) == ("default", "0", "h3")
    assert given["--log"] == "/lab/run/gateway-headway-quic-pep.jsonl"
    assert given["--client-qlog"] == "/lab/run/qlog/gateway"
    assert not {"--server-qlog", "--client-early-data", "--server-early-data"} & set(given)


def test_each_side_has_its_own() -> None:
    given = arguments(
        congestion_control="bbr",
        knobs={"mode": "h3-capable", "ack_threshold": "10"},
        downstream={"knobs": {"pacing": "off", "early_data": "on"}},
        upstream={"congestion_control": "reno", "initial_window": 100},
    )
    client, server = (given[f"--{side}-quic"].split(",") for side in ("client", "server"))
    assert client[0] == "congestion-control=bbr"
    assert server[:2] == ["congestion-control=newreno", "initial-window=100"]
    assert {"pacing=off", "ack-threshold=10"} <= set(client)
    assert {"pacing=on", "ack-threshold=10"} <= set(server)
    assert given["--mode"] == "h3-capable"
    assert "--client-early-data" in given and "--server-early-data" not in given


@pytest.mark.parametrize(
    ("protocol", "name"), [(Protocol.H3, "h3"), (Protocol.QUIC, "perf")], ids=str
)
def test_waiting_connections_speak_the_protocol(protocol: Protocol, name: str) -> None:
    given = arguments(protocol, knobs={"pool": "2"})
    assert (given["--pool"], given["--pool-protocol"]) == ("2", name)
    assert given["--server-name"] == "server.test"


def test_qlog_of_both_sides_if_it_is_to_be_kept() -> None:
    assert arguments(capture=Capture(qlog=True))["--server-qlog"] == "/lab/run/qlog/gateway"
