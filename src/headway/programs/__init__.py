"""Adapters: one small module per real program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from headway.errors import WrongInputError, nearest
from headway.programs.aioquic import Aioquic
from headway.programs.base import Adapter, Client, ReverseProxy, Server
from headway.programs.caddy import Caddy
from headway.programs.curl import Curl
from headway.programs.envoy import Envoy
from headway.programs.haproxy import Haproxy, HaproxyProxy
from headway.programs.nginx import Nginx, Nginx126, NginxProxy
from headway.programs.ngtcp2_client import Ngtcp2Client
from headway.programs.ngtcp2_server import Ngtcp2Server
from headway.programs.quic_go import QuicGo
from headway.programs.wget import Wget
from headway.programs.wget2 import Wget2
from headway.study.model import Host, Protocol, Setting

_A = TypeVar("_A", bound=Adapter)

CLIENTS: dict[str, Client] = {
    adapter.name: adapter
    for adapter in (Curl(), Wget(), Wget2(), Aioquic(), Ngtcp2Client(), QuicGo())
}
SERVERS: dict[str, Server] = {
    adapter.name: adapter for adapter in (Nginx(), Nginx126(), Caddy(), Haproxy(), Ngtcp2Server())
}
PROXIES: dict[str, ReverseProxy] = {
    adapter.name: adapter for adapter in (Envoy(), HaproxyProxy(), NginxProxy())
}


def adapters_of(setting: Setting) -> Iterator[tuple[Adapter, Host, Protocol]]:
    """The programs of a setting, each with its host and the protocol it sends bodies by."""
    yield CLIENTS[setting.client.program], setting.client, setting.protocol
    protocol = setting.protocol
    if setting.proxy:
        yield PROXIES[setting.proxy.program], setting.proxy, protocol
        protocol = setting.proxy.upstream.protocol
    yield SERVERS[setting.server.program], setting.server, protocol


def check_programs(setting: Setting) -> None:
    """Check that a setting's programs exist, speak its protocols and have its knobs.

    Raises:
        WrongInputError: they do not; names what would be right.
    """
    at_server = setting.proxy.upstream.protocol if setting.proxy else setting.protocol
    client = _find("client", setting.client, CLIENTS, setting.protocol)
    if type(setting.workload) not in client.workloads:
        known = ", ".join(
            name
            for name, other in CLIENTS.items()
            if type(setting.workload) in other.workloads and setting.protocol in other.protocols
        )
        raise WrongInputError(
            f"{client.name} cannot do {setting.workload.kind}; these clients can: {known}",
            where="workload.kind",
        )
    if setting.proxy:
        proxy = _find("proxy", setting.proxy, PROXIES, setting.protocol)
        _check_speaks(proxy.name, proxy.upstream_protocols, at_server, "proxy.upstream.protocol")
    _find("server", setting.server, SERVERS, at_server)


def _find(role: str, host: Host, known: Mapping[str, _A], protocol: Protocol) -> _A:
    adapter = known.get(host.program)
    if adapter is None:
        raise WrongInputError(
            _unknown(f"no {role} program {host.program!r}", host.program, list(known)),
            where=f"{role}.program",
        )
    _check_speaks(adapter.name, adapter.protocols, protocol, "protocol")
    knobs = {knob.name: knob for knob in adapter.knobs}
    for name, value in host.knobs.items():
        if name not in knobs:
            message = _unknown(f"{adapter.name} has no knob {name!r}", name, list(knobs))
            raise WrongInputError(message, where=f"{role}.knobs")
        choices = knobs[name].choices
        if choices and value not in choices:
            message = _unknown(f"{value!r} is not a value of this knob", value, choices)
            raise WrongInputError(message, where=f"{role}.knobs.{name}")
    return adapter


def _check_speaks(name: str, spoken: frozenset[Protocol], protocol: Protocol, where: str) -> None:
    if protocol not in spoken:
        raise WrongInputError(f"{name} speaks {', '.join(sorted(spoken))}", where=where)


def remarks(setting: Setting) -> tuple[str, ...]:
    """What a reader of this setting's results must know and might overlook."""
    found = []
    for adapter, host, protocol in adapters_of(setting):
        own, asked = adapter.quic_congestion_control(host), str(host.congestion_control)
        sends = not isinstance(adapter, Client)
        if sends and protocol is Protocol.H3 and own != asked:
            found.append(
                f"{adapter.name}'s QUIC uses {own}; congestion_control = {asked} holds for its "
                "TCP only"
            )
    return tuple(found)


def _unknown(message: str, word: str, known: Sequence[str]) -> str:
    return f"{message}{nearest(word, known)}; known: {', '.join(known) or 'none'}"
