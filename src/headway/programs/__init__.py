"""Adapters: one small module per real program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
from headway.study.chain import Kind, at_server, splitters
from headway.study.hop import Pep
from headway.study.host import Host, Protocol
from headway.study.model import Setting

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

SPLITTERS: dict[Kind, tuple[str, Mapping[str, Adapter]]] = {
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
        _, known = SPLITTERS[splitter.kind]
        host = splitter.host
        sending = host.towards_client if isinstance(host, Pep) else host
        yield known[host.program], sending, splitter.protocol
    protocol, _ = at_server(setting)
    yield SERVERS[setting.server.program], setting.server, protocol
