"""Networks that studies state: hosts, links, ways of flows, and what cannot be one."""

from __future__ import annotations

import math
import random
from itertools import pairwise
from typing import Any

import pytest

from headway.lab.network import layout_of, stated_ways
from headway.planning.deploy import deploy
from headway.planning.deployment import Deployment
from headway.planning.routing import Port, ports
from headway.study.setting import Setting


def link(first: str, second: str, rtt_ms: float = 1) -> dict[str, Any]:
    return {"between": [first, second], "path": {"rtt": f"{rtt_ms} ms"}}


def ring(**more: Any) -> Setting:
    links = [link("client", "a", 10), link("a", "server", 20), link("client", "b", 5)]
    links += [link("server", "b", 30)]
    return Setting.model_validate({"hosts": {"a": {}, "b": {}}, "links": links, **more})


def test_a_flow_takes_the_way_of_least_delay_or_the_stated_one() -> None:
    def way(**more: Any) -> tuple[str, ...]:
        return ring(**more).network.flows[0].hosts

    assert way() == ("client", "a", "server")
    assert way(via=["b"]) == way(via=["client-b"]) == way(via=["server-b"])
    assert way(via=["b"]) == ("client", "b", "server")


def test_a_chain_is_a_network_of_the_same_kind() -> None:
    """A hop's key and a host's with links have the same edges and the same flow but for their names."""
    chain = Setting.model_validate(
        {"path": {"rtt": "9 ms"}, "hops": [{"name": "gw", "path": {"rtt": "7 ms"}}]}
    ).network
    stated = Setting.model_validate(
        {"hosts": {"gw": {}}, "links": [link("client", "gw", 9), link("gw", "server", 7)]}
    ).network
    assert chain.flows[0].hosts == stated.flows[0].hosts
    assert chain.flows[0].paths == stated.flows[0].paths
    assert [(one.left, one.right) for one in chain.edges] == [
        (one.left, one.right) for one in stated.edges
    ]


def test_flows_over_links_alone_begin_and_end_at_the_routers_that_these_name() -> None:
    links = [link("clients", "a", 9), link("a", "servers", 7)]
    raw = {"hosts": {"a": {}}, "links": links, "flows": {"first": {}, "second": {}}}
    deployment = deploy(Setting.model_validate(raw))
    ways = {flow.stated.hosts[1:-1] for flow in deployment.flows}
    assert ways == {("clients", "a", "servers")}
    assert {host.name for host in layout_of(deployment).hosts} >= {"clients", "a", "servers"}


def drawn(seed: int) -> dict[str, Any]:
    """A connected network with loops, and flows between pairs of its hosts."""
    chance = random.Random(seed)
    names = [f"h{number}" for number in range(chance.randint(4, 9))]
    pairs = [(name, chance.choice(names[:at])) for at, name in enumerate(names) if at]
    pairs += [tuple(chance.sample(names, 2)) for _ in range(chance.randint(1, 8))]  # type: ignore[misc]
    links = [
        {"name": f"l{at}", **link(first, second, chance.choice((1, 2, 3, 10)))}
        for at, pair in enumerate(pairs)
        for first, second in [chance.sample(pair, 2)]
    ]
    # Ends are new hosts at one or two of the others, so that none lies on another flow's way by chance.
    flows: dict[str, dict[str, list[str]]] = {}
    for number in range(chance.randint(1, 3)):
        ends = f"c{number}x", f"s{number}x"
        for end in ends:
            for place in chance.sample(names, chance.choice((1, 2))):
                links.append({"name": f"{end}-{place}", **link(place, end, chance.choice((1, 4)))})
        flows[f"f{number}"] = {"between": list(ends)}
    at_ends = [end for flow in flows.values() for end in flow["between"]]
    hosts: dict[str, Any] = {name: {} for name in (*names, *at_ends)}
    return {"hosts": hosts, "links": links, "flows": flows}


