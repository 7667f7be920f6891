"""The verdict of two sets of results on two builds: faster, slower or equal, cell by cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import polars as pl

from headway.analysis import (
    Analysis,
    Cell,
    Comparison,
    ContenderRuns,
    Pairing,
    StudyResults,
    Verdict,
    analyse,
)
from headway.analysis.cells import Failure
from headway.analysis.compare import compare
from headway.analysis.contest import Contest
from headway.analysis.metric import Metric
from headway.columns import Status
from headway.diagnosis.firstflight import FirstFlight
from headway.errors import normalised
from headway.instruments.check.firstpacket import FirstDifference, differing, has_captures
from headway.records.manifest import ArchivedExperiment
from headway.records.store import ARTIFACTS

BASE, HEAD = "base", "head"
_MOST_SEEDS = 8
"""How many seeds a sentence lists."""


class CheckOutcome(StrEnum):
    """What can be said of the head against the base."""

    IDENTICAL = "identical"
    """Every packet of every run is the same."""
    SAME = "same times"
    """Packets differ, or nobody looked; what is measured does not."""
    EQUAL = "equal"
    """The difference is shown to be less than a trifle."""
    FASTER = "faster"
    SLOWER = "slower"
    UNDECIDED = "undecided"
    FAILED = "failed"
    """A run of the head fails whose pair, the base's run with the same seed, does not."""
    UNMEASURED = "not measured"
    """Neither side has measured anything."""


@dataclass(frozen=True)
class Side:
    """Results, and the directory that holds them."""

    results: StudyResults
    directory: Path

    def run(self, run_id: str) -> Path:
        """Directory of what a run left."""
        return self.directory / ARTIFACTS / run_id


@dataclass(frozen=True)
class FailedPair:
    """Two runs with the same seed, at least one of which did not end well.

    Attributes:
        seed: their seed.
        base: why the base's run failed; None if it did not.
        head: why the head's run failed; None if it did not.
    """

    seed: int
    base: str | None
    head: str | None

    @property
    def kind(self) -> tuple[str | None, ...]:
        """Equal of pairs that failed alike."""
        return tuple(reason and normalised(reason) for reason in (self.base, self.head))


@dataclass(frozen=True)
class FailedAlike:
    """Pairs of runs that failed with the same builds and for the same reasons.

    Attributes:
        pairs: at least one, by seed.
    """

    pairs: tuple[FailedPair, ...]

    @property
    def is_new(self) -> bool:
        """Whether the head fails where the base does not."""
        return self.pairs[0].head is not None and self.pairs[0].base is None

    def __str__(self) -> str:
        fail = _fail(sorted({pair.seed for pair in self.pairs}))
        first = self.pairs[0]
        whose = "the head only" if self.is_new else "the base only" if not first.head else "both"
        reasons = {pair.head or pair.base for pair in self.pairs}
        which = f"; seed {first.seed}" if len(reasons) > 1 else ""
        return f"{fail} with {whose}{which}: {first.head or first.base}"


def _fail(seeds: Sequence[int]) -> str:
    """Seeds as the subject of a sentence, with its verb."""
    first, *others = seeds
    if not others:
        return f"seed {first} fails"
    if len(seeds) > 2 and seeds[-1] - first == len(others):
        return f"seeds {first} to {seeds[-1]} fail"
    if len(seeds) > _MOST_SEEDS:
        return f"{len(seeds)} seeds, of which {first} is the first, fail"
    return f"seeds {', '.join(map(str, seeds[:-1]))} and {seeds[-1]} fail"


@dataclass(frozen=True)
class CheckedCell:
    """A contender in a cell, with both builds.

    Attributes:
        study: the study.
        experiment: its experiment; empty if it has one only.
        cell: the cell's name.
        title: what tells it from others, in words; empty if it is the only one.
        contender: the contender.
        metric: what is compared.
        comparison: the head against the base.
        middle: values of base and head in the pair of runs that is nearest to the typical difference; None
            without a pair that finished.
        flights: first flights of base and head, by medians; None of a side that does not tell.
        took_s: how long the runs of both took, wall time.
        failures: the pairs of runs that did not both end well, by seed.
        runs: how many pairs of runs have captures.
        differing: where those pairs begin to differ that do.
    """

    study: str
    experiment: str
    cell: str
    title: str
    contender: str
    metric: Metric
    comparison: Comparison
    middle: tuple[float, float] | None
    flights: tuple[FirstFlight | None, FirstFlight | None]
    took_s: float
    failures: tuple[FailedPair, ...]
    runs: int
    differing: tuple[FirstDifference, ...]

    @property
    def name(self) -> str:
        """Contender and cell, in words."""
        return ", ".join(filter(None, (self.experiment, self.title, self.contender)))

    @property
    def failed_alike(self) -> list[FailedAlike]:
        """The failures, each kind once: those of the head alone come first, and then the most frequent."""
        kinds: dict[tuple[str | None, ...], list[FailedPair]] = {}
        for pair in self.failures:
            kinds.setdefault(pair.kind, []).append(pair)
        alike = [FailedAlike(tuple(pairs)) for pairs in kinds.values()]
        return sorted(
            alike, key=lambda failed_alike: (not failed_alike.is_new, -len(failed_alike.pairs))
        )

    @property
    def reason(self) -> str:
        """Why the head's runs failed whose pairs did not, most of them; empty if there are none."""
        return next((str(alike) for alike in self.failed_alike if alike.is_new), "")

    @property
    def outcome(self) -> CheckOutcome:
        """What can be said."""
        comparison = self.comparison
        if self.reason:
            return CheckOutcome.FAILED
        if comparison.verdict is Verdict.INCOMPARABLE:
            return CheckOutcome.UNMEASURED
        if comparison.identical:
            same = self.runs and not self.differing and not self.failures
            return CheckOutcome.IDENTICAL if same else CheckOutcome.SAME
        if comparison.negligible or comparison.verdict is Verdict.EQUAL:
            return CheckOutcome.EQUAL
        known = {Verdict.FASTER: CheckOutcome.FASTER, Verdict.SLOWER: CheckOutcome.SLOWER}
        return known.get(comparison.verdict, CheckOutcome.UNDECIDED)

    def fails(self, tolerance: float) -> bool:
        """Whether the head may not pass: it fails, or is slower by more than this share."""
        if self.outcome in (CheckOutcome.FAILED, CheckOutcome.UNMEASURED):
            return True
        relative = self.comparison.relative
        if self.outcome is not CheckOutcome.SLOWER or relative is None:
            return self.outcome is CheckOutcome.SLOWER
        factor = 1 + relative if self.metric.less_is_better else 1 / (1 + relative)
        return factor > 1 + tolerance


