"""Columns about the hosts of a run: who acted, and how it was set."""

from __future__ import annotations

from typing import Any

from headway.planning.deploy import deploy
from headway.records.hosts import host_columns
from headway.study.setting import Setting

WIDE = {"congestion_control": "bbr", "initial_window": 100}


def columns(**raw: Any) -> dict[str, Any]:
    return host_columns(deploy(Setting.model_validate(raw)).only)


def chain(**more: Any) -> dict[str, Any]:
    """Two PEPs of each kind around a router; what they are like between them."""
    near = {"program": "headway-quic-pep", "upstream": WIDE}
    far = {"program": "headway-quic-pep", "downstream": WIDE, "congestion_control": "reno"}
    tcp = {"program": "headway-tcp-pep", "initial_window": 20}
    return columns(
        **{
            "client": {"program": "headway-perf"},
            "server": {"program": "headway-perf"},
            "workload": {"kind": "bulk", "duration": "1 s"},
            "hops": [
                {"name": "near", "quic_pep": near, "tcp_pep": tcp},
                {"name": "router"},
                {"name": "far", "quic_pep": far, "tcp_pep": tcp},
            ],
            **more,
        }
    )


def test_a_direct_connection_has_no_proxys_columns() -> None:
    found = columns()
    assert not [name for name in found if name.startswith("proxy")]
    assert (found["client"], found["server"], found["server_iw"]) == ("curl", "nginx", 10)
    assert (found["bypass"], found["knobs"]) == (None, None)


def test_both_sides_of_peps_are_told_in_order_from_the_client() -> None:
    found = chain(protocol="quic")
    assert found["proxy"] == "headway-quic-pep, headway-quic-pep"
    assert (found["proxy_cc"], found["proxy_iw"]) == ("cubic, bbr", "10, 100")
    assert (found["proxy_upstream_cc"], found["proxy_upstream_iw"]) == ("bbr, reno", "100, 10")


def test_what_is_bypassed_does_not_act() -> None:
    found = chain(protocol="tcp", bypass=["far"])
    assert (found["proxy"], found["bypass"]) == ("headway-tcp-pep", "far")
    assert (found["proxy_iw"], found["proxy_upstream_iw"]) == ("20", "20")
    assert chain(protocol="tcp", bypass=["far", "near"])["bypass"] == "near, far"


def test_a_program_that_decides_on_its_window_is_said_to() -> None:
    found = columns(protocol="h3", proxy={"program": "envoy", "upstream": {"protocol": "h1"}})
    assert (found["proxy_iw"], found["proxy_upstream_iw"]) == ("own", "10")
    assert found["server_cc"] == found["proxy_upstream_cc"] == "cubic"


def test_knobs_are_told_of_programs_that_act_by_their_place() -> None:
    pep = {
        "program": "headway-quic-pep",
        "knobs": {"mode": "h3-capable"},
        "upstream": {"knobs": {"ack_threshold": "10"}},
    }
    idle = {"program": "headway-tcp-pep", "knobs": {"copy": "memory"}}
    found = chain(
        protocol="quic",
        hops=[{"name": "near", "quic_pep": pep, "tcp_pep": idle}],
        server={"program": "headway-perf", "knobs": {"max_window": "64"}},
    )
    assert found["knobs"] == (
        "near mode=h3-capable, near upstream ack_threshold=10, server max_window=64"
    )
