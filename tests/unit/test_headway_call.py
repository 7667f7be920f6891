"""headway-call's adapters, and what a study may say of calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headway.contract.outcome import Ended
from headway.planning.capability_checks import check_programs
from headway.planning.deploy import deploy
from headway.programs.headway_call import CLIENT_REPORT, server_report
from headway.programs.measurement import BulkFlow, Measurement
from headway.programs.registry import CLIENTS
from headway.study.setting import Setting
from tests.deployed import flow_of, orders_of

OK = Ended("headway-call", 0, 2_000_000_000)
HEARD = {
    "start_s": 0.05,
    "end_s": 1.05,
    "interval_s": 0.1,
    "count": 50,
    "received": 49,
    "received_bytes": 7840,
    "reordered": 1,
    "delay": {"p50_s": 0.02, "p95_s": 0.03, "p99_s": 0.04},
    "jitter_s": 0.001,
    "series": [{"received_bytes": 800}, {"received_bytes": 7040}],
}


def setting(**workload: Any) -> Setting:
    call = {"kind": "call", "rate": "64 kbit/s", "datagram": "160 B", "duration": "1 s"} | workload
    ends = {role: {"program": "headway-call"} for role in ("client", "server")}
    return Setting.model_validate({"protocol": "udp", "workload": call, **ends})


def test_a_call_is_started_as_the_study_says() -> None:
    of = setting(direction="upload")
    check_programs(deploy(of))
    server, client = orders_of(of).programs
    assert server.listens == ("udp:443",)
    words = ("--every=20000000ns", "--payload=160", "--count=50")
    assert set(words) <= set(client.argv) and "--direction=upload" in client.argv


def measured(of: Setting, directory: Path) -> Measurement:
    return CLIENTS["headway-call"].measure(flow_of(of), directory, OK)


def report(started_unix_s: float, heard: dict[str, Any] | None) -> str:
    return json.dumps({"started_unix_s": started_unix_s, "start_s": 0.01, "heard": heard})


def test_a_download_is_told_by_the_client(tmp_path: Path) -> None:
    (tmp_path / CLIENT_REPORT).write_text(report(1000, HEARD))
    result = measured(setting(), tmp_path)
    assert (result.bytes, result.total_s, result.ttfb_s) == (7840, 1.04, pytest.approx(0.04))
    assert result.flows == (BulkFlow(0.05, 0.1, (800, 7040)),)
    assert result.call is not None
    assert result.call.datagrams_lost_pct == pytest.approx(2)
    assert (result.call.delay_p95_ms, result.call.jitter_at_end_ms) == (30, 1)


def test_an_upload_is_told_by_the_server_on_the_clients_clock(tmp_path: Path) -> None:
    (tmp_path / CLIENT_REPORT).write_text(report(1000.25, None))
    (tmp_path / server_report()).write_text(report(1000, HEARD | {"end_s": 1.3}) + "\n")
    result = measured(setting(direction="upload"), tmp_path)
    assert result.total_s == pytest.approx(1.04)


@pytest.mark.parametrize("line", ["", report(1000, None)])
def test_a_call_of_which_nothing_came_has_failed(tmp_path: Path, line: str) -> None:
    (tmp_path / CLIENT_REPORT).write_text(report(1000, None))
    (tmp_path / server_report()).write_text(line)
    result = measured(setting(direction="upload"), tmp_path)
    assert result.error == "headway-call: nothing came of the call"


def test_what_cannot_be_read_is_told_by_the_programs_last_words(tmp_path: Path) -> None:
    (tmp_path / CLIENT_REPORT).write_text("{")
    (tmp_path / "headway-call.err").write_text("headway-call: 10.0.0.1:443 does not answer\n")
    error = measured(setting(), tmp_path).error
    assert error is not None and "does not answer" in error
