"""A segment of a transfer as it was sampled: the bottleneck's counters, and the sender's state."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from headway.contract.samples import QueueStats, TcpInfo
from headway.diagnosis.overtime import OverTime
from headway.diagnosis.qlog import read_quic_traces
from headway.diagnosis.qlog_trace import QuicTrace
from headway.diagnosis.samples import Sample, Samples, read_samples
from headway.diagnosis.sender import QuicSender, Sender, tcp_sender
from headway.diagnosis.transfer import SampledSegment, TimeSpan, Transfer

Senders = dict[Hashable, Sender]
"""Senders' states by connection."""


class StateSource(StrEnum):
    """Where the sender's state is known from; ``counters`` if only the bottleneck tells of it."""

    TCP_INFO = "tcp_info"
    QLOG = "qlog"
    COUNTERS = "counters"


class Moment(NamedTuple):
    """A segment at a time.

    Attributes:
        at_s: seconds from the workload's start.
        sent_bytes: through the bottleneck towards the client so far, bytes on the wire.
        sent_packets: the same in packets.
        silent_s: since the bottleneck last sent a packet.
        backlog_bytes: in the bottleneck's queue.
        queue_drops: packets that the bottleneck's queue dropped so far.
        path_drops: packets that the path's loss models dropped so far.
        senders: states of the connections' senders.
        busy_s: for how long each core of the sender's and the receiver's processors had been busy, by host and number.
    """

    at_s: float
    sent_bytes: int
    sent_packets: int
    silent_s: float
    backlog_bytes: int
    queue_drops: int
    path_drops: int
    senders: Senders
    busy_s: dict[tuple[str, int], float] = {}  # noqa: RUF012

    @property
    def drops(self) -> int:
        """Packets dropped so far."""
        return self.queue_drops + self.path_drops


@dataclass(frozen=True)
class SegmentSamples:
    """A segment over time.

    ``asked`` has the spans of the sender's time in which it had something to send by what the
    client asked for, in order; None if that is not known. ``earlier`` has states from which counts
    begin, of connections that were there before.
    """

    segment: SampledSegment
    evidence: StateSource
    moments: list[Moment]
    asked: tuple[TimeSpan, ...] | None = None
    earlier: Senders = field(default_factory=dict)

    @cached_property
    def last_states(self) -> Senders:
        """The last known state of every connection there was."""
        return {key: state for moment in self.moments for key, state in moment.senders.items()}

    @cached_property
    def first_seen_s(self) -> dict[Hashable, float]:
        """When the state of every connection was first known, in this order."""
        by_hashable: dict[Hashable, float] = {}
        for moment in self.moments:
            for key in moment.senders:
                by_hashable.setdefault(key, moment.at_s)
        return by_hashable

    @property
    def lost(self) -> int | None:
        """Segments sent again, QUIC packets declared lost; None if no sender's state is known."""
        return self._count(lambda state: state.lost)

    @property
    def timeouts(self) -> int | None:
        """Retransmission and probe time-outs; None if no sender's state is known."""
        return self._count(lambda state: state.timeouts)

    def _count(self, of: Callable[[Sender], int]) -> int | None:
        if not self.last_states:
            return None
        return sum(map(of, self.last_states.values())) - sum(map(of, self.earlier.values()))

    def of(self, connections: Collection[Hashable]) -> SegmentSamples:
        """The same with these connections only."""
        return replace(
            self,
            moments=[
                moment._replace(
                    senders={
                        key: sender for key, sender in moment.senders.items() if key in connections
                    }
                )
                for moment in self.moments
            ],
        )

    def until(self, end_s: float) -> SegmentSamples:
        """The same, up to the first moment at or after a time."""
        after = bisect_left(self.moments, end_s, key=lambda moment: moment.at_s)
        return replace(self, moments=self.moments[: after + 1])

    def sent_bytes_at(self, at_s: float) -> float:
        """Bytes through the bottleneck until a time, between moments by interpolation."""
        index = bisect_left(self.moments, at_s, key=lambda moment: moment.at_s)
        if index == 0:
            return 0
        if index == len(self.moments):
            return self.moments[-1].sent_bytes
        before, after = self.moments[index - 1], self.moments[index]
        share = (at_s - before.at_s) / (after.at_s - before.at_s)
        return before.sent_bytes + share * (after.sent_bytes - before.sent_bytes)

    def utilisation(self, begin_s: float, end_s: float) -> float | None:
        """Bits sent from a time until another, over what the bottleneck could have; None without a rate."""
        possible = (self.segment.rate_mbit or 0.0) * 1e6 / 8 * (end_s - begin_s)
        sent = self.sent_bytes_at(end_s) - self.sent_bytes_at(begin_s)
        return sent / possible if possible else None

    def queue_delay_ms(self, begin_s: float, end_s: float) -> OverTime | None:
        """How long the bottleneck takes to send what is in its queue; None without a rate."""
        if not self.segment.rate_mbit:
            return None
        per_byte_ms = 8e-3 / self.segment.rate_mbit
        delays = ((moment.at_s, moment.backlog_bytes * per_byte_ms) for moment in self.moments)
        return OverTime.of(delays, begin_s, end_s)

    def begins_s(self, transfer: Transfer) -> float:
        """When the sender sent the first byte of the response.

        If the client does not tell when it came, when the sender first sent any data.
        """
        if transfer.start_s is not None:
            return transfer.start_s - self.segment.delay_s
        return next((moment.at_s for moment in self.moments if self._has_data(moment)), 0.0)

    def _has_data(self, moment: Moment) -> bool:
        if self.evidence is StateSource.COUNTERS:
            return moment.sent_packets > 0
        return any(state.sent_packets for state in moment.senders.values())


