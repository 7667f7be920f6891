"""The state of a connection's sender at a time: the same terms for TCP and QUIC.

For TCP it is the kernel's ``tcp_info``, for QUIC what the sending program's qlog says.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from headway.contract.samples import TcpInfo
from headway.diagnosis.qlog_trace import QuicPoint, QuicTrace

_CA_CWR = 2
"""States from this on are CWR, Recovery and Loss (enum tcp_ca_state of linux/tcp.h)."""
_INFINITE_SSTHRESH = 0x7FFFFFFF
_PACKET_BYTES = 1500
_ROOM_PACKETS = 3
"""A QUIC sender that has less room than this in its window counts as held by it, since metrics are
logged when an acknowledgement has come, before it is answered by new packets."""
_SLOW_START_GROWTH = 1.1


class Phase(Enum):
    """What congestion control is doing (RFC 5681, RFC 9002 section 7.3)."""

    SLOW_START = "slow start"
    AVOIDANCE = "congestion avoidance"
    RECOVERY = "recovery"


class Sender(NamedTuple):
    """One connection's sender at a time; bytes and seconds.

    Attributes:
        phase: what its congestion control is doing.
        full: whether congestion control is what holds it back: data waits, or as much is in flight
            as the window allows.
        cwnd_bytes: congestion window.
        in_flight_bytes: sent, and neither acknowledged nor held to be lost.
        outstanding: whether anything sent has not been acknowledged.
        ssthresh_bytes: slow start threshold; None before there is one.
        srtt_s: smoothed round-trip time; None before there is one.
        sent_packets: so far.
        silent_s: since it last sent a packet.
        rwnd_limited_s: so far, held back by the receiver's window (QUIC: flow control).
        sndbuf_limited_s: so far, held back by the size of its own send buffer.
        lost: segments sent again; QUIC packets declared lost.
        timeouts: retransmission time-outs; QUIC probe time-outs.
        rto_s: after how much silence the next one comes; None if it does not tell.
    """

    phase: Phase
    full: bool
    cwnd_bytes: int
    in_flight_bytes: int
    outstanding: bool
    ssthresh_bytes: int | None
    srtt_s: float | None
    sent_packets: int
    silent_s: float
    rwnd_limited_s: float
    sndbuf_limited_s: float
    lost: int
    timeouts: int
    rto_s: float | None = None

    @property
    def has_full_window(self) -> bool:
        """Whether data waits that the congestion window has no room for; `full` is also a window being filled."""
        return self.full and self.cwnd_bytes - self.in_flight_bytes < _ROOM_PACKETS * _PACKET_BYTES


def tcp_sender(info: TcpInfo) -> Sender:
    """State of a TCP connection's sender."""
    in_flight = info.unacked - info.sacked - info.lost + info.retrans
    if info.ca_state >= _CA_CWR:
        phase = Phase.RECOVERY
    else:
        phase = Phase.SLOW_START if info.cwnd < info.ssthresh else Phase.AVOIDANCE
    return Sender(
        phase=phase,
        full=info.notsent_bytes > 0 or in_flight >= info.cwnd,
        cwnd_bytes=info.cwnd * info.mss,
        in_flight_bytes=in_flight * info.mss,
        outstanding=info.unacked > 0,
        ssthresh_bytes=None if info.ssthresh >= _INFINITE_SSTHRESH else info.ssthresh * info.mss,
        srtt_s=info.rtt_us / 1e6 or None,
        sent_packets=info.data_segs_out,
        silent_s=info.last_sent_ms / 1e3,
        rwnd_limited_s=info.rwnd_limited_us / 1e6,
        sndbuf_limited_s=info.sndbuf_limited_us / 1e6,
        lost=info.total_retrans,
        timeouts=info.total_rto,
        rto_s=info.rto_us / 1e6,
    )


