"""Samples, intervals, tests and effect sizes against known values."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from headway.analysis.effects import cliffs_delta, delta, relative_difference, relative_interval
from headway.analysis.intervals import median_interval
from headway.analysis.sample import Measurements, Observation, SampleSummary, summarise
from headway.analysis.significance import TestResult, adjusted
from headway.analysis.significance import kolmogorov_smirnov as kolmogorov_smirnov_of_pairs
from headway.analysis.significance import mann_whitney as mann_whitney_of_pairs
from headway.analysis.significance import welch as welch_of_pairs
from headway.statistics.interval import Interval

quick = settings(deadline=None, max_examples=60)
times = st.integers(1, 10**9).map(lambda microseconds: microseconds / 1e6)
samples = st.lists(times, min_size=1, max_size=12)


def welch(one: list[float], other: list[float]) -> TestResult | None:
    (found,) = welch_of_pairs([(summarise(one), summarise(other))])
    return found


def mann_whitney(one: list[float], other: list[float]) -> TestResult | None:
    (found,) = mann_whitney_of_pairs([(one, other)])
    return found


def kolmogorov_smirnov(one: list[float], other: list[float]) -> TestResult | None:
    (found,) = kolmogorov_smirnov_of_pairs([(one, other)])
    return found


def interval(values: list[float]) -> Interval | None:
    return median_interval(sorted(values))


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
    other = [value + 5 for value in one]
    found = mann_whitney(one, other)
    assert found is not None
    assert found.method == "normal approximation"
    expected = stats.mannwhitneyu(one, other, method="asymptotic")
    assert found.statistic == expected.statistic
    assert found.p == pytest.approx(expected.pvalue)


def test_mann_whitney_of_many_pairs_is_that_of_each() -> None:
    many = [float(n % 7) for n in range(30)]
    shifted = [value + 1 for value in many]
    pairs = [([1.0, 2.0], [3.0]), (many, shifted), ([], [1.0]), (shifted, many), (many[1:], many)]
    assert mann_whitney_of_pairs(pairs) == [mann_whitney(*pair) for pair in pairs]


def test_mann_whitney_is_approximate_earlier_with_ties() -> None:
    tied = mann_whitney([1.0] * 11 + [2.0] * 10, [2.0] * 20)
    assert tied is not None
    assert tied.method == "normal approximation"
    untied = mann_whitney([float(n) for n in range(21)], [n + 0.5 for n in range(20)])
    assert untied is not None
    assert untied.method == "exact"


@quick
@given(*[st.lists(st.integers(1, 5).map(float), min_size=21, max_size=30)] * 2)
def test_mann_whitney_with_many_ties_against_scipy(one: list[float], other: list[float]) -> None:
    found = mann_whitney(one, other)
    if found is not None:
        expected = stats.mannwhitneyu(one, other, method="asymptotic")
        assert found.p == pytest.approx(expected.pvalue)
        assert found.statistic == expected.statistic


def test_kolmogorov_smirnov_by_hand() -> None:
    # No value of one lies below a value of the other: 2 of the 252 ways to draw 5 of 10.
    found = kolmogorov_smirnov([1.0, 2, 3, 4, 5], [6.0, 7, 8, 9, 10])
    assert found is not None
    assert found.statistic == 1
    assert found.p == pytest.approx(2 / 252)
    assert found.smallest_p == pytest.approx(2 / 252)
    assert found.significant
    # Three and three are always at least 1/3 apart.
    crossing = kolmogorov_smirnov([1.0, 4, 5], [2.0, 3, 6])
    assert crossing is not None
    assert crossing.statistic == pytest.approx(1 / 3)
    assert crossing.p == pytest.approx(1)


def test_kolmogorov_smirnov_by_enumeration() -> None:
    one, other = [1.0, 2.0, 3.0, 9.0], [4.0, 5.0, 6.0, 7.0, 8.0]

    def distance(drawn: tuple[int, ...]) -> float:
        ours, theirs, farthest = 0, 0, 0.0
        for place in range(9):
            ours, theirs = ours + (place in drawn), theirs + (place not in drawn)
            farthest = max(farthest, abs(ours / 4 - theirs / 5))
        return farthest

    distances = [distance(drawn) for drawn in itertools.combinations(range(9), 4)]
    found = kolmogorov_smirnov(one, other)
    assert found is not None
    assert found.statistic == pytest.approx(distance((0, 1, 2, 8)))
    reached = sum(value >= found.statistic - 1e-9 for value in distances)
    assert found.p == pytest.approx(reached / len(distances))


def test_kolmogorov_smirnov_sees_spread_where_the_others_see_nothing() -> None:
    narrow = [10 + n / 100 for n in range(-20, 20)]
    wide = [10.005 + n for n in range(-20, 20)]
    spread, place = kolmogorov_smirnov(narrow, wide), mann_whitney(narrow, wide)
    assert spread is not None
    assert place is not None
    assert spread.p < 0.001
    assert place.p > 0.5


def test_kolmogorov_smirnov_of_a_constant_and_a_varying_sample() -> None:
    found = kolmogorov_smirnov([2.0] * 5, [1.0, 3.0, 4.0, 5.0, 6.0])
    assert found is not None
    assert found.statistic == pytest.approx(4 / 5)
    assert found.p == pytest.approx(stats.ks_2samp([2.0] * 5, [1.0, 3.0, 4.0, 5.0, 6.0]).pvalue)


def test_kolmogorov_smirnov_of_large_samples_is_asymptotic() -> None:
    one = [float(n) for n in range(101)]
    found = kolmogorov_smirnov(one, [value + 50 for value in one])
    assert found is not None
    assert found.method == "asymptotic"


@quick
@given(*[st.lists(st.integers(1, 30).map(float), min_size=1, max_size=15)] * 2)
def test_kolmogorov_smirnov_against_scipy(one: list[float], other: list[float]) -> None:
    found = kolmogorov_smirnov(one, other)
    if found is not None:
        with warnings.catch_warnings(record=True) as rounded_above_1:
            warnings.simplefilter("always")
            expected = stats.ks_2samp(one, other, method="exact")
        assert found.statistic == pytest.approx(expected.statistic)
        assert found.p == pytest.approx(1 if rounded_above_1 else expected.pvalue)


@pytest.mark.parametrize("shift", [0.3, 5.3, 20.3])
def test_kolmogorov_smirnov_of_large_samples_against_scipy(shift: float) -> None:
    one, other = [float(n) for n in range(120)], [n + shift for n in range(101)]
    found = kolmogorov_smirnov(one, other)
    expected = stats.ks_2samp(one, other, method="asymp")
    assert found is not None
    assert found.method == "asymptotic"
    assert found.p == pytest.approx(expected.pvalue)


def test_tests_of_many_pairs_are_those_of_each() -> None:
    many = [float(n % 7) for n in range(30)]
    shifted = [value + 1.5 for value in many]
    pairs = [([1.0, 2.0], [3.0, 5.0]), (many, shifted), ([], [1.0]), (shifted, many), ([2.0], many)]
    assert kolmogorov_smirnov_of_pairs(pairs) == [kolmogorov_smirnov(*pair) for pair in pairs]
    summaries = [(summarise(one), summarise(other)) for one, other in pairs]
    assert welch_of_pairs(summaries) == [welch(*pair) for pair in pairs]


def of_p(p: float) -> TestResult:
    return TestResult("test", 0.0, p, 0.05, 0.0, "made", p)


def test_adjusted_by_hand() -> None:
    # Ranked p-values times 4 over their rank: 0.04, 0.06, 0.04, 0.5; from the last downwards no
    # value may exceed the one above it.
    tests = [of_p(0.01), None, of_p(0.5), of_p(0.03), of_p(0.03)]
    found = adjusted(tests)
    assert found[1] is None
    assert [test.adjusted for test in found if test] == pytest.approx([0.04, 0.5, 0.04, 0.04])
    assert [test.p for test in found if test] == [0.01, 0.5, 0.03, 0.03]
    assert {test.family for test in found if test} == {4}


def test_adjusted_of_none_and_of_one() -> None:
    assert adjusted([]) == []
    assert adjusted([None, None]) == [None, None]
    (alone,) = adjusted([of_p(0.02)])
    assert alone is not None
    assert (alone.adjusted, alone.family) == (0.02, 1)


@quick
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_adjusting_never_lowers_a_p_value(ps: list[float]) -> None:
    for test in adjusted([of_p(p) for p in ps]):
        assert test is not None
        assert test.p <= test.adjusted + 1e-12
        assert test.adjusted <= 1


def sample(values: list[float]) -> SampleSummary:
    found = summarise(values)
    assert found is not None
    return found


def test_relative_difference_and_delta_by_hand() -> None:
    less, more = sample([1.0, 1.5, 9.0]), sample([2.0, 2.0, 2.0])
    assert relative_difference(less, more) == pytest.approx(-0.25)
    assert relative_difference(more, less) == pytest.approx(1 / 3)
    assert delta(less, more) == pytest.approx(-0.25)  # over the larger, 2.0, both ways
    assert delta(more, less) == pytest.approx(0.25)
    zero = sample([0.0])
    assert (delta(zero, zero), delta(None, more), relative_difference(more, zero)) == (None,) * 3
    assert delta(more, zero) == 1


@quick
@given(samples, samples)
def test_delta_is_antisymmetric_and_bound(one: list[float], other: list[float]) -> None:
    forth, back = delta(summarise(one), summarise(other)), delta(summarise(other), summarise(one))
    assert forth is not None
    assert back is not None
    assert forth == -back
    assert -1 <= forth <= 1


def measured(values: list[float], first_seed: int = 1) -> Measurements:
    seeds = range(first_seed, first_seed + len(values))
    return Measurements.of(map(Observation, seeds, seeds, values))


def test_relative_interval_of_two_by_hand() -> None:
    # Medians of resamples of 1 and 3 are 1 and 3 in a quarter of all cases each, else 2.
    found = relative_interval(measured([1.0, 3.0]), measured([2.0, 2.0]))
    assert found is not None
    assert (found.low, found.high) == (-0.5, 0.5)
    assert found.coverage == pytest.approx(0.5)


def test_relative_interval_of_pairs_leaves_out_what_both_met() -> None:
    times = [2.0, 2.5, 3.7, 1.4, 2.2, 2.9, 3.1]
    halves = [value / 2 for value in times]
    paired = relative_interval(measured(halves), measured(times))
    assert paired is not None
    assert paired.low == pytest.approx(-0.5)
    assert paired.high == pytest.approx(-0.5)
    apart = relative_interval(measured(halves, first_seed=100), measured(times))
    assert apart is not None
    assert apart.low < -0.6
    assert apart.high > -0.4


def test_relative_interval_against_scipy() -> None:
    one = [1.31, 1.2, 1.45, 1.25, 1.4, 1.9, 1.33, 1.28, 1.61, 1.5, 1.1, 1.37]
    other = [1.98, 1.8, 2.2, 1.9, 2.1, 3.0, 2.4, 1.7, 2.05, 1.6, 2.6, 2.3]
    expected = stats.bootstrap(
        (one, other),
        lambda a, b, axis: np.median(a, axis=axis) / np.median(b, axis=axis) - 1,
        paired=True,
        vectorized=True,
        n_resamples=9999,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    found = relative_interval(measured(one), measured(other))
    assert found is not None
    assert found.low == pytest.approx(expected.low, abs=0.02)
    assert found.high == pytest.approx(expected.high, abs=0.02)
    assert found.coverage == 0.95


def test_relative_interval_of_a_large_sample() -> None:
    # Of n values spread evenly over 0 to 1, the median's standard error is 1/2 over the root of n.
    n = 2001
    values = [1 + rank / (n - 1) for rank in range(n)]
    found = relative_interval(measured(values), measured([1.0] * n))
    assert found is not None
    assert found.low == pytest.approx(0.5 - 1.96 * 0.5 / n**0.5, abs=0.003)
    assert found.high == pytest.approx(0.5 + 1.96 * 0.5 / n**0.5, abs=0.003)


def test_relative_interval_of_constants_of_one_and_of_zero() -> None:
    found = relative_interval(measured([2.0] * 5), measured([3.0] * 5))
    assert found is not None
    assert found.low == found.high == pytest.approx(-1 / 3)
    assert relative_interval(measured([2.0]), measured([3.0, 3.0])) is None
    assert relative_interval(measured([2.0, 2.0]), measured([0.0, 3.0])) is None
    assert relative_interval(measured([]), measured([3.0, 3.0])) is None


@quick
@given(samples, samples)
def test_relative_interval_is_repeatable_and_ordered(one: list[float], other: list[float]) -> None:
    found = relative_interval(measured(one), measured(other))
    assert found == relative_interval(measured(one), measured(other))
    if found is not None:
        assert found.low <= found.high
        assert found.low > -1


def test_mean_interval_against_scipy() -> None:
    values = [1.31, 1.2, 1.45, 1.25, 1.4]
    found = sample(values)
    low, high = stats.t.interval(0.95, 4, loc=found.mean, scale=stats.sem(values))
    assert found.mean_interval is not None
    assert found.mean_interval.low == pytest.approx(low)
    assert found.mean_interval.high == pytest.approx(high)


def test_quartiles_by_hand() -> None:
    # Positions 0.25 and 0.75 of the way from the first to the last of five: the 2nd and the 4th.
    found = sample([5.0, 1.0, 2.0, 4.0, 3.0])
    assert (found.quartiles, found.iqr) == ((2.0, 4.0), 2.0)
    assert sample([1.0, 2.0]).quartiles == (1.25, 1.75)
    assert sample([7.0]).iqr == 0


@pytest.mark.parametrize("one, other", [([2.0] * 5, [3.0] * 5), ([2.0] * 5, [2.0] * 5)])
def test_constant_samples_have_no_test(one: list[float], other: list[float]) -> None:
    assert welch(one, other) is None
    assert mann_whitney(one, other) is None
    assert kolmogorov_smirnov(one, other) is None


def test_one_constant_sample_is_tested() -> None:
    found = welch([2.0] * 5, [3.0, 3.1, 2.9, 3.2, 3.0])
    assert found is not None
    assert 0 < found.p < 0.001


@quick
@given(samples, samples)
def test_tests_never_warn_nor_give_nan(one: list[float], other: list[float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for test in (welch, mann_whitney, kolmogorov_smirnov):
            found = test(one, other)
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
    found = interval([3.0, 1.0, 2.0, 5.0, 4.0])
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
    found = interval([float(value) for value in range(1, n + 1)])
    assert found is not None
    assert (found.low, found.high) == (rank, n + 1 - rank)
    assert found.coverage == pytest.approx(coverage, abs=1e-4)
    assert found.reaches_level


@quick
@given(st.integers(6, 400))
def test_interval_is_the_narrowest_that_reaches_the_level(n: int) -> None:
    found = interval([float(value) for value in range(1, n + 1)])
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
    assert (found.quartiles, found.iqr) == ((0.1, 0.1), 0.0)
    assert found.mean_interval is not None
    assert (found.mean_interval.low, found.mean_interval.high) == (0.1, 0.1)


def test_summary_of_one_and_of_none() -> None:
    single = summarise([2.5])
    assert single is not None
    assert (single.median, single.sd, single.interval) == (2.5, None, None)
    assert single.mean_interval is None
    assert summarise([]) is None


@quick
@given(st.lists(times, min_size=1, max_size=30), st.randoms())
def test_summary_does_not_depend_on_order(values: list[float], random: object) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert summarise(shuffled) == summarise(values)
