"""Chains of hosts between client and server: routers, and PEPs that intercept TCP."""

from __future__ import annotations

import json
import re
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headway.contract.program import Program
from headway.diagnosis.series import read_series
from headway.lab.assemble import orders_for
from headway.lab.machine import Machine
from headway.planning.deploy import deploy
from headway.programs.base import Listener, Origin, Started
from headway.programs.pep import Interception, QuicPep, TcpPep
from headway.programs.registry import QUIC_PEPS, TCP_PEPS
from headway.study.capture import Capture
from headway.study.hop import Pep
from headway.study.network import CLIENT
from headway.study.setting import Setting
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

SPLITTER = """
import json, socket, struct, sys, threading

TRANSPARENT = 19  # IP_TRANSPARENT of linux/in.h

def transparent():
    made = socket.socket()
    made.setsockopt(socket.SOL_IP, TRANSPARENT, 1)
    return made

def told(side):
    info = side.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    control = side.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    return [control.rstrip(b"\\0").decode(), struct.unpack_from("I", info, 80)[0]]

def pump(source, sink):
    while data := source.recv(65536):
        sink.sendall(data)
    sink.shutdown(socket.SHUT_WR)

def split(down):
    up = transparent()
    up.bind((down.getpeername()[0], 0))
    up.connect(down.getsockname())
    ends = [down.getpeername()[0], down.getsockname()[0]]
    print(json.dumps({"ends": ends, "down": told(down), "up": told(up)}), flush=True)
    threading.Thread(target=pump, args=(down, up), daemon=True).start()
    pump(up, down)

listener = transparent()
listener.bind(("0.0.0.0", int(sys.argv[1])))
listener.listen()
while True:
    threading.Thread(target=split, args=listener.accept()[:1], daemon=True).start()
"""


RELAY = """
import select, socket, sys

here, behind, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
down, up = (socket.socket(type=socket.SOCK_DGRAM) for _ in range(2))
down.bind((here, 443))
up.connect((behind, port))
while True:
    for ready in select.select([down, up], [], [])[0]:
        data, sender = ready.recvfrom(2048)
        if ready is down:
            client = sender
            up.send(data)
        else:
            down.sendto(data, client)
"""


class Relay(QuicPep):
    """Stands in for a QUIC PEP: it is addressed, but passes packets on as they are."""

    name = "relay"
    package = "python3"

    def split(self, listener: Listener, behind: Origin, pep: Pep, capture: Capture) -> Started:
        program = Program(
            f"{listener.namespace}-relay",
            listener.namespace,
            ("python3", "-c", RELAY, listener.address, behind.address, str(behind.port)),
            service=True,
            listens=("udp:443",),
        )
        return Started((program,))


class Splitter(TcpPep):
    """The least that a transparent PEP does."""

    name = "splitter"
    package = "python3"

    def intercept(self, interception: Interception, pep: Pep, capture: Capture) -> Started:
        program = Program(
            f"{interception.namespace}-splitter",
            interception.namespace,
            ("python3", "-c", SPLITTER, str(interception.port)),
            service=True,
            listens=(f"tcp:{interception.port}",),
        )
        return Started((program,))


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TCP_PEPS, "splitter", Splitter())
    monkeypatch.setitem(QUIC_PEPS, "relay", Relay())


