"""The sender's state by a qlog trace, reduced to a series of moderate density.

Programs differ in what they log and by which schema (draft-ietf-quic-qlog-quic-events, from
version 0.3 on); what one of them does not log is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from headway.contract.samples import next_sample_ns
from headway.diagnosis.qlog_events import TraceEvents
from headway.diagnosis.qlog_forms import Event, epoch_s
from headway.diagnosis.qlog_text import table

_INTERVAL_NS = 100_000_000
_NUMBERS = (int, float)
_METRICS = frozenset({"metrics_updated", "recovery_metrics_updated", "congestion_metric_update"})
"""The last is mvfst's."""
_LOST, _STATE = "packet_lost", "congestion_state_updated"
_MACHINES = {_STATE: "congestion", "connection_state_updated": "connection"}
"""What has states, by the event that tells of a change."""
_SENT, _RECEIVED = "packet_sent", "packet_received"
_BLOCKED = frozenset({"data_blocked", "stream_data_blocked"})
_UNBLOCKED = frozenset({"max_data", "max_stream_data"})
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
    # Nearly all that matter have the first or the second; one after the other is faster than a loop over them.
    return (
        _SENT in record
        or "metrics_updated" in record
        or _LOST in record
        or "max_data" in record
        or "max_stream_data" in record
        or _STATE in record
        or "connection_state_updated" in record
    )


def reduce_trace(trace: TraceEvents, host: str) -> list[QuicTrace]:
    """Read all events of a trace that a host's program logged: of one connection, or of several with a group each."""
    reducers: dict[str, _Reducer] = {}
    for event in trace.events:
        group = str(event.get("group_id", ""))
        if group not in reducers:
            reducers[group] = _Reducer(trace)
        reducers[group].add(event)
    return [reducer.result(host) for reducer in reducers.values() or (_Reducer(trace),)]


class _Reducer:
    """Follows a connection's events, and keeps a point of it now and then."""

    def __init__(self, trace: TraceEvents) -> None:
        self._trace = trace
        self._state = _State()
        self._points: list[QuicPoint] = []
        self._states: list[StateChange] = []
        self._last_s = 0.0
        self._next_ns = next_sample_ns(0, _INTERVAL_NS)
        self._began_ms: float | None = None
        self._first_sent_s: float | None = None

    def add(self, event: Event) -> None:
        """Take the next event into account; one with an earlier time than the last counts as of the last's time."""
        if self._began_ms is None:
            self._began_ms = event["time"]
        self._step(event, max((event["time"] - self._began_ms) / 1e3, self._last_s))

    def result(self, host: str) -> QuicTrace:
        """What the trace is reduced to."""
        if self._began_ms is not None:
            self._points.append(self._state.point(self._last_s))
        vantage = table(self._trace.header.get("vantage_point")).get("type")
        return QuicTrace(
            host,
            str(vantage).lower(),
            epoch_s(self._trace.header, self._began_ms or 0.0),
            self._first_sent_s,
            tuple(self._points),
            tuple(self._states),
        )

    def _step(self, event: Event, at_s: float) -> None:
        if at_s * 1e9 > self._next_ns:
            self._points.append(self._state.point(self._last_s))
            self._next_ns = next_sample_ns(int(at_s * 1e9), _INTERVAL_NS)
        self._last_s = at_s
        name, data = event["name"].rpartition(":")[2], event["data"]
        if name == _SENT and self._first_sent_s is None:
            self._first_sent_s = at_s
        if name in _MACHINES and isinstance(after := data.get("new"), str | int):
            before = data.get("old")
            known = None if before in (None, "") else str(before)
            change = StateChange(round(at_s, 9), _MACHINES[name], known, str(after))
            self._states.append(change)
        self._state.update(name, data)


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
        # aioquic says cwnd.
        self.cwnd_bytes = _told(data, "congestion_window", _told(data, "cwnd", self.cwnd_bytes))
        self.ssthresh_bytes = _told(data, "ssthresh", self.ssthresh_bytes)
        self.srtt_ms = _told(data, "smoothed_rtt", self.srtt_ms)
        backoff = _told(data, "pto_count", self.backoff)
        self.timeouts += max(0, backoff - self.backoff)
        self.backoff = backoff
        # Programs log metrics when an acknowledgement has come, and leave out what has not changed
        # since; what they send until the next one is added.
        self.told_in_flight_bytes = _told(data, "bytes_in_flight", self.told_in_flight_bytes)
        if self.told_in_flight_bytes is not None:
            self._in_flight(self.told_in_flight_bytes)

    def _in_flight(self, now: int) -> None:
        self.in_flight_bytes = now
        self.most_in_flight_bytes = max(now, self.most_in_flight_bytes or 0)


def _told(data: dict[str, Any], name: str, before: Any) -> Any:
    """A number that an event tells; what was known before if it tells none."""
    value = data.get(name)
    return value if isinstance(value, _NUMBERS) else before


def _frame_types(data: dict[str, Any]) -> set[str]:
    return {
        frame.get("frame_type", "") if type(frame) is dict else ""
        for frame in data.get("frames") or ()
    }
