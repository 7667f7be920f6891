"""A deployment: a setting, resolved; hosts as a graph, their programs, and the flows between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from headway.planning.topology import Bottleneck, Leg, Node
from headway.programs.base import Adapter, Client, Flow
from headway.study.host import Host, Protocol
from headway.study.model import Setting
from headway.study.path import Link, Path, Way

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
        return tuple(place for leg in self.legs for place in leg.bottlenecks(way))


@dataclass(frozen=True)
class Deployment:
    """A setting, resolved for a seed: everything else reads what is where from here.

    Attributes:
        setting: the setting.
        seed: of the run; None if paths are as the study states them.
        nodes: the hosts, from the client to the server; routers of links are not among them.
        legs: what lies between neighbours, as a run of this seed meets it.
        segments: what the connections of a flow cross, the client's first.
        flows: who asks whom, by what, for what, from when.
        competing: each of several flows with its own hosts and what of the network it crosses, as if it
            were alone; empty if there is one flow. Segments are then those of the first.
        key: where its flow stands in the study file; empty if the study says only one.
    """

    setting: Setting
    seed: int | None
    nodes: tuple[Node, ...]
    legs: tuple[Leg, ...]
    segments: tuple[Segment, ...]
    flows: tuple[Flow, ...]
    competing: tuple[Deployment, ...] = ()
    key: str = ""

    @property
    def each(self) -> tuple[Deployment, ...]:
        """Every flow by itself."""
        return self.competing or (self,)

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Of every flow the client, either side of what splits connections, and the server, in this order."""
        segments = (segment for one in self.each for segment in one.segments)
        return tuple(end for segment in segments for end in (segment.near, segment.far))

    @property
    def programs(self) -> tuple[Endpoint, ...]:
        """Every program once: of every flow the client, and the others at their ends towards it."""
        return tuple(
            end
            for one in self.each
            for end in (one.segments[0].near, *(segment.far for segment in one.segments))
        )

    @property
    def proxies(self) -> tuple[Endpoint, ...]:
        """What splits connections, each at its end towards the client."""
        return tuple(segment.far for one in self.each for segment in one.segments[:-1])

    @property
    def client(self) -> Client:
        """The program that carries out the workload; of several flows, that of the first."""
        adapter = self.segments[0].near.adapter
        assert isinstance(adapter, Client)
        return adapter

    @property
    def server(self) -> Endpoint:
        """The origin server; of several flows, that of the first."""
        return self.segments[-1].far

    @property
    def http_end(self) -> int:
        """Position of the host that ends the client's HTTP: a reverse proxy, or the server.

        No other host is sure to route nothing.
        """
        ends = (one.position for one in self.proxies if one.role is Role.REVERSE_PROXY)
        return next(ends, self.server.position)

    def bottlenecks(self, way: Way) -> Iterator[Bottleneck]:
        """Where the counters of all links are, the client's first."""
        for leg in self.legs:
            yield from leg.bottlenecks(way)

    @property
    def http_path(self) -> Path:
        """All links up to the end of the client's HTTP."""
        return joined([leg.path for leg in self.legs[: self.http_end]])


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
