"""Headway from Python, as in a notebook: studies, their plans, their results as data frames.

See ``docs/python.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.campaign.feasibility import checked_plan
from headway.campaign.session import conduct
from headway.campaign.task import Task
from headway.campaign.watcher import SilentWatcher, Watcher
from headway.columns import polars_schema
from headway.errors import HeadwayError, WrongInputError
from headway.records.conditions import conditions
from headway.records.store import FLOWS_FILE, SEGMENTS_FILE, Start, refresh_table
from headway.study.experiment import Study
from headway.study.load import load_study, study_from
from headway.study.neighbourhood import ArchivedNeighbourhood
from headway.study.outsidefile import read_programs

# Data frames and statistics take seconds to load.
if TYPE_CHECKING:
    import polars as pl

    from headway.analysis import StudyResults as LoadedResults

__all__ = [
    "HeadwayError",
    "Results",
    "Study",
    "WrongInputError",
    "load",
    "plan",
    "read",
    "run",
    "try_nearby",
]

StudySource = Study | Mapping[str, Any] | str | Path


def load(study: StudySource, *, quick: bool = False, programs: str | Path | None = None) -> Study:
    """A validated study.

    Args:
        study: name of a built-in study, a study file, or a study file's tables as a dict.
        quick: its short form.
        programs: file of programs from outside; ``programs.toml`` beside the study, or here, if None.

    Raises:
        WrongInputError: there is no such study, or it is not valid.
    """
    if isinstance(study, Study):
        return study
    declared = None if programs is None else read_programs(Path(programs))
    if isinstance(study, Mapping):
        return study_from(study, quick=quick, programs=declared)
    return load_study(str(study), quick=quick, programs=declared)


_NAMES = ("run_id", "experiment", "cell", "contender", "seed")
"""Columns that name a run."""


def plan(study: StudySource, *, every_condition: bool = False) -> pl.DataFrame:
    """The runs of a study in the order in which they are started, with the conditions in which they differ.

    Args:
        study: as for `load`.
        every_condition: also those that are the same in all runs.

    Raises:
        WrongInputError: the study is not valid, or asks something of a program that it cannot do.
    """
    import polars as pl

    loaded = load(study)
    rows = [conditions(run) for run in checked_plan(loaded, loaded.name)]
    columns = {name: kind for name, kind in polars_schema().items() if name in rows[0]}
    runs = pl.DataFrame(rows, schema=columns, orient="row")
    if every_condition:
        return runs
    return runs.select(
        [column for column in columns if column in _NAMES or runs[column].n_unique() > 1]
    )


def run(
    study: StudySource,
    out: str | Path,
    *,
    jobs: int | None = None,
    resume: bool = True,
    retry_failed: bool = False,
    keep_going: bool = False,
    replace: bool = False,
    cluster: str | None = None,
    progress: bool = True,
) -> pl.DataFrame:
    """Carry out a study, or what is left of it; then its neighbours, if it has the key ``nearby``.

    Args:
        study: as for `load`.
        out: directory for the results.
        jobs: labs at a time; one per core if None.
        resume: go on with results of this study that the directory holds; otherwise it must be
            new or empty.
        retry_failed: run again what failed or timed out.
        keep_going: go on even if every run of a contender fails.
        replace: remove the results that the directory holds.
        cluster: address of a Dask scheduler, or its file ``scheduler.json``, or ``"local"``.
        progress: show progress on standard error.

    Returns:
        One row for every run; see ``docs/columns.md``.

    Raises:
        WrongInputError: the study or the directory cannot be right.
        HeadwayError: the host or the cluster failed, or every run of a contender; what is done is kept.
    """
    loaded = load(study)
    start = Start.RESUME if resume or retry_failed else Start.NEW
    task = Task(
        study=loaded,
        name=loaded.name,
        out=Path(out),
        command=_command(study, Path(out)),
        go_on="headway.run with the same study and directory goes on",
        start=Start.REPLACE if replace else start,
        retry_failed=retry_failed,
        keep_going=keep_going,
        jobs=jobs,
        cluster=cluster,
    )
    conduct(task, _watcher(progress))
    if loaded.nearby is not None:
        try_nearby(out, jobs=jobs, progress=progress)
    return read(out).runs


def try_nearby(
    results: str | Path,
    *,
    runs: int | None = None,
    minutes: float | None = None,
    axes: Sequence[str] | None = None,
    without: Sequence[str] | None = None,
    jobs: int | None = None,
    replace: bool = False,
    progress: bool = True,
) -> pl.DataFrame:
    """Try what stands nearest around the cells that an answer rests on, or go on with that: `headway nearby`.

    Args:
        results: directory of a study's results.
        runs: how many runs may be carried out.
        minutes: how long that may take; as the study states, or as long as it took, if that and ``runs`` are None.
        axes: what alone is varied; as the study states, or all, if that and ``without`` are None.
        without: axes that are left out.
        jobs: labs at a time; one per core if None.
        replace: remove what was tried before.
        progress: show progress on standard error.

    Returns:
        As `Results.neighbours`.

    Raises:
        WrongInputError: the results have no sentence that can be tried, or the budget is too small.
        HeadwayError: the host failed; what is done is kept.
    """
    from headway.nearby.session import NearbyRequest
    from headway.nearby.session import try_nearby as carry_out
    from headway.records.manifest import read_manifest

    told_neighbourhood = ArchivedNeighbourhood(runs, minutes, axes, without)
    manifest = read_manifest(Path(results))
    request = NearbyRequest(
        results=Path(results),
        command=f"headway.try_nearby({str(results)!r})",
        wanted=told_neighbourhood.in_place_of(manifest.study.nearby if manifest else None),
        jobs=jobs,
        replace=replace,
    )
    carry_out(request, _watcher(progress))
    return read(results).neighbours


class Results:
    """The results of a study."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @property
    def runs(self) -> pl.DataFrame:
        """One row for every run; ``docs/columns.md`` describes the columns."""
        return self._loaded.runs

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row for every flow of a run whose flows compete; empty if none do.

        It has the columns of runs and those of flows; ``docs/columns.md`` describes both.
        """
        import polars as pl

        from headway.columns.column import schema_of
        from headway.columns.record import FlowRecord
        from headway.records.recordedtable import read_table_of_runs

        refresh_table(self.directory)
        file = self.directory / FLOWS_FILE
        if not file.exists():
            return pl.DataFrame(schema=schema_of(FlowRecord))
        return read_table_of_runs(file, FlowRecord, self.runs)

    @cached_property
    def segments(self) -> pl.DataFrame:
        """One row for every segment of a video that a player fetched; empty if none did.

        ``docs/columns.md`` describes the columns.
        """
        import polars as pl

        from headway.columns.column import schema_of
        from headway.columns.videosegment import SegmentRecord
        from headway.records.recordedtable import read_table_of_runs

        refresh_table(self.directory)
        file = self.directory / SEGMENTS_FILE
        return (
            read_table_of_runs(file, SegmentRecord, self.runs)
            if file.exists()
            else pl.DataFrame(schema=schema_of(SegmentRecord))
        )

    @cached_property
    def comparisons(self) -> pl.DataFrame:
        """One row for every comparison of two contenders in a cell, or of two levels: statistics and verdict."""
        from headway.analysis import analyse
        from headway.analysis.acrosslevels import across_levels
        from headway.report.tables.comparisons import comparisons_frame

        study_results = self._loaded
        levels = [
            across_levels(study_results, experiment) for experiment in study_results.experiments
        ]
        return comparisons_frame(
            [
                *(
                    analyse(study_results, experiment, metric)
                    for experiment in study_results.experiments
                    for metric in experiment.metrics
                ),
                *(analysis for across in levels if across for analysis in across.analyses),
            ]
        )

    @cached_property
    def shares(self) -> pl.DataFrame:
        """One row for every flow that competed, of every contender in every cell: what it got, and who took from whom.

        Medians over the runs with their intervals; empty if no flows competed.
        """
        from headway.analysis import analyse
        from headway.report.tables.shares import shares_frame

        study_results = self._loaded
        return shares_frame(
            [analyse(study_results, experiment) for experiment in study_results.experiments]
        )

    @property
    def neighbours(self) -> pl.DataFrame:
        """One row for every sentence of the answer at every neighbour that was tried; empty if none was."""
        import polars as pl

        from headway.nearby.document import read_nearby, rows

        answer = read_nearby(self.directory)
        return pl.DataFrame(list(rows(answer)) if answer else [], infer_schema_length=None)

    @cached_property
    def _loaded(self) -> LoadedResults:
        from headway.analysis import load_results

        refresh_table(self.directory)
        return load_results(self.directory)

    def report(self) -> Path:
        """Write the report; returns its page."""
        from headway.report import write_report

        refresh_table(self.directory)
        return write_report(self.directory)


def read(directory: str | Path) -> Results:
    """The results in a directory; the study may still be going on.

    Raises:
        WrongInputError: it holds no results; raised when they are first used.
    """
    return Results(Path(directory))


def _command(study: StudySource, out: Path) -> str:
    """What makes these results again."""
    if isinstance(study, str | Path):
        return f"headway run {study} --out {out}"
    return f"headway.run(study, out={str(out)!r})"


def _watcher(shown: bool) -> Watcher:
    if not shown:
        return SilentWatcher()
    from headway.terminal import Terminal

    return Terminal()