def shortest_ms(setting: Setting, start: str, end: str) -> float:
    """By Floyd's and Warshall's algorithm; hosts at ends of flows pass nothing on."""
    ends = {name for flow in setting.flows.values() for name in flow.between or ()}
    names = list(setting.hosts)
    far = {(a, b): 0.0 if a == b else float("inf") for a in names for b in names}
    for one in setting.links.values():
        a, b = one.between
        far[a, b] = far[b, a] = min(far[a, b], one.path.rtt.ms)
    for middle in names:
        if middle in ends:
            continue
        for a in names:
            for b in names:
                far[a, b] = min(far[a, b], far[a, middle] + far[middle, b])
    return far[start, end]


def walked(deployment: Deployment, start: str, address: Any) -> list[str]:
    """The hosts and routers that a packet for an address crosses, by the routes of each."""
    wires = tuple(wire for leg in deployment.legs for wire in leg.wires)
    stated = [hop for flow in deployment.flows for hop in stated_ways(flow)]
    places = ports(wires, deployment.nodes, stated)
    here, crossed = start, [start]
    while address not in {port.address for port in places[here]}:
        port = chosen(places[here], address)
        here = port.wire.right if port.upward else port.wire.left
        crossed.append(here)
        assert len(crossed) < 100, "packets go round in a circle"
    return crossed


def chosen(places: tuple[Port, ...], address: Any) -> Port:
    """As Linux does: the most specific route."""
    for port in places:
        if address in port.stated:
            return port
    for port in places:
        if address.network == port.wire.network:
            return port
    return next(port for port in places if address.network in port.beyond)


@pytest.mark.parametrize("seed", range(80))
def test_packets_go_there_and_back_over_the_shortest_way(seed: int) -> None:
    setting = Setting.model_validate(drawn(seed))
    deployment = deploy(setting)
    assert layout_of(deployment).hosts
    for flow in deployment.flows:
        client, server = flow.asked.namespace, flow.asked.server
        there = walked(deployment, client, flow.legs[-1].right_address)
        back = walked(deployment, server, flow.legs[0].left_address)
        assert there == back[::-1]
        on_the_way = [name for name in there if not name.startswith("link")]
        assert tuple(on_the_way) == flow.stated.hosts
        rtt_ms = math.fsum(leg.path.rtt.ms for leg in flow.legs if leg.path)
        assert rtt_ms == pytest.approx(shortest_ms(setting, client, server))


@pytest.mark.parametrize("seed", range(40))
def test_packets_go_there_and_back_over_a_stated_way(seed: int) -> None:
    raw = drawn(seed)
    chance = random.Random(f"via {seed}")
    places = [name for name in raw["hosts"] if name.startswith("h")]
    for flow in raw["flows"].values():
        flow["via"] = chance.sample(places, 1)
        try:
            Setting.model_validate(raw)
        except ValueError as error:
            assert "twice" in str(error)
            del flow["via"]
    deployment = deploy(Setting.model_validate(raw))
    for one in deployment.flows:
        there = walked(deployment, one.asked.namespace, one.legs[-1].right_address)
        back = walked(deployment, one.asked.server, one.legs[0].left_address)
        assert there == back[::-1]
        assert tuple(name for name in there if not name.startswith("link")) == one.stated.hosts
        assert set(one.stated.said.via if one.stated.said else ()) <= set(there)


def test_a_link_that_is_crossed_from_its_second_end_is_turned_around() -> None:
    path = {"down": {"rate": "1 Mbit/s", "delay": "5 ms"}, "up": {"rate": "2 Mbit/s"}}
    links = [{"between": ["server", "client"], "path": path}]
    (flow,) = deploy(Setting.model_validate({"links": links})).flows
    ((seen, place),) = flow.legs[0].links
    assert seen.up.first_rate is not None and seen.up.first_rate.mbit == 1
    assert seen.down.first_rate is not None and seen.down.first_rate.mbit == 2
    ends = [(wire.left, wire.right) for wire in (place.before, place.inner, place.after)]
    assert ends[0][0] == "client" and ends[-1][1] == "server"
    assert all(first[1] == second[0] for first, second in pairwise(ends))
