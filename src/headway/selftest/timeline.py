"""The timeline of the probes of both end hosts: when they send what, and what they saw of it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from headway.contract.probe_orders import (
    OTHER_FLOW,
    RECEIVED,
    REPLY,
    REQUEST,
    SENT,
    SMALL_FRAME_BYTES,
    ProbeFlow,
)
from headway.selftest.ideal import Course
from headway.selftest.spans import longest_closed_ns
from headway.study.path import Way
from headway.study.queue import FRAME_BYTES, Discipline, Queue

Times = np.ndarray[tuple[int], np.dtype[np.int64]]
Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]

RECORD_TYPE = np.dtype(
    [
        ("at_ns", "<i8"),
        ("number", "<u4"),
        ("flow", "<u2"),
        ("bytes", "<u2"),
        ("kind", "u1"),
        ("intact", "u1"),
        ("source", "<u4"),
        ("port", "<u2"),
    ]
)
"""`headway.contract.probe_orders.RECORD` as numpy reads it."""
Records = np.ndarray[tuple[int], np.dtype[np.void]]

_START_NS = 100_000_000
_YOUNG_NS = 3_000_000
"""At most so long a burst takes through a queue that drops what has waited long."""
_PAUSE_NS = 10_000_000


@dataclass
class Timeline:
    """Flows of both directions, one step after another.

    Attributes:
        path: the path in short.
        courses: the ideal path in both directions, before its own time begins.
        flows: what each direction's sender sends.
        now_ns: end of the last step.
        transfer_at_ns: when the TCP connection begins.
        transfer_span_ns: how long it may take.
        changing: the ideal path with its own time, once that has its place on the timeline.
    """

    path: str
    courses: dict[Way, Course]
    flows: dict[Way, list[ProbeFlow]] = field(default_factory=lambda: {way: [] for way in Way})
    now_ns: int = _START_NS
    transfer_at_ns: int = 0
    transfer_span_ns: int = 0
    changing: dict[Way, Course] | None = None

    def add(self, way: Way, flow: ProbeFlow) -> int:
        """Add a flow; returns its number."""
        self.flows[way].append(flow)
        return len(self.flows[way]) - 1

    def end_step(self, last_send_ns: int) -> None:
        """Let everything that was sent up to a time arrive before the next step begins."""
        self.now_ns = max(self.now_ns, last_send_ns + self.drain_ns() + _PAUSE_NS)

    def drain_ns(self) -> int:
        """Time in which every queue empties and every packet goes there and back."""
        return sum(
            sum(_stage_drain_ns(course, index) for index in range(len(course.stages)))
            + course.delay_ns
            + course.farthest_jitter_ns
            for course in (self.changing or self.courses).values()
        )

    def expected_records(self) -> int:
        """Room for records of all flows at one host, duplicates and answers included."""
        return 3 * sum(
            count for flows in self.flows.values() for flow in flows for _, count in flow.sends
        )


def _stage_drain_ns(course: Course, index: int) -> int:
    stage = course.stages[index]
    limit = stage.limit_bytes
    if limit is None:
        return 0
    if stage.opportunities_ms:
        laps = limit // (len(stage.opportunities_ms) * 1500) + 2
        return laps * stage.opportunities_ms[-1] * 1_000_000
    slowest = min(rate for _, rate in stage.rates)
    return (limit + FRAME_BYTES) * 8 * 10**9 // slowest + longest_closed_ns(stage.direction)


def bursts(course: Course, start_ns: int, count: int) -> tuple[tuple[int, int], ...]:
    """Sends of small packets, many at a time, such that no queue ever fills or grows old."""
    queue = course.smallest_queue_bytes
    room = 6400 if queue is None else max(min(queue // 8, 6400), SMALL_FRAME_BYTES)
    size = min(room // SMALL_FRAME_BYTES, count)
    if any(_counts_packets(stage.direction.queue) for stage in course.stages):
        size = min(size, max((queue or 0) // FRAME_BYTES // 2, 1))
        bit_s = course.slowest_rate or 10**12
        young = bit_s * _young_ns(course) // (SMALL_FRAME_BYTES * 8 * 10**9)
        size = min(size, max(young, 1))
    slowest = course.slowest_rate or 10**12
    gap_ns = max(1_000_000, 2 * size * SMALL_FRAME_BYTES * 8 * 10**9 // slowest)
    # Jitter that keeps the order bunches packets, which a queue behind it must hold.
    gap_ns = max(gap_ns, 2 * longest_wait_ns(course))
    if len(course.stages) > 1:
        gap_ns += 2 * course.farthest_jitter_ns
    return tuple(
        (start_ns + index * gap_ns, min(size, count - index * size))
        for index in range(-(-count // size))
    )


def _young_ns(course: Course) -> int:
    """Time in which a burst is through queues that drop what has waited long."""
    targets = [stage.direction.queue.target_ns for stage in course.stages]
    return min([_YOUNG_NS, *(target * 3 // 5 for target in targets if target is not None)])


def _counts_packets(queue: Queue) -> bool:
    return queue.packets is not None or queue.discipline is not Discipline.DROPTAIL


def longest_wait_ns(course: Course) -> int:
    """Longest time between two opportunities of a course's traces."""
    longest = 0
    for stage in course.stages:
        if times := stage.opportunities_ms:
            gaps = np.diff((0, *times, times[-1] + times[0]))
            longest = max(longest, int(gaps.max()) * 1_000_000)
    return longest


