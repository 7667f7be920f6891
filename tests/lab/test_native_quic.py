"""Our QUIC in the lab, by its own qlog: the first flight, the order of responses, migration."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from headway.diagnosis.qlog_events import read_traces
from headway.diagnosis.qlog_forms import Event
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

RTT_S = 0.04
MIGRATION_RTT_S = 0.02
COUNT, SIZE = 5, 200_000
REQUEST_STREAMS = [0, 4, 8, 12, 16]


def setting(**server_knobs: str) -> dict[str, Any]:
    return {
        "protocol": "h3",
        "client": {"program": "headway-client"},
        "server": {"program": "headway-server", "knobs": server_knobs},
        "workload": {"kind": "parallel", "count": COUNT, "size": f"{SIZE} B"},
        "path": {"rate": "20 Mbit/s", "rtt": "40 ms", "queue": "2000 packets"},
        "capture": {"bodies": True, "qlog": True},
    }


def events(run: Path, host: str, name: str) -> Iterator[Event]:
    """Events of the one connection in a host's qlog."""
    (file,) = (run / "qlog" / host).iterdir()
    for trace in read_traces(file):
        yield from (event for event in trace.events if event["name"] == name)


def content(packets: Iterator[Event]) -> list[tuple[float, list[tuple[int, int]]]]:
    """Packets with content of responses: when, in seconds, and stream and length of its frames."""
    found = []
    for packet in packets:
        frames = [
            (frame["stream_id"], frame["length"])
            for frame in packet["data"]["frames"]
            if frame["frame_type"] == "stream" and frame["stream_id"] in REQUEST_STREAMS
        ]
        if frames:
            found.append((packet["time"] / 1000, frames))
    return found


@pytest.mark.parametrize("window", [10, 20, 40])
def test_the_initial_window_is_what_the_first_flight_sends(
    run_setting: RunSetting, tmp_path: Path, window: int
) -> None:
    raw = setting(pacing="off")
    raw["server"]["initial_window"] = window
    assert run_setting(raw).error is None
    sent = content(events(tmp_path / "run", "server", "transport:packet_sent"))
    began_s = sent[0][0]
    first_flight = [frames for at_s, frames in sent if at_s < began_s + RTT_S / 2]
    assert len(first_flight) == window


@pytest.mark.parametrize(
    ("scheduler", "turn"),
    [("sequential", None), ("round-robin", 1), ("batched-round-robin:4", 4)],
)
def test_responses_are_sent_in_the_schedulers_order(
    run_setting: RunSetting, tmp_path: Path, scheduler: str, turn: int | None
) -> None:
    assert run_setting(setting(scheduler=scheduler)).error is None
    sent = content(events(tmp_path / "run", "server", "transport:packet_sent"))
    # It comes as it goes, for nothing is lost.
    received = content(events(tmp_path / "run", "client", "transport:packet_received"))
    assert [frames for _, frames in received] == [frames for _, frames in sent]
    streams = [stream for _, frames in sent for stream, _ in frames]
    if turn is None:
        assert [stream for stream, _ in groupby(streams)] == REQUEST_STREAMS
        return
    # The last round is cut short by the responses' ends.
    whole = SIZE // 1472 // turn * turn * COUNT
    rounds = [stream for stream in REQUEST_STREAMS for _ in range(turn)]
    assert streams[:whole] == (rounds * (whole // len(rounds)))


@pytest.mark.parametrize("server", ["headway-server", "nginx", "caddy", "ngtcp2"])
def test_migration_keeps_the_transfer(run_setting: RunSetting, server: str) -> None:
    size, after, rate_byte_s = 600_000, 250_000, 10e6 / 8
    record = run_setting(migration(server, size, after))
    assert record.error is None
    assert record.migrated_s is not None and record.total_s is not None
    rest_s = (size - after) / rate_byte_s
    # What was under way to the old address is lost, and slow start begins again.
    assert rest_s < record.total_s - record.migrated_s < rest_s * 1.06 + 12 * MIGRATION_RTT_S


def migration(server: str, size: int, after: int) -> dict[str, Any]:
    workload = {"kind": "migration", "size": f"{size} B", "after": f"{after} B"}
    return setting() | {
        "server": {"program": server},
        "workload": workload,
        "path": {"rate": "10 Mbit/s", "rtt": "20 ms"},
    }


def test_a_new_path_begins_anew(run_setting: RunSetting, tmp_path: Path) -> None:
    """RFC 9000, section 9.4: the congestion window is that of a new connection."""
    raw = migration("headway-server", 1_200_000, 600_000)
    raw["path"]["queue"] = "200 packets"
    assert run_setting(raw).error is None
    begun_ms = [
        event["time"]
        for event in events(tmp_path / "run", "server", "transport:migration_state_updated")
        if event["data"]["new"] == "migration_started"
    ]
    assert len(begun_ms) == 1
    windows = [
        (event["time"] >= begun_ms[0], event["data"]["congestion_window"])
        for event in events(tmp_path / "run", "server", "recovery:metrics_updated")
        if "congestion_window" in event["data"]
    ]
    before = [window for is_after, window in windows if not is_after]
    after = [window for is_after, window in windows if is_after]
    assert before[-1] > 2 * 10 * 1472
    assert after[0] == 10 * 1472
