"""From the keys of a study file to a network: the only place that knows which of them make hosts, edges and flows."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from headway.study.base_model import wrong
from headway.study.contactgraph import first_way, reached, soonest
from headway.study.edge import Edge, Interface, NoWayError
from headway.study.flow import CLIENTS, SERVERS, CompetingFlow
from headway.study.hop import Hop
from headway.study.network import (
    CLIENT,
    RESOLVER,
    SERVER,
    NetworkHost,
    PlannedWays,
    StatedFlow,
    StatedNetwork,
    route_between,
)
from headway.study.origin import OriginServer
from headway.study.path import Path
from headway.study.pathrules import CHANGE_RULES, PathsView
from headway.study.rulerow import check_all
from headway.study.settingkeys import Routing, SettingKeys

_CABLE = Path()
"""A path of which nothing is said."""
_LINKS = "links/"
"""What the names of edges begin with that a study states as links."""


def network_of(
    keys: SettingKeys, origins: Mapping[str, OriginServer] | None = None
) -> StatedNetwork:
    """The network that a setting's keys state.

    Args:
        keys: of the setting.
        origins: servers of a page's hosts, if they are known better than by the key.

    Raises:
        PydanticCustomError: two hosts have one name, or a flow has no way; names the key.
    """
    edges = [*_chain(keys), *_links(keys)]
    flows = list(_several(keys, edges) if keys.flows else _single(keys, edges, origins))
    between = _between(keys)
    return StatedNetwork(
        between=between,
        names=tuple(_names(keys, flows, between)),
        edges=_in_order(edges, flows),
        common=tuple(edges),
        flows=tuple(flows),
    )


def _stops(keys: SettingKeys) -> list[str]:
    """The hosts of the chain that `path` begins."""
    first, last = (CLIENTS, SERVERS) if keys.flows else (CLIENT, SERVER)
    return [first, *(hop.name for hop in keys.middleboxes), last]


def _chain(keys: SettingKeys) -> Iterator[Edge]:
    """The edges between neighbours of the chain; none if a study states links, and nothing of a chain."""
    middle = keys.middleboxes
    if not _has_chain(keys):
        return
    has_cables = keys.hops or keys.has_origins
    where = ["path", *(_path_key(keys, hop) for hop in middle)]
    paths = [keys.path, *(hop.path for hop in middle)]
    for number, (left, right) in enumerate(itertools.pairwise(_stops(keys))):
        path = paths[number]
        is_cable = has_cables and path == _CABLE
        stated = None if is_cable else path
        yield Edge(str(number), left, right, stated, where[number], keys.family)


def _has_chain(keys: SettingKeys) -> bool:
    return not keys.links or keys.path != _CABLE or bool(keys.middleboxes)


def _path_key(keys: SettingKeys, hop: Hop) -> str:
    return f"hops.{hop.name}.path" if hop.name in keys.hops else "proxy.upstream.path"


def _links(keys: SettingKeys) -> Iterator[Edge]:
    for name, link in keys.links.items():
        left, right = link.between
        yield Edge(
            f"{_LINKS}{name}", left, right, _stated(link.path), f"links.{name}.path", keys.family
        )


def _stated(path: Path) -> Path | None:
    return None if path == _CABLE else path


def _single(
    keys: SettingKeys, edges: Sequence[Edge], origins: Mapping[str, OriginServer] | None
) -> Iterator[StatedFlow]:
    """The flow of a study that names none."""
    servers = keys.origins if origins is None else origins
    route, planned = _ways(keys, edges, CLIENT, SERVER, keys.via, "via")
    resolving, asking = _to_resolver(keys, edges, CLIENT, RESOLVER, RESOLVER, keys.via)
    yield StatedFlow(
        client=CLIENT,
        server=SERVER,
        route=route,
        planned=planned,
        beside=tuple(_beside(keys, _http_end(keys, route))),
        resolving=resolving,
        asking=asking,
        origins={
            name: Edge(
                f"origins/{name}",
                SERVERS,
                f"o{number}",
                _stated(origin.path),
                f"origins.{name}.path",
                keys.family,
                whose=f"{name}'s",
            )
            for number, (name, origin) in enumerate(servers.items(), start=1)
        },
    )


def _http_end(keys: SettingKeys, route: Sequence[Edge]) -> str:
    """The host that ends the client's HTTP: that of the first reverse proxy on its way, or the server."""
    between = _between(keys)
    proxies = (
        edge.right
        for edge in route
        if edge.right in between and between[edge.right].hop.proxy and edge.right not in keys.bypass
    )
    return next(proxies, SERVER)