@dataclass(frozen=True)
class ProbePassage:
    """What became of a flow: by number, when packets left, and when they arrived.

    Attributes:
        sent_ns: when each packet left its host, by number.
        numbers: numbers of the packets that arrived undamaged, in order of arrival.
        arrived_ns: their arrival times.
    """

    sent_ns: Times
    numbers: Times
    arrived_ns: Times

    @property
    def copies(self) -> Times:
        """How often each packet arrived, by number."""
        return np.bincount(self.numbers, minlength=len(self.sent_ns))

    @property
    def lost(self) -> Flags:
        """Whether each packet never arrived, by number."""
        return np.asarray(self.copies == 0)

    def first_arrivals(self) -> tuple[Times, Times]:
        """Numbers of the packets that arrived, in order of first arrival, and those times."""
        _, first = np.unique(self.numbers, return_index=True)
        first.sort()
        return self.numbers[first], self.arrived_ns[first]

    def delays(self) -> tuple[Times, Times]:
        """Numbers, and nanoseconds from leaving to arrival, of all copies that arrived."""
        return self.numbers, self.arrived_ns - self.sent_ns[self.numbers]


@dataclass(frozen=True)
class Sight:
    """What both probes saw: their records, the client's and the server's."""

    client: Records
    server: Records

    def passage(self, way: Way, flow: int) -> ProbePassage:
        """What became of a flow."""
        sender, receiver = self.ends(way)
        sent = sender[(sender["flow"] == flow) & (sender["kind"] == SENT)]
        got = receiver[
            (receiver["flow"] == flow) & (receiver["kind"] == RECEIVED) & (receiver["intact"] == 1)
        ]
        times = np.zeros(len(sent), np.int64)
        times[sent["number"]] = sent["at_ns"]
        known = got["number"] < len(sent)
        return ProbePassage(times, got["number"][known].astype(np.int64), got["at_ns"][known])

    def damaged(self, way: Way, from_ns: int, to_ns: int) -> tuple[int, int]:
        """How many small packets arrived damaged within a time, and how many arrived at all."""
        _, receiver = self.ends(way)
        here = (receiver["kind"] == RECEIVED) & (receiver["bytes"] == SMALL_FRAME_BYTES)
        here &= (receiver["at_ns"] >= from_ns) & (receiver["at_ns"] < to_ns)
        return int(np.count_nonzero(receiver["intact"][here] == 0)), int(np.count_nonzero(here))

    def round_trips(self, flow: int) -> tuple[Times, Times]:
        """Times at which the client's echo requests left, and how long the answers took."""
        mine = self.client[self.client["flow"] == flow]
        asked, answered = mine[mine["kind"] == REQUEST], mine[mine["kind"] == REPLY]
        _, first = np.unique(answered["number"], return_index=True)
        left = dict(zip(asked["number"].tolist(), asked["at_ns"].tolist(), strict=True))
        sent = np.array([left[number] for number in answered["number"][first].tolist()], np.int64)
        return sent, answered["at_ns"][first] - sent

    def largest_frames(self) -> tuple[int, int]:
        """Bytes on the wire of the largest frame of TCP, and of any."""
        both = np.concatenate([self.client, self.server])
        transfer = both["bytes"][both["flow"] == OTHER_FLOW]
        return int(transfer.max(initial=0)), int(both["bytes"].max(initial=0))

    def ends(self, way: Way) -> tuple[Records, Records]:
        """The records of a direction's sender, and of its receiver."""
        return (self.client, self.server) if way is Way.UP else (self.server, self.client)