def judge_builds(base: Side, head: Side) -> list[CheckedCell]:
    """Compare all that both have; of each experiment its first metric."""
    checked_cells: list[CheckedCell] = []
    for experiment in head.results.experiments:
        metric = experiment.metrics[0]
        now = analyse(head.results, experiment, metric)
        before = analyse(base.results, base.results.experiment(experiment.name), metric)
        checked_cells += _judged(experiment, before, now, base, head)
    return checked_cells


def _judged(
    experiment: ArchivedExperiment, before: Analysis, now: Analysis, base: Side, head: Side
) -> Iterator[CheckedCell]:
    cells = {cell.name: cell for cell in before.cells}
    pairs = [
        (cell, side, other)
        for cell in now.cells_as_studied
        for side in cell.sides
        if cell.name in cells and (other := cells[cell.name].side(side.contender))
    ]
    contests = [
        Contest(Pairing(HEAD, BASE), side.measured, other.measured) for _, side, other in pairs
    ]
    all_of_them = compare(contests, now.metric)
    for (cell, side, other), comparison in zip(pairs, all_of_them, strict=True):
        runs = _paired_runs(cell, side, base, head)
        yield CheckedCell(
            study=head.results.manifest.study.name,
            experiment=experiment.name,
            cell=cell.name,
            title=cell.title,
            contender=side.contender,
            metric=now.metric,
            comparison=comparison,
            middle=_middle(side, other, comparison),
            flights=(_flight(before, cell.name, side), _flight(now, cell.name, side)),
            took_s=_took_s(before, cell.name, side) + _took_s(now, cell.name, side),
            failures=failed_pairs(other.ended_badly, side.ended_badly),
            runs=len(runs),
            differing=tuple(differing(runs)),
        )


def failed_pairs(base: Iterable[Failure], head: Iterable[Failure]) -> tuple[FailedPair, ...]:
    """The pairs of runs in which a build failed, by seed."""
    before, now = (
        {(failure.seed, failure.rep): failure.reason for failure in each} for each in (base, head)
    )
    runs = sorted(before.keys() | now.keys())
    return tuple(FailedPair(run[0], before.get(run), now.get(run)) for run in runs)


def _middle(
    side: ContenderRuns, other: ContenderRuns, comparison: Comparison
) -> tuple[float, float] | None:
    """The pair of runs whose ratio is nearest to the typical one, the base's value first."""
    ours, theirs = side.measured.ranked(math.inf), other.measured.ranked(math.inf)
    pairs = [
        (before, now)
        for seed in sorted(ours.keys() & theirs.keys())
        for now, before in zip(ours[seed], theirs[seed], strict=False)
        if math.isfinite(now) and math.isfinite(before) and now > 0 and before > 0
    ]
    if comparison.relative is None or not pairs:
        return None
    typical = 1 + comparison.relative
    return min(pairs, key=lambda pair: abs(pair[1] / pair[0] - typical))


def _flight(analysis: Analysis, cell: str, side: ContenderRuns) -> FirstFlight | None:
    rows = _rows(analysis, cell, side).select("first_flight_packets", "first_flight_bytes")
    packets, size = rows.median().row(0)
    return None if packets is None or size is None else FirstFlight(round(packets), round(size))


def _took_s(analysis: Analysis, cell: str, side: ContenderRuns) -> float:
    return float(_rows(analysis, cell, side)["wall_s"].sum())


def _rows(analysis: Analysis, cell: str, side: ContenderRuns) -> pl.DataFrame:
    return analysis.runs.filter(cell=cell, contender=side.contender)


def _paired_runs(
    cell: Cell, side: ContenderRuns, base: Side, head: Side
) -> Sequence[tuple[Path, Path]]:
    """Directories of the runs that ended well with both builds and have captures, by seed."""
    ours, theirs = (_finished(results, cell.name, side.contender) for results in (head, base))
    both = [(base.run(theirs[seed]), head.run(ours[seed])) for seed in sorted(ours.keys() & theirs)]
    return [pair for pair in both if all(map(has_captures, pair))]


def _finished(side: Side, cell: str, contender: str) -> Mapping[int, str]:
    rows = side.results.runs.filter(cell=cell, contender=contender, status=Status.OK.value)
    return dict(rows.select("seed", "run_id").iter_rows())
