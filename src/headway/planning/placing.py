"""One flow's programs on its chain of hosts: who ends whose connections, over which links."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from headway.errors import WrongInputError, nearest
from headway.planning.deployment import (
    ChangingWay,
    DeployedFlow,
    DeployedOrigin,
    Endpoint,
    Role,
    Segment,
    addressed,
)
from headway.planning.origins import PlannedOrigin
from headway.planning.topology import Leg, Node
from headway.programs.base import Adapter, Flow, Resolver, port_of
from headway.programs.origins import origin_addresses
from headway.programs.outside import from_outside
from headway.programs.pagehosts import PageHosts
from headway.programs.registry import CLIENTS, PROXIES, QUIC_PEPS, SERVERS, TCP_PEPS
from headway.study.edge import Edge, Interface
from headway.study.family import HostAddress
from headway.study.hop import Hop, Pep
from headway.study.host import Host, Protocol
from headway.study.network import NetworkHost, PlannedWays, StatedFlow
from headway.study.setting import Setting

KNOWN: Mapping[Role, Mapping[str, Adapter]] = {
    Role.CLIENT: CLIENTS,
    Role.REVERSE_PROXY: PROXIES,
    Role.QUIC_PEP: QUIC_PEPS,
    Role.TCP_PEP: TCP_PEPS,
    Role.SERVER: SERVERS,
}
"""The programs that there are."""


@dataclass(frozen=True)
class _ProgramPlace:
    """A program in its place, and what it is asked by."""

    role: Role
    name: str
    position: int
    asked: Host
    protocol: Protocol
    tls: bool
    where: str = ""
    """Its table in the study file, if it is on the way."""

    @property
    def node(self) -> Node:
        if not isinstance(self.asked, Pep):
            return Node.end(self.name, self.asked)
        return Node(
            self.name,
            self.asked.towards_client,
            self.asked.towards_server,
            forwards=True,
            intercepts=port_of(self.tls) if self.role is Role.TCP_PEP else None,
        )


_JOIN = "; a file programs.toml adds a program of your own (docs/own-programs.md)"


@dataclass(frozen=True)
class LaidFlow:
    """A flow, and what is laid between its hosts.

    Attributes:
        stated: the flow as the study states it.
        setting: what it asks for, as if there were no other flow.
        between: the hosts that are no end of a flow, by name.
        legs: by the names of edges, as a run of its seed meets them.
        origins: the servers of other hosts of its page.
        seed: of the run.
    """

    stated: StatedFlow
    setting: Setting
    between: Mapping[str, NetworkHost]
    legs: Mapping[str, Leg]
    origins: Mapping[str, PlannedOrigin]
    seed: int | None

    def leg(self, edge: Edge) -> Leg:
        """What is laid for an edge, seen from where the flow sees it."""
        leg = self.legs[edge.name]
        return leg.turned_around if edge.turned else leg

    def changing(self, planned: PlannedWays | None) -> ChangingWay | None:
        """What is laid for ways that follow contacts, if some do."""
        if planned is None:
            return None
        return ChangingWay(planned, {edge.name: self.legs[edge.name] for edge in planned.edges})

    @cached_property
    def route(self) -> tuple[Leg, ...]:
        """Between its hosts, the client's first."""
        return tuple(map(self.leg, self.stated.route))

    @property
    def on_the_way(self) -> tuple[NetworkHost, ...]:
        """The hosts between client and server."""
        return tuple(self.between[name] for name in self.stated.hosts[1:-1])

    @property
    def origins_from(self) -> int:
        """Number of the first address of its page's hosts, where each has one of its own."""
        return self.stated.number * self.setting.family.origins_of_a_flow


def placed(laid: LaidFlow) -> DeployedFlow:
    """Put a flow's programs on its hosts.

    Raises:
        WrongInputError: it names a program that does not exist, or a site.
    """
    stated, setting = laid.stated, laid.setting
    places = _places(laid)
    acting = {place.name: place.node for place in places}
    acting[stated.server] = replace(acting[stated.server], more_addresses=_more_addresses(laid))
    from_client = [*laid.route, *map(laid.leg, stated.beside)]
    between = [
        replace(
            acting.get(host.hop.name) or Node.router(host.hop.name),
            kernel=host.hop.kernel,
            client_devices=_devices(from_client, host.hop.name),
        )
        for host in laid.on_the_way
    ]
    segments = _segments(laid, places)
    origins = tuple(_origins(laid))
    resolving = tuple(map(laid.leg, stated.resolving))
    beside = {edge.interface: laid.leg(edge) for edge in stated.beside}
    other, second = beside.get(Interface.OTHER_FAMILY), beside.get(Interface.SECOND)
    return DeployedFlow(
        setting=setting,
        asked=replace(
            _flow(laid, segments),
            elsewhere=_page_hosts(origins),
            resolver=_resolver(setting, resolving),
            other_address=other.right_address if other else None,
            second_address=second.left_address if second else None,
        ),
        nodes=(acting[stated.client], *between, acting[stated.server]),
        legs=laid.route,
        segments=segments,
        stated=stated,
        origins=origins,
        resolving=resolving,
        beside=beside,
        changing=laid.changing(stated.planned),
        asking=laid.changing(stated.asking),
    )


def _devices(legs: Iterable[Leg], host: str) -> frozenset[str]:
    """A host's devices at the ends of legs, which begin nearer to the client."""
    return frozenset(leg.wires[-1].right_device for leg in legs if leg.right == host)


