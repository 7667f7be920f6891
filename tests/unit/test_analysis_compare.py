"""Comparisons: verdicts and what they rest on."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.analysis.compare import Basis, Comparison, Observation, Pairing, Verdict, compare
from headway.analysis.metric import metric_named

TOTAL = metric_named("total_s")
GOODPUT = metric_named("goodput_mbit")
H3_H2 = Pairing("h3", "h2")
OPPOSITE = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}

quick = settings(deadline=None, max_examples=60)
times = st.integers(1, 10**9).map(lambda microseconds: microseconds / 1e6)
samples = st.lists(times, max_size=9)


def observed(values: list[float]) -> list[Observation]:
    return [Observation(seed, seed, value) for seed, value in enumerate(values, start=1)]


def against(values: list[float], baseline: list[float]) -> Comparison:
    return compare(H3_H2, observed(values), observed(baseline), TOTAL)


def test_faster() -> None:
    found = against([1.1, 1.3, 1.2, 1.5, 1.4], [1.9, 2.4, 2.0, 1.8, 2.2])
    assert (found.verdict, found.basis) == (Verdict.FASTER, Basis.TESTS)
    assert found.relative == pytest.approx((1.3 - 2.0) / 2.0)
    assert (found.pairs.n, found.pairs.faster, found.pairs.slower) == (5, 5, 0)
    assert found.pairs.unanimous is Verdict.FASTER
    assert found.cliffs_delta == -1
    assert found.matters


def test_more_goodput_is_faster() -> None:
    found = compare(H3_H2, observed([9.0, 9.1]), observed([5.0, 5.1]), GOODPUT)
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
    found = compare(H3_H2, ours, theirs, TOTAL)
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


@quick
@given(samples, samples)
def test_direction_is_antisymmetric(one: list[float], other: list[float]) -> None:
    forth = compare(H3_H2, observed(one), observed(other), TOTAL)
    back = compare(Pairing("h2", "h3"), observed(other), observed(one), TOTAL)
    assert back.verdict is OPPOSITE.get(forth.verdict, forth.verdict)
    assert back.leaning is (OPPOSITE.get(forth.leaning, forth.leaning) if forth.leaning else None)
    assert back.basis is forth.basis
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
    assert compare(H3_H2, mixed, mixed_theirs, TOTAL) == compare(H3_H2, ours, theirs, TOTAL)