def observe(run_directory: Path, transfer: Transfer) -> list[SegmentSamples]:
    """All segments of a run, the client's first; without moments if nothing was sampled.

    Of a page load, the client's segment has the connections that the load began: those of an earlier
    one in the same lab may still be there when it starts. Those behind a proxy serve several loads.
    """
    samples = read_samples(run_directory)
    traces = read_quic_traces(run_directory)
    segments = [_observe(segment, transfer, samples, traces) for segment in transfer.segments]
    if transfer.page is None or not samples.taken:
        return segments
    first, *others = segments
    own = first.of(first.first_seen_s.keys() - first.moments[0].senders.keys())
    return [own, *(replace(segment, earlier=segment.moments[0].senders) for segment in others)]


def observe_queue(segment: SampledSegment, samples: Samples) -> SegmentSamples:
    """A segment whose senders do not matter."""
    moments: list[Moment] = []
    for sample in samples.taken:
        moments.append(_moment(sample, segment, moments[-1] if moments else None, lambda *_: {}))
    return SegmentSamples(segment, StateSource.COUNTERS, moments)


def _observe(
    segment: SampledSegment, transfer: Transfer, samples: Samples, traces: list[QuicTrace]
) -> SegmentSamples:
    evidence, senders_at = _knowledge(segment, samples, traces)
    moments: list[Moment] = []
    for sample in samples.taken:
        moments.append(_moment(sample, segment, moments[-1] if moments else None, senders_at))
    asked = None if transfer.page is None else transfer.asked(segment)
    return SegmentSamples(segment, evidence, moments, asked)


def _knowledge(
    segment: SampledSegment, samples: Samples, traces: list[QuicTrace]
) -> tuple[StateSource, Callable[[Sample, int, float], Senders]]:
    """What is known of a segment's senders, and their states at a sample.

    To a QUIC sender's state belongs what the bottleneck tells: how many packets it has sent, and
    for how long none.
    """
    if any(sample.tcp.get(segment.sender) for sample in samples.taken):
        return StateSource.TCP_INFO, lambda sample, *_: {
            connection_of(info): tcp_sender(info) for info in sample.tcp[segment.sender]
        }
    quic = [
        QuicSender(trace, begins_s(trace, segment, samples))
        for trace in traces
        if trace.host == segment.sender and trace.vantage == "server"
    ]
    if not quic:
        return StateSource.COUNTERS, lambda *_: {}
    return StateSource.QLOG, lambda sample, sent_packets, silent_s: {
        number: state
        for number, sender in enumerate(quic)
        if (state := sender.at(sample.at_s, sent_packets, silent_s))
    }


def connection_of(info: TcpInfo) -> Hashable:
    """What tells a TCP connection from others: its ends."""
    return info.local_address, info.local_port, info.peer_address, info.peer_port


def begins_s(trace: QuicTrace, segment: SampledSegment, samples: Samples) -> float:
    """When a trace begins, from the workload's start.

    By the wall clock if the trace tells it, or else from its first packet, which is the first that
    the bottleneck sent.
    """
    if trace.epoch_s is not None:
        return trace.epoch_s - samples.epoch_s
    sending = (sample.at_s for sample in samples.taken if _queue(sample, segment).sent_packets)
    return next(sending, 0.0) - (trace.first_sent_s or 0.0)


def _moment(
    sample: Sample,
    segment: SampledSegment,
    before: Moment | None,
    senders_at: Callable[[Sample, int, float], Senders],
) -> Moment:
    queue = _queue(sample, segment)
    silent_s = 0.0
    if before and queue.sent_packets == before.sent_packets:
        silent_s = before.silent_s + sample.at_s - before.at_s
    return Moment(
        sample.at_s,
        queue.sent_bytes,
        queue.sent_packets,
        silent_s,
        queue.backlog_bytes,
        queue.dropped,
        sum(sample.queues[device].dropped for device in segment.loss_devices),
        senders_at(sample, queue.sent_packets, silent_s),
        {
            (host, core): busy_ns / 1e9
            for host in (segment.sender, segment.receiver)
            if host in sample.processors
            for core, busy_ns in enumerate(sample.processors[host].busy_ns)
        },
    )


def _queue(sample: Sample, segment: SampledSegment) -> QueueStats:
    """Counters of the bottleneck; without a rate, what its delay line sends is what it sends."""
    queue = sample.queues.get(segment.queue_device)
    return queue or sample.queues[segment.loss_devices[0]]._replace(dropped=0, backlog_bytes=0)
