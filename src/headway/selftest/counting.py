"""Counted packets: losses and their bursts, named drops, duplicates, damages, order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.contract.probe_orders import SMALL_FRAME_BYTES, ProbeFlow
from headway.overriding import override
from headway.selftest.check import Check
from headway.selftest.fate import Fate, damaged_share, fate
from headway.selftest.ideal import Course
from headway.selftest.intervals import (
    burst_mean_interval,
    effective_trials,
    joint_effective_trials,
    mean_burst,
    share_interval,
)
from headway.selftest.step import CheckStep, both_ways
from headway.selftest.timeline import Flags, ProbePassage, Sight, Timeline, bursts
from headway.study.path import Way

_FEWEST, _MOST = 500, 6000
_WANTED_EVENTS = 100
_FEWEST_LOST = 20
_LAST_NAMED = 20_000
_BINOMIAL = "binomial interval"


@dataclass(frozen=True)
class _Count:
    course: Course
    flow: int
    fate: Fate
    named: frozenset[int]
    """Numbers, from 0, of the packets that are to be dropped."""

    def unnamed(self, flags: Flags) -> Flags:
        """Flags of the packets that are not named."""
        keep = np.ones(len(flags), np.bool_)
        keep[[number for number in self.named if number < len(flags)]] = False
        return flags[keep]


class Counting(CheckStep):
    """Many small packets each way, at once in both directions.

    Must be the first step: the path counts its named drops from the first packet on.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._from_ns = timeline.now_ns
        fates = {way: fate(course) for way, course in timeline.courses.items()}
        count = max(_packets(course, fates[way]) for way, course in timeline.courses.items())
        self._counts: dict[Way, _Count] = {}
        for way, course in timeline.courses.items():
            sends = bursts(course, self._from_ns, count)
            flow = timeline.add(way, ProbeFlow(SMALL_FRAME_BYTES, sends))
            self._counts[way] = _Count(course, flow, fates[way], _named(course))
            timeline.end_step(sends[-1][0])
        self._to_ns = timeline.now_ns

    @override
    def judge(self, sight: Sight) -> Iterator[Check]:
        passages = {way: sight.passage(way, count.flow) for way, count in self._counts.items()}
        for way in both_ways():
            count, passage = self._counts[way], passages[way]
            if not count.named and any(s.direction.drop_packets for s in count.course.stages):
                continue  # the numbers of the dropped packets are not those of the flow
            yield self._loss(way, count, passage)
            yield from self._bursts(way, count, passage)
            yield from self._named_drops(way, count, passage)
            yield from self._duplicates(way, count, passage)
            yield from self._damages(way, count, sight)
            yield from self._order(way, count, passage)
        yield from self._independence(passages)

    def _check(
        self,
        name: str,
        expected: float,
        measured: float | None,
        low: float,
        high: float,
        unit: str,
        note: str,
    ) -> Check:
        return Check(name, self._timeline.path, expected, measured, low, high, unit, note)

    def _loss(self, way: Way, count: _Count, passage: ProbePassage) -> Check:
        lost = count.unnamed(passage.lost)
        share = count.fate.lost
        trials = effective_trials(len(lost), count.fate.correlation)
        low, high = share_interval(share, trials)
        note = f"{_BINOMIAL}, {len(lost)} packets"
        if trials < len(lost):
            note += f" that tell as much as {trials:.0f} independent ones"
        if any(stage.direction.corruption for stage in count.course.stages):
            note += "; damaged packets count as lost"
        return self._check(
            f"loss {way}",
            100 * share,
            100 * float(lost.mean()) if len(lost) else None,
            100 * low,
            100 * high,
            "%",
            note,
        )

    def _bursts(self, way: Way, count: _Count, passage: ProbePassage) -> Iterator[Check]:
        stages = [stage.direction for stage in count.course.stages if stage.direction.loss.mean]
        clean = not count.course.may_overtake and not any(
            s.direction.duplication or s.direction.corruption for s in count.course.stages
        )
        if len(stages) != 1 or not clean or count.named or not 0 < stages[0].loss.mean < 1:
            return
        loss = stages[0].loss
        mean = loss.burst if loss.burst > 1 else 1 / (1 - loss.mean)
        members = int(np.count_nonzero(passage.lost))
        if members < _FEWEST_LOST:
            return
        low, high = burst_mean_interval(mean, members)
        note = f"geometric lengths, {members} packets lost"
        yield self._check(
            f"loss burst {way}", mean, mean_burst(passage.lost), low, high, "packets", note
        )

    def _named_drops(self, way: Way, count: _Count, passage: ProbePassage) -> Iterator[Check]:
        if count.named:
            arrived = sum(int(passage.copies[number]) for number in count.named)
            note = f"packets {_listed(count.named)}; none of them may arrive"
            yield self._check(f"named drops {way}", 0, arrived, 0, 0, "arrived", note)

    def _duplicates(self, way: Way, count: _Count, passage: ProbePassage) -> Iterator[Check]:
        if any(stage.direction.duplication for stage in count.course.stages):
            repeated = count.unnamed(np.asarray(passage.copies > 1))
            low, high = share_interval(count.fate.repeated, len(repeated))
            yield self._check(
                f"duplication {way}",
                100 * count.fate.repeated,
                100 * float(repeated.mean()),
                100 * low,
                100 * high,
                "%",
                f"{_BINOMIAL}, {len(repeated)} packets",
            )

    def _damages(self, way: Way, count: _Count, sight: Sight) -> Iterator[Check]:
        share = damaged_share(count.course)
        if share:
            damaged, arrived = sight.damaged(way, self._from_ns, self._to_ns)
            low, high = share_interval(share, arrived)
            note = f"{_BINOMIAL}, {arrived} packets; bits that no receiver looks at do not count"
            yield self._check(
                f"corruption {way}",
                100 * share,
                100 * damaged / arrived if arrived else None,
                100 * low,
                100 * high,
                "%",
                note,
            )

    def _order(self, way: Way, count: _Count, passage: ProbePassage) -> Iterator[Check]:
        if not count.course.may_overtake:
            numbers, _ = passage.first_arrivals()
            late = int(np.count_nonzero(np.diff(numbers) < 0))
            yield self._check(
                f"order {way}",
                0,
                late,
                0,
                0,
                "overtaken",
                "packets sent in bursts keep their order",
            )

    def _independence(self, passages: dict[Way, ProbePassage]) -> Iterator[Check]:
        fates = [count.fate for count in self._counts.values()]
        named = any(
            stage.direction.drop_packets
            for count in self._counts.values()
            for stage in count.course.stages
        )
        if named or any(not 0 < fate.lost < 1 for fate in fates):
            return
        down, up = (passages[way].lost for way in both_ways())
        if len(down) != len(up):
            return
        share = fates[0].lost * fates[1].lost
        trials = joint_effective_trials(
            len(down), [fate.lost for fate in fates], [fate.correlation for fate in fates]
        )
        low, high = share_interval(share, trials)
        yield self._check(
            "loss both ways",
            100 * share,
            100 * float((down & up).mean()),
            100 * low,
            100 * high,
            "%",
            f"{_BINOMIAL}; the directions' losses are independent",
        )


