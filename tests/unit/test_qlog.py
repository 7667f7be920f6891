from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headway.diagnosis import qlog_text
from headway.diagnosis.qlog import compact_qlog, read_qlog, read_quic_traces
from headway.diagnosis.qlog_events import read_traces
from headway.diagnosis.qlog_trace import QuicPoint
from headway.errors import HeadwayError

Events = list[dict[str, Any]]


def metrics(time: float, **values: float) -> dict[str, Any]:
    return {"time": time, "name": "recovery:metrics_updated", "data": values}


def packet(time: float, way: str, *frames: str) -> dict[str, Any]:
    listed = [{"frame_type": frame} for frame in frames]
    return {"time": time, "name": f"transport:packet_{way}", "data": {"frames": listed}}


def sequence(header: dict[str, Any], events: Events) -> str:
    return "".join(f"\x1e{json.dumps(record)}\n" for record in [header, *events])


NGTCP2 = {
    "qlog_format": "JSON-SEQ",
    "qlog_version": "0.3",
    "trace": {
        "vantage_point": {"name": "ngtcp2", "type": "server"},
        "common_fields": {"time_format": "relative", "reference_time": 0},
    },
}
"""The header that ngtcp2 1.11 writes."""

QUIC_GO = {
    "file_schema": "urn:ietf:params:qlog:file:sequential",
    "serialization_format": "application/qlog+json-seq",
    "trace": {
        "event_schemas": ["urn:ietf:params:qlog:events:quic-12"],
        "vantage_point": {"type": "server"},
        "common_fields": {
            "reference_time": {
                "clock_type": "monotonic",
                "epoch": "unknown",
                "wall_clock_time": "2026-01-01T00:00:00.550095616Z",
            }
        },
    },
}
"""The header that quic-go 0.59 writes."""


def read(tmp_path: Path, text: str) -> list[QuicPoint]:
    file = tmp_path / "one.sqlog"
    file.write_text(text)
    (trace,) = read_qlog(file, "server")
    return list(trace.points)


def test_a_sequence_of_version_0_3(tmp_path: Path) -> None:
    events = [
        packet(0, "received", "crypto"),
        metrics(0, smoothed_rtt=333, congestion_window=12000, bytes_in_flight=0, pto_count=0),
        packet(0, "sent", "crypto"),
        metrics(100, smoothed_rtt=100, congestion_window=13200, bytes_in_flight=9600),
        {"time": 150, "name": "recovery:packet_lost", "data": {}},
        metrics(150, congestion_window=9240, bytes_in_flight=8000, ssthresh=9240, pto_count=2),
    ]
    file = tmp_path / "one.sqlog"
    file.write_text(sequence(NGTCP2, events))
    (trace,) = read_qlog(file, "server")
    assert (trace.host, trace.vantage, trace.epoch_s) == ("server", "server", None)
    assert trace.first_sent_s == 0
    assert trace.points == (
        QuicPoint(0.0, 12000, 0, None, 333),
        QuicPoint(0.1, 13200, 9600, None, 100),
        QuicPoint(0.15, 9240, 9600, 9240, 100, lost=1, timeouts=2),
    )


def sized(time: float, length: int, *frames: str) -> dict[str, Any]:
    """A packet of so many bytes."""
    sent = packet(time, "sent", *frames)
    return {**sent, "data": {**sent["data"], "raw": {"length": length}}}


def test_what_is_sent_between_acknowledgements_is_in_flight(tmp_path: Path) -> None:
    """Metrics tell what has changed only, so those at 0.2 s say that 1000 bytes are left again."""
    events = [
        sized(0, 1252, "crypto"),  # in flight as soon as metrics say how much is
        metrics(10, congestion_window=12000, bytes_in_flight=1000),
        sized(50, 1200, "stream"),
        sized(80, 1300, "ack", "stream"),
        sized(120, 40, "ack"),
        metrics(200, congestion_window=13200),
        sized(250, 500, "ping"),
    ]
    points = read(tmp_path, sequence(NGTCP2, events))
    assert [(point.at_s, point.in_flight_bytes) for point in points] == [
        (0.01, 1000),
        (0.05, 2200),
        (0.08, 3500),
        (0.12, 3500),
        (0.2, 3500),
        (0.25, 1500),
    ]


