"""Dumbbells and parking lots carry flows that nothing slows down as arithmetic says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.columns.record import FlowRecord
from headway.records.flowfile import FLOW_RECORDS
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

ENDS = {role: {"program": "headway-call"} for role in ("client", "server")}
PAYLOAD_SHARE = 1200 / (1200 + 14 + 20 + 8)
"""Of a datagram in its frame."""


def call(rate: str, **more: Any) -> dict[str, Any]:
    workload = {"kind": "call", "rate": rate, "duration": "5 s"}
    return {"protocol": "udp", "workload": workload} | ENDS | more


def carried(run_setting: RunSetting, directory: Path, **setting: Any) -> dict[str, FlowRecord]:
    record = run_setting({"variation": "none"} | setting)
    assert record.error is None
    return {one.flow: one for one in FLOW_RECORDS.load(directory / "run").flows}


def fair(rate: str) -> dict[str, Any]:
    """A path whose queue serves flows by turns."""
    return {"rate": rate, "rtt": "10 ms", "queue": {"bdp": 40, "discipline": "fq_codel"}}


def test_every_access_path_has_its_delay(run_setting: RunSetting, tmp_path: Path) -> None:
    access = {"near": {}, "far": {"access": {"rtt": "30 ms"}}}
    access["both"] = {"access": {"rtt": "100 ms"}, "server_access": {"rtt": "20 ms"}}
    # None meets another in a queue.
    flows = {
        name: call("100 kbit/s", start=f"{1 + 7 * place} ms", **paths)
        for place, (name, paths) in enumerate(access.items())
    }
    path = {"rate": "100 Mbit/s", "rtt": "40 ms"}
    found = carried(run_setting, tmp_path, path=path, flows=flows)
    expected_ms = {"near": 20, "far": 20 + 15, "both": 20 + 50 + 10}
    for name, delay_ms in expected_ms.items():
        assert found[name].delay_p50_ms == pytest.approx(delay_ms, abs=0.02)
        assert found[name].delay_p99_ms == pytest.approx(delay_ms, abs=0.02)
        assert found[name].datagrams_lost_pct == 0


def test_a_fair_queue_gives_each_its_max_min_share(run_setting: RunSetting, tmp_path: Path) -> None:
    """Who wants less than an equal share has it; the others share the rest (RFC 7806, section 2)."""
    flows = {"little": call("2 Mbit/s"), "more": call("8 Mbit/s"), "most": call("12 Mbit/s")}
    found = carried(run_setting, tmp_path, path=fair("10 Mbit/s"), flows=flows)
    rest_mbit = (10 - 2 / PAYLOAD_SHARE) / 2 * PAYLOAD_SHARE
    for name, mbit in {"little": 2, "more": rest_mbit, "most": rest_mbit}.items():
        assert found[name].goodput_mbit == pytest.approx(mbit, rel=0.05), name


def test_a_parking_lot_has_each_flow_where_it_goes(run_setting: RunSetting, tmp_path: Path) -> None:
    """One goes all the way, one over the first path only and one over the second."""
    flows = {
        "all": call("8 Mbit/s"),
        "first": call("8 Mbit/s", leaves="middle"),
        "second": call("8 Mbit/s", enters="middle"),
    }
    hops = [{"name": "middle", "path": fair("5 Mbit/s")}]
    found = carried(run_setting, tmp_path, path=fair("10 Mbit/s"), hops=hops, flows=flows)
    # Data come from the servers: over the 5 Mbit/s first, of which half is left for the 10 Mbit/s.
    wire = {"all": 2.5, "second": 2.5, "first": 10 - 2.5}
    for name, mbit in wire.items():
        assert found[name].goodput_mbit == pytest.approx(mbit * PAYLOAD_SHARE, rel=0.05), name
