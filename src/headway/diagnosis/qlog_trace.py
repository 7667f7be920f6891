"""What a qlog trace tells of its connection's sender, reduced to a series of moderate density.

Programs differ in what they log and by which schema (draft-ietf-quic-qlog-quic-events, from
version 0.3 on); what one of them does not log is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from headway.contract.samples import next_sample_ns
from headway.diagnosis.qlog_events import DELTA_FORMATS, Event, TraceEvents, table

_INTERVAL_NS = 100_000_000
_EPOCH = "1970-01-01T00:00:00.000Z"
"""What times count from if a header leaves it out."""
_METRICS = frozenset({"metrics_updated", "recovery_metrics_updated"})
_LOST, _STATE = "packet_lost", "congestion_state_updated"
_MACHINES = {_STATE: "congestion", "connection_state_updated": "connection"}
"""What has states, by the event that tells of a change."""
_SENT, _RECEIVED = "packet_sent", "packet_received"
_BLOCKED = frozenset({"data_blocked", "stream_data_blocked"})
_UNBLOCKED = frozenset({"max_data", "max_stream_data"})
_USEFUL = ("metrics_updated", _LOST, *_MACHINES, _SENT, "max_data", "max_stream_data")
_NOT_IN_FLIGHT = frozenset({"ack", "connection_close"})
"""A packet of such frames only does not count as in flight (RFC 9002, section 2)."""


class QuicPoint(NamedTuple):
    """A sender's state at a time; what has not been logged yet is None.

    ``at_s`` counts from the trace's own start. ``in_flight_bytes`` is the most since the point
    before; ``lost`` counts packets declared lost and ``timeouts`` probe time-outs so far;
    ``state`` is the congestion control's, in the program's words; ``blocked`` tells that flow
    control holds data back.
    """

    at_s: float
    cwnd_bytes: int | None = None
    in_flight_bytes: int | None = None
    ssthresh_bytes: int | None = None
    srtt_ms: float | None = None
    state: str | None = None
    lost: int = 0
    timeouts: int = 0
    blocked: bool = False


class StateChange(NamedTuple):
    """A change of state, in the program's words, seconds from the trace's own start.

    ``machine`` is ``congestion`` or ``connection``; ``before`` is None if the program does not tell it.
    """

    at_s: float
    machine: str
    before: str | None
    after: str


@dataclass(frozen=True)
class QuicTrace:
    """One connection, as one host's program logged it.

    Attributes:
        host: name of the host's namespace.
        vantage: which end of the connection it was: ``client`` or ``server``.
        epoch_s: wall clock's time of the trace's own start, None if it is not told.
        first_sent_s: when its first packet was sent, from the trace's own start.
        points: at increasing times.
        states: every change of state that was logged.
    """

    host: str
    vantage: str
    epoch_s: float | None
    first_sent_s: float | None
    points: tuple[QuicPoint, ...]
    states: tuple[StateChange, ...] = ()


def is_useful(record: str) -> bool:
    """Whether an event's text matters: it tells of the sender's state, or of what was sent."""
    return any(word in record for word in _USEFUL)


def reduce_trace(trace: TraceEvents, host: str) -> QuicTrace:
    """Read all events of a trace that a host's program logged."""
    reducer = _Reducer(trace)
    reducer.run()
    return reducer.result(host)