def test_a_sequence_of_the_newer_schema(tmp_path: Path) -> None:
    """Metrics hold only what changed; the wall clock and the congestion state are told."""
    events = [
        {"time": 5.5, "name": "recovery:congestion_state_updated", "data": {"new": "slow_start"}},
        metrics(6, congestion_window=40960, bytes_in_flight=1280),
        {"time": 120, "name": "quic:recovery_metrics_updated", "data": {"smoothed_rtt": 100.4}},
        {"time": 121, "name": "recovery:congestion_state_updated", "data": {"new": "recovery"}},
    ]
    file = tmp_path / "one.sqlog"
    file.write_text(sequence(QUIC_GO, events))
    (trace,) = read_qlog(file, "server")
    assert trace.epoch_s == pytest.approx(1_767_225_600.5555956)
    assert trace.points[-1] == QuicPoint(0.1155, 40960, 1280, None, 100.4, "recovery")


@pytest.mark.parametrize(
    ("common", "epoch_s"),
    [
        ({}, 5.0),  # times are absolute if nothing else is said
        ({"time_format": "relative", "reference_time": 10_000}, 15.0),
        ({"time_format": "relative", "reference_time": 0}, None),
        ({"reference_time": {"clock_type": "system"}}, 5.0),
        ({"reference_time": {"epoch": "1970-01-01T00:01:00.000Z"}}, 65.0),
        ({"reference_time": {"clock_type": "monotonic", "epoch": "unknown"}}, None),
        ({"reference_time": {"epoch": "unknown", "wall_clock_time": "noon"}}, None),
    ],
)
def test_when_a_trace_began(tmp_path: Path, common: dict[str, Any], epoch_s: float | None) -> None:
    header = {"trace": {"vantage_point": {"type": "server"}, "common_fields": common}}
    file = tmp_path / "one.sqlog"
    file.write_text(sequence(header, [metrics(5000, congestion_window=12000)]))
    (trace,) = read_qlog(file, "server")
    assert trace.epoch_s == epoch_s


def document(events: Events, **more: Any) -> str:
    """As aioquic writes it: the trace's header is on both sides of its events."""
    trace = {"common_fields": {"ODCID": "c0"}, "events": events}
    trace["vantage_point"] = {"name": "aioquic", "type": "client"}
    return json.dumps({"qlog_format": "JSON", "qlog_version": "0.3", "traces": [trace], **more})


DOCUMENT_EVENTS = [
    metrics(1767225600000.5, cwnd=12000, bytes_in_flight=1200),
    packet(1767225600001.5, "sent", "crypto"),
    metrics(1767225600100.5, cwnd=13200, bytes_in_flight=2400, smoothed_rtt=100.0),
]


@pytest.mark.parametrize("chunk", [1, 7, 1 << 18])
def test_a_document_with_the_traces_header_behind_its_events(
    tmp_path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qlog_text, "_CHUNK_BYTES", chunk)
    file = tmp_path / "one.qlog"
    file.write_text(document(DOCUMENT_EVENTS, title="späte Größe", version=123))
    (trace,) = read_qlog(file, "client")
    assert trace.vantage == "client"
    assert trace.epoch_s == pytest.approx(1_767_225_600.0005)
    assert trace.first_sent_s == pytest.approx(0.001)
    assert [point.cwnd_bytes for point in trace.points] == [12000, 13200]


def test_a_document_of_two_traces(tmp_path: Path) -> None:
    raw = json.loads(document(DOCUMENT_EVENTS))
    raw["traces"].append({"vantage_point": {"type": "server"}, "events": []})
    file = tmp_path / "one.qlog"
    file.write_text(json.dumps(raw))
    traces = read_qlog(file, "client")
    assert [(trace.vantage, len(trace.points)) for trace in traces] == [
        ("client", 2),
        ("server", 0),
    ]


