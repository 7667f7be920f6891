"""Verdicts on simulated studies: how often they are wrong, and how often they see what there is.

Chance has one seed for each test, so results are the same in every run. Bounds are three standard
deviations of a share of so many studies above the level.
"""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from headway.analysis.compare import Comparison, compare
from headway.analysis.contest import Contest, Pairing
from headway.analysis.difference import POWER
from headway.analysis.metric import metric_named
from headway.analysis.sample import Measurements, Observation
from headway.analysis.verdict import Basis, Verdict
from headway.statistics.pairs import PAIRED_ALPHA

TOTAL = metric_named("total_s")
STUDIES = 400
DECIDED = (Verdict.FASTER, Verdict.SLOWER)
NOISES = ("normal", "heavy tails", "two values", "skewed")


def noise(kind: str, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """What tells the runs of a pair apart, as a logarithm; of both runs it is distributed alike."""
    draw = {
        "normal": lambda: rng.normal(0, 0.05, shape),
        "heavy tails": lambda: 0.02 * rng.standard_t(2, shape),
        "two values": lambda: 0.2 * rng.integers(0, 2, shape),  # a retransmission timeout, or none
        "skewed": lambda: rng.exponential(0.1, shape),
    }
    return np.asarray(draw[kind](), dtype=float)


def studies(
    kind: str, pairs: int, ratio: float = 1.0, count: int = STUDIES, seed: int = 1
) -> list[Contest]:
    """Studies of two contenders over paths whose luck moves both by a factor of about 2."""
    rng = np.random.default_rng(seed)
    luck = rng.normal(0, 0.7, (count, 1, pairs))
    values = np.exp(luck + noise(kind, rng, (count, 2, pairs)))
    values[:, 0] *= ratio
    return [Contest(Pairing("a", "b"), *(measured(side) for side in study)) for study in values]


def measured(values: NDArray[np.float64]) -> Measurements:
    return Measurements.of(Observation(n, n, value) for n, value in enumerate(values.tolist()))


def alone(contests: list[Contest]) -> list[Comparison]:
    """Every study judged on its own, not as one of a family."""
    return [compare([contest], TOTAL)[0] for contest in contests]


def share(found: list[bool]) -> float:
    return sum(found) / len(found)


def at_most(level: float, count: int = STUDIES) -> float:
    return level + 3 * math.sqrt(level * (1 - level) / count)


@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("pairs", [6, 10, 30])
def test_without_a_difference_few_are_found(kind: str, pairs: int) -> None:
    found = alone(studies(kind, pairs))
    assert share([one.verdict in DECIDED for one in found]) <= at_most(PAIRED_ALPHA)


def test_the_level_is_used_up_where_ranks_allow_it() -> None:
    # Of 30 pairs, p-values lie so close that the test is not much stricter than it says.
    found = alone(studies("normal", 30))
    assert share([one.verdict in DECIDED for one in found]) >= 0.03


@pytest.mark.parametrize("kind", ["normal", "heavy tails"])
def test_intervals_cover_the_true_ratio(kind: str) -> None:
    found = alone(studies(kind, 10, ratio=1.2))
    covered = [
        one.relative_interval is not None and one.relative_interval.holds(0.2) for one in found
    ]
    assert share(covered) >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / STUDIES)


def test_a_known_difference_is_found_although_the_luck_is_far_greater() -> None:
    found = alone(studies("normal", 10, ratio=0.9))
    assert share([one.verdict is Verdict.FASTER for one in found]) > 0.9
    assert not any(one.verdict is Verdict.SLOWER for one in found)
    # Without the pairs hardly any of them is seen.
    assert share([one.welch is not None and one.welch.p < 0.05 for one in found]) < 0.1


def test_of_what_is_called_significant_in_a_large_study_few_are_false() -> None:
    # 40 of 160 cells differ, by enough to be found; all of a study are one family.
    false, true = [], []
    for seed in range(20):
        cells = studies("normal", 10, count=120, seed=seed)
        cells += studies("normal", 10, ratio=0.8, count=40, seed=1000 + seed)
        decided = [one.verdict in DECIDED for one in compare(cells, TOTAL)]
        false.append(sum(decided[:120]) / max(1, sum(decided)))
        true += decided[120:]
    assert sum(false) / len(false) <= PAIRED_ALPHA + 0.02
    assert share(true) > 0.95


@pytest.mark.parametrize(("pairs", "away"), [(10, 1.01), (30, 1.01), (30, 1 / 1.01)])
def test_what_is_one_percent_away_is_seldom_called_equal(pairs: int, away: float) -> None:
    rng = np.random.default_rng(3)
    values = np.exp(
        rng.normal(0, 0.7, (STUDIES, 1, pairs)) + rng.normal(0, 0.004, (STUDIES, 2, pairs))
    )
    values[:, 0] *= away
    contests = [Contest(Pairing("a", "b"), *(measured(side) for side in study)) for study in values]
    found = alone(contests)
    assert share([one.negligible for one in found]) <= at_most(PAIRED_ALPHA)


def test_what_is_equal_is_called_so_if_it_scatters_little() -> None:
    rng = np.random.default_rng(4)
    values = np.exp(rng.normal(0, 0.7, (STUDIES, 1, 10)) + rng.normal(0, 0.004, (STUDIES, 2, 10)))
    contests = [Contest(Pairing("a", "b"), *(measured(side) for side in study)) for study in values]
    found = alone(contests)
    assert share([one.negligible for one in found]) > 0.9
    # And if it scatters much, nothing is claimed.
    assert not any(one.basis is Basis.EQUIVALENCE for one in alone(studies("normal", 10)))


@pytest.mark.parametrize("pairs", [8, 10, 20])
def test_the_detectable_difference_is_detected_as_often_as_it_says(pairs: int) -> None:
    told = [one.difference.detectable for one in alone(studies("normal", pairs))]
    typical = float(np.median([one for one in told if one is not None]))
    found = alone(studies("normal", pairs, ratio=1 + typical, seed=2))
    assert share([one.verdict is Verdict.SLOWER for one in found]) == pytest.approx(POWER, abs=0.1)
