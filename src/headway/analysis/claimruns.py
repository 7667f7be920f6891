"""Samples that a claim's rule compares: runs of a cell, or cells of which the typical one is meant."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell
from headway.analysis.claim_estimate import Finding
from headway.analysis.compare import Comparison, compare
from headway.analysis.contest import Contest, Pairing
from headway.analysis.effects import relative_means
from headway.analysis.sample import Measurements, Observation, SampleSummary, summarise
from headway.analysis.strata import strata
from headway.columns import Status
from headway.errors import counted
from headway.planning.region import Region
from headway.statistics.interval import LEVEL, Interval
from headway.study.claim import Claim
from headway.study.population import SITES_AXIS
from headway.study.published import RELATIVE_UNIT, Statistic

Group = tuple[Cell, ...]
"""A cell; or, of a claim over an axis, the cells that differ in nothing else."""


@dataclass(frozen=True)
class Place:
    """Two samples that are compared.

    Attributes:
        what: in words.
        one: a contender in a cell or group, or two, which then stand for their ratio.
        other: what it is compared with.
    """

    what: str
    one: tuple[Group, tuple[str, ...]]
    other: tuple[Group, tuple[str, ...]]


@dataclass(frozen=True)
class ClaimRuns:
    """The runs of an experiment, by the metric that a claim is about.

    Attributes:
        analysis: of that metric.
        claim: the claim.
    """

    analysis: Analysis
    claim: Claim

    def cells(self) -> list[Cell]:
        """Those that the claim is about, in the study's order."""
        grid = self.analysis.experiment.coordinates
        every = self.analysis.cells_as_studied
        about = [cell for cell in every if self.claim.is_about(grid.get(cell.name, {}))]
        if not self.claim.strata:
            return about
        known = strata(self.analysis)
        return [cell for cell in about if known.get(cell.name) in self.claim.strata]

    def groups(self) -> list[Group]:
        """The same, those together of which the typical one is meant."""
        if self.claim.over is None:
            return [(cell,) for cell in self.cells()]
        return [
            tuple(cell for (cell,) in row)
            for row in self.rows(((cell,) for cell in self.cells()), self.claim.over)
        ]

    def rows(self, groups: Iterable[Group], axis: str) -> list[list[Group]]:
        """Groups that differ in an axis only, in its order; the axis within a group tells none apart."""
        cells: dict[str, list[Group]] = {}
        for group in groups:
            at = self.analysis.experiment.coordinates.get(group[0].name, {})
            others = {key: at[key] for key in at if key not in (axis, self.claim.over)}
            cells.setdefault(repr(others), []).append(group)
        return list(cells.values())

    def title(self, group: Group) -> str:
        """What tells a group from the others, and of how many cells it is; empty if nothing varies."""
        if self.claim.over is None:
            return group[0].title
        factors = self.analysis.conditions.factors
        shared = [
            factor.titles[first]
            for factor, first, *others in zip(
                factors, *(cell.levels for cell in group), strict=True
            )
            if set(others) <= {first} and first not in factor.unstated and len(factor.levels) > 1
        ]
        return ", ".join([counted(len(group), self.counted), *shared])

    def place(self, group: Group, text: str, other: str) -> Place:
        """One contender against another in a group."""
        return Place(
            self.said(group, f"{text} against {other}"), (group, (text,)), (group, (other,))
        )

    def said(self, group: Group, what: str) -> str:
        """Where, and what, in words."""
        title = self.title(group)
        return f"{title}: {what}" if title else what

    def measured(self, group: Group, contenders: Sequence[str]) -> Measurements:
        """What a contender's runs measured; of two contenders, the ratios of runs with the same seed.

        Of a claim over an axis, medians of the cells, each in place of a run, and their ratios.
        """
        all_measurements = [self._measured(group, name) for name in contenders]
        return _ratios(*all_measurements) if len(all_measurements) > 1 else all_measurements[0]

    def summary(self, measured: Measurements) -> SampleSummary | None:
        """Of runs; of a claim over an axis, of all cells, those that typically timed out as the worst."""
        if self.claim.over is None or not measured.given_up:
            return measured.sample
        return summarise(measured.with_given_up(math.inf), measured.looks)

    def difference(
        self,
        place: Place,
        region: Region,
        unit: str = RELATIVE_UNIT,
        statistic: Statistic | None = None,
    ) -> Finding:
        """The difference of two samples, relative or in the metric's unit; typical, or of the means."""
        first, other = self.measured(*place.one), self.measured(*place.other)
        if not first.sample or not other.sample:
            return Finding(place.what, None, None, region, 0, unit, self.counted)
        pairing = Pairing(place.one[1][0], place.other[1][0])
        level = self._level(place, pairing)
        # Claims are about values, whichever of them are better; only an order asks for that.
        metric = self.analysis.metric.as_measured
        comparison = compare([Contest(pairing, first, other)], metric, level)[0]
        relative = unit == RELATIVE_UNIT
        value, interval = (
            _relative(comparison, first, other, statistic) if relative else _absolute(comparison)
        )
        if self.claim.over is not None and not comparison.is_paired:
            return Finding(place.what, None, None, region, 0, unit, self.counted)
        if (
            self.claim.over is None
            and value is not None
            and always_alike(first.sample, other.sample)
        ):
            interval = Interval(value, value, 1.0, "every run")
        n = comparison.pairs.n or min(first.sample.n, other.sample.n)
        alike = first.sample.on_one_path and other.sample.on_one_path
        repeated = self.claim.over is None and alike
        return Finding(
            place.what, value, interval, region, n, unit, self.counted, repeated=repeated
        )

    def _level(self, place: Place, pairing: Pairing) -> float:
        """Confidence of a difference's interval: that of the experiment's own comparison, if it is one.

        Runs that are too few for that leave a range there. It is the interval with the most confidence that they
        reach, by which a claim, which was made before, can still be judged.
        """
        (group, ones), (other_group, _) = place.one, place.other
        if group != other_group or len(group) > 1 or self.claim.span or len(ones) > 1:
            return LEVEL
        turned = Pairing(pairing.against, pairing.contender)
        own = group[0].comparison(pairing) or group[0].comparison(turned)
        interval = own.relative_interval if own else None
        if interval is None:
            return LEVEL
        level = interval.level if interval.reaches_level else max(LEVEL, interval.coverage)
        # What it has to have for the looks at the results is added where it is made.
        return max(LEVEL, 1 - (1 - level) * self.analysis.experiment.number_of_looks)

    def column(self, cell: Cell, contender: str, name: str) -> float | None:
        """Median of a column over a contender's runs in a cell that ended well."""
        value = self.analysis.runs.filter(
            (pl.col("cell") == cell.name)
            & (pl.col("contender") == contender)
            & (pl.col("status") == Status.OK.value)
        )[name].median()
        return float(value) if isinstance(value, int | float) else None

    @property
    def counted(self) -> str:
        """What findings count."""
        match self.claim.over:
            case None:
                return "run"
            case axis:
                return "site" if axis == SITES_AXIS else "cell"

    def judged(self) -> ClaimRuns:
        """The same, of what the metric is judged by in place of its values."""
        metric = self.analysis.metric
        cells = tuple(
            replace(
                cell,
                sides=tuple(
                    replace(side, measured=metric.judged(side.measured)) for side in cell.sides
                ),
            )
            for cell in self.analysis.cells
        )
        return replace(self, analysis=replace(self.analysis, cells=cells))

    def _measured(self, group: Group, contender: str) -> Measurements:
        if self.claim.over is None:
            (cell,) = group
            side = cell.side(contender)
            return side.measured_in(self.claim.span) if side else Measurements(())
        worst = math.inf if self.analysis.metric.less_is_better else 0.0
        places = _places(self.analysis.experiment.coordinates, self.claim.over)
        medians = [
            (places[cell.name], median)
            for cell in group
            if cell.name in places
            and (side := cell.side(contender))
            and (median := side.measured.typical(worst)) is not None
        ]
        return Measurements.of(
            (Observation(place, 1, value) for place, value in medians if math.isfinite(value)),
            ((place, 1) for place, value in medians if math.isinf(value)),
        )


