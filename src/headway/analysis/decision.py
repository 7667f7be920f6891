"""The tests that decide comparisons, and the family in which they are adjusted for their number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from headway.analysis.contest import Contest
from headway.analysis.difference import Difference, differences
from headway.analysis.metric import Metric
from headway.analysis.significance import (
    TestResult,
    adjusted,
    at_looks,
    fewest_runs,
    mann_whitney,
    wilcoxon,
)
from headway.statistics.pairs import PAIRED_ALPHA, fewest_pairs


@dataclass(frozen=True)
class JointTests:
    """Comparisons that are judged together.

    Attributes:
        tests: of each the test that decides, adjusted for their number; None where nothing is to be tested.
        members: those that can decide, and those of the family that are of other comparisons. What cannot be
            significant whatever it shows is no member: it would only blunt the rest.
        size: how many vary, those of too few runs included.
    """

    tests: tuple[TestResult | None, ...]
    members: tuple[TestResult, ...]
    size: int

    def needed(self, met: Contest, apart: Difference) -> int:
        """How many pairs, or runs of each, one of them needs to be significant whatever the others show."""
        fewest = fewest_pairs if apart.logs else fewest_runs
        return fewest(max(1, self.size) * met.looks)


def deciding(contests: Sequence[Contest], metric: Metric) -> tuple[TestResult, ...]:
    """The tests that decide contests, as far as they can, each by itself."""
    judged = [met.judged(metric) for met in contests]
    apart = [differences(met.one, met.other, metric) for met in judged]
    return tuple(test for test in _alone(judged, apart, metric) if test and test.can_decide)


def decide(
    contests: Sequence[Contest],
    apart: Sequence[Difference],
    metric: Metric,
    beside: Sequence[TestResult] = (),
) -> JointTests:
    """The one test that decides each contest, adjusted for their number."""
    tests = _alone(contests, apart, metric)
    able = [test for test in tests if test and test.can_decide]
    together = [test for test in adjusted([*able, *beside]) if test]
    members = iter(together[: len(able)])
    return JointTests(
        tuple(next(members) if test and test.can_decide else _untold(test) for test in tests),
        tuple(together),
        sum(test is not None for test in tests) + len(beside),
    )


def _alone(
    contests: Sequence[Contest], apart: Sequence[Difference], metric: Metric
) -> list[TestResult | None]:
    """The one test that decides each contest, by itself.

    Of pairs, if runs share seeds, else of places. What each contender always measured alike is not tested.
    """
    testable = [
        not (first and other and first.constant and other.constant)
        or any(map(math.isinf, difference.logs))
        for (first, other), difference in zip((met.samples for met in contests), apart, strict=True)
    ]
    paired = wilcoxon(
        [
            difference.logs if tested else ()
            for difference, tested in zip(apart, testable, strict=True)
        ]
    )
    unpaired = mann_whitney(
        [
            met.ranked(metric) if tested and not difference.logs else ((), ())
            for met, difference, tested in zip(contests, apart, testable, strict=True)
        ]
    )
    return at_looks(
        [
            first or (replace(other, alpha=PAIRED_ALPHA) if other else None)
            for first, other in zip(paired, unpaired, strict=True)
        ],
        [met.looks for met in contests],
    )


def _untold(test: TestResult | None) -> TestResult | None:
    """A test that cannot decide, so of no family; None of a single pair, or of a single run of each."""
    return replace(test, family=0) if test and test.smallest_p < 1 else None
