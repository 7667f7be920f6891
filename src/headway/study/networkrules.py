"""Rules of a network: names of hosts, links between them, and flows that have a way."""

from __future__ import annotations

from collections import Counter

from headway.errors import nearest
from headway.study.base_model import wrong
from headway.study.flow import CLIENTS, MOST_HOSTS, SERVERS, check_flow, check_flows
from headway.study.hop import Hop
from headway.study.network import CLIENT, PROXY, SERVER, StatedFlow, StatedNetwork
from headway.study.settingkeys import Routing, SettingKeys

_MOST_NETWORKS = 256
"""Between all neighbours, routers of links included: of IPv4, 10.0.0.0/24 to 10.0.255.0/24."""
_NOTHING = Hop(name="nothing")


def check_stated(keys: SettingKeys) -> None:
    """Check the names of hosts, links and flows that a setting states.

    Raises:
        PydanticCustomError: they make no network; names the key.
    """
    places = _places(keys)
    check_flows(keys.flows)
    _check_names(keys)
    _check_links(keys, places)
    for name, flow in keys.flows.items():
        check_flow(name, flow, list(keys.hops), places)
        _check_stops(f"flows.{name}", flow.via, keys, places)
    _check_stops("", keys.via, keys, places)


def check_network(keys: SettingKeys, network: StatedNetwork) -> None:
    """Check the network that a setting states.

    Raises:
        PydanticCustomError: a lab cannot have it; names the key.
    """
    _check_size(keys, network)
    _check_taken(network)
    _check_hosts(keys, network)
    for stated in network.flows:
        _check_turned(stated)
    if keys.routing is Routing.CONTACTS:
        _check_followed(network)


def _places(keys: SettingKeys) -> list[str]:
    """Names of the hosts to which links may lead, and where flows may begin and end."""
    chain = [hop.name for hop in keys.middleboxes]
    ends = [CLIENTS, SERVERS] if keys.flows else [CLIENT, SERVER]
    return [*ends, *chain, *keys.hosts]


def _check_names(keys: SettingKeys) -> None:
    for name, hop in keys.hops.items():
        if keys.flows and hop.splits:
            raise wrong("hops", f"flows share paths, not programs: {name} may only route")
    for key in ("hops", "hosts"):
        for name in (CLIENTS, SERVERS) if keys.flows else ():
            if name in getattr(keys, key):
                reason = f"{name!r} is the name of a router at an end of the shared path"
                raise wrong(key, reason)
    if keys.proxy and PROXY in keys.hops:
        raise wrong("hops", f"{PROXY!r} is the name of the host of [proxy]")
    for name, host in keys.hosts.items():
        where = f"hosts.{name}"
        if host.path != _NOTHING.path:
            raise wrong(f"{where}.path", "what lies between hosts is said by [[links]]")
        if name in {hop.name for hop in keys.middleboxes}:
            raise wrong(where, f"{name!r} is the name of a host on the way already")


def _check_links(keys: SettingKeys, places: list[str]) -> None:
    for name, link in keys.links.items():
        for end in link.between:
            if end not in places:
                then = f"there are {', '.join(places)}; more hosts are tables [hosts.NAME]"
                hint = nearest(end, places, then=then)
                raise wrong(f"links.{name}.between", f"no host {end!r}{hint}")


def _check_stops(key: str, via: tuple[str, ...], keys: SettingKeys, places: list[str]) -> None:
    known = [*places, *keys.links]
    for stop in via:
        if stop not in known:
            hint = nearest(stop, known, then=f"there are {', '.join(known)}")
            raise wrong(f"{key}.via".lstrip("."), f"no host and no link {stop!r}{hint}")
    if keys.flows and not key and via:
        raise wrong("via", "each flow has a way of its own: flows.NAME.via")