def _origins(laid: LaidFlow) -> Iterator[DeployedOrigin]:
    setting = laid.setting
    known = {**KNOWN[Role.SERVER], **from_outside(setting.programs, Role.SERVER)}
    for key, edge in laid.stated.origins.items():
        planned, leg = laid.origins[key], laid.leg(edge)
        origin = planned.server
        spoken = origin.spoken(setting.protocol)
        position = len(laid.route)
        place = _ProgramPlace(Role.SERVER, leg.right, position, origin.server, spoken, setting.tls)
        where = f"origins.{key}.{Role.SERVER}"
        end = Endpoint(
            role=place.role,
            where=where,
            name=place.name,
            position=place.position,
            adapter=_known(place, known, where),
            asked=place.asked,
            host=place.asked,
            protocol=spoken,
            tls=setting.tls,
            known=known,
        )
        yield DeployedOrigin(key, planned, end, place.node, leg)


def _page_hosts(origins: Sequence[DeployedOrigin]) -> tuple[PageHosts, ...]:
    return tuple(
        PageHosts(
            origin.planned.hosts,
            origin.leg.right_address,
            origin.end.protocol,
            origin.planned.server.third_party,
        )
        for origin in origins
    )


def _resolver(setting: Setting, legs: Sequence[Leg]) -> Resolver | None:
    return Resolver(legs[-1].right_address, setting.dns) if legs and setting.dns else None


def _more_addresses(laid: LaidFlow) -> tuple[HostAddress, ...]:
    """Addresses that the server's host needs beside its own: those of a page's hosts."""
    setting = laid.setting
    if not setting.workload.replay.own_addresses:
        return ()
    family, stated = setting.family, laid.stated
    addresses = origin_addresses(setting.workload, family.unspecified, first=laid.origins_from)
    if stated.number and len(addresses) > (most := family.origins_of_a_flow):
        reason = f"the page has {len(addresses)} hosts; of one beside other flows, {most} can have addresses of their own"
        raise WrongInputError(reason, where=f"{stated.key}.workload.origins")
    return tuple(addresses.values())


def _places(laid: LaidFlow) -> list[_ProgramPlace]:
    """The programs that act on a flow's connections, from the client on.

    A PEP acts on connections of its transport only, and none acts on a host that is bypassed.
    """
    setting, stated = laid.setting, laid.stated
    protocol, tls = setting.protocol, setting.tls
    places = [_ProgramPlace(Role.CLIENT, stated.client, 0, setting.client, protocol, tls)]
    for position, host in enumerate(laid.on_the_way, start=1):
        hop = host.hop
        role, asked = _acting(hop, protocol)
        if asked is None or hop.name in setting.bypass:
            continue
        where = f"{host.key}.{role}".lstrip(".")
        places.append(_ProgramPlace(role, hop.name, position, asked, protocol, tls, where))
        if hop.proxy:
            protocol, tls = hop.proxy.upstream.protocol, hop.proxy.upstream.tls
    last = len(laid.route)
    server = _ProgramPlace(Role.SERVER, stated.server, last, setting.server, protocol, tls)
    return [*places, server]


def _acting(hop: Hop, protocol: Protocol) -> tuple[Role, Host | None]:
    if hop.proxy:
        return Role.REVERSE_PROXY, hop.proxy
    return (Role.QUIC_PEP, hop.quic_pep) if protocol.over_quic else (Role.TCP_PEP, hop.tcp_pep)


def _segments(laid: LaidFlow, places: list[_ProgramPlace]) -> tuple[Segment, ...]:
    return tuple(
        Segment(
            _endpoint(laid, near, far, upstream=True),
            _endpoint(laid, far, far, upstream=False),
            laid.route[near.position : far.position],
        )
        for near, far in itertools.pairwise(places)
    )


def _endpoint(
    laid: LaidFlow, place: _ProgramPlace, spoken: _ProgramPlace, *, upstream: bool
) -> Endpoint:
    """A program's end of a segment; what is spoken there, the farther program is asked by."""
    known = {**KNOWN[place.role], **from_outside(laid.setting.programs, place.role)}
    of_flow = f"{laid.stated.key}.{place.role}".lstrip(".")
    where = place.where or of_flow
    node = place.node
    host = node.upstream if upstream else node.downstream
    assert host, "a program acts there"
    return Endpoint(
        role=place.role,
        where=where,
        name=place.name,
        position=place.position,
        adapter=_known(place, known, where),
        asked=place.asked,
        host=host,
        protocol=spoken.protocol,
        tls=spoken.tls,
        known=known,
    )


def _known(place: _ProgramPlace, known: Mapping[str, Adapter], where: str) -> Adapter:
    program = place.asked.program
    if program not in known:
        own = _JOIN if place.role in (Role.CLIENT, Role.SERVER) else ""
        hint = nearest(program, list(known), then=f"known: {', '.join(known)}{own}")
        raise WrongInputError(
            f"no {place.role.label} program {program!r}{hint}",
            where=f"{where}.program",
        )
    return known[program]


def _flow(laid: LaidFlow, segments: tuple[Segment, ...]) -> Flow:
    """The workload, asked of the next program that has an address of its own."""
    setting, stated, competing_flow = laid.setting, laid.stated, laid.stated.said
    return Flow(
        name=stated.name,
        namespace=stated.client,
        server=stated.server,
        host=setting.client,
        address=laid.route[addressed(segments).position - 1].right_address,
        protocol=setting.protocol,
        tls=setting.tls,
        workload=setting.workload,
        capture=setting.capture,
        clock=setting.clock,
        limit=setting.limits.virtual,
        at_ns=competing_flow.start.ns if competing_flow else 0,
        ends_at_ns=competing_flow.end.ns
        if competing_flow and competing_flow.end is not None
        else None,
        origins_from=laid.origins_from,
        seed=laid.seed or 0,
        background=bool(competing_flow and competing_flow.background),
        discovery=setting.discovery,
    )
