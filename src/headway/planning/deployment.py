"""A deployment: a setting, resolved: hosts, what lies between them, their programs, and the flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from headway.planning.origins import PlannedOrigin
from headway.planning.topology import Bottleneck, Leg, Node, bottlenecks
from headway.programs.base import Adapter, Client, Flow
from headway.study.edge import Interface
from headway.study.host import Host, Protocol
from headway.study.network import PlannedWays, StatedFlow, StatedNetwork
from headway.study.path import Link, Path, Way
from headway.study.setting import Setting

FLOWS_DIRECTORY = "flows"
"""In a run's directory: a directory for each flow that has a name."""
_USUAL_WINDOW = 10
"""Initial window of Linux's TCP, segments (RFC 6928)."""


class Role(StrEnum):
    """What a program is, by its key in the study file."""

    CLIENT = "client"
    REVERSE_PROXY = "proxy"
    QUIC_PEP = "quic_pep"
    TCP_PEP = "tcp_pep"
    SERVER = "server"

    @property
    def label(self) -> str:
        """What people call it."""
        return _TITLES.get(self, str(self))


_TITLES = {Role.QUIC_PEP: "QUIC PEP", Role.TCP_PEP: "TCP PEP"}


@dataclass(frozen=True)
class Endpoint:
    """A program's end of its connections on one of its sides (RFC 9000, section 1.2).

    Attributes:
        role: what the program is.
        where: its key in the study file.
        name: of its host.
        position: of its host in the chain; the client's is 0.
        adapter: the program.
        asked: the program's table of the study, of all its sides.
        host: how it is to send on this side.
        protocol: what it speaks there.
        tls: whether that is encrypted.
        known: the programs that could be in its place.
    """

    role: Role
    where: str
    name: str
    position: int
    adapter: Adapter
    asked: Host
    host: Host
    protocol: Protocol
    tls: bool
    known: Mapping[str, Adapter]

    @property
    def ends_tls(self) -> bool:
        """Whether the connection is its own; a TCP PEP passes on what it cannot read."""
        return self.role is not Role.TCP_PEP

    @property
    def congestion_control(self) -> str:
        """Its TCP's, or its QUIC's; ``none`` of datagrams that nothing slows down."""
        if self.protocol is Protocol.UDP:
            return "none"
        if self.protocol.over_quic:
            return self.adapter.quic_congestion_control(self.host)
        return self.host.tcp_congestion_control.value

    @property
    def initial_window(self) -> int | None:
        """Segments of TCP, or packets of QUIC; None if the program decides, or nothing slows it down."""
        if self.protocol is Protocol.UDP:
            return None
        if not self.protocol.over_quic:
            return self.host.initial_window.tcp or _USUAL_WINDOW
        if not self.adapter.sets_quic_initial_window:
            return None
        return self.host.initial_window.quic or _USUAL_WINDOW


@dataclass(frozen=True)
class Segment:
    """What a transport connection crosses: the legs between two programs that end it.

    Attributes:
        near: its end nearer to the client, which opened it.
        far: the other end, which sends responses.
        legs: the legs between them, the nearer ones first.
    """

    near: Endpoint
    far: Endpoint
    legs: tuple[Leg, ...]

    @property
    def protocol(self) -> Protocol:
        """What is spoken."""
        return self.far.protocol

    @property
    def tls(self) -> bool:
        """Whether it is encrypted."""
        return self.far.tls

    @cached_property
    def path(self) -> Path:
        """All links on the way, as one path."""
        return joined([leg.path for leg in self.legs])

    def bottlenecks(self, way: Way) -> tuple[Bottleneck, ...]:
        """Where the counters of its links are, the client's link first."""
        return bottlenecks(self.legs, way)


@dataclass(frozen=True)
class DeployedOrigin:
    """A server of its own for some hosts of a page.

    Attributes:
        name: in the study.
        planned: what it answers for, and how.
        end: the server's end of its connections.
        node: its host.
        leg: what lies between the end of the study's path and it, as a run of its seed meets it.
    """

    name: str
    planned: PlannedOrigin
    end: Endpoint
    node: Node
    leg: Leg


@dataclass(frozen=True)
class FixedWay:
    """The way of a flow whose packets all cross the same: what takes a flow's path for one asks for this.

    Attributes:
        legs: on the way, the client's first.
        segments: what its connections cross, likewise.
    """

    legs: tuple[Leg, ...]
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class ChangingWay:
    """The ways of packets that follow contacts: by which one of them goes depends on when it leaves.

    Attributes:
        planned: by which edges hosts send them on, from when on.
        legs: that they may cross, by the names of edges.
    """

    planned: PlannedWays
    legs: Mapping[str, Leg]