def _beside(keys: SettingKeys, end: str) -> Iterator[Edge]:
    """More ways between the client and the end of its HTTP: over the other family, and from a second interface."""
    if keys.dual_stack:
        family, own = keys.family.other, keys.dual_stack.path
        path, key = (keys.path, "path") if own is None else (own, "dual_stack.path")
        whose = f"{family.label} path's"
        yield Edge(
            str(family),
            CLIENT,
            end,
            _stated(path),
            key,
            family,
            Interface.OTHER_FAMILY,
            True,
            whose,
        )
    if (path_beside := keys.workload.path_beside) is not None:
        yield Edge(
            "second",
            CLIENT,
            end,
            _stated(path_beside),
            "workload.second_path",
            keys.family,
            Interface.SECOND,
            True,
            "second path's",
        )


def _to_resolver(
    keys: SettingKeys,
    edges: Sequence[Edge],
    client: str,
    resolver: str,
    name: str,
    via: Sequence[str],
) -> tuple[tuple[Edge, ...], PlannedWays | None]:
    """What a client's questions cross: the way to where the resolver's own path begins, and that path.

    Answers go by the same plan of contacts as all packets for the client, so questions follow contacts if its flow's do.
    """
    if keys.dns is None:
        return (), None
    begins = keys.dns.at or client
    path = _stated(keys.dns.path)
    whose = "resolver's" if keys.dns.at is None else f"resolver's (from {begins})"
    last = Edge(name, begins, resolver, path, "dns.path", keys.family, aside=True, whose=whose)
    try:
        if begins == client or via or keys.routing is Routing.DELAY:
            return (*route_between(edges, _ends(keys), client, begins), last), None
        return _by_contacts(keys, [*edges, last], client, resolver)
    except NoWayError as error:
        raise wrong("dns.at", str(error)) from None


def _several(keys: SettingKeys, edges: Sequence[Edge]) -> Iterator[StatedFlow]:
    """Every flow that a study names, those of the same name by numbers."""
    numbers = itertools.count(1)
    for name, flow in keys.flows.items():
        for copy in range(1, flow.count + 1):
            own = name if flow.count == 1 else f"{name}-{copy}"
            yield _one_of_several(keys, edges, own, f"flows.{name}", flow, next(numbers))


def _one_of_several(
    keys: SettingKeys, edges: Sequence[Edge], name: str, key: str, flow: CompetingFlow, number: int
) -> StatedFlow:
    client, server = flow.between or (f"c{number}", f"s{number}")
    own = (
        []
        if flow.between
        else [
            _access(keys, f"{name}/access", client, flow.enters, flow.access, f"{key}.access"),
            _access(
                keys,
                f"{name}/server_access",
                flow.leaves,
                server,
                flow.server_access,
                f"{key}.server_access",
            ),
        ]
    )
    route, planned = _ways(
        keys, [*own, *edges], client, server, flow.via, f"{key}.via" if flow.via else key
    )
    resolving, asking = _to_resolver(
        keys, [*own, *edges], client, f"r{number}", f"{name}/{RESOLVER}", flow.via
    )
    return StatedFlow(
        client=client,
        server=server,
        route=route,
        planned=planned,
        name=name,
        key=key,
        said=flow,
        number=number,
        resolving=resolving,
        asking=asking,
    )


def _access(keys: SettingKeys, name: str, left: str, right: str, path: Path, key: str) -> Edge:
    return Edge(name, left, right, _stated(path), key, keys.family)


