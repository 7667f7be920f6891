"""Tunnels: what a file may say, and what they leave of a link."""

from __future__ import annotations

from pathlib import Path as Files
from typing import Any

import pytest

from headway.lab.network import two_hosts
from headway.planning.runs import plan
from headway.selftest.passing import has_rules, rules_alone, without_rules
from headway.study.host import Host
from headway.study.load import Source, parse_study
from headway.study.middlebox import Mtu
from headway.study.path import Direction, Path
from headway.study.setting import Setting
from headway.study.units import Duration, Size

RATE = {"rate": "10 Mbit/s", "rtt": "20 ms"}


def direction(raw: dict[str, Any]) -> Direction:
    return Direction.model_validate({"rate": "10 Mbit/s", "delay": "10 ms"} | raw)


@pytest.mark.parametrize(
    ("tunnel", "overhead"),
    [
        ("ipip", 20),
        ("gre", 24),
        ("vxlan", 50),
        ("wireguard", 60),
        ({"kind": "wireguard", "over": "ipv6"}, 80),
        ("37 B", 37),
        ({"overhead": "37 B"}, 37),
    ],
)
def test_a_tunnel_costs_each_packet_its_headers(tunnel: object, overhead: int) -> None:
    found = direction({"tunnel": tunnel})
    assert found.overhead_bytes == overhead
    assert found.carries == Mtu(size=Size(1500 - overhead))


def test_no_tunnel_is_none() -> None:
    assert direction({"tunnel": False}) == direction({})
    path = Path.model_validate({"tunnel": "gre", "up": {"tunnel": False}})
    assert [way.overhead_bytes for way in (path.links[0].down, path.links[0].up)] == [24, 0]


def test_an_axis_may_have_none() -> None:
    text = 'name = "s"\naxes.path.tunnel = [false, "gre"]\nworkload.size = "1 MB"\n'
    settings = [run.setting for run in plan(parse_study(Source("s.toml", text, Files())))]
    assert {one.path.links[0].down.overhead_bytes for one in settings} == {0, 24}


def test_the_mtu_is_that_of_the_tunnels_own_packets() -> None:
    assert direction({"mtu": "1400 B", "tunnel": "100 B"}).carries == Mtu(size=Size(1300))
    assert direction({"mtu": "1560 B", "tunnel": "wireguard"}).carries == Mtu(size=Size(1500))
    silent = direction({"mtu": {"size": "1500 B", "icmp": False}, "tunnel": "100 B"})
    assert silent.carries == Mtu(size=Size(1400), icmp=False)
    assert direction({}).carries is None


def test_its_router_drops_what_is_too_long_and_its_queue_counts_the_overhead() -> None:
    host = Host(program="probe")
    path = Path.model_validate(RATE | {"down": {"tunnel": "wireguard"}})
    layout, _ = two_hosts(path, host, host, 1, Duration(0))
    lines = {one.name: (*one.ip, *one.tc) for one in layout.namespaces}
    assert any("mtu lock 1440" in line for line in lines["link0b"])
    assert any("stab overhead 60 htb" in line for line in lines["link0b"])
    assert not any("mtu" in line or "stab" in line for line in lines["link0a"])


def test_the_self_test_takes_a_tunnel_apart() -> None:
    path = Path.model_validate(RATE | {"tunnel": "wireguard"})
    assert has_rules(rules_alone(path))
    bare = without_rules(path)
    assert not has_rules(bare)
    assert bare == Path.model_validate(RATE)


def test_a_page_in_a_tunnel_has_a_boot_of_its_own() -> None:
    page = {"workload": {"kind": "page", "site": "kepler"}, "client": {"program": "chromium"}}
    assert not Setting.model_validate(page | {"path": {"tunnel": "gre"}}).may_share_a_boot
