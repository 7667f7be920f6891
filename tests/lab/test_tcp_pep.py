"""Headway's TCP PEP in its place: it splits connections, and neither end can tell."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headway.lab.machine import Machine
from headway.planning.deploy import deploy
from headway.study.network import SERVER
from headway.study.setting import Setting
from tests.deployed import orders_of
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

PEP = {
    "program": "headway-tcp-pep",
    "congestion_control": "hybla",
    "upstream": {"congestion_control": "reno", "initial_window": 100},
}
LOSSY = {"rate": "20 Mbit/s", "rtt": "100 ms", "loss": "3 %"}


def chain(protocol: str, *hops: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {
        "protocol": protocol,
        "path": {"rtt": "20 ms"},
        "hops": list(hops),
        "workload": {"size": "1 MB"},
        "capture": {"bodies": True},
        **others,
    }


def logged(directory: Path, hop: str) -> list[dict[str, Any]]:
    """What the PEP of a hop has logged of its connections."""
    lines = (directory / f"{hop}-headway-tcp-pep.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("copy", ["splice", "memory"])
@pytest.mark.parametrize("protocol", ["h1", "h2"])
def test_two_in_a_row_change_no_byte(
    run_setting: RunSetting, tmp_path: Path, protocol: str, copy: str
) -> None:
    pep = PEP | {"knobs": {"copy": copy}}
    raw = chain(
        protocol,
        {"name": "terminal", "tcp_pep": pep, "path": LOSSY},
        {"name": "gateway", "tcp_pep": pep, "path": {"rtt": "40 ms"}},
    )
    record = run_setting(raw)
    assert record.error is None
    # TCP's handshake ends at the first PEP, TLS's at the server.
    assert record.connect_s == pytest.approx(0.020, abs=0.001)
    assert record.tls_s is not None and record.tls_s > 0.020 + 0.160
    legs = deploy(Setting.model_validate(raw)).legs
    client, server = legs[0].left_address, legs[-1].right_address
    for hop in ("terminal", "gateway"):
        established, ended = logged(tmp_path / "run", hop)
        entry = established
        assert ended["end"] is not None
        # Both ends see the other's address, the server the client's port, too.
        towards_client, towards_server = entry["client"], entry["server"]
        assert towards_client["peer"].split(":")[0] == client
        assert towards_server["local"] == towards_client["peer"]
        assert towards_server["peer"] == towards_client["local"] == f"{server}:443"
        controls = [side["congestion_control"] for side in (towards_client, towards_server)]
        assert controls == ["hybla", "reno"]
        # Nothing has been sent yet to the server, which has the initial window of the setting.
        assert towards_server["tcp"]["cwnd_packets"] == 100


def test_its_time_is_next_to_nothing(run_setting: RunSetting) -> None:
    plain = chain("h2", {"name": "a"}, {"name": "b"}, {"name": "c"}, workload={"size": "100 B"})
    pep = {"program": "headway-tcp-pep"}
    split = [{"name": name, "tcp_pep": pep} for name in "abc"]
    without = run_setting(plain, name="without")
    through = run_setting(plain | {"hops": split}, name="through")
    assert without.error is through.error is None
    assert without.total_s is not None and through.total_s is not None
    # Three PEPs, each of which may take 0.2 ms.
    assert through.total_s - without.total_s < 3 * 0.0002


def test_the_client_of_a_dead_server_gets_a_reset(machine: Machine, tmp_path: Path) -> None:
    raw = chain("h2", {"name": "gateway", "tcp_pep": PEP, "path": {"rtt": "40 ms"}})
    setting = Setting.model_validate(raw)
    orders = orders_of(setting)
    present = tuple(program for program in orders.programs if program.namespace != SERVER)
    (curl,) = machine.boot(replace(orders, programs=present), tmp_path, seed=1).ended
    assert curl.exit_status != 0
    # The PEP learns of the client a round trip after the SYN came, and of the server another later.
    assert curl.at_ns == pytest.approx(10e6 + 20e6 + 40e6 + 10e6, abs=1e6)
    (entry,) = logged(tmp_path, "gateway")
    assert (entry["end"], entry["connect_s"]) == ("unreachable", None)
    assert "refused" in entry["error"]
