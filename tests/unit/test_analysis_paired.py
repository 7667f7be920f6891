"""Pairs: exact distributions against brute force, estimates against their definition."""

import itertools
import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from headway.analysis import paired
from headway.analysis.paired import (
    MOST_EXACT_PAIRS,
    log_ratio,
    signed_ranks,
    typical,
    typical_interval,
)
from headway.analysis.significance import (
    TestResult,
    adjusted,
    bonferroni,
    interval_level,
    mann_whitney,
)
from headway.analysis.unpaired import typical_shift, typical_shift_interval
from headway.statistics.pairs import PAIRED_ALPHA, fewest_pairs, smallest_p

quick = settings(deadline=None, max_examples=80)
# Few different values, so that ties and zeros are common.
tied = st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=9)


def by_all_signs(logs: list[float]) -> float:
    """The two-sided p-value of signed ranks, by all 2^n ways to swap the values of pairs."""
    ranks = stats.rankdata([abs(value) for value in logs])
    moved = [(rank, value) for rank, value in zip(ranks, logs, strict=True) if value]
    found = sum(rank for rank, value in moved if value > 0)
    sums = [
        sum(rank for (rank, _), sign in zip(moved, signs, strict=True) if sign)
        for signs in itertools.product((False, True), repeat=len(moved))
    ]
    tails = sum(one <= found for one in sums), sum(one >= found for one in sums)
    return min(1.0, 2 * min(tails) / len(sums))


@quick
@given(tied)
def test_p_is_that_of_all_swaps(logs: list[float]) -> None:
    found = signed_ranks(logs)
    if not any(logs):
        assert found is None
    else:
        assert found is not None
        assert found.exact
        assert found.p == pytest.approx(by_all_signs(logs))


def test_without_ties_it_is_wilcoxons_test() -> None:
    logs = [0.11, -0.05, 0.32, 0.27, -0.013, 0.4, 0.21, 0.09, -0.3, 0.17]
    found = signed_ranks(logs)
    assert found is not None
    assert found.p == pytest.approx(stats.wilcoxon(logs, method="exact").pvalue)


def test_of_many_pairs_the_normal_distribution_is_near_enough() -> None:
    logs = [math.sin(place) + 0.15 for place in range(MOST_EXACT_PAIRS + 1)]
    many, fewer = signed_ranks(logs), signed_ranks(logs[:-1])
    assert many is not None
    assert fewer is not None
    assert (many.exact, fewer.exact) == (False, True)
    expected = stats.wilcoxon(logs, method="asymptotic", correction=True).pvalue
    assert many.p == pytest.approx(expected, rel=1e-6)


def test_the_fewest_pairs() -> None:
    assert [smallest_p(n) for n in (1, 2, 5, 6)] == [1, 0.5, 0.0625, 0.03125]
    assert [fewest_pairs(size) for size in (1, 2, 3, 4, 6, 7, 25, 26)] == [6, 7, 7, 8, 8, 9, 10, 11]


def test_ratios_of_runs_that_never_ended() -> None:
    assert log_ratio(2.0, 1.0) == pytest.approx(math.log(2))
    assert log_ratio(3.0, 1.5) == log_ratio(0.2, 0.1)
    assert log_ratio(math.inf, 1.0) == log_ratio(1.0, 0.0) == math.inf
    assert log_ratio(1.0, math.inf) == log_ratio(0.0, 1.0) == -math.inf
    assert log_ratio(math.inf, math.inf) == log_ratio(0.0, 0.0) == 0


@quick
@given(st.lists(st.floats(-3, 3), min_size=1, max_size=12))
def test_the_typical_ratio_is_the_median_of_averages(logs: list[float]) -> None:
    averages = [
        (logs[one] + logs[other]) / 2 for one in range(len(logs)) for other in range(one, len(logs))
    ]
    assert typical(logs) == pytest.approx(statistics.median(averages), abs=1e-9)


def test_averages_that_are_only_counted_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    logs = [math.sin(3.7 * place) for place in range(50)] + [math.inf]
    interval, middle = typical_interval(logs), typical(logs)
    monkeypatch.setattr(paired, "_MOST_AVERAGES", 0)
    counted = typical_interval(logs)
    assert interval is not None
    assert counted is not None
    assert typical(logs) == pytest.approx(middle, abs=1e-9)
    assert (counted.low, counted.high) == pytest.approx((interval.low, interval.high), abs=1e-9)


