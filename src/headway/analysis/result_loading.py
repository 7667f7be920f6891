"""Reading a results directory: the runs and what is known about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import polars as pl

from headway.analysis.significance import TestResult
from headway.columns import Columns, Record, schema_of
from headway.columns.record import FlowRecord
from headway.errors import WrongInputError, counted
from headway.foreign.names import plain
from headway.records.claimedneighbours import ClaimedNeighbours, Place, read_claimed_neighbours
from headway.records.manifest import ArchivedExperiment, ArchivedStudy, Manifest, read_manifest
from headway.records.recordedtable import read_table, read_table_of_runs
from headway.records.store import FLOWS_FILE
from headway.records.stranger import check_results, check_runs

_NEEDED = ("cell", "contender", "experiment", "protocol", "seed", "status")


@dataclass(frozen=True)
class StudyResults:
    """The runs of a study and its manifest.

    Attributes:
        runs: a row each, in the schema of ``headway.columns``.
        manifest: what is known about them.
        flows: a row for each flow of those whose flows competed; None if none did.
        claimed_neighbours: what became of claims at the neighbours over which they are meant.
        tests: kept by `headway.analysis.families`: of experiments and metrics the tests that decide, each by itself.
    """

    runs: pl.DataFrame
    manifest: Manifest
    flows: pl.DataFrame | None = None
    claimed_neighbours: Mapping[Place, ClaimedNeighbours] = field(default_factory=dict, repr=False)
    tests: dict[tuple[str, str], tuple[TestResult, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @cached_property
    def experiments(self) -> tuple[ArchivedExperiment, ...]:
        """The experiments that have runs: as the manifest tells them, then what it does not."""
        values = self.runs["experiment"].unique().sort().to_list()
        told_experiments = {
            experiment.name: experiment for experiment in self.manifest.study.experiments
        }
        others = (ArchivedExperiment(name=name) for name in values if name not in told_experiments)
        return (*(told_experiments[name] for name in told_experiments if name in values), *others)

    @property
    def number(self) -> str:
        """How many runs there are, and of how many if they are a part of the study: ``59 of 80 runs so far``."""
        done, planned = self.runs.height, self.manifest.runs
        if self.manifest.complete is not False:
            return counted(done, "run")
        at_most = "at most " if self.manifest.may_end_sooner else ""
        return f"{done} of {at_most}{counted(planned, 'run')} so far"

    @property
    def part(self) -> str:
        """That these are a part of the study, in a sentence; empty if they are all of it, or nothing tells."""
        if self.manifest.complete is not False:
            return ""
        return f"This is a part of the study: {self.number}."

    def experiment(self, name: str) -> ArchivedExperiment:
        """The experiment of this name.

        Raises:
            WrongInputError: none of it has runs.
        """
        for experiment in self.experiments:
            if experiment.name == name:
                return experiment
        known = ", ".join(experiment.name or "(unnamed)" for experiment in self.experiments)
        raise WrongInputError(f"there are no runs of an experiment {name!r}; there are {known}")

    def judged_by(self, study: ArchivedStudy) -> StudyResults:
        """The same results, beside the claims and published values that a study has of them."""
        told_experiments = {experiment.name: experiment for experiment in study.experiments}
        experiments = tuple(
            first.model_copy(
                update={"claims": other.claims, "published": other.published}
                if (other := told_experiments.get(first.name))
                else {"claims": (), "published": ()}
            )
            for first in self.manifest.study.experiments
        )
        own = self.manifest.study.model_copy(update={"experiments": experiments})
        return replace(self, manifest=self.manifest.model_copy(update={"study": own}))

    def runs_of(self, experiment: ArchivedExperiment) -> pl.DataFrame:
        """The rows of an experiment."""
        return self.runs.filter(pl.col("experiment") == experiment.name)

    def flows_of(self, experiment: ArchivedExperiment) -> pl.DataFrame | None:
        """The rows of its flows; None if none competed."""
        if self.flows is None:
            return None
        frame = self.flows.filter(pl.col("experiment") == experiment.name)
        return None if frame.is_empty() else frame


def load_results(directory: Path) -> StudyResults:
    """Read ``runs.parquet`` and ``manifest.json`` of a results directory.

    Raises:
        WrongInputError: there are no runs, they lack a column that every analysis needs, or something in the
            directory leads out of it.
    """
    file = directory / "runs.parquet"
    check_results(directory)
    if not file.exists():
        raise WrongInputError("no runs.parquet; is this a results directory?", where=str(directory))
    runs = read_table(file, Record, ("experiment", "run_id"))
    missing = [name for name in _NEEDED if name not in runs.columns]
    if missing:
        raise WrongInputError(f"lacks the columns {', '.join(missing)}", where=str(file))
    if runs.is_empty():
        raise WrongInputError("holds no runs", where=str(file))
    runs = with_all_columns(runs)
    check_runs(directory, runs["run_id"].drop_nulls().cast(pl.String))
    file = directory / FLOWS_FILE
    flows = (
        with_all_columns(read_table_of_runs(file, FlowRecord, runs), FlowRecord)
        if file.exists()
        else None
    )
    for name in () if flows is None else flows["flow"].drop_nulls().unique().cast(pl.String):
        plain(name)
    manifest = read_manifest(directory) or Manifest()
    return StudyResults(runs, manifest, flows, read_claimed_neighbours(directory))


def with_all_columns(runs: pl.DataFrame, record: type[Columns] = Record) -> pl.DataFrame:
    """The runs, or flows, with every column of the schema; those that were not recorded are null."""
    absent = [
        pl.lit(None, dtype=kind).alias(name)
        for name, kind in schema_of(record).items()
        if name not in runs.columns
    ]
    return runs.with_columns(absent)
