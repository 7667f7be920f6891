"""Policers, MTUs and rules for UDP: what a file may say, and what becomes of it."""

from __future__ import annotations

import json
from typing import Any

import fastjsonschema
import pytest

from headway.diagnosis.disturbances import named_disturbances
from headway.lab.commands import additions, ip_line, nft_table, turned
from headway.lab.values import Policing, Route, SilentRouter, Turn, UdpRules
from headway.planning.keyrules import all_rules_of_keys
from headway.study.family import Family
from headway.study.middlebox import Mtu, Policer, Udp
from headway.study.path import Direction
from headway.study.schema import study_schema
from headway.study.setting import Setting
from headway.study.units import Rate, Size

POLICER = Policer.model_validate({"rate": "8 Mbit/s", "burst": "30 kB"})


def direction(raw: dict[str, Any]) -> Direction:
    return Direction.model_validate(raw)


def test_an_mtu_is_a_number_or_says_whether_it_is_told() -> None:
    assert direction({"mtu": "1400 B"}).mtu == Mtu(size=Size(1400), icmp=True)
    assert direction({"mtu": {"size": "1280 B", "icmp": False}}).mtu == Mtu(
        size=Size(1280), icmp=False
    )


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ("blocked", "blocked"),
        ("rejected", "rejected"),
        ({"rate": "1 Mbit/s", "burst": "30 kB", "start": "2 s"}, "policed to 1 Mbit/s from 2 s"),
        ({"loss": "5 %", "start": "1 s", "end": "3 s"}, "5 % lost from 1 s to 3 s"),
        ({"longest": "1300 B"}, "lost beyond 1300 B"),
    ],
)
def test_udp_may_fare_otherwise(raw: object, told: str) -> None:
    udp = direction({"udp": raw}).udp
    assert udp is not None
    assert str(udp) == told


def test_policers_are_filters_where_packets_arrive() -> None:
    lines = additions([Policing("a-up", POLICER, POLICER, Family.IPV6)])
    police = "action police rate 8000000bit burst 30000 mtu 65535 overhead 14 conform-exceed drop"
    at = "filter add dev a-up parent ffff: protocol"
    assert lines == (
        "qdisc add dev a-up ingress",
        f"{at} ipv6 prio 1 u32 match ip6 protocol 17 0xff {police}/continue",
        f"{at} all prio 2 matchall {police}/pass",
    )


def test_a_rule_that_begins_later_is_not_there_before() -> None:
    udp = Udp.model_validate({"verdict": "rejected", "start": "2 s", "end": "3 s"})
    rules = UdpRules("up-udp", "a-up", udp)
    assert "reject" not in nft_table(rules)
    tc, nft = turned(Turn(rules, on=True))
    assert not tc
    assert nft.startswith("add rule netdev up-udp arriving meta l4proto udp")
    assert "reject" in nft
    assert turned(Turn(rules, on=False)) == ("", "flush chain netdev up-udp arriving")


def test_a_black_hole_tells_nobody() -> None:
    route = Route("10.0.0.0/24", via="10.0.1.2", mtu=1400)
    assert ip_line(route) == "route add 10.0.0.0/24 via 10.0.1.2 mtu lock 1400"
    assert "frag-needed drop" in nft_table(SilentRouter())


def test_all_of_udp_may_be_lost() -> None:
    """`numgen` has no number beyond all of its range."""
    udp = Udp.model_validate({"loss": "100 %"})
    assert "numgen" not in nft_table(UdpRules("up-udp", "a-up", udp))


def test_a_policer_is_a_capacity() -> None:
    path = {"rate": "10 Mbit/s", "policer": {"rate": "2 Mbit/s", "burst": "9 kB"}}
    assert direction(path).capacity == Rate(2_000_000)
    assert direction({"policer": path["policer"]}).capacity == Rate(2_000_000)


def test_editors_know_the_short_forms() -> None:
    check = fastjsonschema.compile(
        json.loads(json.dumps(study_schema(all_rules_of_keys()))), use_default=False
    )
    path = {"mtu": "1400 B", "udp": "blocked", "policer": {"rate": "1 Mbit/s", "burst": "9 kB"}}
    check({"name": "rules", "path": path})
    with pytest.raises(fastjsonschema.JsonSchemaException):
        check({"name": "rules", "path": {"udp": "blockd"}})


def test_a_browser_is_started_anew_where_rules_remember() -> None:
    page = {"workload": {"kind": "page", "site": "kepler"}, "client": {"program": "chromium"}}

    def shared(udp: object) -> bool:
        return Setting.model_validate(page | {"path": {"udp": udp}}).may_share_a_boot

    assert not shared("blocked")
    assert not shared({"loss": "1 %"})
    assert not shared({"verdict": "blocked", "start": "1 s"})
    with_mtu = Setting.model_validate(page | {"path": {"mtu": "1400 B"}})
    assert not with_mtu.may_share_a_boot
    policed = page | {"path": {"policer": {"rate": "1 Mbit/s", "burst": "9 kB"}}}
    assert Setting.model_validate(policed).may_share_a_boot


def test_a_loss_of_nothing_is_no_disturbance() -> None:
    def named(loss: str) -> tuple[str, ...]:
        raw = {"protocol": "h3", "path": {"rate": "10 Mbit/s", "udp": {"loss": loss}}}
        setting = Setting.model_validate(raw)
        return named_disturbances(setting.network.crossed, [setting.protocol])

    assert not named("0 %")
    assert "5 %" in str(named("5 %"))
