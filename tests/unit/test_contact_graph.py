"""Plans of contacts against packets that are sent over every way there is."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from pydantic import ValidationError

from headway.lab.contactways import changed_hops
from headway.lab.values import Route
from headway.planning.capability_checks import remarks
from headway.planning.deploy import deploy
from headway.planning.deployment import ChangingWay, FixedWay
from headway.planning.maxmin import fair_rates_mbit
from headway.planning.narrowlink import narrow_link
from headway.planning.topology import RIGHT
from headway.study.contactgraph import at_time, first_way, reached, soonest
from headway.study.edge import Edge
from headway.study.family import Family
from headway.study.path import Path
from headway.study.setting import Setting
from headway.study.units import Duration

UNTIL = Duration(60_000_000_000)
S = 1_000_000_000
NEVER = 2**62
HOSTS = ["a", "b", "c", "d", "e"]


def edge(left: str, right: str, number: int = 0, **path: Any) -> Edge:
    return Edge(
        f"{left}{right}{number}", left, right, Path.model_validate(path), "links", Family.IPV4
    )


def drawn(random: Random, meanwhile: Sequence[str]) -> list[Edge]:
    """A network in which some links have contacts, and packets that come between them one of some fates."""
    edges = []
    for number, (left, right) in enumerate(itertools.combinations(HOSTS, 2)):
        if random.random() < 0.3 and number:
            continue
        path: dict[str, Any] = {"rtt": f"{random.randrange(2, 9) * 2} s", "rate": "1 Mbit/s"}
        if random.random() < 0.6:
            start, length = random.randrange(0, 6), random.randrange(1, 8)
            path["contacts"] = {
                "spans": [[f"{start} s", f"{start + length} s"]],
                "repeat": f"{start + length + random.randrange(0, 9)} s",
                "meanwhile": random.choice(meanwhile),
            }
        edges.append(edge(left, right, number, **path))
    return edges


def over(way: Edge, left: int) -> int | None:
    """When a packet arrives that leaves over an edge, read from the plan of its one link."""
    (link,) = way.path.links if way.path else ()
    gaps = link.up.contacts.between(UNTIL) if link.up.contacts else ()
    gap = next((gap for gap in gaps if gap.start <= left < gap.end), None)
    if gap is None:
        return left + link.up.delay
    return gap.end + link.up.delay if link.up.keeps and gap.end < 2**62 else None


def soonest_of_all(edges: list[Edge], start: str, left: int, *before: str) -> int | None:
    """The earliest arrival at "e" over all ways that come to no host twice."""
    if start == "e":
        return left
    arrivals = []
    for seen in (way for edge in edges for way in (edge, edge.turned_around) if way.left == start):
        there = None if seen.right in before else over(seen, left)
        if there is not None and there < UNTIL:
            arrivals.append(soonest_of_all(edges, seen.right, there, *before, start))
    return min((arrival for arrival in arrivals if arrival is not None), default=None)


@dataclass(frozen=True)
class Departure:
    """A packet in a drawn network: what is planned for it, what becomes of it, and the best that could."""

    planned: int
    arrived: int
    best: int
    hosts: list[str]


def departures(seed: int, meanwhile: Sequence[str]) -> Iterator[Departure]:
    """Packets that leave at drawn times, and could arrive."""
    random = Random(seed)
    edges = drawn(random, meanwhile)
    plans = soonest(edges, (), "e", UNTIL)
    for _ in range(8):
        start, left = random.choice(HOSTS[:4]), random.randrange(0, 12 * S, S // 2)
        best = soonest_of_all(edges, start, left)
        if best is None:
            continue
        planned = at_time(plans[start], left).arrival_at(left) if start in plans else NEVER
        here, now, hosts = start, left, [start]
        while here != "e" and planned < NEVER:
            taken = at_time(plans[here], now).edge
            assert taken is not None
            there = over(taken, now)
            assert there is not None
            here, now = taken.right, there
            hosts.append(here)
        yield Departure(planned, now, best, hosts)


@pytest.mark.parametrize("seed", range(60))
def test_no_way_is_sooner_where_links_keep_packets(seed: int) -> None:
    for departure in departures(seed, ["kept"]):
        assert departure.planned == departure.arrived == departure.best
        assert len({*departure.hosts}) == len(departure.hosts)


def test_few_ways_are_sooner_where_links_lose_packets() -> None:
    drawn_ones = [
        departure for seed in range(200) for departure in departures(seed, ["kept", "lost"])
    ]
    assert len(drawn_ones) > 1000
    arriving = [departure for departure in drawn_ones if departure.planned < NEVER]
    assert all(departure.arrived <= departure.planned for departure in arriving)
    assert all(max(Counter(departure.hosts).values()) <= 2 for departure in arriving)
    missed = [departure for departure in drawn_ones if departure.planned > departure.best]
    twice = [departure for departure in arriving if len({*departure.hosts}) < len(departure.hosts)]
    assert max(len(missed), len(twice)) < len(drawn_ones) / 100


def test_packets_do_not_go_to_and_fro_until_there_is_contact() -> None:
    turns = {"spans": [["0 s", "1 s"]], "repeat": "2 s", "meanwhile": "lost"}
    edges = [
        edge("a", "b", rtt="2 ms"),
        edge("b", "c", rtt="2 ms"),
        edge("b", "e", rtt="20 ms", rate="1 Mbit/s", contacts=turns),
    ]
    plans = soonest(edges, ("a", "e"), "e", UNTIL)
    assert at_time(plans["b"], S - 1).arrives
    assert not at_time(plans["b"], 2 * S - 1).arrives
    assert {plan.edge.right for plan in plans["b"] if plan.edge} == {"e"}


def test_relays_take_turns() -> None:
    turns = {"repeat": "20 s", "meanwhile": "kept"}
    edges = [
        edge("a", "b", rtt="2 s", rate="1 Mbit/s", contacts={"spans": [["0 s", "10 s"]], **turns}),
        edge("b", "d", rtt="2 s"),
        edge("a", "c", rtt="6 s", rate="1 Mbit/s", contacts={"spans": [["10 s", "20 s"]], **turns}),
        edge("c", "d", rtt="2 s"),
    ]
    plans = soonest(edges, ("a", "d"), "d", Duration(40 * S))
    # By either at 22 s, from 18 s on.
    assert [
        (departure.since / S, departure.edge.right if departure.edge else None)
        for departure in plans["a"][:3]
    ] == [(0, "b"), (10, "c"), (18, "b")]
    assert [way.right for way in first_way(plans, "a", "d", Duration(40 * S))] == ["b", "d"]
    assert set(reached(plans, "b")) == {"b", "d"}


def link(first: str, second: str, **path: Any) -> dict[str, Any]:
    return {"between": [first, second], "path": {"rtt": "10 ms", **path}}


TURNS = [["0 s", "1 s"], ["2 s", "3 s"]]
ROW = [link("client", "west"), link("west", "east", contacts=TURNS), link("east", "server")]
HOSTS_OF_ROW: dict[str, Any] = {"west": {}, "east": {}}


def test_a_flow_with_a_stated_way_follows_no_contacts() -> None:
    links = [ROW[0], ROW[1], link("west", "east", rtt="90 ms") | {"name": "long"}, ROW[2]]
    raw = {"routing": "contacts", "hosts": HOSTS_OF_ROW, "links": links}
    (follows,) = Setting.model_validate(raw).network.flows
    (stated,) = Setting.model_validate({**raw, "via": ["long"]}).network.flows
    assert {edge.name for edge in follows.edges} > {edge.name for edge in follows.route}
    assert stated.planned is None
    assert [edge.name for edge in stated.route][1] == "links/long"


def turning(**first: Any) -> dict[str, Any]:
    """A study with two links whose contacts packets follow, the first of which has more keys."""
    way = link("west", "east", contacts={"spans": TURNS, "meanwhile": "lost"}, **first)
    links = [ROW[0], way, link("west", "east", rtt="90 ms") | {"name": "long"}, ROW[2]]
    return {"routing": "contacts", "hosts": HOSTS_OF_ROW, "links": links}


SLOW = {"rate": "1 kbit/s", "queue": "9 kB"}


def test_a_slow_link_beside_another_way_refuses_no_transfer() -> None:
    """In 600 s it carries 75 kB of 1 MB, and the other way the rest."""
    assert (
        Setting.model_validate(turning(**SLOW)).network.flows[0].route[1].name == "links/west-east"
    )
    for more in (
        {"via": ["west-east"]},
        {"links": [ROW[0] | {"path": SLOW}, *turning()["links"][1:]]},
    ):
        with pytest.raises(ValidationError, match=r"lets 75 kB pass until limits\.virtual"):
            Setting.model_validate({**turning(**SLOW), **more})


def test_what_takes_a_path_for_one_asks_for_a_fixed_way() -> None:
    raw = turning(rate="1 Mbit/s", queue="90 kB")
    follows, stated = (
        deploy(Setting.model_validate(study)).only for study in (raw, {**raw, "via": ["west-east"]})
    )
    assert isinstance(follows.way, ChangingWay) and isinstance(stated.way, FixedWay)
    assert narrow_link(follows) is None and narrow_link(stated) is not None
    assert fair_rates_mbit([follows]) is None and fair_rates_mbit([stated]) == [1.0]
    assert len(follows.crossed_legs) == 4 and len(stated.crossed_legs) == 3


def test_a_queue_on_another_way_has_traffic_of_l4s() -> None:
    raw = turning()
    raw["links"][2]["path"] |= {
        "rate": "9 Mbit/s",
        "queue": {"size": "1 MB", "discipline": "dualpi2"},
    }
    prague = {"server": {"program": "nginx", "congestion_control": "prague"}}
    assert not [
        text for text in remarks(deploy(Setting.model_validate({**raw, **prague}))) if "L4S" in text
    ]
    assert [text for text in remarks(deploy(Setting.model_validate(raw))) if "L4S" in text]


def test_questions_follow_the_contacts_of_their_flow() -> None:
    flow = deploy(Setting.model_validate({**turning(), "dns": {"at": "east"}})).only
    resolver = flow.resolving[-1].wires[-1].address(RIGHT)
    assert flow.asking and [leg.right for leg in flow.resolving] == ["west", "east", "resolver"]
    moments = [
        (change.at.s, change.namespace)
        for change in changed_hops(flow)
        if isinstance(change.what, Route) and change.what.network == resolver.alone
    ]
    assert moments == [(1, "west"), (2, "west"), (3, "west")]
    assert {edge.name for edge in flow.stated.edges} >= {"resolver", "links/long"}