@pytest.mark.parametrize("chunk", [1, 1 << 18])
def test_every_cut_of_a_file_gives_the_events_before_it(
    tmp_path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qlog_text, "_CHUNK_BYTES", chunk)
    for whole in (sequence(NGTCP2, DOCUMENT_EVENTS), document(DOCUMENT_EVENTS)):
        seen = []
        for length in range(1, len(whole) + 1):
            file = tmp_path / "cut"
            file.write_text(whole[:length])
            seen.append(sum(len(list(trace.events)) for trace in read_traces(file)))
        assert seen == sorted(seen)
        assert seen[-1] == 3


def test_a_file_may_be_longer_than_memory_is_used_for(tmp_path: Path) -> None:
    """Events between samples leave one point, with the most that was in flight."""
    events = [metrics(index, congestion_window=10_000 + index) for index in range(20_000)]
    events[9_990]["data"]["bytes_in_flight"] = 7777
    points = read(tmp_path, sequence(NGTCP2, events))
    assert 300 < len(points) < 600
    assert points[-1].cwnd_bytes == 29_999
    assert max(point.in_flight_bytes or 0 for point in points) == 7777


def test_flow_control_blocks_until_it_gives_way(tmp_path: Path) -> None:
    events = [
        metrics(0, congestion_window=12000),
        packet(100, "sent", "stream", "stream_data_blocked"),
        packet(200, "received", "ack"),
        packet(300, "received", "max_stream_data"),
        metrics(400, congestion_window=12000),
    ]
    points = read(tmp_path, sequence(NGTCP2, events))
    assert [(point.at_s, point.blocked) for point in points] == [
        (0.0, False),
        (0.1, True),
        (0.3, False),
        (0.4, False),
    ]


def test_times_since_the_event_before_are_added_up(tmp_path: Path) -> None:
    header = json.loads(json.dumps(NGTCP2))
    header["trace"]["common_fields"]["time_format"] = "relative_to_previous_event"
    other = {"name": "transport:datagrams_sent", "data": {}}
    events = [metrics(5), {"time": 50, **other}, {"time": 50, **other}, metrics(50)]
    assert read(tmp_path, sequence(header, events))[-1].at_s == pytest.approx(0.15)


@pytest.mark.parametrize(
    "odd",
    [
        {"time": "later", "name": "recovery:metrics_updated", "data": {"congestion_window": 1}},
        {"time": 9, "name": "recovery:metrics_updated", "data": None},
        {"time": 9, "name": "recovery:metrics_updated", "data": {"congestion_window": "large"}},
        {"time": 9, "name": "transport:packet_sent", "data": {"frames": ["data_blocked"]}},
        {"time": 9},
    ],
)
def test_events_that_are_not_as_they_should_be_change_nothing(
    tmp_path: Path, odd: dict[str, Any]
) -> None:
    usual = metrics(0, congestion_window=12000)
    last = read(tmp_path, sequence(NGTCP2, [usual, odd]))[-1]
    assert last._replace(at_s=0) == QuicPoint(0.0, 12000)


def test_what_is_not_qlog_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "one.qlog"
    file.write_text("<html>")
    with pytest.raises(HeadwayError, match="not qlog"):
        read_qlog(file, "server")


def run_directory(tmp_path: Path) -> Path:
    for host, text in {
        "server": sequence(NGTCP2, DOCUMENT_EVENTS),
        "client": document(DOCUMENT_EVENTS),
    }.items():
        (tmp_path / "qlog" / host).mkdir(parents=True)
        (tmp_path / "qlog" / host / f"{host}.sqlog").write_text(text)
    (tmp_path / "qlog" / "client" / "damaged.qlog").write_text("?")
    return tmp_path


@pytest.mark.parametrize("keep", [False, True])
def test_files_are_reduced_to_what_they_are_read_for(tmp_path: Path, keep: bool) -> None:
    run = run_directory(tmp_path)
    before = read_quic_traces(run)
    assert {trace.host for trace in before} == {"client", "server"}
    compact_qlog(run, keep=keep)
    assert read_quic_traces(run) == before
    left = sorted(file.name for file in run.glob("qlog/*/*"))
    assert left == (["client.sqlog", "damaged.qlog", "server.sqlog"] if keep else ["damaged.qlog"])


def test_a_run_without_qlog_gets_no_file(tmp_path: Path) -> None:
    compact_qlog(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert read_quic_traces(tmp_path) == []
