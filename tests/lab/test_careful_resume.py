"""Careful Resume (RFC 9959) over a geostationary satellite's path."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

from headway.diagnosis.qlog_events import read_traces
from headway.programs.headway_perf import server_report
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

RATE_MBIT, RTT_S = 20.0, 0.58
BDP_BYTES = RATE_MBIT * 1e6 / 8 * RTT_S
# Of the 1514 bytes of a full frame, 1472 are QUIC's, headers of its own included.
SHARE = 1472 / 1514


@dataclass(frozen=True)
class Download:
    """What a download left behind: goodput, the sender's last state, and its phases."""

    goodput_mbit: float
    sender: dict[str, Any]
    phases: list[dict[str, Any]]

    @property
    def saved(self) -> dict[str, str]:
        """Knobs of a server that resumes from it."""
        window, rtt_ms = self.sender["capacity_bytes"], self.sender["min_rtt_ms"]
        return {"saved_window": f"{window}B", "saved_rtt": f"{rtt_ms}ms"}


class Carry(Protocol):
    """Downloads for some seconds over a path, with knobs of the server."""

    def __call__(
        self, name: str, duration_s: int, path: dict[str, str], knobs: dict[str, str]
    ) -> Download: ...


def phases(download: Download) -> list[str]:
    return [phase["new"] for phase in download.phases]


def setting(path: dict[str, str], knobs: dict[str, str], **workload: Any) -> dict[str, Any]:
    return {
        "protocol": "quic",
        "path": {"rate": f"{RATE_MBIT} Mbit/s", "rtt": f"{RTT_S} s", "queue": "2 BDP"} | path,
        "client": {"program": "headway-perf"},
        "server": {"program": "headway-perf", "knobs": knobs},
        "workload": {"kind": "bulk"} | workload,
        "capture": {"qlog": True},
    }


@pytest.fixture
def download(run_setting: RunSetting, tmp_path: Path) -> Carry:
    def carry(name: str, duration_s: int, path: dict[str, str], knobs: dict[str, str]) -> Download:
        record = run_setting(setting(path, knobs, duration=f"{duration_s} s"), name=name)
        assert record.error is None
        assert record.goodput_mbit is not None
        report = json.loads((tmp_path / name / server_report()).read_text())
        (qlog,) = (tmp_path / name).rglob("*_server.sqlog")
        updates = [
            event["data"]
            for trace in read_traces(qlog)
            for event in trace.events
            if event["name"] == "recovery:careful_resume_phase_updated"
        ]
        return Download(record.goodput_mbit, report["series"][-1], updates)

    return carry


def test_the_first_seconds_carry_what_slow_start_would_have_cost(download: Carry) -> None:
    observed = download("observed", 15, {}, {})
    assert observed.sender["capacity_bytes"] == pytest.approx(BDP_BYTES * SHARE, rel=0.01)
    assert observed.sender["min_rtt_ms"] == pytest.approx(RTT_S * 1e3, abs=0.1)
    fresh = download("fresh", 5, {}, {})
    resumed = download("resumed", 5, {}, observed.saved)
    assert phases(fresh) == []
    assert phases(resumed) == ["reconnaissance", "unvalidated", "validating", "normal"]
    assert resumed.sender["lost_packets"] == 0
    # Slow start has doubled ten packets seven times. The jump comes 1.7 s after the connection
    # began: 0.6 s with half the path's rate follow, and then all of it.
    assert fresh.goodput_mbit == pytest.approx(2.72, rel=0.02)
    assert resumed.goodput_mbit == pytest.approx(10.5, rel=0.03)
    jump = resumed.phases[1]["state_data"]["congestion_window"]
    assert jump == observed.sender["capacity_bytes"] // 2


def test_a_path_that_became_slower_is_retreated_from(download: Carry) -> None:
    queue_bytes, slowdown = 100_000, 4
    bdp_bytes = BDP_BYTES / slowdown
    saved = {"saved_window": f"{BDP_BYTES:.0f}B", "saved_rtt": f"{RTT_S}s"}
    slower = {"rate": f"{RATE_MBIT / slowdown} Mbit/s", "queue": f"{queue_bytes} B"}
    resumed = download("slower", 8, slower, saved)
    assert phases(resumed)[-2:] == ["safe_retreat", "normal"]
    retreat = resumed.phases[-2]["state_data"]
    assert retreat["congestion_window"] == retreat["pipesize"] // 2
    # The jump arrives at twice the path's rate. Of what is too much, half of all, the queue takes
    # its share; that it is full is known a round trip and the queue's delay later.
    lasted = 1 + 2 * queue_bytes / bdp_bytes
    lost_bytes = bdp_bytes * lasted - queue_bytes
    assert resumed.sender["lost_packets"] == pytest.approx(lost_bytes / 1514, rel=0.1)


def test_a_server_remembers_its_clients_path(run_setting: RunSetting) -> None:
    starts_s = (0.0, 20.0)
    took_s = {}
    for remember in ("off", "60s"):
        starts = [f"{start_s} s" for start_s in starts_s]
        raw = setting({}, {"remember": remember}, size="4 MB", starts=starts)
        record = run_setting(raw, name=remember)
        assert record.error is None
        ends_s = zip(record.each_s, starts_s, strict=True)
        took_s[remember] = [end_s - start_s for end_s, start_s in ends_s]
    first_s, second_s = took_s["off"]
    assert second_s == pytest.approx(first_s, abs=0.02)
    assert took_s["60s"][0] == first_s
    # Slow start's seven rounds against three and a half.
    assert first_s - took_s["60s"][1] == pytest.approx(3.7 * RTT_S, rel=0.05)
