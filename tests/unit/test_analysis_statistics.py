"""Samples, intervals, tests and effect sizes against known values."""

import itertools
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from headway.analysis.sample import median_interval, summarise
from headway.analysis.significance import cliffs_delta, mann_whitney, welch

quick = settings(deadline=None, max_examples=60)
times = st.integers(1, 10**9).map(lambda microseconds: microseconds / 1e6)
samples = st.lists(times, min_size=1, max_size=12)


def test_cliffs_delta_by_hand() -> None:
    # Of nine pairs, two are greater (5 over 3 and 4), one is equal, six are smaller.
    assert cliffs_delta([1, 2, 5], [3, 4, 5]) == pytest.approx((2 - 6) / 9)
    assert cliffs_delta([1, 2], [3, 4]) == -1
    assert cliffs_delta([3.0], [3.0]) == 0
    assert cliffs_delta([], [1.0]) is None


def test_welch_against_scipy() -> None:
    one, other = [1.1, 1.3, 1.2, 1.5, 1.4], [1.9, 2.4, 2.0, 1.8, 2.2]
    expected = stats.ttest_ind(one, other, equal_var=False)
    found = welch(one, other)
    assert found is not None
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.significant


def test_mann_whitney_of_five_cannot_decide() -> None:
    found = mann_whitney([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0])
    assert found is not None
    assert found.p == pytest.approx(2 / 252)
    assert found.smallest_p == pytest.approx(2 / 252)
    assert not found.can_decide
    assert not found.significant


def test_mann_whitney_of_six_can() -> None:
    found = mann_whitney([1.0, 2, 3, 4, 5, 6], [7.0, 8, 9, 10, 11, 12])
    assert found is not None
    assert found.p == pytest.approx(2 / 924)
    assert found.can_decide
    assert found.significant


def test_mann_whitney_with_ties_by_enumeration() -> None:
    one, other = [1.0, 1.0, 2.0, 3.0], [2.0, 3.0, 3.0, 4.0, 5.0]
    ranks = stats.rankdata([*one, *other])
    sums = [sum(ranks[list(drawn)]) for drawn in itertools.combinations(range(9), 4)]
    below = sum(total <= ranks[:4].sum() for total in sums) / len(sums)
    found = mann_whitney(one, other)
    assert found is not None
    assert found.p == pytest.approx(2 * below)
    assert found.statistic == stats.mannwhitneyu(one, other).statistic


@quick
@given(st.lists(times, min_size=2, max_size=30, unique=True), st.data())
def test_mann_whitney_without_ties_against_scipy(values: list[float], data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(values) - 1))
    found = mann_whitney(values[:cut], values[cut:])
    if found is not None:
        expected = stats.mannwhitneyu(values[:cut], values[cut:], method="exact")
        assert found.p == pytest.approx(expected.pvalue)
        assert found.statistic == expected.statistic


def test_mann_whitney_of_large_samples_is_approximate() -> None:
    one = [float(n) for n in range(60)]
    found = mann_whitney(one, [value + 5 for value in one])
    assert found is not None
    assert found.method == "normal approximation"


@pytest.mark.parametrize("one, other", [([2.0] * 5, [3.0] * 5), ([2.0] * 5, [2.0] * 5)])
def test_constant_samples_have_no_test(one: list[float], other: list[float]) -> None:
    assert welch(one, other) is None
    assert mann_whitney(one, other) is None


def test_one_constant_sample_is_tested() -> None:
    found = welch([2.0] * 5, [3.0, 3.1, 2.9, 3.2, 3.0])
    assert found is not None
    assert 0 < found.p < 0.001


@quick
@given(samples, samples)
def test_tests_never_warn_nor_give_nan(one: list[float], other: list[float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for found in (welch(one, other), mann_whitney(one, other)):
            assert found is None or 0 <= found.p <= 1


@quick
@given(samples, samples)
def test_cliffs_delta_is_antisymmetric(one: list[float], other: list[float]) -> None:
    forth, back = cliffs_delta(one, other), cliffs_delta(other, one)
    assert forth is not None
    assert back is not None
    assert forth == -back
    assert -1 <= forth <= 1


def test_interval_of_five_is_the_range_with_its_own_coverage() -> None:
    found = median_interval([3.0, 1.0, 2.0, 5.0, 4.0])
    assert found is not None
    assert (found.low, found.high) == (1.0, 5.0)
    assert found.coverage == pytest.approx(0.9375)
    assert not found.reaches_level
    assert found.method == "range of the sample, 93.8 %"


@pytest.mark.parametrize(
    "n, rank, coverage",
    # Ranks as tabulated, e.g. by Conover (1999) and Le Boudec (2010, appendix A).
    [(6, 1, 0.96875), (8, 1, 0.9921875), (9, 2, 0.9609375), (10, 2, 0.978515625), (20, 6, 0.9586)],
)
def test_interval_ranks(n: int, rank: int, coverage: float) -> None:
    found = median_interval([float(value) for value in range(1, n + 1)])
    assert found is not None
    assert (found.low, found.high) == (rank, n + 1 - rank)
    assert found.coverage == pytest.approx(coverage, abs=1e-4)
    assert found.reaches_level


@quick
@given(st.integers(6, 400))
def test_interval_is_the_narrowest_that_reaches_the_level(n: int) -> None:
    found = median_interval([float(value) for value in range(1, n + 1)])
    assert found is not None
    inside = 1 - 2 * stats.binom.cdf(found.low - 1, n, 0.5)
    narrower = 1 - 2 * stats.binom.cdf(found.low, n, 0.5)
    assert found.coverage == pytest.approx(inside)
    assert inside >= 0.95 > narrower


def test_summary() -> None:
    found = summarise([4.0, 1.0, 2.0])
    assert found is not None
    assert (found.n, found.median, found.low, found.high) == (3, 2.0, 1.0, 4.0)
    assert found.mean == pytest.approx(7 / 3)
    assert found.sd == pytest.approx((7 / 3) ** 0.5)
    assert not found.constant


def test_summary_of_equal_values_is_exact() -> None:
    found = summarise([0.1] * 7)
    assert found is not None
    assert (found.mean, found.sd, found.constant) == (0.1, 0.0, True)


def test_summary_of_one_and_of_none() -> None:
    single = summarise([2.5])
    assert single is not None
    assert (single.median, single.sd, single.interval) == (2.5, None, None)
    assert summarise([]) is None


@quick
@given(st.lists(times, min_size=1, max_size=30), st.randoms())
def test_summary_does_not_depend_on_order(values: list[float], random: object) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert summarise(shuffled) == summarise(values)
