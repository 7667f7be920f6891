"""The course of a QUIC sender by its qlog, with every event."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from headway.contract.names import QLOG_DIRECTORY
from headway.diagnosis.qlog import read_quic_traces
from headway.diagnosis.qlog_events import read_traces
from headway.diagnosis.qlog_text import NotQlogError, table
from headway.diagnosis.qlog_trace import is_useful
from headway.diagnosis.samples import read_samples
from headway.diagnosis.segment import begins_s
from headway.diagnosis.transfer import SampledSegment
from headway.instruments.conformance.course import (
    CourseSource,
    EnteredState,
    SenderCourse,
    plain_state,
)

_METRICS = frozenset({"metrics_updated", "recovery_metrics_updated", "congestion_metric_update"})
_NOT_IN_FLIGHT = frozenset({"ack", "connection_close"})
_NAMES = {
    "window": ("congestion_window", "cwnd"),
    "in_flight": ("bytes_in_flight",),
    "rtt_ms": ("latest_rtt",),
    "threshold": ("ssthresh",),
    "pacing_bit_s": ("pacing_rate",),
}
"""Members of events of metrics, by what they are here; aioquic says cwnd."""
_MARKED = re.compile(r'"ce":\s*"?[1-9]')
"""Of an acknowledgment that tells of marks."""
_LEAST_SENT = 600
"""Bytes that a packet with data has at least, if its size is to tell what a full one has."""


def qlog_course(run_directory: Path, segment: SampledSegment) -> SenderCourse | None:
    """The course of the sender of a segment; None if it wrote no qlog, or none with a window."""
    files = sorted(
        (run_directory / QLOG_DIRECTORY / segment.sender).glob("**/*qlog"),
        key=lambda file: file.stat().st_size,
    )
    traces = [
        trace
        for trace in read_quic_traces(run_directory)
        if trace.host == segment.sender and trace.vantage == "server" and trace.points
    ]
    if not files or not traces:
        return None
    longest = max(traces, key=lambda trace: trace.points[-1].at_s)
    begin_s = begins_s(longest, segment, read_samples(run_directory))
    follower = _Follower()
    try:
        for trace in read_traces(files[-1], _is_useful):
            follower.follow(trace.events)
            break
    except NotQlogError:
        return None
    return follower.course(begin_s)


def _is_useful(record: str) -> bool:
    return is_useful(record) or _MARKED.search(record) is not None


@dataclass
class _Follower:
    """Follows a connection's events; a row for each that changes what is known."""

    now: dict[str, float] = field(default_factory=lambda: dict.fromkeys(_NAMES, float("nan")))
    logged_in_flight: float = float("nan")
    rows: list[tuple[float, ...]] = field(default_factory=list)
    losses_ms: list[float] = field(default_factory=list)
    marks_ms: list[float] = field(default_factory=list)
    states: list[tuple[float, str]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    began_ms: float | None = None
    last_sent_ms: float = float("inf")

    def follow(self, events: Iterator[dict[str, Any]]) -> None:
        """Take all events into account."""
        for event in events:
            if self.began_ms is None:
                self.began_ms = event["time"]
            at_ms = max(event["time"] - self.began_ms, self.rows[-1][0] if self.rows else 0.0)
            if self._takes(event["name"].rpartition(":")[2], event["data"], at_ms):
                self.rows.append((at_ms, *self.now.values()))

    def _takes(self, name: str, data: dict[str, Any], at_ms: float) -> bool:
        """Take an event into account; whether anything is known now that was not."""
        if name in _METRICS:
            return self._metrics(data)
        if name == "packet_lost":
            self.losses_ms.append(at_ms)
        elif name == "congestion_state_updated" and isinstance(after := data.get("new"), str):
            self.states.append((at_ms, plain_state(after)))
        elif name == "packet_sent":
            return self._sent(data, at_ms)
        elif name == "packet_received":
            counts = [table(frame).get("ce") for frame in data.get("frames") or ()]
            marked = max((count for count in counts if isinstance(count, int)), default=0)
            self.marks_ms += [at_ms] * (marked - len(self.marks_ms))
        return False

    def _metrics(self, data: dict[str, Any]) -> bool:
        for key, names in _NAMES.items():
            value = next((data[name] for name in names if name in data), None)
            if isinstance(value, int | float):
                self.now[key] = float(value)
                if key == "in_flight":
                    self.logged_in_flight = float(value)
        # What has not changed since it was last logged is left out.
        self.now["in_flight"] = self.logged_in_flight
        return True

    def _sent(self, data: dict[str, Any], at_ms: float) -> bool:
        length = table(data.get("raw")).get("length")
        types = {table(frame).get("frame_type") for frame in data.get("frames") or ()}
        if not isinstance(length, int) or types <= _NOT_IN_FLIGHT:
            return False
        if length >= _LEAST_SENT:
            self.sizes.append(length)
            self.last_sent_ms = at_ms
        # Metrics are logged when an acknowledgment has come; what is sent until the next one adds to them.
        self.now["in_flight"] += length
        return True

    def course(self, begin_s: float) -> SenderCourse | None:
        """The course; None without a window."""
        if not self.rows or all(np.isnan(row[1]) for row in self.rows):
            return None
        # What is logged after the last data were acknowledged says nothing of a sender that has some.
        end_ms = self.last_sent_ms + np.nan_to_num(self.now["rtt_ms"])
        rows = [row for row in self.rows if row[0] <= end_ms]
        at_ms, window, in_flight, rtt_ms, threshold, pacing = np.array(rows).T
        return SenderCourse(
            source=CourseSource.QLOG,
            packet_bytes=float(np.median(self.sizes)) if self.sizes else 1200.0,
            at_s=begin_s + at_ms / 1e3,
            window_bytes=window,
            in_flight_bytes=in_flight,
            rtt_s=rtt_ms / 1e3,
            threshold_bytes=threshold,
            pacing_bytes_s=pacing / 8,
            losses_s=begin_s + np.array(self.losses_ms) / 1e3,
            marks_s=begin_s + np.array(self.marks_ms) / 1e3,
            states=tuple(EnteredState(begin_s + at / 1e3, name) for at, name in self.states),
        )
