"""No program of Headway's waits without sleeping, so that none pays for calls or is interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.lab.machine import Machine
from headway.lab.run import carry_out
from headway.planning.deploy import deploy
from headway.planning.runs import Run
from headway.programs.registry import CLIENTS, PROXIES, QUIC_PEPS, SERVERS, TCP_PEPS
from headway.records.record import make_record
from headway.study.bulk import Bulk
from headway.study.call import Call
from headway.study.setting import Setting
from headway.study.video import Video
from headway.study.workload import Download, Page
from tests.lab.conftest import equipped

pytestmark = pytest.mark.lab

BODY = {"size": "1 MB"}
BULK = {"kind": "bulk", "size": "1 MB"}
PAGE = {"kind": "page", "site": "sander-19"}
PATH = {"rate": "20 Mbit/s", "rtt": "40 ms", "loss": "1 %"}
PERF = "headway-perf"
CALL = {"kind": "call", "rate": "1 Mbit/s", "duration": "2 s"}
SERIES = {"kind": "requests", "count": 20, "down": "2 kB", "users": 2}
VIDEO = {"kind": "video", "ladder": ["200 kbit/s"], "segment": "2 s", "duration": "8 s"}
MESSAGES = {
    "kind": "messages",
    "carrier": "websocket",
    "up": "100 B",
    "down": "200 B",
    "count": 20,
    "interval": "20 ms",
}
CALLER = "headway-call"


def of_clients() -> dict[str, dict[str, Any]]:
    return {
        f"client {name} {protocol}": {
            "protocol": str(protocol),
            "client": {"program": name},
            **(
                {"workload": PAGE, "server": {"program": "headway-server"}}
                if Page in client.workloads
                else {"workload": BULK, "server": {"program": PERF}}
                if Bulk in client.workloads
                else {"workload": CALL, "server": {"program": CALLER}}
                if Call in client.workloads
                else {"workload": BODY}
                if Download in client.workloads
                else {"workload": VIDEO}
                if Video in client.workloads
                else {"workload": SERIES, "server": {"program": "headway-server"}}
            ),
        }
        for name, client in CLIENTS.items()
        for protocol in sorted(client.protocols)
    }


def of_servers() -> dict[str, dict[str, Any]]:
    return {
        f"server {name} {protocol}": {
            "protocol": str(protocol),
            "server": {"program": name},
            **(
                {"workload": BULK, "client": {"program": PERF}}
                if name == PERF
                else {"workload": CALL, "client": {"program": CALLER}}
                if name == CALLER
                else {"workload": BODY}
            ),
        }
        for name, server in SERVERS.items()
        for protocol in sorted(server.protocols)
    }


def of_websocket() -> dict[str, dict[str, Any]]:
    """In the middle of it, both ends wait for messages, and for the time of the next one."""
    return {
        f"websocket {protocol}": {
            "protocol": protocol,
            "client": {"program": "headway-client"},
            "server": {"program": "headway-server"},
            "workload": MESSAGES,
        }
        for protocol in ("h1", "h2", "h3")
    }


def of_what_is_between() -> dict[str, dict[str, Any]]:
    proxies = {
        f"proxy {name} {protocol}": {
            "protocol": str(protocol),
            "proxy": {"program": name, "upstream": {"path": {"rtt": "20 ms"}}},
            "workload": BODY,
        }
        for name, proxy in PROXIES.items()
        for protocol in sorted(proxy.protocols)
    }
    peps: dict[str, dict[str, Any]] = {
        f"{kind} {name}": {
            "protocol": protocol,
            "client": {"program": PERF},
            "server": {"program": PERF},
            "workload": BULK,
            "hops": [{"name": "pep", kind: {"program": name}, "path": {"rtt": "20 ms"}}],
        }
        for kind, protocol, found in (("quic_pep", "quic", QUIC_PEPS), ("tcp_pep", "tcp", TCP_PEPS))
        for name in found
    }
    return {**proxies, **peps}


SETTINGS = {
    name: Setting.model_validate({"path": PATH, **raw})
    for name, raw in (of_clients() | of_servers() | of_websocket() | of_what_is_between()).items()
}


def test_every_program_is_in_the_table() -> None:
    tried = {end.adapter.name for setting in SETTINGS.values() for end in deploy(setting).programs}
    assert tried == {*CLIENTS, *SERVERS, *PROXIES, *QUIC_PEPS, *TCP_PEPS}


@pytest.mark.parametrize("name", SETTINGS)
def test_no_program_waits_without_sleeping(name: str, machine: Machine, tmp_path: Path) -> None:
    setting = SETTINGS[name]
    run = Run("run", "test", "", "cell", str(setting.protocol), 1, 1, setting)
    result = carry_out(run, equipped(machine, setting), tmp_path)
    record = make_record(run, result, tmp_path)
    assert record.error is None
    assert (record.charged_calls, record.forced_ticks) == (0, 0)
