"""Comparisons: verdicts and what they rest on."""

import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.analysis.compare import Comparison, clearly_slower, compare
from headway.analysis.contest import Contest, Pairing
from headway.analysis.metric import Metric, metric_named
from headway.analysis.sample import Measurements, Observation
from headway.analysis.verdict import Basis, SpreadVerdict, Verdict
from headway.statistics.pairs import PAIRED_ALPHA

TOTAL = metric_named("total_s")
GOODPUT = metric_named("goodput_mbit")
H3_H2 = Pairing("h3", "h2")
OPPOSITE = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}

quick = settings(deadline=None, max_examples=60)
times = st.integers(1, 10**9).map(lambda microseconds: microseconds / 1e6)
samples = st.lists(times, max_size=9)


def observed(values: list[float]) -> list[Observation]:
    return [Observation(seed, seed, value) for seed, value in enumerate(values, start=1)]


def given_up(count: int, values: list[float]) -> Measurements:
    """The first runs timed out, the others measured these values."""
    seeds = range(1, count + 1)
    later = [Observation(seed, seed, value) for seed, value in enumerate(values, start=count + 1)]
    return Measurements.of(later, zip(seeds, seeds, strict=True))


def alone(ours: list[Observation], theirs: list[Observation], metric: Metric = TOTAL) -> Comparison:
    contest = Contest(H3_H2, Measurements.of(ours), Measurements.of(theirs))
    return compare([contest], metric)[0]


def against(values: list[float], baseline: list[float]) -> Comparison:
    return alone(observed(values), observed(baseline))


def test_a_shift_of_every_pair_is_seen_under_a_large_variance_between_seeds() -> None:
    # What a mobile profile draws moves both values of a pair by a factor of 18, the contender by 12 %.
    base = [0.3 * 1.35**place for place in range(10)]
    found = against([value * (0.87 + place / 500) for place, value in enumerate(base)], base)
    assert (found.verdict, found.basis) == (Verdict.FASTER, Basis.TEST)
    assert found.test is not None
    assert (found.test.name, found.test.p) == ("Wilcoxon", pytest.approx(2 / 2**10))
    assert found.relative == pytest.approx(-0.12, abs=0.005)
    assert found.relative_interval is not None
    assert -0.13 < found.relative_interval.low < found.relative_interval.high < -0.11
    assert (found.pairs.n, found.pairs.faster, found.pairs.slower) == (10, 10, 0)
    assert found.matters
    # The same runs without their pairs: nothing to see.
    assert found.welch is not None
    assert found.mann_whitney is not None
    assert min(found.welch.p, found.mann_whitney.p) > 0.5


def test_one_timeout_does_not_veto() -> None:
    base = [2.0, 2.1, 2.2, 1.9, 1.8, 2.05, 1.95, 2.15]
    fast = Measurements.of(observed([value / 2 for value in base]))
    contest = Contest(H3_H2, fast, given_up(1, base[1:]))
    (found,) = compare([contest], TOTAL)
    assert (found.verdict, found.pairs.n, found.pairs.faster) == (Verdict.FASTER, 8, 8)
    assert found.relative == pytest.approx(-0.5)
    # On the faster side it costs a pair, the one that says most: not enough to turn the rest.
    (turned,) = compare(
        [Contest(H3_H2, given_up(1, [v / 2 for v in base[1:]]), Measurements.of(observed(base)))],
        TOTAL,
    )
    assert (turned.verdict, turned.pairs.slower) == (Verdict.UNDECIDED, 1)
    assert turned.relative == pytest.approx(-0.5)
    assert turned.relative_interval is not None
    assert turned.relative_interval.high == math.inf


def test_who_always_times_out_is_slower_than_who_finishes() -> None:
    ever = Measurements.of(observed([2.0, 2.1, 2.2, 1.9, 1.8, 2.05]))
    (found,) = compare([Contest(H3_H2, given_up(6, []), ever)], TOTAL)
    assert (found.verdict, found.basis, found.relative) == (Verdict.SLOWER, Basis.TEST, None)
    assert found.matters
    less = compare([Contest(H3_H2, given_up(6, []), ever)], GOODPUT)[0]
    assert less.verdict is Verdict.SLOWER
    (both,) = compare([Contest(H3_H2, given_up(6, []), given_up(6, []))], TOTAL)
    assert (both.verdict, both.basis) == (Verdict.EQUAL, Basis.IDENTICAL)


def test_all_failed() -> None:
    nothing = Measurements.of([])
    (found,) = compare([Contest(H3_H2, nothing, nothing)], TOTAL)
    assert (found.verdict, found.basis, found.test) == (Verdict.INCOMPARABLE, Basis.NO_RUNS, None)


def test_more_goodput_is_faster() -> None:
    base = [5.0, 5.1, 5.2, 4.9, 4.8, 5.05]
    found = alone(observed([value + 4 for value in base]), observed(base), GOODPUT)
    assert found.verdict is Verdict.FASTER
    assert found.pairs.faster == 6
    assert found.relative is not None
    assert found.relative > 0


