"""Adapters of servers and reverse proxies: what they start and what they write for it."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from headway.contract.outcome import Ended
from headway.programs.base import (
    CA_FILE,
    SERVER_NAME,
    Client,
    Listener,
    Origin,
    ReverseProxy,
    Server,
    Started,
)
from headway.programs.registry import PROXIES, SERVERS
from headway.study.application import Application
from headway.study.capture import Capture
from headway.study.family import HostAddress
from headway.study.host import HTTP, CongestionControl, Host, Protocol
from headway.study.network import PROXY, SERVER
from headway.study.setting import Setting
from tests.deployed import flow_of

ADDRESS, ORIGIN_ADDRESS = HostAddress("10.0.2.2"), HostAddress("10.0.5.2")
ORIGIN = Origin(ORIGIN_ADDRESS, Protocol.H1, tls=True)

# Another value for knobs that take any.
OTHER_VALUES = {
    "http3_stream_buffer_size": "64k",
    "http2_chunk_size": "8k",
    "ssl_buffer_size": "4k",
    "proxy_buffer_size": "4k",
    "quic_max_window": "480k",
    "h2_receive_buffer": "1600k",
    "ssl_max_record": "1400",
    "bufsize": "32768",
    "client_body_buffer_size": "1m",
    "http2_body_preread_size": "1m",
    "h2_stream_window": "65535",
    "h2_connection_window": "65535",
    "stream_window": "65536",
    "connection_window": "65536",
    "initial_rtt": "100ms",
    "keep_tokens": "on",
    "ack_threshold": "10",
    "scheduler": "sequential",
    "priorities": "firefox",
    "notsent_lowat": "0",
    "tls_record_bytes": "1400",
    "h2_frame_bytes": "4000",
    "max_window": "100",
    "initial_ssthresh": "50",
    "emulated_connections": "2",
    "hybla_rtt0": "50ms",
    "pacing": "off",
    "max_burst": "44",
    "max_udp_payload": "1200",
    "probe_up_to": "1472",
    "packet_threshold": "10",
    "time_threshold": "2",
    "idle_timeout": "60s",
    "max_streams": "10",
    "key_update": "50",
    "max_ack_delay": "10ms",
    "saved_window": "1450000B",
    "saved_rtt": "580ms",
    "remember": "600s",
    "cpu_per_sent": "10us",
    "cpu_per_received": "10us",
    "qpack_capacity": "4096",
    "qpack_blocked_streams": "100",
    "hpack_capacity": "4096",
}


UPLOADS, STREAMS = Application("upload"), Application("events", streams=True)


def listener(
    namespace: str,
    *protocols: Protocol,
    tls: bool = True,
    application: Application | None = None,
) -> Listener:
    return Listener(
        namespace,
        ADDRESS,
        frozenset(protocols),
        tls,
        application=application,
    )


def host(control: str = "cubic", **knobs: str) -> Host:
    return Host(program="any", congestion_control=CongestionControl(control), knobs=knobs)


def start(
    adapter: Server | ReverseProxy,
    protocol: Protocol,
    at: Host,
    application: Application | None = None,
) -> Started:
    if isinstance(adapter, Server):
        return adapter.serve(listener(SERVER, protocol, application=application), at, Capture())
    asked = listener(PROXY, protocol, application=application)
    return adapter.forward(asked, ORIGIN, at, Capture())


def text(started: Started) -> str:
    """All that a program is told."""
    words = [word for program in started.programs for word in program.argv]
    return "\n".join([*words, *started.files.values()])


ADAPTERS = [
    *(pytest.param(server, id=f"server-{name}") for name, server in SERVERS.items()),
    *(pytest.param(proxy, id=f"proxy-{name}") for name, proxy in PROXIES.items()),
]


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_services_open_the_sockets_of_their_protocols(adapter: Server | ReverseProxy) -> None:
    over_udp = (Protocol.H3, Protocol.QUIC, Protocol.UDP)
    sockets = {one: "udp:443" if one in over_udp else "tcp:443" for one in Protocol}
    for protocol in adapter.protocols:
        started = start(adapter, protocol, host())
        assert all(program.service for program in started.programs)
        opened = [socket for program in started.programs for socket in program.listens]
        assert opened == [sockets[protocol]]
        assert ADDRESS in text(started)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_every_knob_changes_what_is_started(adapter: Server | ReverseProxy) -> None:
    def told(at: Host) -> list[str]:
        return [
            text(start(adapter, protocol, at, application))
            for protocol in sorted(adapter.protocols)
            for application in (None, UPLOADS, STREAMS)
        ]

    for knob in adapter.knobs:
        choices = [choice for choice in knob.choices if choice != knob.default]
        other = choices[0] if choices else OTHER_VALUES[knob.name]
        control = next(iter(knob.controls_with(other)), "cubic")
        changed = host(control, **{knob.name: other})
        assert told(changed) != told(host(control)), knob.name
        assert told(host(control, **{knob.name: knob.default})) == told(host(control))


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_every_congestion_control_of_quic_is_another_start(adapter: Server | ReverseProxy) -> None:
    if not any(protocol.over_quic for protocol in adapter.protocols):
        assert not adapter.quic_congestion_controls
        return
    told = {
        text(start(adapter, Protocol.H3, host(name))) for name in adapter.quic_congestion_controls
    }
    assert len(told) == len(adapter.quic_congestion_controls)
    unasked = start(adapter, Protocol.H3, Host(program="any"))
    has_cubic = "cubic" in adapter.quic_congestion_controls
    usual = "cubic" if has_cubic else adapter.quic_congestion_controls[0]
    assert unasked == start(adapter, Protocol.H3, host(usual))


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_adjustments_name_their_program(adapter: Server | ReverseProxy) -> None:
    assert adapter.adjustments or adapter.protocols == {Protocol.UDP}
    assert {adjustment.program for adjustment in adapter.adjustments} <= {adapter.name}


@pytest.mark.parametrize("server", SERVERS.values(), ids=SERVERS)
@pytest.mark.parametrize("proxy", PROXIES.values(), ids=PROXIES)
def test_a_server_and_a_proxy_share_no_file(server: Server, proxy: ReverseProxy) -> None:
    """Hosts have one file system, and their programs one directory for their output."""
    started = [start(server, Protocol.H3, host()), start(proxy, Protocol.H3, host())]
    names = [program.name for one in started for program in one.programs]
    assert len(set(names)) == len(names)
    assert not set(started[0].files) & set(started[1].files)


@pytest.mark.parametrize("proxy", PROXIES.values(), ids=PROXIES)
def test_proxies_verify_the_server(proxy: ReverseProxy) -> None:
    for protocol in proxy.upstream_protocols:
        origin = Origin(ORIGIN_ADDRESS, protocol, tls=True)
        told = text(proxy.forward(listener(PROXY, Protocol.H2), origin, host(), Capture()))
        assert CA_FILE in told
        assert SERVER_NAME in told
        assert ORIGIN_ADDRESS in told


@pytest.mark.parametrize("proxy", PROXIES.values(), ids=PROXIES)
def test_a_cleartext_server_is_asked_on_its_port(proxy: ReverseProxy) -> None:
    origin = Origin(ORIGIN_ADDRESS, Protocol.H1, tls=False)
    told = text(proxy.forward(listener(PROXY, Protocol.H2), origin, host(), Capture()))
    assert CA_FILE not in told
    assert f"{ORIGIN_ADDRESS}:80" in told or '"port_value": 80' in told


def test_cleartext_listens_on_port_80() -> None:
    for server in SERVERS.values():
        if Protocol.H1 in server.protocols:
            started = server.serve(listener(SERVER, Protocol.H1, tls=False), host(), Capture())
            assert [s for program in started.programs for s in program.listens] == ["tcp:80"]


def test_haproxy_calls_reno_newreno() -> None:
    assert "quic-cc-algo newreno" in text(start(SERVERS["haproxy"], Protocol.H3, host("reno")))


def test_haproxys_bodies_come_from_nginx_on_a_unix_socket() -> None:
    """A TCP connection between the two would be taken for one to the client."""
    started = start(SERVERS["haproxy"], Protocol.H2, host())
    files, front = started.programs
    assert (files.argv[0], front.argv[0]) == ("nginx", "haproxy")
    assert files.listens == ()
    (nginx, haproxy) = started.files.values()
    socket = next(word for word in nginx.split() if word.startswith("unix:"))
    assert socket.removeprefix("unix:").removesuffix(";") in haproxy


@pytest.mark.parametrize(
    ("control", "knobs", "bbr", "bbr2"),
    [
        ("bbr", {}, True, False),
        ("bbr", {"bbr_version": "2"}, True, True),
        ("cubic", {}, False, False),
        ("cubic", {"bbr_version": "2"}, False, False),
    ],
)
def test_envoys_flags_choose_the_controller(
    control: str, knobs: dict[str, str], bbr: bool, bbr2: bool
) -> None:
    flags = envoy(Protocol.H3, Protocol.H1, host(control, **knobs))["layered_runtime"]["layers"][0]
    values = {name.rsplit("_default_to_", 1)[1]: on for name, on in flags["static_layer"].items()}
    assert values == {"bbr": bbr, "bbr_v2": bbr2}


@pytest.mark.parametrize(("down", "up"), list(itertools.product(sorted(HTTP), sorted(HTTP))))
def test_envoy_speaks_one_protocol_on_either_side(down: Protocol, up: Protocol) -> None:
    resources = envoy(down, up, host())["static_resources"]
    (below,), (cluster,) = resources["listeners"], resources["clusters"]
    assert below["address"]["socket_address"]["protocol"] == ("UDP" if down == "h3" else "TCP")
    told = json.dumps(below["filter_chains"])
    names = {Protocol.H1: "http/1.1", Protocol.H2: "h2", Protocol.H3: "h3"}
    assert f'"alpn_protocols": ["{names[down]}"]' in told
    assert f'"alpn_protocols": ["{names[up]}"]' in json.dumps(cluster["transport_socket"])
    (options,) = cluster["typed_extension_protocol_options"].values()
    (chosen,) = options["explicit_http_config"]
    expected = {Protocol.H1: "http_", Protocol.H2: "http2_", Protocol.H3: "http3_"}[up]
    assert chosen == f"{expected}protocol_options"


def envoy(down: Protocol, up: Protocol, at: Host) -> dict[str, Any]:
    origin = Origin(ORIGIN_ADDRESS, up, tls=True)
    started = PROXIES["envoy"].forward(listener(PROXY, down), origin, at, Capture())
    (configuration,) = started.files.values()
    loaded: dict[str, Any] = json.loads(configuration)
    return loaded


def test_the_documented_example_is_an_adapter(tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "adding-a-program.md"
    (code,) = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    scope: dict[str, Any] = {}
    exec(compile(code, str(page), "exec"), scope)
    wget: Client = scope["Wget"]()
    setting = Setting.model_validate(
        {"protocol": "h1", "workload": {"size": "1 kB"}, "client": {"program": "wget"}}
    )
    started = wget.start(flow_of(setting, ADDRESS))
    assert started.programs[-1].argv[0] == "wget"
    assert started.programs[-1].argv[-1] == f"https://{SERVER_NAME}/1000.bin"
    ended = Ended("wget", 0, 2 * 10**9)
    left_nothing = wget.measure(flow_of(setting), tmp_path, ended)
    assert left_nothing.error == "wget: it printed no result (exit status 0)"
    (tmp_path / "wget.err").write_text('URL:https://server.test/1000.bin [1000/1000] -> "/x" [1]\n')
    measured = wget.measure(flow_of(setting), tmp_path, ended)
    assert (measured.error, measured.total_s, measured.bytes) == (None, 2.0, 1000)