class _Reducer:
    """Follows a trace's events, and keeps a point of it now and then."""

    def __init__(self, trace: TraceEvents) -> None:
        self._trace = trace
        self._state = _State()
        self._points: list[QuicPoint] = []
        self._states: list[StateChange] = []
        self._last_s = 0.0
        self._next_ns = next_sample_ns(0, _INTERVAL_NS)
        self._began_ms: float | None = None
        self._first_sent_s: float | None = None

    def run(self) -> None:
        """Read all events."""
        clock_ms = 0.0
        for event in self._trace.events:
            time_ms = event.get("time")
            if not isinstance(time_ms, int | float):
                continue
            clock_ms = clock_ms + time_ms if self._time_format in DELTA_FORMATS else time_ms
            if self._began_ms is None:
                self._began_ms = clock_ms
            self._step(event, (clock_ms - self._began_ms) / 1e3)
        if self._began_ms is not None:
            self._points.append(self._state.point(self._last_s))

    def result(self, host: str) -> QuicTrace:
        """What the trace is reduced to."""
        vantage = table(self._trace.header.get("vantage_point")).get("type")
        return QuicTrace(
            host,
            str(vantage),
            self._epoch_s(),
            self._first_sent_s,
            tuple(self._points),
            tuple(self._states),
        )

    def _step(self, event: Event, at_s: float) -> None:
        if at_s * 1e9 > self._next_ns:
            self._points.append(self._state.point(self._last_s))
            self._next_ns = next_sample_ns(int(at_s * 1e9), _INTERVAL_NS)
        self._last_s = at_s
        name = str(event.get("name", "")).rpartition(":")[2]
        if name == _SENT and self._first_sent_s is None:
            self._first_sent_s = at_s
        data = table(event.get("data"))
        if name in _MACHINES and isinstance(data.get("new"), str):
            before = data.get("old")
            told = str(before) if before else None
            self._states.append(StateChange(round(at_s, 9), _MACHINES[name], told, data["new"]))
        self._state.update(name, data)

    @property
    def _common(self) -> dict[str, Any]:
        return table(self._trace.header.get("common_fields"))

    @property
    def _time_format(self) -> str:
        return str(self._common.get("time_format", "absolute"))

    def _epoch_s(self) -> float | None:
        """Wall clock's time of the first event, if the header tells it."""
        began_s = (self._began_ms or 0.0) / 1e3
        reference = self._common.get("reference_time")
        if isinstance(reference, dict):  # from version 0.4 on
            wall_s = _seconds(reference.get("wall_clock_time") or reference.get("epoch", _EPOCH))
            return None if wall_s is None else wall_s + began_s
        if isinstance(reference, int | float) and reference:
            return reference / 1e3 + began_s
        return began_s if self._time_format == "absolute" else None


@dataclass
class _State:
    """What is known of the sender at an event."""

    cwnd_bytes: int | None = None
    told_in_flight_bytes: int | None = None
    in_flight_bytes: int | None = None
    most_in_flight_bytes: int | None = None
    ssthresh_bytes: int | None = None
    srtt_ms: float | None = None
    state: str | None = None
    lost: int = 0
    timeouts: int = 0
    backoff: int = 0
    blocked: bool = False

    def point(self, at_s: float) -> QuicPoint:
        """The state as a point; what is in flight is counted anew from now on."""
        most, self.most_in_flight_bytes = self.most_in_flight_bytes, self.in_flight_bytes
        return QuicPoint(
            round(at_s, 6),
            self.cwnd_bytes,
            most,
            self.ssthresh_bytes,
            self.srtt_ms,
            self.state,
            self.lost,
            self.timeouts,
            self.blocked,
        )

    def update(self, name: str, data: dict[str, Any]) -> None:
        """Take an event into account."""
        if name in _METRICS:
            self._metrics(data)
        elif name == _LOST:
            self.lost += 1
        elif name == _STATE:
            self.state = data.get("new")
        elif name == _SENT:
            types = _frame_types(data)
            self.blocked |= not _BLOCKED.isdisjoint(types)
            if self.in_flight_bytes is not None and not types <= _NOT_IN_FLIGHT:
                length = table(data.get("raw")).get("length")
                self._in_flight(self.in_flight_bytes + (length if isinstance(length, int) else 0))
        elif name == _RECEIVED:
            self.blocked &= _UNBLOCKED.isdisjoint(_frame_types(data))

    def _metrics(self, data: dict[str, Any]) -> None:
        told: dict[str, Any] = {
            name: value for name, value in data.items() if isinstance(value, int | float)
        }
        # aioquic says cwnd.
        self.cwnd_bytes = told.get("congestion_window", told.get("cwnd", self.cwnd_bytes))
        self.ssthresh_bytes = told.get("ssthresh", self.ssthresh_bytes)
        self.srtt_ms = told.get("smoothed_rtt", self.srtt_ms)
        backoff = told.get("pto_count", self.backoff)
        self.timeouts += max(0, backoff - self.backoff)
        self.backoff = backoff
        # Programs log metrics when an acknowledgement has come, and leave out what has not changed
        # since; what they send until the next one is added.
        self.told_in_flight_bytes = told.get("bytes_in_flight", self.told_in_flight_bytes)
        if self.told_in_flight_bytes is not None:
            self._in_flight(self.told_in_flight_bytes)

    def _in_flight(self, now: int) -> None:
        self.in_flight_bytes = now
        self.most_in_flight_bytes = max(now, self.most_in_flight_bytes or 0)


def _frame_types(data: dict[str, Any]) -> set[str]:
    return {table(frame).get("frame_type", "") for frame in data.get("frames") or ()}


def _seconds(wall: str) -> float | None:
    """Seconds since 1970 of a time as RFC 3339 writes it; None if it is none, as ``unknown``."""
    try:
        return datetime.fromisoformat(str(wall).replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None
