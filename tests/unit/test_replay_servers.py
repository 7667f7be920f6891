"""Servers that replay a recorded site: what they are started with, and told."""

from __future__ import annotations

import pytest

from headway.programs.base import Listener, Started
from headway.programs.registry import SERVERS
from headway.study.capture import Capture
from headway.study.family import HostAddress
from headway.study.host import Host, Protocol
from headway.study.network import SERVER

ADDRESSES = tuple(map(HostAddress, ("10.0.2.2", "10.0.9.1", "10.0.9.2")))
NGINX = ("nginx", "nginx-1.26")


def replay(name: str, *protocols: Protocol, tls: bool = True, site: bool = True) -> Started:
    address, *more = ADDRESSES
    listener = Listener(SERVER, address, frozenset(protocols), tls, site, tuple(more))
    return SERVERS[name].serve(listener, Host(program=name), Capture())


def configuration(started: Started) -> list[str]:
    """Directives of nginx's configuration."""
    (text,) = started.files.values()
    return [line.strip() for line in text.splitlines()]


def listening(started: Started) -> set[str]:
    """Where nginx listens, and for what."""
    lines = (line for line in configuration(started) if line.startswith("listen "))
    return {line.removeprefix("listen ").removesuffix(";") for line in lines}


def test_headway_server_has_the_site_in_place_of_files() -> None:
    (program,) = replay("headway-server", Protocol.H3).programs
    assert "--site=/lab/site" in program.argv
    assert not any(word.startswith("--root") for word in program.argv)
    (program,) = replay("headway-server", Protocol.H3, site=False).programs
    assert {"--root=/lab/www", "--no-dates"} <= set(program.argv)
    assert not any(word.startswith("--site") for word in program.argv)


def test_headway_server_listens_on_every_address() -> None:
    (secured,) = replay("headway-server", Protocol.H2).programs
    assert {f"--listen={address}:443" for address in ADDRESSES} <= set(secured.argv)
    (plain,) = replay("headway-server", Protocol.H1, tls=False).programs
    assert {f"--plain={address}:80" for address in ADDRESSES} <= set(plain.argv)
    assert plain.listens == ("tcp:80",)


@pytest.mark.parametrize("name", NGINX)
def test_nginx_has_a_headway_server_behind_it(name: str) -> None:
    """Matching is in one place, and a workload waits for both."""
    started = replay(name, Protocol.H1, Protocol.H2)
    origin, front = started.programs
    assert {"--plain=127.0.0.1:8081", "--site=/lab/site"} <= set(origin.argv)
    assert (origin.listens, front.listens) == (("tcp:8081",), ("tcp:443",))
    assert origin.namespace == front.namespace == SERVER
    told = configuration(started)
    assert any("upstream replay { server 127.0.0.1:8081;" in line for line in told)
    assert "location / { proxy_pass http://replay; }" in told
    assert "proxy_set_header X-Forwarded-Proto $scheme;" in told
    assert not any(line.startswith("root ") for line in told)


@pytest.mark.parametrize(
    ("protocol", "tls", "port"),
    [
        (Protocol.H3, True, "443 quic"),
        (Protocol.H2, True, "443 ssl"),
        (Protocol.H1, True, "443 ssl"),
        (Protocol.H1, False, "80"),
    ],
)
def test_nginx_listens_on_every_address(protocol: Protocol, tls: bool, port: str) -> None:
    started = replay("nginx", protocol, tls=tls)
    assert listening(started) == {f"{address}:{port}" for address in ADDRESSES}


def test_the_module_is_of_the_same_suite_as_its_nginx() -> None:
    modules = [configuration(replay(name, Protocol.H3))[0] for name in NGINX]
    module = "usr/lib/nginx/modules/ngx_http_headers_more_filter_module.so"
    assert modules == [f"load_module /{module};", f"load_module /opt/trixie/{module};"]


def test_without_a_site_nginx_serves_files_and_loads_no_module() -> None:
    started = replay("nginx", Protocol.H2, site=False)
    assert len(started.programs) == 1
    told = configuration(started)
    assert "root /lab/www;" in told
    assert not any("load_module" in line or "proxy_pass" in line for line in told)
