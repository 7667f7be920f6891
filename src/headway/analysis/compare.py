"""Comparing two contenders within a cell: difference, pairs, tests, and a verdict."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from headway.analysis.metric import Metric
from headway.analysis.sample import Interval, Sample, median_interval, summarise
from headway.analysis.significance import TestResult, cliffs_delta, mann_whitney, welch

NEGLIGIBLE = 0.01
"""Medians closer than this share of the larger one are called practically equal."""


@dataclass(frozen=True)
class Observation:
    """The value that one run measured, with what pairs it with a run of another contender."""

    seed: int
    rep: int
    value: float


@dataclass(frozen=True, order=True)
class Pairing:
    """What is compared: a contender, and what it is held against."""

    contender: str
    against: str

    def __str__(self) -> str:
        return f"{self.contender} against {self.against}"


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
    TESTS = "tests"
    TOO_FEW = "too few runs"
    """A single run on one side."""
    NO_RUNS = "no runs"
    """One side has no measurement."""
    CONFLICT = "medians and means disagree"
    """The tests are significant, but medians and means do not point the same way."""


@dataclass(frozen=True)
class Pairs:
    """Differences, contender minus the other, of runs that shared cell and seed.

    Attributes:
        n: number of pairs.
        faster: pairs in which the contender was the faster.
        slower: pairs in which it was the slower.
        median: median of the differences, in the metric's unit; None without pairs.
        interval: confidence interval of that median.
    """

    n: int
    faster: int
    slower: int
    median: float | None
    interval: Interval | None

    @property
    def unanimous(self) -> Verdict | None:
        """The way that all of several pairs went; None if they did not all go one way."""
        if self.n > 1 and self.n == self.faster:
            return Verdict.FASTER
        return Verdict.SLOWER if self.n > 1 and self.n == self.slower else None


@dataclass(frozen=True)
class Comparison:
    """A contender against another within a cell.

    Attributes:
        contender: the contender.
        against: what it is compared with.
        sample: summary of the contender's finished runs; None if there are none.
        against_sample: summary of the other's finished runs.
        relative: difference of medians over the other's median; negative is less.
        leaning: how the medians compare, be it chance or not; None if one is missing.
        pairs: differences by seed.
        welch: Welch's t-test, where defined.
        mann_whitney: Mann-Whitney U test, where defined.
        cliffs_delta: effect size; -1 if every value is below every value of the other.
        verdict: what can be said.
        basis: what that rests on.
    """

    contender: str
    against: str
    sample: Sample | None
    against_sample: Sample | None
    relative: float | None
    leaning: Verdict | None
    pairs: Pairs
    welch: TestResult | None
    mann_whitney: TestResult | None
    cliffs_delta: float | None
    verdict: Verdict
    basis: Basis

    @property
    def pairing(self) -> Pairing:
        """What is compared with what."""
        return Pairing(self.contender, self.against)

    @property
    def tests(self) -> tuple[TestResult, ...]:
        """The tests that are defined for these samples."""
        return tuple(test for test in (self.welch, self.mann_whitney) if test)

    @property
    def negligible(self) -> bool:
        """Whether the medians differ by less than ``NEGLIGIBLE``."""
        if self.sample is None or self.against_sample is None:
            return False
        one, other = self.sample.median, self.against_sample.median
        return abs(one - other) < NEGLIGIBLE * max(abs(one), abs(other)) or one == other

    @property
    def matters(self) -> bool:
        """Whether there is a difference that is neither chance nor negligible."""
        return self.verdict in (Verdict.FASTER, Verdict.SLOWER) and not self.negligible


def compare(
    pairing: Pairing,
    runs: Sequence[Observation],
    against: Sequence[Observation],
    metric: Metric,
) -> Comparison:
    """Compare the finished runs of a contender with those of another.

    A difference is significant if every test that could decide with samples of these sizes does:
    with fewer than six runs a side Mann-Whitney's smallest p-value is above its level, so that
    Welch's test decides alone. Medians and means must also point the same way.
    """
    values = [run.value for run in runs]
    others = [run.value for run in against]
    sample, other = summarise(values), summarise(others)
    tests = welch(values, others), mann_whitney(values, others)
    verdict, basis = _judge(sample, other, tests, metric)
    return Comparison(
        contender=pairing.contender,
        against=pairing.against,
        sample=sample,
        against_sample=other,
        relative=_relative(sample, other),
        leaning=_direction(sample.median - other.median, metric) if sample and other else None,
        pairs=_pair(runs, against, metric),
        welch=tests[0],
        mann_whitney=tests[1],
        cliffs_delta=cliffs_delta(values, others),
        verdict=verdict,
        basis=basis,
    )


def _relative(sample: Sample | None, other: Sample | None) -> float | None:
    if sample is None or other is None or other.median == 0:
        return None
    return (sample.median - other.median) / other.median


def _judge(
    sample: Sample | None,
    other: Sample | None,
    tests: tuple[TestResult | None, TestResult | None],
    metric: Metric,
) -> tuple[Verdict, Basis]:
    if sample is None or other is None:
        return Verdict.INCOMPARABLE, Basis.NO_RUNS
    if sample.n < 2 or other.n < 2:
        return Verdict.UNDECIDED, Basis.TOO_FEW
    direction = _direction(sample.median - other.median, metric)
    if sample.constant and other.constant:
        return direction, Basis.EVERY_RUN
    deciding = [test for test in tests if test and test.can_decide]
    significant = bool(deciding) and all(test.significant for test in deciding)
    if not significant:
        return Verdict.UNDECIDED, Basis.TESTS
    if direction is Verdict.EQUAL or direction is not _direction(sample.mean - other.mean, metric):
        return Verdict.UNDECIDED, Basis.CONFLICT
    return direction, Basis.TESTS


def _direction(difference: float, metric: Metric) -> Verdict:
    if difference == 0:
        return Verdict.EQUAL
    return Verdict.FASTER if (difference < 0) == metric.less_is_better else Verdict.SLOWER


def _pair(runs: Sequence[Observation], against: Sequence[Observation], metric: Metric) -> Pairs:
    ours, theirs = _by_seed(runs), _by_seed(against)
    differences = [
        one - other
        for seed in sorted(ours.keys() & theirs.keys())
        for one, other in zip(ours[seed], theirs[seed], strict=False)
    ]
    directions = [_direction(difference, metric) for difference in differences]
    return Pairs(
        n=len(differences),
        faster=directions.count(Verdict.FASTER),
        slower=directions.count(Verdict.SLOWER),
        median=statistics.median(differences) if differences else None,
        interval=median_interval(differences),
    )


def _by_seed(runs: Sequence[Observation]) -> dict[int, list[float]]:
    """Values by seed; a seed that was used twice gives its values in order of repetition."""
    values: dict[int, list[float]] = defaultdict(list)
    for run in sorted(runs, key=lambda run: (run.seed, run.rep, run.value)):
        values[run.seed].append(run.value)
    return values
