"""From a setting and a seed to a deployment: everything that a run's network implies, worked out once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from headway.planning.deployment import Deployment
from headway.planning.origins import planned_origins
from headway.planning.placing import Ends, placed
from headway.planning.topology import Leg, Neighbours, Node, chain, lay_out
from headway.programs.base import CLIENT, RESOLVER, SERVER
from headway.programs.headway_dns import PROGRAM as RESOLVER_PROGRAM
from headway.study.flow import CLIENTS, SERVERS, CompetingFlow
from headway.study.hop import Hop
from headway.study.host import Host
from headway.study.path import Path
from headway.study.setting import Setting
from headway.study.variation import drawn, drawn_path

_CABLE = Path()
"""A path of which nothing is said."""


def deploy(setting: Setting, seed: int | None = None) -> Deployment:
    """Resolve a setting.

    Args:
        setting: the setting.
        seed: paths are as a run of this seed meets them; as they are stated if None.

    Raises:
        WrongInputError: it names a program that does not exist, or a site.
    """
    if setting.flows:
        return _competing(setting, seed)
    names = [CLIENT, *(hop.name for hop in setting.middleboxes), SERVER]
    on_the_way = chain(names, _met(setting, seed))
    elsewhere, to_resolver = tuple(_elsewhere(setting, seed)), tuple(_to_resolver(setting, seed))
    other = tuple(_over_other_family(setting, seed))
    second = tuple(_from_second_interface(setting, seed))
    legs = lay_out((*on_the_way, *elsewhere), setting.family, to_resolver, other, second)
    left = iter(legs)
    own, to_origins, resolving, others, beside = (
        tuple(itertools.islice(left, len(part)))
        for part in (on_the_way, elsewhere, to_resolver, other, second)
    )
    flow = placed(
        setting,
        seed,
        own,
        elsewhere=to_origins,
        resolver=next(iter(resolving), None),
        other=next(iter(others), None),
        second=next(iter(beside), None),
    )
    resolvers = [Node.end(leg.right, Host(program=RESOLVER_PROGRAM)) for leg in resolving]
    nodes = (*flow.nodes, *(origin.node for origin in flow.origins), *resolvers)
    return Deployment(setting, seed, nodes, legs, (flow,))


def _to_resolver(setting: Setting, seed: int | None) -> Iterator[Neighbours]:
    """From the client to the resolver, if there is one."""
    if setting.dns is not None:
        yield CLIENT, RESOLVER, _own_path(setting, setting.dns.path, RESOLVER, seed)


def _over_other_family(setting: Setting, seed: int | None) -> Iterator[Neighbours]:
    """From the client to the server once more, if they have addresses of both families."""
    if setting.other_path is not None:
        other = setting.family.other
        yield CLIENT, SERVER, _own_path(setting, setting.other_path, str(other), seed)


def _from_second_interface(setting: Setting, seed: int | None) -> Iterator[Neighbours]:
    """From the client to the server once more, if the client has two interfaces."""
    if (path := setting.workload.path_beside) is not None:
        yield CLIENT, SERVER, _own_path(setting, path, "second", seed)


def _elsewhere(setting: Setting, seed: int | None) -> Iterator[Neighbours]:
    """From the end of a setting's path to the servers of its origins."""
    for number, (name, origin) in enumerate(planned_origins(setting).items(), start=1):
        path = _own_path(setting, origin.server.path, f"origins/{name}", seed)
        yield SERVERS, f"o{number}", path


def _met(setting: Setting, seed: int | None) -> tuple[Path | None, ...]:
    """The paths as a run meets them."""
    return setting.paths if seed is None else drawn(setting, seed).paths


def _competing(setting: Setting, seed: int | None) -> Deployment:
    """Flows that share a chain of routers, each with a client and a server of its own."""
    routers = [CLIENTS, *setting.hops, SERVERS]
    shared = chain(routers, _met(setting, seed))
    flows = list(_each(setting))
    own = [
        neighbours
        for ends, flow in flows
        for neighbours in (
            (ends.client, flow.enters, _access(setting, flow, "access", ends, seed)),
            (flow.leaves, ends.server, _access(setting, flow, "server_access", ends, seed)),
        )
    ]
    legs = lay_out((*own, *shared), setting.family)
    by_ends = {(leg.left, leg.right): leg for leg in legs}
    placed_flows = []
    for ends, flow in flows:
        crossed = routers[routers.index(flow.enters) : routers.index(flow.leaves) + 1]
        on_the_way = itertools.pairwise((ends.client, *crossed, ends.server))
        chosen: tuple[Leg, ...] = tuple(by_ends[pair] for pair in on_the_way)
        placed_flows.append(placed(_alone(setting, flow, crossed), seed, chosen, ends))
    hosts = [node for one in placed_flows for node in (one.nodes[0], one.nodes[-1])]
    nodes = (*hosts, *(_router(setting, name) for name in routers))
    return Deployment(setting, seed, nodes, legs, tuple(placed_flows))


def _router(setting: Setting, name: str) -> Node:
    hop = setting.hops.get(name)
    return replace(Node.router(name), kernel=hop.kernel) if hop else Node.router(name)


def _each(setting: Setting) -> Iterator[tuple[Ends, CompetingFlow]]:
    """Every flow, those of the same name by numbers, with its hosts."""
    numbers = itertools.count(1)
    for name, flow in setting.flows.items():
        for copy in range(1, flow.count + 1):
            number = next(numbers)
            own_name = name if flow.count == 1 else f"{name}-{copy}"
            yield Ends(f"c{number}", f"s{number}", own_name, f"flows.{name}", flow, number), flow


def _access(
    setting: Setting, flow: CompetingFlow, key: str, ends: Ends, seed: int | None
) -> Path | None:
    """A flow's own path, as a run meets it; None for a cable."""
    return _own_path(setting, getattr(flow, key), f"{ends.name}/{key}", seed)


def _own_path(setting: Setting, path: Path, name: str, seed: int | None) -> Path | None:
    """A path beside the chain's, as a run meets it, its draws told apart by a name; None for a cable."""
    if path == _CABLE:
        return None
    return path if seed is None else drawn_path(setting, path, name, seed)


def _alone(setting: Setting, flow: CompetingFlow, crossed: list[str]) -> Setting:
    """A flow's setting, as if there were no others: its chain of hosts, and what it asks for."""
    paths = dict(zip([CLIENTS, *setting.hops], setting.paths, strict=True))
    paths[flow.leaves] = flow.server_access
    hops = {
        name: Hop(name=name, path=paths[name] or _CABLE, kernel=_router(setting, name).kernel)
        for name in crossed
    }
    return Setting(
        protocol=flow.protocol,
        tls=flow.tls,
        clock=setting.clock,
        client=flow.client,
        server=flow.server,
        hops=hops,
        path=flow.access,
        family=setting.family,
        offload=setting.offload,
        workload=flow.workload,
        variation=setting.variation,
        limits=setting.limits,
        capture=setting.capture,
        programs=setting.programs,
    )