def always_alike(*samples: SampleSummary) -> bool:
    """Whether all runs of each were equal, and there were several."""
    return all(sample.constant and sample.n > 1 for sample in samples)


def _places(grid: Mapping[str, Mapping[str, object]], axis: str) -> dict[str, int]:
    """For each cell, where its value stands on an axis: what pairs cells of two groups."""
    order = list(dict.fromkeys(repr(at.get(axis)) for at in grid.values()))
    return {name: order.index(repr(at.get(axis))) for name, at in grid.items()}


def _relative(
    comparison: Comparison,
    measurements: Measurements,
    other: Measurements,
    statistic: Statistic | None,
) -> tuple[float | None, Interval | None]:
    """In percent; infinite where the other typically measured nothing, or the one timed out."""
    value, interval = comparison.relative, comparison.relative_interval
    if statistic is Statistic.MEAN:
        value, interval = relative_means(measurements, other)
    elif value is None and comparison.difference.sign:
        value = math.inf if comparison.difference.sign > 0 else -1.0
    return (None if value is None else 100 * value), (interval.scaled(100) if interval else None)


def _absolute(comparison: Comparison) -> tuple[float | None, Interval | None]:
    """The median of the pairs' differences, in the metric's unit."""
    return comparison.pairs.median, comparison.pairs.interval


def _ratios(measurements: Measurements, other: Measurements) -> Measurements:
    """A contender's values over another's, run by run with the same seed."""
    others = {(run.seed, run.rep): run.value for run in other.observations}
    ratios = (
        Observation(run.seed, run.rep, run.value / base)
        for run in measurements.observations
        if (base := others.get((run.seed, run.rep)))
    )
    return Measurements.of(ratios, looks=max(measurements.looks, other.looks))
