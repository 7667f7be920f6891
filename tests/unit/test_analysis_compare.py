"""Comparisons: verdicts and what they rest on."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.analysis.compare import Comparison, Contest, Pairing, clearly_slower, compare
from headway.analysis.metric import Metric, metric_named
from headway.analysis.sample import Measurements, Observation
from headway.analysis.verdict import Basis, Spread, Verdict

TOTAL = metric_named("total_s")
GOODPUT = metric_named("goodput_mbit")
H3_H2 = Pairing("h3", "h2")
OPPOSITE = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}

quick = settings(deadline=None, max_examples=60)
times = st.integers(1, 10**9).map(lambda microseconds: microseconds / 1e6)
samples = st.lists(times, max_size=9)


def observed(values: list[float]) -> list[Observation]:
    return [Observation(seed, seed, value) for seed, value in enumerate(values, start=1)]


def alone(ours: list[Observation], theirs: list[Observation], metric: Metric = TOTAL) -> Comparison:
    contest = Contest(H3_H2, Measurements.of(ours), Measurements.of(theirs))
    return compare([contest], metric)[0]


def against(values: list[float], baseline: list[float]) -> Comparison:
    return alone(observed(values), observed(baseline))


def test_faster() -> None:
    found = against([1.1, 1.3, 1.2, 1.5, 1.4], [1.9, 2.4, 2.0, 1.8, 2.2])
    assert (found.verdict, found.basis) == (Verdict.FASTER, Basis.TESTS)
    assert found.relative == pytest.approx((1.3 - 2.0) / 2.0)
    assert (found.pairs.n, found.pairs.faster, found.pairs.slower) == (5, 5, 0)
    assert found.pairs.unanimous is Verdict.FASTER
    assert found.cliffs_delta == -1
    assert found.matters


def test_more_goodput_is_faster() -> None:
    found = alone(observed([9.0, 9.1]), observed([5.0, 5.1]), GOODPUT)
    assert found.verdict is Verdict.FASTER
    assert found.pairs.faster == 2
    assert found.relative is not None
    assert found.relative > 0


def test_constants_that_differ_differ_in_every_run() -> None:
    found = against([2.0] * 5, [3.0] * 5)
    assert (found.verdict, found.basis) == (Verdict.FASTER, Basis.EVERY_RUN)
    assert found.tests == ()


def test_equal_constants() -> None:
    found = against([2.0] * 5, [2.0] * 5)
    assert (found.verdict, found.basis) == (Verdict.EQUAL, Basis.EVERY_RUN)
    assert not found.matters


def test_a_difference_below_one_percent_does_not_matter() -> None:
    found = against([9.315] * 5, [9.343] * 5)
    assert found.verdict is Verdict.FASTER
    assert found.negligible
    assert not found.matters


def test_a_single_run_decides_nothing() -> None:
    found = against([1.0], [2.0])
    assert (found.verdict, found.basis) == (Verdict.UNDECIDED, Basis.TOO_FEW)
    assert found.leaning is Verdict.FASTER


def test_nothing_to_compare() -> None:
    found = against([], [2.0, 2.1])
    assert (found.verdict, found.basis) == (Verdict.INCOMPARABLE, Basis.NO_RUNS)
    assert (found.relative, found.cliffs_delta, found.pairs.median) == (None, None, None)


def test_medians_and_means_that_disagree_decide_nothing() -> None:
    # Medians say faster; the mean is far slower.
    values = [1.0] * 31 + [9.0] * 30
    found = against(values, [1.1 + n / 1e6 for n in range(61)])
    assert found.leaning is Verdict.FASTER
    assert found.verdict is Verdict.UNDECIDED


def test_pairs_are_by_seed_not_by_order() -> None:
    ours = [Observation(3, 3, 1.0), Observation(1, 1, 2.0), Observation(9, 9, 5.0)]
    theirs = [Observation(1, 1, 2.5), Observation(2, 2, 7.0), Observation(3, 3, 0.5)]
    found = alone(ours, theirs)
    assert (found.pairs.n, found.pairs.faster, found.pairs.slower) == (2, 1, 1)
    assert found.pairs.median == pytest.approx(0.0)
    assert found.pairs.unanimous is None


def test_with_six_runs_both_tests_must_agree() -> None:
    base = [2.0, 2.1, 2.2, 1.9, 1.8, 2.05]
    assert against([value - 1 for value in base], base).verdict is Verdict.FASTER
    overlapping = [1.7, 1.75, 1.6, 1.78, 1.5, 2.0]
    found = against(overlapping, base)
    assert found.mann_whitney is not None
    assert found.mann_whitney.can_decide
    assert not found.mann_whitney.significant
    assert found.verdict is Verdict.UNDECIDED


def test_many_comparisons_take_more_to_be_significant() -> None:
    # Welch alone: p = 0.002. Of ten comparisons of which the others find nothing, the smallest
    # p-value counts ten times.
    base, close = [2.0, 2.1, 2.2, 1.9, 1.8], [2.0, 2.1, 2.2, 1.9, 1.81]
    far = [value - 0.45 for value in base]
    one = Contest(H3_H2, Measurements.of(observed(far)), Measurements.of(observed(base)))
    none = Contest(H3_H2, Measurements.of(observed(close)), Measurements.of(observed(base)))
    (single,) = compare([one], TOTAL)
    assert single.welch is not None
    assert single.verdict is Verdict.FASTER
    found, *others = compare([one] + [none] * 9, TOTAL)
    assert found.welch is not None
    assert found.welch.p == single.welch.p < 0.01
    assert found.welch.adjusted == pytest.approx(10 * found.welch.p)
    assert found.welch.family == 10
    assert (found.verdict, found.basis) == (Verdict.UNDECIDED, Basis.TESTS)
    assert {other.verdict for other in others} == {Verdict.UNDECIDED}


def test_differences_in_every_run_are_not_of_the_family() -> None:
    certain = Contest(
        H3_H2, Measurements.of(observed([1.0] * 5)), Measurements.of(observed([2.0] * 5))
    )
    chance = Contest(
        H3_H2,
        Measurements.of(observed([1.0, 1.1, 1.2, 1.3, 1.4])),
        Measurements.of(observed([2.0, 2.1, 2.2, 2.3, 2.4])),
    )
    first, second = compare([certain, chance], TOTAL)
    assert first.basis is Basis.EVERY_RUN
    assert second.welch is not None
    assert second.welch.family == 1


def test_less_variable() -> None:
    narrow = [10 + n / 100 for n in range(-20, 20)]
    wide = [10.005 + n / 4 for n in range(-20, 20)]
    found = against(narrow, wide)
    assert (found.verdict, found.spread) == (Verdict.UNDECIDED, Spread.LESS_VARIABLE)
    assert against(wide, narrow).spread is Spread.MORE_VARIABLE
    steady = against([10.0] * 40, wide)
    assert (steady.verdict, steady.spread) == (Verdict.UNDECIDED, Spread.LESS_VARIABLE)


def test_equally_wide_but_of_another_shape() -> None:
    # Quartiles 9 and 11 in both; one has two values only, the other has them all between.
    two = [9.0] * 60 + [11.0] * 60
    even = [8 + n / 30 for n in range(121)]
    found = against(two, even)
    assert found.sample is not None
    assert found.against_sample is not None
    assert found.sample.iqr == 2.0
    assert found.against_sample.iqr == pytest.approx(2.0)
    assert (found.verdict, found.spread) == (Verdict.UNDECIDED, Spread.SHAPE)


def test_spread_is_not_spoken_of_where_one_is_faster() -> None:
    base = [2.0, 2.1, 2.2, 1.9, 1.8, 2.05]
    found = against([1.0 + n / 1000 for n in range(6)], base)
    assert found.kolmogorov_smirnov is not None
    assert found.kolmogorov_smirnov.significant
    assert (found.verdict, found.spread) == (Verdict.FASTER, None)


def test_half_of_the_runs_failed() -> None:
    ours = [Observation(seed, seed, 1.0 + seed / 10) for seed in (1, 3, 5, 7, 9)]
    theirs = observed([3.0 + seed / 10 for seed in range(1, 11)])
    found = alone(ours, theirs)
    assert (found.verdict, found.basis) == (Verdict.FASTER, Basis.TESTS)
    assert found.pairs.n == 5
    assert found.delta == pytest.approx((1.5 - 3.55) / 3.55)
    assert found.relative_interval is not None
    assert found.relative_interval.coverage == pytest.approx(0.9375)


def test_clearly_slower_is_significant_and_not_negligible() -> None:
    fast = Measurements.of(observed([1.0, 1.1, 1.2, 1.0, 1.1]))
    slow = Measurements.of(observed([2.0, 2.1, 2.2, 2.0, 2.1]))
    near = Measurements.of(observed([1.05, 1.1, 1.2, 1.0, 1.1]))
    constant = Measurements.of(observed([1.0] * 5))
    hardly = Measurements.of(observed([1.009] * 5))
    contests = [
        Contest(H3_H2, one, other)
        for one, other in ((slow, fast), (near, fast), (hardly, constant), (fast, slow))
    ]
    assert clearly_slower(contests, TOTAL) == [True, False, False, False]


@quick
@given(samples, samples)
def test_direction_is_antisymmetric(one: list[float], other: list[float]) -> None:
    forth = against(one, other)
    back = against(other, one)
    assert back.verdict is OPPOSITE.get(forth.verdict, forth.verdict)
    assert back.leaning is (OPPOSITE.get(forth.leaning, forth.leaning) if forth.leaning else None)
    assert back.basis is forth.basis
    assert back.delta == (None if forth.delta is None else -forth.delta)
    assert back.matters == forth.matters
    assert (back.pairs.faster, back.pairs.slower) == (forth.pairs.slower, forth.pairs.faster)


@quick
@given(samples, samples, st.randoms())
def test_order_of_runs_does_not_matter(
    one: list[float], other: list[float], random: object
) -> None:
    ours, theirs = observed(one), observed(other)
    mixed, mixed_theirs = list(ours), list(theirs)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    random.shuffle(mixed_theirs)  # type: ignore[attr-defined]
    assert alone(mixed, mixed_theirs) == alone(ours, theirs)


def test_pairing_takes_out_what_both_share() -> None:
    luck = [1.0, 3.0, 2.0, 5.0]
    assert against(luck, [value + 1 for value in luck]).pairs.variance_left == pytest.approx(0)
    # Variances of 1 and 4; differences of -1, -2 and -3 vary by 1.
    found = against([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]).pairs
    assert found.variance_left == pytest.approx(1 / 5)
    assert against([1.0, 2.0], [2.0, 1.0]).pairs.variance_left == pytest.approx(2)
    assert against([1.0], [2.0]).pairs.variance_left is None
    assert against([1.0, 1.0], [2.0, 2.0]).pairs.variance_left is None
