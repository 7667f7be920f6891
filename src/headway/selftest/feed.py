"""Feeding a link: packets sent just in time to keep its queue from emptying or overflowing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from headway.contract.probe_orders import ProbeFlow
from headway.selftest.ideal import Course, Stage
from headway.selftest.timeline import ProbePassage, Timeline, Times
from headway.study.path import Way
from headway.study.queue import FRAME_BYTES, Discipline

_LONGEST_LEAD = 64
_EARLY_NS, _LATE_NS = 5_000, 10_000
"""Changes take effect within microseconds."""
_SHIFT_NS = 97_000
_BESIDE_OPPORTUNITY_NS = 300_000
"""Opportunities are whole milliseconds: who comes so long after one misses it, and the next one by far."""
_ATTEMPTS = 20


@dataclass(frozen=True)
class Feed:
    """A flow of full-size packets that keeps a course busy, and when each should arrive."""

    flow: int
    ideal_ns: Times

    def lateness_ns(self, passage: ProbePassage) -> tuple[Times, Times]:
        """Numbers of the packets that arrived, and how much later than ideally."""
        numbers, times = passage.first_arrivals()
        known = numbers < len(self.ideal_ns)
        return numbers[known], times[known] - self.ideal_ns[numbers[known]]


def feed(
    timeline: Timeline,
    way: Way,
    course: Course,
    start_ns: int,
    enough: Callable[[int, int], bool],
) -> Feed:
    """Plan a feed.

    Args:
        timeline: where to add the flow.
        way: its direction.
        course: the ideal path, whose times are those of the timeline.
        start_ns: when the first packets are sent.
        enough: whether the feed may end, given the number of packets and the time when the last
            one leaves the narrowest link.
    """
    for attempt in range(_ATTEMPTS):
        sent, left = _plan(course, start_ns + attempt * _SHIFT_NS, enough)
        if not (_is_close_call(course, left) or course.is_close(sent)):
            break
    sends = [(int(at), int(n)) for at, n in zip(*np.unique(sent, return_counts=True), strict=True)]
    flow = timeline.add(way, ProbeFlow(FRAME_BYTES, tuple(sends)))
    return Feed(flow, np.array(course.full_packets(sent), np.int64))


def _plan(
    course: Course, start_ns: int, enough: Callable[[int, int], bool]
) -> tuple[list[int], list[int]]:
    """When packets are sent, and when they leave the narrowest link."""
    lead = _lead(course)
    upstream_ns = sum(stage.delay_at(start_ns) for stage in course.stages[: course.narrow])
    stage = course.stages[course.narrow]
    sent: list[int] = []
    left: list[int] = []
    while not enough(len(left), left[-1] if left else start_ns):
        # A packet is sent to be at the link when the one before its predecessors has left. It
        # comes in the midst of another's sending, as a packet of real traffic would.
        at = start_ns
        if len(sent) >= lead:
            freed = left[len(sent) - lead]
            at = max(freed + _after_ns(stage, freed, lead) - upstream_ns, sent[-1])
        sent.append(at)
        left = stage.departures([time + upstream_ns for time in sent], left)
    return sent, left


def _is_close_call(course: Course, left: list[int]) -> bool:
    """Whether a packet leaves so close to a change that its lateness decides on the rate."""
    changes = np.array([at for at, _ in course.stages[course.narrow].rates])
    after = np.array(left)[:, None] - changes[None, :]
    return bool(((after > -_EARLY_NS) & (after < _LATE_NS)).any())


def _after_ns(stage: Stage, at_ns: int, lead: int) -> int:
    """How long after another has left a packet comes: in a third of the next one's sending."""
    if stage.opportunities_ms:
        return _BESIDE_OPPORTUNITY_NS
    if lead == 1 or not stage.rates:
        return 0
    return (stage.served_by(at_ns, FRAME_BYTES) - at_ns) // 3


def _lead(course: Course) -> int:
    """How many packets to keep at the link: half of what fits, but one where a queue may drop early."""
    if any(s.direction.queue.discipline is not Discipline.DROPTAIL for s in course.stages):
        return 1
    room = (course.smallest_queue_bytes or FRAME_BYTES) // FRAME_BYTES - 1
    return min(max(room // 2, 1), _LONGEST_LEAD)