def test_one_timeout_moves_the_estimate_little_and_many_make_it_infinite() -> None:
    logs = [-0.10, -0.11, -0.12, -0.13, -0.09, -0.14, -0.08, -0.115]
    assert typical([*logs, math.inf]) == pytest.approx(-0.1, abs=0.01)
    assert typical([-0.1, math.inf, math.inf, math.inf]) == math.inf
    assert typical([math.inf, -math.inf]) == 0


levels = st.sampled_from([0.95, 0.97, 0.99, 0.998])


@quick
@given(st.lists(st.floats(-3, 3), min_size=6, max_size=12), levels)
def test_the_interval_leaves_out_what_the_test_rejects(logs: list[float], level: float) -> None:
    interval, found = typical_interval(logs, level), signed_ranks(logs)
    assert interval is not None
    if interval.reaches_level:
        assert interval.holds(0) is (found is None or found.p > 1 - level)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.integers(-4, 4).map(float), min_size=6, max_size=14), levels)
def test_so_it_does_with_ties_and_zeros(logs: list[float], level: float) -> None:
    interval, found = typical_interval(logs, level), signed_ranks(logs)
    assert interval is not None
    if interval.reaches_level:
        assert interval.holds(0) is (found is None or found.p > 1 - level)
        assert interval.low <= typical(logs) <= interval.high


def test_the_interval_of_ties_is_made_of_all_shifts_that_are_not_rejected() -> None:
    logs = [0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 5.0]
    interval = typical_interval(logs)
    assert interval is not None
    for shift in (place / 100 + 0.005 for place in range(-100, 600)):
        found = signed_ranks([log - shift for log in logs])
        assert found is not None
        assert (interval.low < shift < interval.high) is (found.p > PAIRED_ALPHA), shift


@quick
@given(
    st.lists(st.integers(1, 8).map(float), min_size=4, max_size=9),
    st.lists(st.integers(1, 8).map(float), min_size=4, max_size=9),
    levels,
)
def test_without_pairs_it_leaves_out_what_mann_whitney_rejects(
    ones: list[float], others: list[float], level: float
) -> None:
    interval, middle = typical_shift_interval(ones, others, level), typical_shift(ones, others)
    (found,) = mann_whitney([(ones, others)])
    assert interval is not None
    assert middle is not None
    assert interval.low <= middle <= interval.high
    if interval.reaches_level:
        assert interval.holds(0) is (found is None or found.p > 1 - level)


def test_without_pairs_as_published() -> None:
    """Moses' interval by the table of U: of 5 and 4 values, U at most 1 has p = 4/126 on both sides."""
    ones, others = [2.0, 3.0, 5.0, 7.0, 11.0], [1.0, 1.5, 2.5, 4.0]
    ratios = sorted(one / other for one in ones for other in others)
    found = typical_shift_interval(ones, others)
    assert found is not None
    assert math.exp(found.low) == pytest.approx(ratios[1])
    assert math.exp(found.high) == pytest.approx(ratios[-2])
    assert found.coverage == pytest.approx(1 - 4 / 126)


def test_coverage_is_stated() -> None:
    five = typical_interval([1.0, 2.0, 3.0, 4.0, 5.0])
    assert five is not None
    assert (five.low, five.high, five.coverage) == (1, 5, pytest.approx(0.9375))
    assert typical_interval([1.0]) is None
    ten = typical_interval([float(n) for n in range(10)])
    assert ten is not None
    assert 0.95 <= ten.coverage < 0.96


def result(p: float) -> TestResult:
    return TestResult("", 0, p, 0.05, 0.01, "", adjusted=p)


def test_bonferroni() -> None:
    found = bonferroni([result(0.04), None, result(0.01), result(0.5)])
    assert [one and one.adjusted for one in found] == [0.12, None, 0.03, 1.0]
    assert [one and one.smallest_p for one in found] == [0.03, None, 0.03, 0.03]
    assert bonferroni([None]) == [None]


def test_the_level_of_an_interval_is_as_strict_as_its_family_of_tests() -> None:
    assert interval_level([]) == 0.95
    assert interval_level([result(0.2)]) == 0.95
    none = [one for one in adjusted([result(0.2), result(0.4)]) if one]
    assert interval_level(none) == 0.975
    some = [one for one in adjusted([result(0.001), result(0.02), result(0.9), result(0.5)]) if one]
    assert interval_level(some) == pytest.approx(1 - 0.05 * 2 / 4)
