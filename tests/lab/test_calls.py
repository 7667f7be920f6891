"""Calls in a lab: datagrams at a constant rate, how many come and how late."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.lab.pcapng import read_pcapng
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

ENDS = {role: {"program": "headway-call"} for role in ("client", "server")}
PATH = {"rate": "10 Mbit/s", "rtt": "40 ms"}
HEADERS_BYTES = 14 + 20 + 8


def setting(path: dict[str, Any], **workload: Any) -> dict[str, Any]:
    call = {"kind": "call", "rate": "1 Mbit/s", "duration": "5 s"} | workload
    return {"protocol": "udp", "variation": "none", "path": PATH | path, "workload": call} | ENDS


@pytest.mark.parametrize("direction", ["download", "upload"])
def test_on_an_empty_path_each_datagram_takes_the_same(
    run_setting: RunSetting, direction: str
) -> None:
    record = run_setting(setting({}, direction=direction))
    assert record.error is None
    # One every 9.6 ms.
    assert record.datagrams == 520 and record.bytes == 520 * 1200
    assert record.datagrams_lost_pct == 0 and record.datagrams_reordered == 0
    # Propagation alone: a link that is free passes a packet at once, and then is busy with it.
    for delay_ms in (record.delay_p50_ms, record.delay_p95_ms, record.delay_p99_ms):
        assert delay_ms == pytest.approx(20, abs=0.02)
    assert record.jitter_at_end_ms == pytest.approx(0, abs=0.01)
    assert record.limited_by is None and record.tls is False


def test_a_call_needs_no_encryption(run_setting: RunSetting) -> None:
    """Its server is at port 80 then, and is waited for there."""
    record = run_setting(setting({}) | {"tls": False})
    assert (record.error, record.datagrams, record.datagrams_lost_pct) == (None, 520, 0)


@pytest.mark.parametrize("direction", ["download", "upload"])
def test_waits_of_seconds_end_on_time(
    run_setting: RunSetting, tmp_path: Path, direction: str
) -> None:
    # One every 1.92 s. Waits of `poll` and `epoll_wait` end late by a thousandth of that.
    slow = setting({}, direction=direction, rate="5 kbit/s", duration="12 s")
    record = run_setting(slow | {"capture": {"packets": True}})
    assert record.error is None and record.datagrams == 6
    sender = "server" if direction == "download" else "client"
    frames = read_pcapng(tmp_path / "run" / f"{sender}.pcapng")
    times = [at_ns for at_ns, frame in frames if len(frame) == 1200 + HEADERS_BYTES]
    assert len(times) == 6
    for number, at_ns in enumerate(times):
        assert at_ns - times[0] == pytest.approx(number * 1_920_000_000, abs=20_000)


@pytest.mark.parametrize(("direction", "way"), [("download", "down"), ("upload", "up")])
def test_what_the_path_loses_is_what_does_not_come(
    run_setting: RunSetting, direction: str, way: str
) -> None:
    record = run_setting(setting({"loss": "3 %"}, direction=direction))
    assert record.error is None and record.datagrams == 520
    lost = getattr(record, f"lost_{way}")
    # The path may lose an end or an acknowledgment of it, too.
    came = record.datagrams * (1 - (record.datagrams_lost_pct or 0) / 100)
    assert 0 <= lost - (record.datagrams - came) <= 3
    assert record.datagrams_lost_pct == pytest.approx(3, abs=2)


def test_above_the_paths_rate_the_queue_fills_and_the_rest_is_lost(run_setting: RunSetting) -> None:
    path = {"rate": "1 Mbit/s", "queue": "50 kB"}
    record = run_setting(setting(path, rate="2 Mbit/s", duration="20 s"))
    assert record.error is None
    share = 1200 / (1200 + HEADERS_BYTES)
    # Half of what was sent, less headers; what the queue holds at the end comes, too.
    queue_s = 50_000 * 8 / 1e6
    carried = share * (20 + queue_s) * 1e6 / (20 * 2e6)
    assert record.datagrams_lost_pct == pytest.approx(100 * (1 - carried), abs=0.5)
    assert record.delay_p95_ms == pytest.approx(20 + queue_s * 1e3, rel=0.03)


@pytest.mark.parametrize("direction", ["download", "upload"])
def test_a_call_beside_a_bulk_flow_waits_in_its_queue(
    run_setting: RunSetting, direction: str
) -> None:
    call = setting({})["workload"] | {"direction": direction}
    perf = {role: {"program": "headway-perf"} for role in ("client", "server")}
    bulk = {"kind": "bulk", "duration": "10 s", "direction": direction}
    flows = {
        "call": {"protocol": "udp", "start": "2 s", "workload": call} | ENDS,
        "bulk": {"protocol": "tcp", "workload": bulk} | perf,
    }
    record = run_setting({"path": PATH | {"queue": "1 BDP"}, "flows": flows})
    assert record.error is None
    if direction == "download":  # Columns of queues are of those towards the client.
        assert record.queue_delay_p95_ms == pytest.approx(40, rel=0.1)
    # The row of all flows tells of the call, too: the path and its full queue.
    assert record.delay_p95_ms == pytest.approx(20 + 40, rel=0.05)
