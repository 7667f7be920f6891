"""The rule that ends repetitions: how well an experiment's comparisons are known, cell by cell.

Each interval is judged by itself, at the level that lets it be looked at so often. So it depends on nothing but the
runs of its cell: neither on other cells, nor on the order in which runs ended.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import polars as pl

from headway.analysis.analysis import Analysis
from headway.analysis.contenders import ordered_names, pairings_of
from headway.analysis.contest import Contest, Pairing
from headway.analysis.difference import differences
from headway.analysis.metric import Metric, metric_named
from headway.analysis.numbers import listed
from headway.analysis.sample import Measurements, Observation
from headway.columns import Record, Status
from headway.records.manifest import ArchivedExperiment
from headway.statistics.interval import Interval

SHARE = "share of the first flow"
"""What decides for flows that compete."""


@dataclass(frozen=True)
class EndedRun:
    """What is needed of a run that ended: what it measured, and what flows that compete got, Mbit/s."""

    cell: str
    contender: str
    seed: int
    rep: int
    status: str
    value: float | None
    flows: int | None
    first_mbit: float | None
    others_mbit: float | None

    @property
    def share(self) -> float | None:
        """What the first flow got of what it and another one got; None if no flows competed."""
        if self.first_mbit is None or self.others_mbit is None:
            return None
        total = self.first_mbit + self.others_mbit
        return self.first_mbit / total if total else None

    @property
    def group(self) -> tuple[str, str]:
        """Its cell, and its contender if that goes on by itself."""
        return self.cell, self.contender if self.flows else ""


@dataclass(frozen=True)
class Knowledge:
    """How well what is compared is known after some repetitions, of contenders that have the same ones.

    Attributes:
        cell: their cell.
        contenders: the contenders.
        repetitions: how many there are of each.
        reach: how far the widest interval reaches to either side, as a share; None if nothing can be told yet.
        widest: what that interval is of; empty if nothing has one.
        narrow: whether all intervals are as narrow as the experiment asks.
    """

    cell: str
    contenders: tuple[str, ...]
    repetitions: int
    reach: float | None
    widest: str
    narrow: bool

    def why(self, experiment: ArchivedExperiment) -> str:
        """Why there are no more repetitions, in words."""
        if self.narrow:
            return f"within {experiment.repetitions.until}" if self.widest else "nothing to compare"
        return "at the most" if self.repetitions >= experiment.repetitions.most else "not finished"


def known(analysis: Analysis) -> tuple[Knowledge, ...]:
    """How well an experiment knows what it compares; empty if the number of its repetitions was fixed."""
    experiment = analysis.experiment
    if experiment.repetitions.until is None:
        return ()
    known_values = standings(experiment, ended_rows(analysis.runs, experiment.metrics[0]))
    cells = {cell.name: place for place, cell in enumerate(analysis.cells)}
    places = {name: place for place, name in enumerate(analysis.contenders)}
    return tuple(
        sorted(
            known_values,
            key=lambda knowledge: (cells[knowledge.cell], places[knowledge.contenders[0]]),
        )
    )


def stopping_sentence(analysis: Analysis) -> str:
    """How many repetitions there are, and why no more; empty if their number was fixed."""
    known_values = known(analysis)
    if not known_values:
        return ""
    experiment = analysis.experiment
    fewest, most = (fun(knowledge.repetitions for knowledge in known_values) for fun in (min, max))
    times = f"{fewest} to {most}" if fewest < most else str(most)
    reasons = Counter(knowledge.why(experiment) for knowledge in known_values)
    texts = [f"{count} {why}" for why, count in reasons.most_common()]
    compared = all(len(knowledge.contenders) > 1 for knowledge in known_values)
    what = "cells" if compared else "contenders in a cell"
    of_what = "" if compared else " of shares"
    return (
        f"Repetitions: {times}, until intervals{of_what} reach at most {experiment.repetitions.until} to either "
        f"side or there are {experiment.repetitions.most}. Of {len(known_values)} {what}: {listed(texts)}."
    )


def ended_records(records: Iterable[Record], metric: str) -> list[EndedRun]:
    """What is needed of records."""
    return [
        EndedRun(
            cell=record.cell,
            contender=record.contender,
            seed=record.seed,
            rep=record.rep,
            status=record.status.value,
            value=getattr(record, metric),
            flows=record.flows,
            first_mbit=record.first_mbit,
            others_mbit=record.others_mbit,
        )
        for record in records
    ]


def ended_rows(runs: pl.DataFrame, metric: str) -> list[EndedRun]:
    """The same of rows of ``runs.parquet``."""
    needed = ("cell", "contender", "seed", "rep", "status", metric, "flows")
    rows = runs.select(*needed, "first_mbit", "others_mbit").iter_rows()
    return [EndedRun(*row) for row in rows]


def standings(experiment: ArchivedExperiment, ended: Iterable[EndedRun]) -> tuple[Knowledge, ...]:
    """How things stand in every group of contenders that have the same repetitions.

    Args:
        experiment: an experiment whose repetitions go on until intervals are narrow.
        ended: its runs, as many of each group as are to be looked at.
    """
    groups: dict[tuple[str, str], list[EndedRun]] = defaultdict(list)
    for run in ended:
        groups[run.group].append(run)
    return tuple(_standing(experiment, cell, runs) for (cell, _), runs in groups.items())


def _standing(experiment: ArchivedExperiment, cell: str, runs: Sequence[EndedRun]) -> Knowledge:
    until = experiment.repetitions.until
    assert until is not None, "only what has a bound is judged"
    values = dict(_reaches(experiment, runs))
    known = {what: reach for what, reach in values.items() if reach is not None}
    widest = max(known, key=lambda what: known[what], default="")
    return Knowledge(
        cell=cell,
        contenders=tuple(ordered_names(experiment, {run.contender for run in runs})),
        repetitions=max(run.rep for run in runs),
        reach=known[widest] if known and len(known) == len(values) else None,
        widest=widest,
        narrow=all(reach is not None and reach <= until for reach in values.values()),
    )


def _reaches(
    experiment: ArchivedExperiment, runs: Sequence[EndedRun]
) -> Iterator[tuple[str, float | None]]:
    """How far the interval of everything that is told reaches; of what nothing was measured, nothing is told."""
    looks = experiment.number_of_looks
    by_contender: dict[str, list[EndedRun]] = defaultdict(list)
    for run in runs:
        by_contender[run.contender].append(run)
    if any(run.flows for run in runs):
        for name, own in by_contender.items():
            yield from _of_flows(name, own, looks)
        return
    metric = metric_named(experiment.metrics[0])
    every = {name: measured(own, looks) for name, own in by_contender.items()}
    known = {
        name: measurements
        for name, measurements in every.items()
        if measurements.observations or measurements.given_up
    }
    names = ordered_names(experiment, known.keys())
    pairings = [
        pairing
        for pairing in (
            pairings_of(experiment, tuple(experiment.contenders) or names) if names else ()
        )
        if pairing.contender in known and pairing.against in known
    ]
    for pairing in pairings:
        yield str(pairing), _of_pairs(pairing, known, metric)
    compared = {name for pairing in pairings for name in (pairing.contender, pairing.against)}
    for name in names:
        if name not in compared:
            yield name, _of_median(known[name])


def measured(runs: Sequence[EndedRun], looks: int) -> Measurements:
    """What runs of one contender measured, those that timed out among them.

    Args:
        runs: the runs.
        looks: how often results are looked at, to stop or to go on.
    """
    done = [run for run in runs if run.status == Status.OK.value and run.value is not None]
    return Measurements.of(
        (Observation(run.seed, run.rep, float(run.value or 0)) for run in done),
        ((run.seed, run.rep) for run in runs if run.status == Status.TIMEOUT.value),
        looks,
    )


def _of_pairs(pairing: Pairing, measured: dict[str, Measurements], metric: Metric) -> float | None:
    """By what factor, less 1, the interval of the typical ratio reaches beyond its middle."""
    contest = Contest(pairing, measured[pairing.contender], measured[pairing.against])
    judged = contest.judged(metric)
    interval = differences(judged.one, judged.other, metric).interval
    if interval is None or not interval.reaches_level:
        return None
    if interval.low == interval.high:
        return 0.0
    if interval.low <= -1 or math.isinf(interval.high):
        return math.inf
    return math.expm1((math.log1p(interval.high) - math.log1p(interval.low)) / 2)


def _of_flows(
    name: str, runs: Sequence[EndedRun], looks: int
) -> Iterator[tuple[str, float | None]]:
    """Half of the interval of the median share; of a flow alone, of what it got."""
    shares = measured([replace(run, value=run.share) for run in runs], looks)
    alone = measured([replace(run, value=run.first_mbit) for run in runs], looks)
    if shares.sample:
        yield name, _half(shares.sample.interval)
    elif alone.sample:
        yield name, _of_median(alone)


def _of_median(measured: Measurements) -> float | None:
    """Half of the interval of the median, over the median; of runs that all timed out there is nothing to know."""
    sample = measured.sample
    if sample is None:
        return 0.0
    half = _half(sample.interval)
    if not half:
        return half
    return half / abs(sample.median) if sample.median else math.inf


def _half(interval: Interval | None) -> float | None:
    if interval is None or not interval.reaches_level:
        return None
    return (interval.high - interval.low) / 2