def test_runs_without_a_common_seed_are_compared_by_places() -> None:
    ours = [Observation(seed, seed, 1 + seed / 100) for seed in range(1, 7)]
    theirs = [Observation(seed, seed, 1 + seed / 10) for seed in range(11, 17)]
    found = alone(ours, theirs)
    assert found.test is not None
    assert (found.test.name, found.test.alpha) == ("Mann-Whitney", PAIRED_ALPHA)
    assert (found.verdict, found.is_paired) == (Verdict.FASTER, False)
    ratios = [one.value / other.value for one in ours for other in theirs]
    assert found.relative == pytest.approx(statistics.median(ratios) - 1, abs=1e-4)
    one_common = alone([*ours, Observation(20, 20, 1.0)], [*theirs, Observation(20, 20, 2.0)])
    assert (one_common.basis, one_common.pairs.n) == (Basis.TOO_FEW, 1)


def test_within_one_percent_is_shown_and_not_assumed() -> None:
    base = [2.0, 2.1, 2.2, 1.9, 1.8, 2.05, 1.95, 2.15]
    steps = [0.001, -0.002, 0.003, -0.001, 0.002, -0.003, 0.0015, -0.0005]
    close = against([v * (1 + e) for v, e in zip(base, steps, strict=True)], base)
    assert (close.verdict, close.basis) == (Verdict.EQUAL, Basis.EQUIVALENCE)
    assert close.negligible
    far = against([v * (1 + 20 * e) for v, e in zip(base, steps, strict=True)], base)
    assert (far.verdict, far.basis, far.negligible) == (Verdict.UNDECIDED, Basis.TEST, False)
    assert far.difference.detectable == pytest.approx(0.06, abs=0.015)
    # Certain, and certain to be a trifle.
    both = against([v * (1.002 + e / 10) for v, e in zip(base, steps, strict=True)], base)
    assert (both.verdict, both.negligible, both.matters) == (Verdict.SLOWER, True, False)


def test_runs_that_are_equal_one_by_one() -> None:
    values = [1.0, 1.5, 1.2]
    found = against(values, values)
    assert (found.verdict, found.basis, found.identical) == (Verdict.EQUAL, Basis.IDENTICAL, True)


def test_constants_that_differ_differ_in_every_run() -> None:
    found = against([2.0] * 5, [3.0] * 5)
    assert (found.verdict, found.basis) == (Verdict.FASTER, Basis.EVERY_RUN)
    assert found.test is None


def test_equal_constants() -> None:
    found = against([2.0] * 5, [2.0] * 5)
    assert (found.verdict, found.basis) == (Verdict.EQUAL, Basis.EVERY_RUN)
    assert not found.matters


def test_a_difference_below_one_percent_does_not_matter() -> None:
    found = against([9.315] * 5, [9.343] * 5)
    assert found.verdict is Verdict.FASTER
    assert found.negligible
    assert not found.matters


def test_a_single_pair_decides_nothing() -> None:
    found = against([1.0], [2.0])
    assert (found.verdict, found.basis) == (Verdict.UNDECIDED, Basis.TOO_FEW)
    assert found.leaning is Verdict.FASTER


def test_nothing_to_compare() -> None:
    found = against([], [2.0, 2.1])
    assert (found.verdict, found.basis) == (Verdict.INCOMPARABLE, Basis.NO_RUNS)
    assert (found.relative, found.cliffs_delta, found.pairs.median) == (None, None, None)


def test_no_outcome_of_five_pairs_is_significant() -> None:
    found = against([1.1, 1.3, 1.2, 1.5, 1.4], [1.9, 2.4, 2.0, 1.8, 2.2])
    assert (found.verdict, found.basis) == (Verdict.UNDECIDED, Basis.TOO_FEW)
    assert (found.pairs.faster, found.cliffs_delta, found.spread) == (5, -1, None)


def test_pairs_are_by_seed_not_by_order() -> None:
    ours = [Observation(3, 3, 1.0), Observation(1, 1, 2.0), Observation(9, 9, 5.0)]
    theirs = [Observation(1, 1, 2.5), Observation(2, 2, 7.0), Observation(3, 3, 0.5)]
    found = alone(ours, theirs)
    assert (found.pairs.n, found.pairs.faster, found.pairs.slower) == (2, 1, 1)
    assert found.pairs.median == pytest.approx(0.0)


