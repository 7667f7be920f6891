"""Which version was spoken and who answered: judged by the packets that came, whatever a program says."""

from __future__ import annotations

from typing import Any

import pytest

from headway.contract.arrivals import Arrived
from headway.contract.outcome import Outcome
from headway.diagnosis.observed import observed_columns, observed_error
from headway.lab.watching import watched
from headway.planning.deploy import deploy
from headway.planning.deployment import DeployedFlow, Deployment
from headway.programs.measurement import Measurement
from headway.study.load import study_from

DOWN, UP = "server > client", "client > server"
BULK = {
    "client": {"program": "headway-perf"},
    "server": {"program": "headway-perf"},
    "workload": {"kind": "bulk", "size": "1 MB", "direction": "upload"},
}
PROXY = {"program": "envoy", "upstream": {"protocol": "h1", "tls": False}}


def deployment(conditions: dict[str, Any]) -> Deployment:
    (experiment,) = study_from({"name": "s", **conditions}).experiments
    ((contender, _),) = experiment.contenders.items()
    return deploy(experiment.setting({}, contender), 1)


def deployed(conditions: dict[str, Any]) -> DeployedFlow:
    return deployment(conditions).only


def outcome(**packets: tuple[int, int]) -> Outcome:
    """With so many packets of TCP and of UDP."""
    arrived = {name.replace("_", " > "): Arrived(tcp, udp) for name, (tcp, udp) in packets.items()}
    return Outcome("ok", None, 1, "7", arrived=arrived)


@pytest.mark.parametrize(
    ("protocol", "packets", "size", "error"),
    [
        ("h3", (0, 210), 300_000, None),
        ("h3", (3, 210), 300_000, None),
        ("h2", (219, 0), 300_000, None),
        ("h2", (219, 4), 300_000, None),
        (
            "h3",
            (219, 0),
            300_000,
            "asked for h3, but no UDP packet came from the server; 219 TCP packets did",
        ),
        (
            "h3",
            (219, 1),
            300_000,
            "asked for h3, but only 1 UDP packet came from the server; 219 TCP packets did",
        ),
        (
            "h2",
            (9, 230),
            300_000,
            "asked for h2, but only 9 TCP packets came from the server; 230 UDP packets did",
        ),
        (
            "h3",
            (0, 5),
            300_000,
            "curl says that it got 300,000 bytes, but only 5 UDP packets came from the server",
        ),
        (
            "h1",
            (0, 0),
            0,
            "curl says that it got 0 bytes, but no TCP packet came from the server",
        ),
        ("h3", (0, 1), None, None),
        ("h3", (0, 0), None, None),
    ],
)
def test_the_transport_that_was_asked_for_brought_the_body(
    protocol: str, packets: tuple[int, int], size: int | None, error: str | None
) -> None:
    told = outcome(server_client=packets)
    assert observed_error(deployed({"protocol": protocol}), Measurement(bytes=size), told) == error


def test_merged_packets_have_room_for_more() -> None:
    merged = deployed({"protocol": "h2", "client": {"kernel": {"offload": ["gso", "gro"]}}})
    told, measured = outcome(server_client=(10, 0)), Measurement(bytes=600_000)
    assert observed_error(merged, measured, told) is None
    assert observed_error(deployed({"protocol": "h2"}), measured, told)


def test_of_uploads_what_came_to_the_server_counts() -> None:
    upload = deployed({"protocol": "quic", **BULK})
    measured = Measurement(bytes=1_000_000)
    well = outcome(server_client=(0, 90), client_server=(0, 800))
    assert observed_error(upload, measured, well) is None
    wrong = outcome(server_client=(0, 90), client_server=(800, 30))
    assert observed_error(upload, measured, wrong) == (
        "asked for quic, but only 30 UDP packets came from the client; 800 TCP packets did"
    )


def test_every_segment_has_its_own_version() -> None:
    proxied = deployed({"protocol": "h3", "proxy": PROXY})
    measured = Measurement(bytes=300_000)
    well = outcome(proxy_client=(0, 250), server_proxy=(220, 0))
    assert observed_error(proxied, measured, well) is None
    cached = outcome(proxy_client=(0, 250), server_proxy=(0, 0))
    assert observed_error(proxied, measured, cached) == (
        "curl says that it got 300,000 bytes, but no TCP packet came from the server"
    )


def test_a_lab_that_did_not_tell_is_not_judged() -> None:
    assert observed_error(deployed({"protocol": "h3"}), Measurement(bytes=1), outcome()) is None
    assert observed_columns(deployed({"protocol": "h3"}), outcome()) == {}


def test_columns_are_those_of_the_first_segment() -> None:
    told = outcome(
        server_client=(1, 2), client_server=(3, 4), server_proxy=(5, 6), proxy_server=(7, 8)
    )
    assert observed_columns(deployed({"protocol": "h3"}), told) == {
        "tcp_packets_down": 1,
        "udp_packets_down": 2,
        "tcp_packets_up": 3,
        "udp_packets_up": 4,
    }


def test_both_ends_of_every_segment_are_watched_for_their_peers() -> None:
    found = watched(deployment({"protocol": "h3", "proxy": PROXY}))
    told = {one.name: (one.namespace, one.device, one.senders) for one in found}
    assert told == {
        "proxy > client": ("client", "client-up", ("10.0.2.2",)),
        "client > proxy": ("proxy", "proxy-down", ("10.0.0.1",)),
        "server > proxy": ("proxy", "proxy-up", ("10.0.5.2",)),
        "proxy > server": ("server", "server-down", ("10.0.3.1",)),
    }


def test_peers_of_a_transparent_proxy_are_those_behind_it() -> None:
    chain = {
        "protocol": "h2",
        "hops": [{"name": "pep", "tcp_pep": {"program": "headway-tcp-pep"}}],
    }
    senders = {one.name: one.senders for one in watched(deployment(chain))}
    client, server = senders["client > pep"], senders["server > pep"]
    assert (senders["pep > server"], senders["pep > client"]) == (client, server)


def test_an_address_that_changes_is_expected_too() -> None:
    migrating = {"kind": "migration", "size": "1 MB", "after": "500 kB"}
    (asking,) = (
        one
        for one in watched(deployment({"protocol": "h2", "workload": migrating}))
        if one.name == UP
    )
    assert asking.senders == ("10.0.0.1", "10.0.0.11")


def test_flows_that_compete_are_told_apart() -> None:
    flow = {**BULK, "protocol": "quic"}
    names = [one.name for one in watched(deployment({"flows": {"a": flow, "b": flow}}))]
    assert names == [
        "a: s1 > c1",
        "a: c1 > s1",
        "b: s2 > c2",
        "b: c2 > s2",
    ]
