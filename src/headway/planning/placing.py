"""One flow's programs on its chain of hosts: who ends whose connections, over which links."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from headway.errors import WrongInputError, nearest
from headway.planning.deployment import (
    DeployedFlow,
    DeployedOrigin,
    Endpoint,
    Role,
    Segment,
    addressed,
)
from headway.planning.origins import planned_origins
from headway.planning.topology import Leg, Node
from headway.programs.base import CLIENT, SERVER, Adapter, Flow, Resolver, port_of
from headway.programs.origins import origin_addresses
from headway.programs.outside import from_outside
from headway.programs.pagehosts import PageHosts
from headway.programs.registry import CLIENTS, PROXIES, QUIC_PEPS, SERVERS, TCP_PEPS
from headway.study.family import Family, HostAddress
from headway.study.flow import CompetingFlow
from headway.study.hop import Hop, Pep
from headway.study.host import Host, Protocol
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


@dataclass(frozen=True)
class Ends:
    """The hosts at both ends of a flow's chain, and what the study calls it.

    Attributes:
        client: name of the host that asks.
        server: name of the host that answers.
        name: of the flow; empty if the study names none.
        key: where it stands in the study file; empty then, too.
        said: what the study says of it; None then.
        number: of the flow, from 1; 0 then.
    """

    client: str = CLIENT
    server: str = SERVER
    name: str = ""
    key: str = ""
    said: CompetingFlow | None = None
    number: int = 0

    def origins_from(self, family: Family) -> int:
        """Number of the first address of its page's hosts, where each has one of its own."""
        return self.number * family.origins_of_a_flow


_JOIN = "; a file programs.toml adds a program of your own (docs/own-programs.md)"


def placed(
    setting: Setting,
    seed: int | None,
    legs: tuple[Leg, ...],
    ends: Ends = Ends(),
    elsewhere: tuple[Leg, ...] = (),
    resolver: Leg | None = None,
    other: Leg | None = None,
    second: Leg | None = None,
) -> DeployedFlow:
    """Put a setting's programs on a chain of hosts.

    Args:
        setting: the setting of one flow.
        seed: of the run.
        legs: between the hosts, as a run of this seed meets them.
        ends: what the hosts at the ends are called.
        elsewhere: from the end of the chain's path to the servers of the setting's origins.
        resolver: between the client and whom it asks for addresses; None if it is told them.
        other: between client and server over the other family; None if they have one.
        second: between the client's second interface and the server; None if it has one interface.

    Raises:
        WrongInputError: it names a program that does not exist, or a site.
    """
    places = _places(setting, ends)
    acting = {place.name: place.node for place in places}
    acting[ends.server] = replace(
        acting[ends.server], more_addresses=_more_addresses(setting, ends)
    )
    hops = [
        replace(acting.get(hop.name) or Node.router(hop.name), kernel=hop.kernel)
        for hop in setting.middleboxes
    ]
    segments = _segments(setting, places, legs, ends)
    origins = _origins(setting, elsewhere)
    return DeployedFlow(
        setting=setting,
        asked=replace(
            _flow(setting, segments, legs, ends, seed),
            elsewhere=_page_hosts(origins),
            resolver=_resolver(setting, resolver),
            other_address=other.right_address if other else None,
            second_address=second.left_address if second else None,
        ),
        nodes=(acting[ends.client], *hops, acting[ends.server]),
        legs=legs,
        segments=segments,
        key=ends.key,
        origins=origins,
        resolver=resolver,
        other=other,
        second=second,
    )


def _origins(setting: Setting, legs: tuple[Leg, ...]) -> tuple[DeployedOrigin, ...]:
    known = {**KNOWN[Role.SERVER], **from_outside(setting.programs, Role.SERVER)}
    origins = []
    for (key, planned), leg in zip(planned_origins(setting).items(), legs, strict=True):
        origin = planned.server
        spoken = origin.spoken(setting.protocol)
        position = len(setting.middleboxes) + 1
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
        origins.append(DeployedOrigin(key, planned, end, place.node, leg))
    return tuple(origins)


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