@dataclass(frozen=True)
class DeployedFlow:
    """A flow of a run: who asks whom for what, over which hosts.

    Attributes:
        setting: its setting, as if there were no other flow.
        asked: what its client is asked to do.
        nodes: the hosts on its way, from its client to its server; routers of links are not among them.
        legs: what lies between them, as a run of its seed meets it; if its way changes, for packets that leave at once.
        segments: what its connections cross, the client's first; likewise.
        stated: the flow as the study states it.
        origins: servers beside its own, of some hosts of a page.
        resolving: what lies between its client and whom that asks for addresses; nothing if it is told them.
        beside: between other interfaces of its client and its server.
        changing: the ways of its packets if they follow contacts.
        asking: those of its questions, likewise.
    """

    setting: Setting
    asked: Flow
    nodes: tuple[Node, ...]
    legs: tuple[Leg, ...]
    segments: tuple[Segment, ...]
    stated: StatedFlow
    origins: tuple[DeployedOrigin, ...] = ()
    resolving: tuple[Leg, ...] = ()
    beside: Mapping[Interface, Leg] = field(default_factory=dict)
    changing: ChangingWay | None = None
    asking: ChangingWay | None = None

    @cached_property
    def way(self) -> FixedWay | ChangingWay:
        """What its packets cross between its client and its server."""
        return self.changing or FixedWay(self.legs, self.segments)

    @property
    def key(self) -> str:
        """Where it stands in the study file; empty if the study says only one flow."""
        return self.stated.key

    @property
    def other(self) -> Leg | None:
        """Between client and server over the other family; None if they have one."""
        return self.beside.get(Interface.OTHER_FAMILY)

    @property
    def second(self) -> Leg | None:
        """Between the client's second interface and the server; None if it has one interface."""
        return self.beside.get(Interface.SECOND)

    @property
    def named(self) -> str:
        """Its name in the study file, which several may have; empty if the study says only one flow."""
        return self.key.removeprefix("flows.")

    @property
    def directory(self) -> str:
        """Where it leaves what it leaves, below the run's directory: there itself if it has no name."""
        return f"{FLOWS_DIRECTORY}/{self.asked.name}" if self.asked.name else ""

    @property
    def crossed_legs(self) -> tuple[Leg, ...]:
        """The legs, and those of other ways that its packets may take."""
        if self.changing is None:
            return self.legs
        on_route = {edge.name for edge in self.stated.route}
        others = self.changing.legs.items()
        return (*self.legs, *(leg for name, leg in others if name not in on_route))

    @property
    def all_legs(self) -> tuple[Leg, ...]:
        """These, and those between other interfaces."""
        return (*self.crossed_legs, *self.beside.values())

    @property
    def start_s(self) -> float:
        """When its client starts, from the start of the workload."""
        return self.asked.at_ns / 1e9

    @property
    def end_s(self) -> float | None:
        """When its client is ended, if it is."""
        return None if self.asked.ends_at_ns is None else self.asked.ends_at_ns / 1e9

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """The client, either side of what splits connections, and the server, in this order."""
        return tuple(end for segment in self.segments for end in (segment.near, segment.far))

    @property
    def programs(self) -> tuple[Endpoint, ...]:
        """Every program once: the client, and the others at their ends towards it."""
        return (self.segments[0].near, *(segment.far for segment in self.segments))

    @property
    def proxies(self) -> tuple[Endpoint, ...]:
        """What splits connections, each at its end towards the client."""
        return tuple(segment.far for segment in self.segments[:-1])

    @property
    def client(self) -> Client:
        """The program that carries out the workload."""
        adapter = self.segments[0].near.adapter
        assert isinstance(adapter, Client)
        return adapter

    @property
    def server(self) -> Endpoint:
        """The origin server."""
        return self.segments[-1].far

    @property
    def http_end(self) -> int:
        """Position of the host that ends the client's HTTP: a reverse proxy, or the server.

        No other host is sure to route nothing.
        """
        ends = (proxy.position for proxy in self.proxies if proxy.role is Role.REVERSE_PROXY)
        return next(ends, self.server.position)

    @property
    def http_server(self) -> Endpoint:
        """What ends the client's HTTP there."""
        return next(
            segment.far for segment in self.segments if segment.far.position == self.http_end
        )

    def over(self, leg: Leg) -> Segment:
        """What the client's connection crosses between other interfaces: nothing splits it before its HTTP ends."""
        return Segment(self.segments[0].near, self.http_server, (leg,))

    @property
    def http_path(self) -> Path:
        """All links up to the end of the client's HTTP."""
        return joined([leg.path for leg in self.legs[: self.http_end]])


@dataclass(frozen=True)
class Deployment:
    """A setting, resolved for a seed: everything else reads what is where from here.

    Attributes:
        setting: the setting.
        seed: of the run; None if paths are as the study states them.
        network: hosts, paths and flows as the study states them.
        nodes: all hosts; routers of links are not among them.
        legs: what lies between neighbours, as a run of this seed meets it.
        flows: those that share it, in the order of the study file; one if it names none.
    """

    setting: Setting
    seed: int | None
    network: StatedNetwork
    nodes: tuple[Node, ...]
    legs: tuple[Leg, ...]
    flows: tuple[DeployedFlow, ...]

    @property
    def only(self) -> DeployedFlow:
        """Its flow, for what several cannot be asked.

        Raises:
            ValueError: it has several.
        """
        (flow,) = self.flows
        return flow

    @property
    def programs(self) -> tuple[Endpoint, ...]:
        """Every program of every flow."""
        return tuple(
            end
            for flow in self.flows
            for end in (*flow.programs, *(origin.end for origin in flow.origins))
        )


def addressed(segments: Sequence[Segment]) -> Endpoint:
    """The endpoint that a connection over these segments is opened to: the next program with an address of its own.

    TCP PEPs are transparent: what is meant for the server reaches them.
    """
    return next(segment.far for segment in segments if segment.far.role is not Role.TCP_PEP)


def joined(paths: Sequence[Path | None]) -> Path:
    """Paths in a row as one; a cable is a link without properties."""
    if len(paths) == 1 and paths[0]:
        return paths[0]
    links = tuple(link for path in paths for link in (path.links if path else (Link(),)))
    profiles = [path.profile for path in paths if path and path.profile]
    return Path(links=links, profile=", ".join(profiles) or None)