def chain(*hops: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {"protocol": "h2", "path": {"rtt": "20 ms"}, "hops": list(hops), **others}


def ping(machine: Machine, directory: Path, raw: dict[str, Any]) -> float:
    """Mean round-trip time to the server, ms, as ping tells it."""
    setting = Setting.model_validate(raw)
    deployment = deploy(setting, 1)
    orders = orders_for(deployment)
    argv = ("ping", "-c", "5", "-i", "0.5", deployment.legs[-1].right_address)
    services = tuple(program for program in orders.programs if program.service)
    orders = replace(orders, programs=(*services, Program("ping", CLIENT, argv)))
    assert machine.boot(orders, directory, seed=1).ended[0].exit_status == 0
    said = (directory / "ping.out").read_text()
    return float(re.findall(r"= [\d.]+/([\d.]+)/", said)[0])


ROUTERS = (
    {"name": "terminal", "path": {"rate": "5 Mbit/s", "rtt": "100 ms"}},
    {"name": "gateway", "path": {"rtt": "30 ms"}},
)


def test_paths_between_routers_add_up(machine: Machine, tmp_path: Path) -> None:
    rtt_ms = ping(machine, tmp_path, chain(*ROUTERS))
    # A link that has been idle passes a single packet on at once.
    assert rtt_ms == pytest.approx(150, abs=0.05)


def test_the_narrowest_path_between_routers_decides(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    record = run_setting(chain(*ROUTERS, workload={"size": "4 MB"}))
    assert record.error is None
    assert (record.rate_mbit, record.rtt_ms, record.proxy) == (5, 150, None)
    assert record.connect_s == pytest.approx(0.150, abs=0.001)
    (segment,) = read_series(tmp_path / "run").segments
    # Once slow start has filled it, and before the last bytes have left it.
    used = [
        (at, sent) for at, sent in zip(segment.at_s, segment.sent_bytes, strict=True) if 3 < at < 6
    ]
    (first_s, first), (last_s, last) = used[0], used[-1]
    assert (last - first) * 8 / (last_s - first_s) == pytest.approx(5e6, rel=0.01)


def test_a_cable_is_no_path(machine: Machine, tmp_path: Path) -> None:
    raw = chain({"name": "a"}, {"name": "b"}, {"name": "c"}) | {"path": {}}
    assert ping(machine, tmp_path, raw) < 0.02


PEP = {
    "program": "splitter",
    "congestion_control": "bbr",
    "upstream": {"congestion_control": "reno", "initial_window": 100},
}
HOPS: tuple[dict[str, Any], ...] = (
    {"name": "proxy-st", "tcp_pep": PEP, "path": {"rate": "20 Mbit/s", "rtt": "100 ms"}},
    {"name": "gateway"},
    {"name": "proxy-gw", "tcp_pep": PEP, "path": {"rtt": "40 ms"}},
)
WORKLOAD = {"workload": {"size": "100 kB"}, "capture": {"bodies": True}}


def test_a_transparent_pep_splits_what_is_meant_for_the_server(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    record = run_setting(chain(*HOPS, **WORKLOAD))
    assert (record.error, record.proxy, record.proxy_cc) == (None, "splitter, splitter", "bbr, bbr")
    assert record.rtt_ms == 160
    # TCP's handshake ends at the first PEP, TLS's at the server.
    assert record.connect_s == pytest.approx(0.020, abs=0.001)
    assert record.tls_s is not None and record.tls_s > 0.020 + 0.160
    segments = read_series(tmp_path / "run").segments
    assert [segment.sender for segment in segments] == ["proxy-st", "proxy-gw", "server"]
    assert {segment.evidence for segment in segments} == {"tcp_info"}
    legs = deploy(Setting.model_validate(chain(*HOPS))).legs
    for name in ("proxy-st", "proxy-gw"):
        (line,) = (tmp_path / "run" / f"{name}-splitter.out").read_text().splitlines()
        told = json.loads(line)
        assert told["ends"] == [legs[0].left_address, legs[-1].right_address]
        assert (told["down"], told["up"]) == (["bbr", 10], ["reno", 100])


def test_a_bypassed_pep_is_a_router(run_setting: RunSetting, tmp_path: Path) -> None:
    record = run_setting(chain(*HOPS, **WORKLOAD, bypass=["proxy-st", "proxy-gw"]))
    assert (record.error, record.proxy) == (None, None)
    assert record.connect_s == pytest.approx(0.160, abs=0.001)
    assert not list((tmp_path / "run").glob("*splitter*"))


def test_what_is_not_intercepted_passes_a_pep(machine: Machine, tmp_path: Path) -> None:
    rtt_ms = ping(machine, tmp_path, chain(*HOPS))
    assert rtt_ms == pytest.approx(160, abs=0.2)


def test_quic_passes_a_tcp_pep(run_setting: RunSetting) -> None:
    record = run_setting(chain(*HOPS, **WORKLOAD) | {"protocol": "h3"})
    assert (record.error, record.proxy) == (None, None)
    assert record.connect_s == pytest.approx(0.160, abs=0.005)


def test_quic_peps_are_gone_through_one_after_the_other(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    hops = [{**hop, "quic_pep": {"program": "relay"}} if "tcp_pep" in hop else hop for hop in HOPS]
    raw = chain(*hops, protocol="h3", workload={"size": "100 kB"})
    record = run_setting(raw | {"capture": {"bodies": True, "packets": True}})
    assert (record.error, record.proxy) == (None, "relay, relay")
    assert record.connect_s == pytest.approx(0.160, abs=0.005)
    # Each of them speaks to its neighbours only.
    legs = deploy(Setting.model_validate(raw)).legs
    captured = (tmp_path / "run" / "server.pcapng").read_bytes()
    ends = [socket.inet_aton(address) for address in (legs[2].right_address, legs[0].left_address)]
    assert [end in captured for end in ends] == [False, False]
    assert socket.inet_aton(legs[3].left_address) in captured


def test_equal_seeds_give_equal_runs(run_setting: RunSetting) -> None:
    lossy = {"rate": "20 Mbit/s", "rtt": "100 ms", "loss": "2 %"}
    hops = [{**HOPS[0], "path": lossy}, *HOPS[1:]]
    first, second = (run_setting(chain(*hops, **WORKLOAD), name=name) for name in ("a", "b"))
    assert first.error is None
    assert first.total_s == second.total_s


def test_a_reverse_proxy_is_a_hop_like_others(run_setting: RunSetting) -> None:
    proxy = {"program": "nginx", "upstream": {"protocol": "h2"}}
    record = run_setting(
        chain(
            {"name": "gateway", "path": {"rtt": "40 ms"}},
            {"name": "cache", "proxy": proxy, "path": {"rtt": "10 ms"}},
            {"name": "inner", "tcp_pep": PEP, "path": {"rtt": "6 ms"}},
            **WORKLOAD,
        )
    )
    assert (record.error, record.proxy) == (None, "nginx, splitter")
    assert (record.rtt_ms, record.upstream_rtt_ms, record.upstream_protocol) == (60, 16, "h2")
    assert record.connect_s == pytest.approx(0.060, abs=0.001)
