"""The analysis of an experiment: its conditions, contenders, cells and comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from headway.analysis.cells import Cell, ContenderRuns, sides_by_cell
from headway.analysis.compare import Comparison, compare
from headway.analysis.conditions import Conditions
from headway.analysis.contenders import (
    Trait,
    baseline_of,
    ordered_contenders,
    pairings_of,
    traits,
)
from headway.analysis.contest import Pairing
from headway.analysis.factors import conditions
from headway.analysis.families import contests, tests_beside
from headway.analysis.fault_runs import apart, cells_without, coordinates_without, fault_of
from headway.analysis.flowruns import FlowRuns, flow_runs
from headway.analysis.leaders import leaders_by_cell
from headway.analysis.metric import Metric, metric_named
from headway.analysis.result_loading import StudyResults
from headway.analysis.significance import TestResult
from headway.errors import WrongInputError
from headway.records.claimedneighbours import ClaimedNeighbours
from headway.records.manifest import ArchivedExperiment


@dataclass(frozen=True)
class Analysis:
    """One metric of an experiment, cell by cell.

    Attributes:
        experiment: the experiment.
        metric: what is compared.
        baseline: the contender that the others are compared with, if nothing else is said.
        contenders: all contenders, in the order of tables and figures.
        traits: what each of them is.
        pairings: what is compared with what.
        conditions: what varies between cells and what does not.
        cells: the cells in the order of their titles.
        runs: its rows.
        flows: what its flows got that competed, by cell and contender; empty if none did.
        claimed_neighbours: what became of its claims, by what they say, at the neighbours over which they are meant.
        swept: those of runs in which one packet met a fault, which are compared with no other contender's.
    """

    experiment: ArchivedExperiment
    metric: Metric
    baseline: str
    contenders: tuple[str, ...]
    traits: tuple[Trait, ...]
    pairings: tuple[Pairing, ...]
    conditions: Conditions
    cells: tuple[Cell, ...]
    runs: pl.DataFrame = field(repr=False, compare=False)
    swept: pl.DataFrame = field(repr=False, compare=False)
    flows: FlowRuns = field(default_factory=dict, repr=False)
    claimed_neighbours: Mapping[str, ClaimedNeighbours] = field(default_factory=dict, repr=False)

    def __hash__(self) -> int:
        """Little is hashed, but enough to keep what is derived of some analyses."""
        return hash((self.experiment.name, self.metric.column, self.contenders, len(self.cells)))

    @cached_property
    def comparisons(self) -> tuple[tuple[Cell, Comparison], ...]:
        """All comparisons, cell by cell."""
        return tuple((cell, comparison) for cell in self.cells for comparison in cell.comparisons)

    @cached_property
    def protocols(self) -> Mapping[str, str]:
        """What each contender speaks."""
        spoken = next(trait.values for trait in self.traits if trait.name == "protocol")
        return dict(zip(self.contenders, spoken, strict=True))

    def is_h3_delta(self, pairing: Pairing) -> bool:
        """Whether the delta of this comparison is H3-Delta: of HTTP/3 against HTTP/2."""
        spoken = self.protocols[pairing.contender], self.protocols[pairing.against]
        return spoken == ("h3", "h2")

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """Titles of all cells by name, in the order of tables; those with a fault after those without."""
        texts = {cell.name: cell.title for cell in self.cells}
        for name, without in cells_without(self.experiment).items():
            parts = (texts.get(without, ""), fault_of(self.experiment, name))
            texts.setdefault(name, ", ".join(filter(None, parts)))
        return texts

    @property
    def cells_as_studied(self) -> tuple[Cell, ...]:
        """The cells in the study's order, as far as it is known."""
        places = {name: place for place, name in enumerate(self.experiment.coordinates)}
        return tuple(sorted(self.cells, key=lambda cell: places.get(cell.name, len(places))))


def analyse(
    results: StudyResults, experiment: ArchivedExperiment | None = None, metric: str | None = None
) -> Analysis:
    """Compare the contenders of every cell of an experiment.

    Args:
        results: the runs and their manifest.
        experiment: one of the results' experiments; the first if not given.
        metric: column to compare; the experiment's first metric if not given.

    Raises:
        WrongInputError: the records have no such metric.
    """
    asked = experiment or results.experiments[0]
    chosen = metric_named(metric or asked.metrics[0])
    runs, swept = apart(asked, results.runs_of(asked))
    if chosen.column not in runs.columns:
        raise WrongInputError(f"the records have no column {chosen.column!r}")
    names = ordered_contenders(asked, runs)
    pairings = pairings_of(asked, names)
    result = conditions(runs, coordinates_without(asked))
    return Analysis(
        experiment=asked,
        metric=chosen,
        baseline=baseline_of(asked, names),
        contenders=names,
        traits=traits(asked, runs, names),
        pairings=pairings,
        conditions=result,
        cells=_cells(
            result,
            sides_by_cell(runs, chosen, names, asked.number_of_looks),
            pairings,
            chosen,
            tests_beside(results, asked, chosen),
        ),
        runs=runs,
        flows=flow_runs(results.flows_of(asked)),
        swept=swept,
        claimed_neighbours={
            says: neighbours
            for (name, says), neighbours in results.claimed_neighbours.items()
            if name == asked.name
        },
    )


def _cells(
    results: Conditions,
    sides_of: Mapping[str, tuple[ContenderRuns, ...]],
    pairings: Sequence[Pairing],
    metric: Metric,
    beside: Sequence[TestResult],
) -> tuple[Cell, ...]:
    comparisons = _compared(results, sides_of, pairings, metric, beside)
    leaders = leaders_by_cell(sides_of, comparisons, metric)
    return tuple(
        Cell(
            name=name,
            title=results.title(name),
            levels=levels,
            sides=sides_of[name],
            comparisons=tuple(comparisons[name]),
            leaders=leaders[name],
        )
        for name, levels in results.levels.items()
    )


def _compared(
    results: Conditions,
    sides_of: Mapping[str, tuple[ContenderRuns, ...]],
    pairings: Sequence[Pairing],
    metric: Metric,
    beside: Sequence[TestResult],
) -> dict[str, list[Comparison]]:
    """The comparisons of all cells: one family, or with others beside them."""
    met = [
        (name, contest) for name in results.levels for contest in contests(sides_of[name], pairings)
    ]
    compared: dict[str, list[Comparison]] = {name: [] for name in results.levels}
    all_of_them = compare([contest for _, contest in met], metric, beside=beside)
    for (name, _), comparison in zip(met, all_of_them, strict=True):
        compared[name].append(comparison)
    return compared