def _ways(
    keys: SettingKeys, edges: Sequence[Edge], client: str, server: str, via: Sequence[str], key: str
) -> tuple[tuple[Edge, ...], PlannedWays | None]:
    """The route of a flow, and its other ways if its packets follow contacts."""
    stops = [f"{_LINKS}{stop}" if stop in keys.links else stop for stop in via]
    try:
        if via or keys.routing is Routing.DELAY:
            return route_between(edges, _ends(keys), client, server, stops), None
        return _by_contacts(keys, edges, client, server)
    except NoWayError as error:
        raise wrong(key, str(error)) from None


def _by_contacts(
    keys: SettingKeys, edges: Sequence[Edge], client: str, server: str
) -> tuple[tuple[Edge, ...], PlannedWays]:
    """The way of a packet that leaves at once, and all ways by plans of contacts, between two hosts."""
    until, ends = keys.limits.virtual, _ends(keys)
    check_all((CHANGE_RULES,), PathsView(edges, until, keys.offload))
    there, back = (
        reached(soonest(edges, ends, end, until), start)
        for start, end in ((client, server), (server, client))
    )
    departures = (
        departure for plans in (there, back) for plan in plans.values() for departure in plan
    )
    used = {departure.edge.name for departure in departures if departure.edge}
    planned = PlannedWays(there, back, tuple(edge for edge in edges if edge.name in used))
    return first_way(there, client, server, until), planned


def _ends(keys: SettingKeys) -> set[str]:
    """Hosts that pass on no packets of others."""
    of_flows = (end for flow in keys.flows.values() for end in flow.between or ())
    return {CLIENT, SERVER, *of_flows}


def _between(keys: SettingKeys) -> dict[str, NetworkHost]:
    chain = {
        hop.name: NetworkHost(f"hops.{hop.name}" if hop.name in keys.hops else "", hop)
        for hop in keys.middleboxes
    }
    chain |= {name: NetworkHost("", Hop(name=name)) for name in _shared_ends(keys)}
    hosts = {name: NetworkHost(f"hosts.{name}", hop) for name, hop in keys.hosts.items()}
    return {**chain, **hosts}


def _shared_ends(keys: SettingKeys) -> Iterator[str]:
    """The routers at both ends of what flows share: those of a chain, or at which links or flows end."""
    named = {end for link in keys.links.values() for end in link.between}
    for flow in keys.flows.values():
        named |= set() if flow.between else {flow.enters, flow.leaves}
    if keys.flows:
        yield from (name for name in keys.ends if _has_chain(keys) or name in named)


def _names(
    keys: SettingKeys, flows: Iterable[StatedFlow], between: Mapping[str, NetworkHost]
) -> list[str]:
    """Of all hosts: those of a chain from the client on, those of several flows before what they share."""
    names: list[str] = []
    ends = [name for flow in flows for name in (flow.client, flow.server)]
    if keys.flows:
        names += [*ends, *_stops(keys)] if _has_chain(keys) else ends
    else:
        names += _stops(keys) if _has_chain(keys) else [CLIENT, SERVER]
    names += [*between]
    names += [edge.right for flow in flows for edge in flow.origins.values()]
    names += [flow.resolver for flow in flows if flow.resolver]
    return list(dict.fromkeys(names))


def _in_order(shared: Sequence[Edge], flows: Sequence[StatedFlow]) -> tuple[Edge, ...]:
    """Edges as a lab numbers them: those that are one flow's own, what flows share, and those aside."""
    there = {edge.name for edge in shared}
    crossed = (edge.turned_around if edge.turned else edge for flow in flows for edge in flow.route)
    own = [edge for edge in crossed if edge.name not in there]
    origins = [edge for flow in flows for edge in flow.origins.values()]
    resolving = [edge for flow in flows for edge in flow.resolving[-1:]]
    beside = [edge for flow in flows for edge in flow.beside]
    return (*own, *shared, *origins, *resolving, *beside)