def _resolver(setting: Setting, leg: Leg | None) -> Resolver | None:
    return Resolver(leg.right_address, setting.dns) if leg and setting.dns else None


def _more_addresses(setting: Setting, ends: Ends) -> tuple[HostAddress, ...]:
    """Addresses that the server's host needs beside its own: those of a page's hosts."""
    if not setting.workload.own_addresses:
        return ()
    family = setting.family
    first = ends.origins_from(family)
    found = origin_addresses(setting.workload, family.unspecified, first=first)
    if ends.number and len(found) > (most := family.origins_of_a_flow):
        told = f"the page has {len(found)} hosts; of one beside other flows, {most} can have addresses of their own"
        raise WrongInputError(told, where=f"{ends.key}.workload.origins")
    return tuple(found.values())


def _places(setting: Setting, ends: Ends) -> list[_ProgramPlace]:
    """The programs that act on a setting's connections, from the client on.

    A PEP acts on connections of its transport only, and none acts on a hop that is bypassed.
    """
    protocol, tls = setting.protocol, setting.tls
    places = [_ProgramPlace(Role.CLIENT, ends.client, 0, setting.client, protocol, tls)]
    for position, hop in enumerate(setting.middleboxes, start=1):
        role, asked = _acting(hop, protocol)
        if asked is None or hop.name in setting.bypass:
            continue
        places.append(_ProgramPlace(role, hop.name, position, asked, protocol, tls))
        if hop.proxy:
            protocol, tls = hop.proxy.upstream.protocol, hop.proxy.upstream.tls
    last = len(setting.middleboxes) + 1
    return [*places, _ProgramPlace(Role.SERVER, ends.server, last, setting.server, protocol, tls)]


def _acting(hop: Hop, protocol: Protocol) -> tuple[Role, Host | None]:
    if hop.proxy:
        return Role.REVERSE_PROXY, hop.proxy
    return (Role.QUIC_PEP, hop.quic_pep) if protocol.over_quic else (Role.TCP_PEP, hop.tcp_pep)


def _segments(
    setting: Setting, places: list[_ProgramPlace], legs: tuple[Leg, ...], ends: Ends
) -> tuple[Segment, ...]:
    return tuple(
        Segment(
            _endpoint(setting, near, far, ends, upstream=True),
            _endpoint(setting, far, far, ends, upstream=False),
            legs[near.position : far.position],
        )
        for near, far in itertools.pairwise(places)
    )


def _endpoint(
    setting: Setting, place: _ProgramPlace, spoken: _ProgramPlace, ends: Ends, *, upstream: bool
) -> Endpoint:
    """A program's end of a segment; what is spoken there, the farther program is asked by."""
    known = {**KNOWN[place.role], **from_outside(setting.programs, place.role)}
    in_chain = setting.hops and place.role not in (Role.CLIENT, Role.SERVER)
    where = f"hops.{place.name}.{place.role}" if in_chain else str(place.role)
    if ends.key:
        where = f"{ends.key}.{where}"
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


def _flow(
    setting: Setting,
    segments: tuple[Segment, ...],
    legs: tuple[Leg, ...],
    ends: Ends,
    seed: int | None,
) -> Flow:
    """The workload, asked of the next program that has an address of its own."""
    said = ends.said
    return Flow(
        name=ends.name,
        namespace=ends.client,
        server=ends.server,
        host=setting.client,
        address=legs[addressed(segments).position - 1].right_address,
        protocol=setting.protocol,
        tls=setting.tls,
        workload=setting.workload,
        capture=setting.capture,
        clock=setting.clock,
        limit=setting.limits.virtual,
        at_ns=said.start.ns if said else 0,
        ends_at_ns=said.end.ns if said and said.end is not None else None,
        origins_from=ends.origins_from(setting.family),
        seed=seed or 0,
        background=bool(said and said.background),
        discovery=setting.discovery,
    )
