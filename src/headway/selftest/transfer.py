"""A TCP transfer: its packets are those of the wire, as all offloads are off."""

from __future__ import annotations

from collections.abc import Iterator

from headway.overriding import override
from headway.selftest.check import Check
from headway.selftest.fate import fate
from headway.selftest.step import CheckStep
from headway.selftest.timeline import Sight, Timeline, longest_wait_ns
from headway.study.queue import FRAME_BYTES

TRANSFER_BYTES = 48_000
"""What is sent each way: more than a segmentation offload would put into few packets."""
_LEAST_SPAN_NS = 5 * 10**9
_MOST_LOSS, _MOST_CORRELATION = 0.2, 0.1
_LONGEST_RTT_NS = 100 * 10**9
"""Linux gives a connection up whose first packet has no answer within 127 s (``tcp_syn_retries``, 6)."""


class TcpTransfer(CheckStep):
    """One TCP connection with data both ways."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        courses = timeline.courses.values()
        slowest = min((rate for course in courses for rate in course.first_rates), default=10**12)
        waits_ns = 100 * sum(longest_wait_ns(course) for course in courses)
        timeline.transfer_at_ns = timeline.now_ns
        timeline.transfer_span_ns = (
            _LEAST_SPAN_NS
            + waits_ns
            + 20 * sum(course.delay_ns for course in courses)
            + 10 * TRANSFER_BYTES * 8 * 10**9 // slowest
        )
        timeline.end_step(timeline.now_ns + timeline.transfer_span_ns)

    @override
    def judge(self, sight: Sight) -> Iterator[Check]:
        of_tcp, of_any = sight.largest_frames()
        # With heavy loss or a long way there may be no connection, and then no full segment either.
        courses = self._timeline.courses.values()
        fates = [fate(course) for course in courses]
        passable = sum(course.delay_ns for course in courses) < _LONGEST_RTT_NS and all(
            fate.lost < _MOST_LOSS and fate.correlation < _MOST_CORRELATION for fate in fates
        )
        largest = max(of_tcp, of_any) if not passable or of_tcp > FRAME_BYTES else of_tcp
        yield Check(
            "largest frame",
            self._timeline.path,
            FRAME_BYTES,
            largest,
            FRAME_BYTES if passable else 0,
            FRAME_BYTES,
            "bytes",
            "of a TCP transfer each way, on the wires of both hosts: no segmentation offload",
        )
