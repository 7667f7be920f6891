"""Adapters: one small module per real program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from headway.errors import WrongInputError, nearest
from headway.programs.aioquic import Aioquic, AioquicServer
from headway.programs.base import Adapter, Client, QuicPep, ReverseProxy, Server, TcpPep
from headway.programs.caddy import Caddy
from headway.programs.chromium import Chromium
from headway.programs.curl import Curl
from headway.programs.envoy import Envoy
from headway.programs.haproxy import Haproxy, HaproxyProxy
from headway.programs.headway_client import HeadwayClient
from headway.programs.headway_perf import HeadwayPerfClient, HeadwayPerfServer
from headway.programs.headway_quic_pep import HeadwayQuicPep
from headway.programs.headway_server import HeadwayServer
from headway.programs.headway_tcp_pep import HeadwayTcpPep
from headway.programs.nginx import Nginx, Nginx126, NginxProxy
from headway.programs.ngtcp2_client import Ngtcp2Client
from headway.programs.ngtcp2_server import Ngtcp2Server
from headway.programs.quic_go import QuicGo
from headway.programs.wget import Wget
from headway.programs.wget2 import Wget2
from headway.study.chain import Kind, Splitter, at_server, http_end, splitters
from headway.study.hop import Pep
from headway.study.host import Host, Protocol
from headway.study.model import Setting
from headway.study.workload import Cache, Page

_A = TypeVar("_A", bound=Adapter)

CLIENTS: dict[str, Client] = {
    adapter.name: adapter
    for adapter in (
        Curl(),
        Wget(),
        Wget2(),
        Aioquic(),
        Ngtcp2Client(),
        QuicGo(),
        HeadwayClient(),
        HeadwayPerfClient(),
        Chromium(),
    )
}
SERVERS: dict[str, Server] = {
    adapter.name: adapter
    for adapter in (
        Nginx(),
        Nginx126(),
        Caddy(),
        Haproxy(),
        AioquicServer(),
        Ngtcp2Server(),
        HeadwayServer(),
        HeadwayPerfServer(),
    )
}
PROXIES: dict[str, ReverseProxy] = {
    adapter.name: adapter for adapter in (Envoy(), HaproxyProxy(), NginxProxy())
}


QUIC_PEPS: dict[str, QuicPep] = {adapter.name: adapter for adapter in (HeadwayQuicPep(),)}
TCP_PEPS: dict[str, TcpPep] = {adapter.name: adapter for adapter in (HeadwayTcpPep(),)}

_SPLITTERS: dict[Kind, tuple[str, Mapping[str, Adapter]]] = {
    Kind.REVERSE_PROXY: ("proxy", PROXIES),
    Kind.QUIC_PEP: ("QUIC PEP", QUIC_PEPS),
    Kind.TCP_PEP: ("TCP PEP", TCP_PEPS),
}
"""What people call them, and those that there are."""


def adapters_of(setting: Setting) -> Iterator[tuple[Adapter, Host, Protocol]]:
    """The programs of a setting, each with its host and the protocol it sends bodies by.

    The client's is the first and the server's the last; between them are those that act on the
    setting's connections. Of a PEP, the host is its side towards the client.
    """
    yield CLIENTS[setting.client.program], setting.client, setting.protocol
    for splitter in splitters(setting):
        _, known = _SPLITTERS[splitter.kind]
        host = splitter.host
        sending = host.towards_client if isinstance(host, Pep) else host
        yield known[host.program], sending, splitter.protocol
    protocol, _ = at_server(setting)
    yield SERVERS[setting.server.program], setting.server, protocol


def check_programs(setting: Setting) -> None:
    """Check that a setting's programs exist, speak its protocols and have its knobs.

    Raises:
        WrongInputError: they do not; names what would be right.
    """
    client = _find("client", setting.client, CLIENTS, setting.protocol, "client")
    if type(setting.workload) not in client.workloads:
        known = ", ".join(
            name
            for name, other in CLIENTS.items()
            if type(setting.workload) in other.workloads and setting.protocol in other.protocols
        )
        raise WrongInputError(
            f"{client.name} cannot do {setting.workload.kind}; "
            f"these clients can: {known or 'none'}",
            where="workload.kind",
        )
    for splitter in splitters(setting):
        _check_splitter(setting, splitter)
    server = _find("server", setting.server, SERVERS, at_server(setting)[0], "server")
    if isinstance(setting.workload, Page):
        _check_page(setting, setting.workload, server)


def _check_page(setting: Setting, page: Page, server: Server) -> None:
    if not server.replays:
        raise WrongInputError(
            f"{server.name} cannot replay a site; these servers can: "
            f"{', '.join(name for name, other in SERVERS.items() if other.replays)}",
            where="server.program",
        )
    asked = http_end(setting) == len(setting.paths)
    if page.cache is Cache.TICKETS and asked and not server.gives_tickets:
        raise WrongInputError(
            f"{server.name} gives no tickets; these servers do: "
            f"{', '.join(name for name, other in SERVERS.items() if other.gives_tickets)}",
            where="workload.cache",
        )


def _check_splitter(setting: Setting, splitter: Splitter) -> None:
    kind, host = splitter.kind, splitter.host
    where = f"hops.{splitter.name}.{kind}" if setting.hops else str(kind)
    role, known = _SPLITTERS[kind]
    adapter = _find(role, host, known, splitter.protocol, where)
    if isinstance(host, Pep):
        _check_knobs(adapter, host.downstream.knobs, f"{where}.downstream")
        _check_knobs(adapter, host.upstream.knobs, f"{where}.upstream")
    if isinstance(adapter, ReverseProxy):
        upstream = setting.middleboxes[splitter.position].proxy
        assert upstream is not None
        spoken, asked = adapter.upstream_protocols, upstream.upstream.protocol
        _check_speaks(adapter.name, spoken, asked, f"{where}.upstream.protocol")


def _find(role: str, host: Host, known: Mapping[str, _A], protocol: Protocol, where: str) -> _A:
    adapter = known.get(host.program)
    if adapter is None:
        raise WrongInputError(
            _unknown(f"no {role} program {host.program!r}", host.program, list(known)),
            where=f"{where}.program",
        )
    _check_speaks(adapter.name, adapter.protocols, protocol, "protocol")
    _check_knobs(adapter, host.knobs, where)
    return adapter


def _check_knobs(adapter: Adapter, asked: Mapping[str, str], where: str) -> None:
    knobs = {knob.name: knob for knob in adapter.knobs}
    for name, value in asked.items():
        if name not in knobs:
            message = _unknown(f"{adapter.name} has no knob {name!r}", name, list(knobs))
            raise WrongInputError(message, where=f"{where}.knobs")
        choices = knobs[name].choices
        if choices and value not in choices:
            message = _unknown(f"{value!r} is not a value of this knob", value, choices)
            raise WrongInputError(message, where=f"{where}.knobs.{name}")


def _check_speaks(name: str, spoken: frozenset[Protocol], protocol: Protocol, where: str) -> None:
    if protocol not in spoken:
        raise WrongInputError(f"{name} speaks {', '.join(sorted(spoken))}", where=where)


def remarks(setting: Setting) -> tuple[str, ...]:
    """What a reader of this setting's results must know and might overlook."""
    found = []
    for adapter, host in _quic_senders(setting):
        own, asked = adapter.quic_congestion_control(host), str(host.congestion_control)
        if own != asked:
            found.append(
                f"{adapter.name}'s QUIC uses {own}; congestion_control = {asked} holds for its "
                "TCP only"
            )
    return tuple(found)


def _quic_senders(setting: Setting) -> Iterator[tuple[Adapter, Host]]:
    """The programs but the client that send by QUIC; a PEP is there with either side."""
    for adapter, host, protocol in adapters_of(setting):
        if protocol.over_quic and not isinstance(adapter, Client):
            yield adapter, host
    for splitter in splitters(setting):
        if splitter.kind is Kind.QUIC_PEP and isinstance(splitter.host, Pep):
            yield QUIC_PEPS[splitter.host.program], splitter.host.towards_server


def _unknown(message: str, word: str, known: Sequence[str]) -> str:
    return f"{message}{nearest(word, known)}; known: {', '.join(known) or 'none'}"
