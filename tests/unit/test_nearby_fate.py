"""What becomes of a sentence at a neighbour, by made runs."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest

from headway.analysis.difference import differences
from headway.analysis.metric import metric_named
from headway.analysis.sample import Measurements, Observation
from headway.nearby.fate import SentenceFate, TriedFate, judged
from headway.nearby.search import LOOKS
from headway.nearby.sentence import Claimed, Effect

TIME = metric_named("total_s")
NEIGHBOURS = 25


def runs(values: Sequence[float], lost: Sequence[int] = ()) -> Measurements:
    seen = [Observation(seed, seed, value) for seed, value in enumerate(values, start=1)]
    return Measurements.of(
        [one for one in seen if one.seed not in lost], [(seed, seed) for seed in lost], len(LOOKS)
    )


def effect(log: float) -> Effect:
    claimed = Claimed.ALIKE if not log else Claimed.LESS if log < 0 else Claimed.MORE
    made = runs([math.exp(log)] * 10)
    return Effect(claimed, log, differences(made, runs([1.0] * 10), TIME))


def at(log: float, scatter: float, pairs: int, claimed: float, seed: int = 1) -> TriedFate:
    chance = random.Random(seed)
    others = [1 + 0.1 * chance.random() for _ in range(pairs)]
    own = [value * math.exp(chance.gauss(log, scatter)) for value in others]
    return judged(effect(claimed), runs(own), runs(others), TIME, NEIGHBOURS)


@pytest.mark.parametrize(
    ("log", "claimed", "expected"),
    [
        (-0.2, -0.3, SentenceFate.HOLDS),
        (0.2, 0.3, SentenceFate.HOLDS),
        (0.2, -0.3, SentenceFate.TURNS),
        (-0.2, 0.3, SentenceFate.TURNS),
        (-0.03, -0.3, SentenceFate.GONE),
        (0.0, 0.3, SentenceFate.GONE),
        (0.2, 0.0, SentenceFate.DIFFERS),
        (0.0, 0.0, SentenceFate.HOLDS),
    ],
)
def test_what_is_clear_is_told(log: float, claimed: float, expected: SentenceFate) -> None:
    assert at(log, 0.02, LOOKS[-1], claimed).fate is expected


@pytest.mark.parametrize(
    ("claimed", "expected"),
    [(-0.3, SentenceFate.HOLDS), (0.3, SentenceFate.TURNS), (0.0, SentenceFate.DIFFERS)],
)
def test_a_contender_that_has_none_of_it_has_less(claimed: float, expected: SentenceFate) -> None:
    """Stalls, or bursts, may be none in every run: the ratio is 0, and no logarithm is finite."""
    none, some = runs([0.0] * 24), runs([1 + seed / 100 for seed in range(24)])
    assert judged(effect(claimed), none, some, TIME, NEIGHBOURS).fate is expected


@pytest.mark.parametrize("claimed", [-0.3, 0.3, 0.0])
def test_a_change_is_confirmed_before_it_is_told(claimed: float) -> None:
    """The first look is too early for what is said of all neighbours together."""
    found = at(-0.5 if claimed > 0 else 0.5, 0.02, LOOKS[0], claimed)
    assert found.fate is SentenceFate.UNDECIDED and found.is_unconfirmed
    assert found.leans is found.estimate and found.leans.is_change


def test_too_few_or_too_scattered_runs_leave_it_undecided() -> None:
    assert at(-0.2, 0.02, 3, -0.3).fate is SentenceFate.UNDECIDED
    assert at(-0.05, 0.6, LOOKS[-1], -0.3).fate is SentenceFate.UNDECIDED
    assert at(0.0, 0.6, LOOKS[-1], 0.0).fate is SentenceFate.UNDECIDED


def test_equal_runs_count_as_one_and_need_no_more() -> None:
    found = judged(effect(-0.3), runs([2.0] * 3), runs([1.0] * 3), TIME, NEIGHBOURS)
    assert found.fate is SentenceFate.TURNS and found.exact
    found = judged(effect(0.0), runs([1.0, 2.0, 3.0]), runs([1.0, 2.0, 3.0]), TIME, NEIGHBOURS)
    assert found.fate is SentenceFate.HOLDS and found.exact


def test_runs_that_time_out_are_worse_than_any() -> None:
    every = range(1, 15)
    found = judged(effect(-0.3), runs([1.0] * 14, lost=every), runs([1.0] * 14), TIME, NEIGHBOURS)
    assert found.fate is SentenceFate.TURNS


def test_what_no_contender_measured_cannot_be_compared() -> None:
    found = judged(effect(-0.3), runs([]), runs([1.0] * 7), TIME, NEIGHBOURS)
    assert found.fate is SentenceFate.FAILS and found.is_settled


def fate_at_last(claimed: float, log: float, scatter: float, chance: random.Random) -> SentenceFate:
    """As neighbours are tried: look after look, until nothing is to be learnt."""
    others = [math.exp(chance.gauss(0, 0.1)) for _ in range(LOOKS[-1])]
    own = [value * math.exp(chance.gauss(log, scatter)) for value in others]
    found = SentenceFate.UNDECIDED
    for look in LOOKS:
        seen = judged(effect(claimed), runs(own[:look]), runs(others[:look]), TIME, NEIGHBOURS)
        found = seen.fate
        if seen.is_settled:
            break
    return found


@pytest.mark.parametrize(("claimed", "scatter"), [(0.0, 0.05), (-0.3, 0.3)])
def test_of_what_is_the_same_everywhere_few_sentences_are_said_to_change(
    claimed: float, scatter: float
) -> None:
    """A against A, and an effect that no neighbour changes: at most 5 % of sentences, looks and neighbours included."""
    chance = random.Random(7)
    sentences = 40
    changed = sum(
        any(fate_at_last(claimed, claimed, scatter, chance).is_change for _ in range(NEIGHBOURS))
        for _ in range(sentences)
    )
    assert changed <= 0.05 * sentences


def test_a_change_of_a_usual_size_is_found() -> None:
    chance = random.Random(8)
    found = [fate_at_last(-0.3, 0.2, 0.1, chance) for _ in range(40)]
    assert found.count(SentenceFate.TURNS) >= 36
