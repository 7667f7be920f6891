"""What can be said of two samples: faster or slower, and on what that rests."""

from __future__ import annotations

from enum import StrEnum

from headway.analysis.metric import Metric
from headway.analysis.sample import Sample
from headway.analysis.significance import TestResult

NEGLIGIBLE = 0.01
"""Medians closer than this share of the larger one are called practically equal."""
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
    TESTS = "tests"
    TOO_FEW = "too few runs"
    """A single run on one side."""
    NO_RUNS = "no runs"
    """One side has no measurement."""
    CONFLICT = "medians and means disagree"
    """The tests are significant, but medians and means do not point the same way."""


class Spread(StrEnum):
    """How distributions differ whose places do not differ significantly."""

    LESS_VARIABLE = "less variable"
    MORE_VARIABLE = "more variable"
    SHAPE = "distributed differently"
    """Equally wide or nearly so, but not alike."""


def judge(
    one: Sample | None,
    other: Sample | None,
    tests: tuple[TestResult | None, ...],
    metric: Metric,
) -> tuple[Verdict, Basis]:
    """Say whether one sample is faster than the other.

    A difference is significant if every test that could decide with samples of these sizes does:
    with fewer than six runs a side Mann-Whitney's smallest p-value is above its level, so that
    Welch's test decides alone. Medians and means must also point the same way.

    Args:
        one: the contender's sample.
        other: the other's.
        tests: tests of place, with p-values adjusted for the number of comparisons.
        metric: what was measured.
    """
    if one is None or other is None:
        return Verdict.INCOMPARABLE, Basis.NO_RUNS
    if one.n < 2 or other.n < 2:
        return Verdict.UNDECIDED, Basis.TOO_FEW
    way = direction(one.median - other.median, metric)
    if one.constant and other.constant:
        return way, Basis.EVERY_RUN
    deciding = [test for test in tests if test and test.can_decide]
    if not deciding or not all(test.significant for test in deciding):
        return Verdict.UNDECIDED, Basis.TESTS
    if way is Verdict.EQUAL or way is not direction(one.mean - other.mean, metric):
        return Verdict.UNDECIDED, Basis.CONFLICT
    return way, Basis.TESTS


def direction(difference: float, metric: Metric) -> Verdict:
    """What a difference of values means: faster, slower or equal."""
    if difference == 0:
        return Verdict.EQUAL
    return Verdict.FASTER if (difference < 0) == metric.less_is_better else Verdict.SLOWER


def negligible(one: Sample | None, other: Sample | None) -> bool:
    """Whether the medians differ by less than ``NEGLIGIBLE``."""
    if one is None or other is None:
        return False
    larger = max(abs(one.median), abs(other.median))
    return abs(one.median - other.median) < NEGLIGIBLE * larger or one.median == other.median


def spread(
    verdict: Verdict, one: Sample | None, other: Sample | None, test: TestResult | None
) -> Spread | None:
    """How the distributions differ, where they do but neither is faster.

    The Kolmogorov-Smirnov test must be significant; interquartile ranges then say which sample
    varies less.
    """
    if verdict is not Verdict.UNDECIDED or one is None or other is None:
        return None
    if test is None or not test.significant or min(one.n, other.n) < 2:
        return None
    if one.iqr * SPREADS_APART <= other.iqr and one.iqr < other.iqr:
        return Spread.LESS_VARIABLE
    if other.iqr * SPREADS_APART <= one.iqr and other.iqr < one.iqr:
        return Spread.MORE_VARIABLE
    return Spread.SHAPE