class QuicSender:
    """A QUIC connection's sender over time, from its qlog."""

    def __init__(self, trace: QuicTrace, begins_s: float) -> None:
        """Arrange a trace.

        Args:
            trace: what its program logged.
            begins_s: the trace's own start, seconds from the workload's start.
        """
        self._points = [point for point in trace.points if point.cwnd_bytes is not None]
        self._times = [begins_s + point.at_s for point in self._points]
        self._blocked = list(_blocked_s(self._points))

    def at(self, time_s: float, sent_packets: int, silent_s: float) -> Sender | None:
        """Its state at a time, None before it told of any.

        Args:
            time_s: seconds from the workload's start.
            sent_packets: as `Sender` has it; a trace is reduced too far to tell.
            silent_s: likewise.
        """
        index = bisect_right(self._times, time_s) - 1
        if index < 0:
            return None
        point = self._points[index]
        phase = self._phase(index)
        full = _is_full(point) or (
            phase is Phase.SLOW_START
            and is_filling(point.cwnd_bytes or 0, point.in_flight_bytes or 0)
        )
        blocked_s = self._blocked[index]
        if point.blocked and not _is_full(point):
            blocked_s += time_s - self._times[index]
        return Sender(
            phase=phase,
            full=full,
            cwnd_bytes=point.cwnd_bytes or 0,
            in_flight_bytes=point.in_flight_bytes or 0,
            outstanding=bool(point.in_flight_bytes),
            ssthresh_bytes=point.ssthresh_bytes,
            srtt_s=_srtt_s(point),
            sent_packets=sent_packets,
            silent_s=silent_s,
            rwnd_limited_s=blocked_s,
            sndbuf_limited_s=0.0,
            lost=point.lost,
            timeouts=point.timeouts,
        )

    def _phase(self, index: int) -> Phase:
        point = self._points[index]
        if point.state == "recovery":
            return Phase.RECOVERY
        if point.state in ("slow_start", "congestion_avoidance"):
            return Phase.SLOW_START if point.state == "slow_start" else Phase.AVOIDANCE
        earlier = self._points[self._before(index)]
        if point.lost > earlier.lost:
            return Phase.RECOVERY
        if point.ssthresh_bytes is not None:
            slow = (point.cwnd_bytes or 0) < point.ssthresh_bytes
        else:
            slow = self._grew(index)
        return Phase.SLOW_START if slow else Phase.AVOIDANCE

    def _before(self, index: int) -> int:
        """The point a smoothed round trip before, or the first one."""
        time_s = self._times[index] - (_srtt_s(self._points[index]) or 0.0)
        return max(bisect_right(self._times, time_s) - 1, 0)

    def _grew(self, index: int) -> bool:
        """Whether the window opened as slow start does; for programs that tell no threshold."""
        before = self._before(index)
        now, earlier = self._points[index].cwnd_bytes or 0, self._points[before].cwnd_bytes or 0
        return before == 0 or now > _SLOW_START_GROWTH * earlier


def _srtt_s(point: QuicPoint) -> float | None:
    return point.srtt_ms / 1e3 if point.srtt_ms else None


def _is_full(point: QuicPoint) -> bool:
    room = (point.cwnd_bytes or 0) - (point.in_flight_bytes or 0)
    return room < _ROOM_PACKETS * _PACKET_BYTES


def is_filling(cwnd_bytes: int, in_flight_bytes: int) -> bool:
    """Whether a window that has just doubled is still being filled, since packets are paced.

    Linux's TCP has the same rule (tcp_is_cwnd_limited).
    """
    return cwnd_bytes < 2 * in_flight_bytes


def _blocked_s(points: list[QuicPoint]) -> Iterator[float]:
    """Seconds so far in which flow control held data back, and not the window."""
    total_s = 0.0
    for index, point in enumerate(points):
        before = points[index - 1] if index else point
        if before.blocked and not _is_full(point):
            total_s += point.at_s - before.at_s
        yield total_s


def sum_known(values: Iterable[int | None]) -> int | None:
    """The sum; None if there is nothing, or one is not known."""
    known = list(values)
    if not known or None in known:
        return None
    return sum(value for value in known if value is not None)


def sum_cwnd_bytes(states: Iterable[Sender]) -> int | None:
    """Congestion window of several connections together; None if there are none."""
    return sum_known(state.cwnd_bytes for state in states)


def mean_srtt_ms(states: Iterable[Sender]) -> float | None:
    """Mean smoothed round-trip time of the connections that know theirs; None if none does."""
    known = [state.srtt_s for state in states if state.srtt_s is not None]
    return round(math.fsum(known) / len(known) * 1e3, 3) if known else None
