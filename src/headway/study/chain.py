"""The chain between client and server: where connections end, and what lies between those places."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import StrEnum

from headway.study.hop import Hop
from headway.study.host import Host, Protocol
from headway.study.model import Setting
from headway.study.path import Link, Path


class Kind(StrEnum):
    """What a program that splits connections is, by its key in the study file."""

    REVERSE_PROXY = "proxy"
    QUIC_PEP = "quic_pep"
    TCP_PEP = "tcp_pep"


@dataclass(frozen=True)
class Splitter:
    """A host on the way whose program ends connections and opens others towards the server.

    Attributes:
        name: of the hop.
        position: of the hop in the chain, 0 next to the client.
        kind: what the program is.
        host: its part of the setting; for the PEPs a `Pep`.
        protocol: towards the client.
        tls: whether the connections towards the client are encrypted.
    """

    name: str
    position: int
    kind: Kind
    host: Host
    protocol: Protocol
    tls: bool

    @property
    def is_addressed(self) -> bool:
        """Whether others connect to its address; a TCP PEP takes what is meant for the server."""
        return self.kind is not Kind.TCP_PEP


@dataclass(frozen=True)
class Section:
    """What a connection crosses: the paths between two places where connections end.

    Attributes:
        receiver: number of the host nearer to the client, which is 0.
        sender: number of the other one; the paths are those between them.
        path: all links on the way, as one path; a cable is a link without properties.
        protocol: what is spoken.
        tls: whether it is encrypted.
    """

    receiver: int
    sender: int
    path: Path
    protocol: Protocol
    tls: bool


def splitters(setting: Setting) -> tuple[Splitter, ...]:
    """The programs between client and server that act on a setting's connections, in order.

    A PEP acts on connections of its transport only, and none acts on a hop that is bypassed.
    """
    found = []
    protocol, tls = setting.protocol, setting.tls
    for position, hop in enumerate(setting.middleboxes):
        kind, host = _acting(hop, protocol)
        if host is None or hop.name in setting.bypass:
            continue
        found.append(Splitter(hop.name, position, kind, host, protocol, tls))
        if kind is Kind.REVERSE_PROXY and hop.proxy:
            protocol, tls = hop.proxy.upstream.protocol, hop.proxy.upstream.tls
    return tuple(found)


def _acting(hop: Hop, protocol: Protocol) -> tuple[Kind, Host | None]:
    if hop.proxy:
        return Kind.REVERSE_PROXY, hop.proxy
    return (Kind.QUIC_PEP, hop.quic_pep) if protocol.over_quic else (Kind.TCP_PEP, hop.tcp_pep)


def sections(setting: Setting) -> tuple[Section, ...]:
    """What connections cross from host to host, the client's first; one more than splitters."""
    crossed, acting = setting.paths, splitters(setting)
    spoken = [(splitter.protocol, splitter.tls) for splitter in acting]
    ends = [0, *(splitter.position + 1 for splitter in acting), len(crossed)]
    return tuple(
        Section(receiver, sender, _joined(crossed[receiver:sender]), protocol, tls)
        for (receiver, sender), (protocol, tls) in zip(
            itertools.pairwise(ends), [*spoken, at_server(setting)], strict=True
        )
    )


def at_server(setting: Setting) -> tuple[Protocol, bool]:
    """What the server is asked by, and whether that is encrypted."""
    proxies = [hop.proxy for hop in setting.middleboxes if hop.name not in setting.bypass]
    upstream = next((proxy.upstream for proxy in reversed(proxies) if proxy), None)
    return (upstream.protocol, upstream.tls) if upstream else (setting.protocol, setting.tls)


def http_paths(setting: Setting) -> tuple[Path, Path | None]:
    """All links between the client and the end of its HTTP: the first reverse proxy, or the server.

    The second path is what lies behind that proxy; None without one.
    """
    end, crossed = http_end(setting), setting.paths
    behind = crossed[end:]
    return _joined(crossed[:end]), _joined(behind) if behind else None


def http_end(setting: Setting) -> int:
    """Number of the host that ends the client's HTTP, which is 0; it routes nothing."""
    ends = (s.position + 1 for s in splitters(setting) if s.kind is Kind.REVERSE_PROXY)
    return next(ends, len(setting.paths))


def host_names(setting: Setting, client: str, server: str) -> tuple[str, ...]:
    """Names of all hosts, from the client to the server."""
    return (client, *(hop.name for hop in setting.middleboxes), server)


def _joined(paths: tuple[Path | None, ...]) -> Path:
    if len(paths) == 1 and paths[0]:
        return paths[0]
    links = tuple(link for path in paths for link in (path.links if path else (Link(),)))
    profiles = [path.profile for path in paths if path and path.profile]
    return Path(links=links, profile=", ".join(profiles) or None)