def test_many_comparisons_take_more_to_be_significant() -> None:
    # Of ten comparisons of which the others find nothing, the smallest p-value counts ten times.
    base = [2.0, 2.1, 2.2, 1.9, 1.8, 2.05]
    far, close = [value - 0.45 for value in base], [*base[:4], 1.81, 2.04]
    one = Contest(H3_H2, Measurements.of(observed(far)), Measurements.of(observed(base)))
    none = Contest(H3_H2, Measurements.of(observed(close)), Measurements.of(observed(base)))
    (single,) = compare([one], TOTAL)
    assert single.verdict is Verdict.FASTER
    found, *others = compare([one] + [none] * 9, TOTAL)
    assert found.test is not None
    assert found.test.p == 1 / 32
    assert (found.test.adjusted, found.test.family) == (10 / 32, 10)
    # Six pairs that all point one way are too few among ten comparisons; of ten pairs one alone can be significant.
    assert (found.verdict, found.basis, found.needed) == (Verdict.UNDECIDED, Basis.TOO_FEW, 9)
    assert Verdict.FASTER not in {other.verdict for other in others}


def test_what_no_test_can_decide_is_not_of_the_family() -> None:
    pairs = [
        ([1.0] * 5, [2.0] * 5),
        ([1.0, 1.1, 1.2, 1.3, 1.4], [2.0, 2.1, 2.2, 2.3, 2.4]),
        ([1.0, 1.1, 1.2, 1.3, 1.4, 1.5], [2.0, 2.1, 2.2, 2.3, 2.4, 2.5]),
    ]
    contests = [
        Contest(H3_H2, Measurements.of(observed(one)), Measurements.of(observed(other)))
        for one, other in pairs
    ]
    certain, few, enough = compare(contests, TOTAL)
    assert (certain.basis, few.basis) == (Basis.EVERY_RUN, Basis.TOO_FEW)
    assert enough.test is not None
    assert (enough.verdict, enough.test.family) == (Verdict.FASTER, 1)


def test_less_variable() -> None:
    narrow = [10 + n / 100 for n in range(-20, 20)]
    wide = [10.005 + n / 4 for n in range(-20, 20)]
    found = against(narrow, wide)
    assert (found.verdict, found.spread) == (Verdict.UNDECIDED, SpreadVerdict.LESS_VARIABLE)
    assert against(wide, narrow).spread is SpreadVerdict.MORE_VARIABLE
    steady = against([10.0] * 40, wide)
    assert (steady.verdict, steady.spread) == (Verdict.UNDECIDED, SpreadVerdict.LESS_VARIABLE)


def test_equally_wide_but_of_another_shape() -> None:
    # Quartiles 9 and 11 in both; one has two values only, the other has them all between.
    two = [9.0] * 60 + [11.0] * 60
    even = [8 + n / 30 for n in range(121)]
    found = against(two, even)
    assert found.sample is not None
    assert found.against_sample is not None
    assert found.sample.iqr == 2.0
    assert found.against_sample.iqr == pytest.approx(2.0)
    assert (found.verdict, found.spread) == (Verdict.UNDECIDED, SpreadVerdict.SHAPE)


def test_spread_is_not_spoken_of_where_one_is_faster() -> None:
    base = [2.0, 2.1, 2.2, 1.9, 1.8, 2.05]
    found = against([1.0 + n / 1000 for n in range(6)], base)
    assert found.kolmogorov_smirnov is not None
    assert found.kolmogorov_smirnov.significant
    assert (found.verdict, found.spread) == (Verdict.FASTER, None)


def test_half_of_the_runs_failed() -> None:
    ours = [Observation(seed, seed, 1.0 + seed / 10) for seed in range(1, 13, 2)]
    theirs = observed([3.0 + seed / 10 for seed in range(1, 13)])
    found = alone(ours, theirs)
    assert (found.verdict, found.basis) == (Verdict.FASTER, Basis.TEST)
    assert found.pairs.n == 6
    assert found.delta == pytest.approx((1.6 - 3.65) / 3.65)
    assert found.relative_interval is not None
    assert found.relative_interval.coverage == pytest.approx(1 - 2 / 2**6)


def test_clearly_slower_is_significant_and_not_negligible() -> None:
    fast = Measurements.of(observed([1.0, 1.1, 1.2, 1.0, 1.1, 1.05]))
    slow = Measurements.of(observed([2.0, 2.1, 2.2, 2.0, 2.1, 2.05]))
    near = Measurements.of(observed([1.05, 1.1, 1.2, 1.0, 1.1, 1.06]))
    constant = Measurements.of(observed([1.0] * 6))
    hardly = Measurements.of(observed([1.009] * 6))
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


ratios = st.lists(st.integers(-6, 9).map(lambda step: 1 + step / 20), min_size=6, max_size=10)


@settings(deadline=None, max_examples=150)
@given(st.lists(ratios, min_size=1, max_size=8))
def test_an_interval_leaves_out_zero_exactly_where_the_verdict_is_one(
    cells: list[list[float]],
) -> None:
    contests = [
        Contest(
            H3_H2,
            Measurements.of(observed([2 * ratio for ratio in found])),
            Measurements.of(observed([2.0] * len(found))),
        )
        for found in cells
    ]
    for one in compare(contests, TOTAL):
        interval = one.relative_interval
        assert interval is not None
        if one.basis is not Basis.EVERY_RUN and interval.reaches_level:
            assert (not interval.holds(0)) is (one.verdict in OPPOSITE)