def _packets(course: Course, expected: Fate) -> int:
    """How many packets show a course's rarest event often enough."""
    shares = [expected.lost, expected.repeated, damaged_share(course) or 0.0]
    rarest = min((share for share in shares if share > 0), default=1.0)
    burst = max(stage.direction.loss.burst for stage in course.stages)
    wanted = min(max(int(_WANTED_EVENTS * burst / rarest), _FEWEST), _MOST)
    named = _named(course)
    return max(wanted, max(named, default=0) + 10)


def _named(course: Course) -> frozenset[int]:
    """Numbers, from 0, of a course's named drops, if its packets' numbers are those of the path."""
    before: list[float] = []
    for stage in course.stages:
        named = stage.direction.drop_packets
        if named:
            others = [s for s in course.stages if s is not stage and s.direction.drop_packets]
            counted = not any(before) and not others
            return frozenset(n - 1 for n in named if n <= _LAST_NAMED) if counted else frozenset()
        before += [
            stage.direction.loss.mean,
            stage.direction.duplication,
            stage.direction.corruption,
        ]
        before += [stage.direction.reordering, float(stage.direction.jitter_reorders)]
    return frozenset()


def _listed(numbers: frozenset[int]) -> str:
    shown = [str(number + 1) for number in sorted(numbers)[:8]]
    return ", ".join(shown) + (" and more" if len(numbers) > 8 else "")
