"""The verdict on two samples: faster or slower, and on what that rests."""

from __future__ import annotations

import math
from enum import StrEnum

from headway.analysis.difference import Difference
from headway.analysis.metric import Metric
from headway.analysis.sample import SampleSummary
from headway.analysis.significance import TestResult

SPREADS_APART = 1.25
"""Interquartile ranges with at least this ratio make one sample the less variable."""


class Verdict(StrEnum):
    """What can be said of a contender against another."""

    FASTER = "faster"
    SLOWER = "slower"
    EQUAL = "equal"
    UNDECIDED = "undecided"
    INCOMPARABLE = "incomparable"


class Basis(StrEnum):
    """What a verdict rests on."""

    EVERY_RUN = "every run"
    """Each contender took the same time in all its runs: nothing is left to a test."""
    IDENTICAL = "identical runs"
    """Every run of one is equal to that of the other with the same seed: nothing tells them apart."""
    TEST = "test"
    EQUIVALENCE = "equivalence"
    """Not significant, and two one-sided tests show that the difference is negligible."""
    TOO_FEW = "too few runs"
    """So few that no outcome of them would be significant."""
    NO_RUNS = "no runs"
    """One side has no measurement, or nothing that was measured meets."""


class SpreadVerdict(StrEnum):
    """How distributions differ whose places do not differ significantly."""

    LESS_VARIABLE = "less variable"
    MORE_VARIABLE = "more variable"
    SHAPE = "distributed differently"
    """Equally wide or nearly so, but not alike."""


def judge(
    sample_summary: SampleSummary | None,
    other: SampleSummary | None,
    difference: Difference,
    test: TestResult | None,
    metric: Metric,
) -> tuple[Verdict, Basis]:
    """Say whether one contender is faster than the other.

    One test decides, of pairs if there are any; no other has a say.

    Args:
        sample_summary: the contender's sample.
        other: the other's.
        difference: how they differ.
        test: its p-value adjusted for the number of comparisons; None if not defined.
        metric: what was measured.
    """
    if difference.sign is None:
        return Verdict.INCOMPARABLE, Basis.NO_RUNS
    way = direction(difference.sign, metric)
    if _all_alike(sample_summary, other, difference):
        return way, Basis.EVERY_RUN
    if test is None:  # pairs that are all equal, though the runs vary; or a single run of each
        equal = len(difference.logs) > 1 and not any(difference.logs)
        return (Verdict.EQUAL, Basis.IDENTICAL) if equal else (Verdict.UNDECIDED, Basis.TOO_FEW)
    if test.significant and way is not Verdict.EQUAL:
        return way, Basis.TEST
    if difference.equivalent:
        return Verdict.EQUAL, Basis.EQUIVALENCE
    return Verdict.UNDECIDED, Basis.TEST if test.can_decide else Basis.TOO_FEW


def _all_alike(
    sample_summary: SampleSummary | None, other: SampleSummary | None, difference: Difference
) -> bool:
    """Whether each contender took the same in all of several runs."""
    if sample_summary is None or other is None or min(sample_summary.n, other.n) < 2:
        return False
    return sample_summary.constant and other.constant and not any(map(math.isinf, difference.logs))


def direction(difference: float, metric: Metric) -> Verdict:
    """What a difference of values means: faster, slower or equal."""
    if difference == 0:
        return Verdict.EQUAL
    return Verdict.FASTER if (difference < 0) == metric.less_is_better else Verdict.SLOWER


def spread(
    verdict: Verdict,
    sample_summary: SampleSummary | None,
    other: SampleSummary | None,
    test: TestResult | None,
) -> SpreadVerdict | None:
    """How the distributions differ, where they do but neither is faster.

    The Kolmogorov-Smirnov test must be significant; interquartile ranges then say which sample
    varies less.
    """
    if verdict is not Verdict.UNDECIDED or sample_summary is None or other is None:
        return None
    if test is None or not test.significant or min(sample_summary.n, other.n) < 2:
        return None
    if sample_summary.iqr * SPREADS_APART <= other.iqr and sample_summary.iqr < other.iqr:
        return SpreadVerdict.LESS_VARIABLE
    if other.iqr * SPREADS_APART <= sample_summary.iqr and other.iqr < sample_summary.iqr:
        return SpreadVerdict.MORE_VARIABLE
    return SpreadVerdict.SHAPE
