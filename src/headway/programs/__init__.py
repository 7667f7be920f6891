"""Adapters: one small module per real program."""

from __future__ import annotations

from headway.programs.aioquic import Aioquic, AioquicServer
from headway.programs.base import Client, QuicPep, ReverseProxy, Server, TcpPep
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