def _check_size(keys: SettingKeys, network: StatedNetwork) -> None:
    where = next((key for key in ("links", "flows", "hops") if getattr(keys, key)), "hops")
    if len(keys.hosts) > MOST_HOSTS:
        raise wrong("hosts", f"{len(keys.hosts)} hosts; a lab has {MOST_HOSTS} at most")
    networks = sum(2 * len(edge.path.links) + 1 if edge.path else 1 for edge in network.edges)
    if networks > _MOST_NETWORKS:
        reason = f"too many hosts and links: {networks} networks, and a lab has {_MOST_NETWORKS} at most, three for a link"
        raise wrong(where, reason)


def _check_taken(network: StatedNetwork) -> None:
    """No host is called like one that the lab adds for a flow."""
    added = {
        name
        for flow in network.flows
        for name in (
            *(() if flow.said and flow.said.between else (flow.client, flow.server)),
            *(edge.right for edge in flow.origins.values()),
            *((flow.resolver.right,) if flow.resolver else ()),
        )
    }
    for name, host in network.between.items():
        if name in added:
            reason = (
                f"{name!r} is the name of a host that the lab adds for a flow: call it otherwise"
            )
            raise wrong(host.key or "hops", reason)


def _check_hosts(keys: SettingKeys, network: StatedNetwork) -> None:
    """Every host that a study states can be where it is."""
    crossing = Counter(
        host
        for flow in network.flows
        for host in (flow.crossed_hosts - {flow.client, flow.server}) & network.between.keys()
    )
    ends = Counter(end for flow in network.flows for end in (flow.client, flow.server))
    if keys.proxy and PROXY in keys.hops:
        raise wrong("hops", f"{PROXY!r} is the name of the host of [proxy]")
    for name, host in keys.hosts.items():
        where = f"hosts.{name}"
        if ends[name] > 1:
            reason = f"{ends[name]} flows begin or end there: give each a host of its own, behind a link to this one"
            raise wrong(where, reason)
        if ends[name] and host != _NOTHING.model_copy(update={"name": name}):
            reason = "a flow begins or ends there: its programs and its kernel are said in the flow's tables"
            raise wrong(where, reason)
        if host.splits and crossing[name] > 1:
            reason = f"{crossing[name]} flows cross it, and its programs split connections of one"
            raise wrong(where, reason)


def _check_turned(flow: StatedFlow) -> None:
    """What tells the client's side of a path from the server's has to face the client."""
    for edge in flow.route:
        if edge.turned and edge.path and any(link.nat for link in edge.path.links):
            reason = f"the flow crosses it from {edge.left} to {edge.right}, and a NAT is at the first end of a link: change the order in between"
            raise wrong(f"{edge.key}.nat", reason)


def _check_followed(network: StatedNetwork) -> None:
    """Packets can follow contacts: there are some, and what they may cross only passes them on."""
    links = (link for path in network.paths for link in path.links)
    if not any(direction.contacts for link in links for direction in (link.up, link.down)):
        reason = '"contacts" is by plans of contacts, and no link has any: state `contacts` of a link, or leave out routing'
        raise wrong("routing", reason)
    for flow in network.flows:
        edges = flow.planned.edges if flow.planned else ()
        for end in (flow.client, flow.server):
            if sum(end in (edge.left, edge.right) for edge in edges) > 1:
                reason = f"packets follow contacts, and {end} has several links: put a host of [hosts] between, which has them"
                raise wrong("routing", reason)
        for edge in edges:
            for name in {edge.left, edge.right} & network.between.keys():
                if (host := network.between[name]).hop.splits:
                    reason = f"packets follow contacts, and some would pass its programs by: state the way by `via = [{name!r}]`"
                    raise wrong(host.key or "proxy", reason)
            if (
                edge.path
                and edge.name != flow.route[0].name
                and any(link.nat for link in edge.path.links)
            ):
                reason = "packets follow contacts, and may cross it from either end: only the client's own link can have a NAT"
                raise wrong(f"{edge.key}.nat", reason)
