"""Hosts that collect received packets before they look at them: how many at once, and how long."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from headway.contract.probe_orders import OTHER_FLOW, RECEIVED, SENT
from headway.overriding import override
from headway.selftest.check import Check
from headway.selftest.delay import TOLERANCE_US
from headway.selftest.feed import Feed, feed
from headway.selftest.step import CheckStep, both_ways
from headway.selftest.timeline import Records, Sight, Timeline
from headway.study.path import Way
from headway.study.queue import FRAME_BYTES
from headway.study.units import Duration

_PACKETS = 400
_HEADERS_BYTES = 14 + 20 + 32
"""Ethernet, IPv4, and TCP with time stamps."""
_MOST_HEADERS_BYTES = 14 + 20 + 60
"""With all the options that TCP has room for: larger frames carry data."""
_TURNS_OFF = 2
"""The first turn begins with the first packet; the clock's steps may add one."""


class CoalescedFlow(CheckStep):
    """A steady flow of full-size packets, which a host looks at once in each coalescing time."""

    def __init__(self, timeline: Timeline, coalescing: Duration) -> None:
        self._timeline = timeline
        self._coalescing_ns = coalescing.ns
        self._feeds: dict[Way, Feed] = {}
        start_ns = timeline.now_ns
        for way, course in timeline.courses.items():
            self._feeds[way] = feed(timeline, way, course, start_ns, lambda n, _: n >= _PACKETS)
            timeline.end_step(int(self._feeds[way].ideal_ns[-1]))

    @override
    def judge(self, sight: Sight) -> Iterator[Check]:
        for way in both_ways():
            fed = self._feeds[way]
            _, late = fed.lateness_ns(sight.passage(way, fed.flow))
            yield self._longest_wait(way, float(late.max()) / 1e3 if len(late) else None)
            yield self._turns(way, sight)

    def _longest_wait(self, way: Way, measured_us: float | None) -> Check:
        most_us = self._coalescing_ns / 1e3
        return Check(
            f"coalescing wait {way}",
            self._timeline.path,
            most_us,
            measured_us,
            most_us - self._packet_ns(way) / 1e3 - TOLERANCE_US,
            most_us + TOLERANCE_US,
            "us",
            f"longest of {_PACKETS} packets: the coalescing time, or a packet's time less",
        )

    def _turns(self, way: Way, sight: Sight) -> Check:
        passage = sight.passage(way, self._feeds[way].flow)
        turns = 1 + (_PACKETS - 1) * self._packet_ns(way) / self._coalescing_ns
        return Check(
            f"coalesced {way}",
            self._timeline.path,
            round(turns),
            len(np.unique(passage.arrived_ns)) or None,
            turns - _TURNS_OFF,
            turns + _TURNS_OFF,
            "times",
            f"how often the host looked at {_PACKETS} packets: once in each coalescing time",
        )

    def _packet_ns(self, way: Way) -> float:
        return FRAME_BYTES * 8e9 / min(self._timeline.courses[way].first_rates)


class CoalescedTransfer(CheckStep):
    """A TCP transfer whose packets are handed up merged: all bytes, in fewer and larger packets."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        timeline.transfer_at_ns = timeline.now_ns
        timeline.transfer_span_ns = 10**9
        timeline.end_step(timeline.now_ns + timeline.transfer_span_ns)

    @override
    def judge(self, sight: Sight) -> Iterator[Check]:
        for way in both_ways():
            sender, receiver = sight.ends(way)
            sent, got = _segments(sender, SENT), _segments(receiver, RECEIVED)
            path = self._timeline.path
            payload = int((sent - _HEADERS_BYTES).sum())
            yield Check(
                f"merged bytes {way}",
                path,
                payload,
                int((got - _HEADERS_BYTES).sum()),
                payload,
                payload,
                "bytes",
                "of TCP, handed up and sent",
            )
            yield Check(
                f"merged packets {way}",
                path,
                len(sent) / 2,
                len(got),
                1,
                len(sent) / 2,
                "packets",
                f"of TCP, handed up of {len(sent)} that were sent: at most half as many",
            )


def _segments(records: Records, kind: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Sizes of the frames of TCP that carry data."""
    chosen = (records["flow"] == OTHER_FLOW) & (records["kind"] == kind)
    sizes = records["bytes"][chosen].astype(np.int64)
    return np.asarray(sizes[sizes > _MOST_HEADERS_BYTES])
