"""Single figures and tables of a study's results, of what somebody wants to show, for paper."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from headway.analysis import Analysis
from headway.analysis.acrosslevels import Across
from headway.analysis.subset import restricted
from headway.errors import WrongInputError, nearest
from headway.nearby.document import read_nearby
from headway.report import tables
from headway.report.chosen import check_runs
from headway.report.figures import Picture
from headway.report.report import Report
from headway.report.section import Section
from headway.report.sections import ExperimentPart, MetricPart, experiment_part, level_parts
from headway.report.styles import study_styles
from headway.report.tables import known_tables
from headway.report.tables.kind import Matter, ShownTable, TableKind
from headway.report.tables.table import markdown

TABLE_FORMATS = ("csv", "md")


@dataclass(frozen=True)
class Wanted:
    """What figures and tables are to show; whatever is empty leaves nothing out.

    Attributes:
        cells: names or titles of cells, or parts of titles.
        contenders: names.
        runs: names of runs that are shown over time.
    """

    cells: tuple[str, ...] = ()
    contenders: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()


@dataclass(frozen=True)
class WantedTable:
    """A table of the report.

    Attributes:
        name: its name.
        title: what it is.
        shown: as the page shows it, of each experiment or metric.
        frame: with every number; None if what is shown is all.
    """

    name: str
    title: str
    shown: tuple[ShownTable, ...]
    frame: pl.DataFrame | None

    def encoded(self, suffix: str) -> bytes:
        """The content of its file: every number as ``csv``, or to be read as ``md``."""
        if suffix == "csv":
            return self._csv().encode()
        blocks = (
            "\n".join([f"**{shown_table.caption}**", "", *markdown(shown_table.table)])
            for shown_table in self.shown
        )
        return ("\n\n".join(blocks) + "\n").encode()

    def _csv(self) -> str:
        if self.frame is not None:
            return self.frame.write_csv()
        written = io.StringIO()
        csv.writer(written, lineterminator="\n").writerows(
            line
            for shown_table in self.shown
            for line in (
                shown_table.table.headings,
                *(row for group in shown_table.table.rows for row in group),
            )
        )
        return written.getvalue()


@dataclass(frozen=True)
class WantedParts:
    """What is wanted of a study's report.

    Attributes:
        report: all of it.
        matter: what is left of the study.
        parts: what is left of its experiments.
        levels: levels that are compared, where nothing else is left of their experiment.
    """

    report: Report
    matter: Matter
    parts: tuple[ExperimentPart, ...]
    levels: tuple[MetricPart, ...]

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """All figures that the data are fit for, of every experiment and metric, not yet drawn."""
        drawn = (
            *(part.pictures for part in self.parts),
            *(level.pictures for level in self.levels),
        )
        return tuple(picture for pictures in drawn for picture in pictures)

    @property
    def tables(self) -> tuple[WantedTable, ...]:
        """All tables that have rows."""
        matter = self._of_what_is_left()
        shown = [table for part in self.parts for table in part.tables]
        for section in Section:
            shown += tables.tables(matter, section) if section.of_study else ()
        frames = tables.frames(matter)
        by_table_kind = {kind: _called(shown, kind.called) for kind in known_tables()}
        return tuple(
            WantedTable(kind.called, _title(kind, own), own, frames.get(kind))
            for kind, own in by_table_kind.items()
            if own or kind in frames
        )

    def _of_what_is_left(self) -> Matter:
        """The study with the runs of the cells and contenders that are left."""
        there = {
            (first.experiment.name, cell.name, side.contender)
            for first in self.matter.firsts
            for cell in first.cells
            for side in cell.sides
        }
        keys = ("experiment", "cell", "contender")
        # With its types: where only levels are compared, there is nothing to tell them by.
        left = pl.DataFrame([*there], dict.fromkeys(keys, pl.String), orient="row")
        runs = self.report.results.runs
        kept = runs.join(left, on=keys, how="semi", maintain_order="left")
        judged = (
            validated
            for validated in self.report.validated
            if (validated.experiment, validated.cell, validated.contender) in there
        )
        results = replace(self.report.results, runs=kept)
        return replace(self.matter, results=results, validated=tuple(judged))


def _called(shown: Sequence[ShownTable], name: str) -> tuple[ShownTable, ...]:
    return tuple(shown_table for shown_table in shown if shown_table.name == name)


def _title(kind: TableKind, shown: Sequence[ShownTable]) -> str:
    """What it is, of all metrics."""
    captions = {shown_table.caption for shown_table in shown}
    if not captions:
        return kind.title
    return captions.pop() if len(captions) == 1 else shown[0].caption.partition(":")[0]


def chosen(directory: Path, wanted: Wanted) -> WantedParts:
    """What is wanted of the report of a results directory.

    Raises:
        WrongInputError: it is not a results directory, or nothing is called like what is wanted.
    """
    report = Report.of(directory)
    check_runs(report.results, wanted.runs)
    nearby = read_nearby(report.directory)
    whole = Matter(report.results, report.analyses, report.across, nearby=nearby)
    # Contenders have the colours that they have in the report.
    styles = study_styles(whole.firsts)
    parts: list[ExperimentPart] = []
    levels: list[MetricPart] = []
    problem: WrongInputError | None = None
    for matter in whole.each_experiment:
        across = _levels(matter.across[0], wanted)
        try:
            metrics = tuple(_restricted(metric, wanted) for metric in matter.metrics)
        except WrongInputError as error:
            problem = error  # perhaps another experiment has them
            levels += level_parts(across) if across else ()
            continue
        own = replace(matter, experiments=(metrics,), across=(across,))
        parts.append(experiment_part(directory, own, styles, wanted.runs))
    if problem and not (parts or levels):
        raise problem
    experiments = tuple(part.matter.metrics for part in parts)
    of_levels = tuple(part.across for part in parts)
    return WantedParts(
        report,
        Matter(report.results, experiments, of_levels, nearby=nearby),
        tuple(parts),
        tuple(levels),
    )


def _restricted(analysis: Analysis, wanted: Wanted) -> Analysis:
    return restricted(analysis, wanted.cells, wanted.contenders)


def _levels(across: Across | None, wanted: Wanted) -> Across | None:
    """Levels that are compared; None if no cell of theirs is called like what is wanted."""
    with suppress(WrongInputError):
        if across:
            analyses = tuple(_restricted(analysis, wanted) for analysis in across.analyses)
            return replace(across, analyses=analyses)
    return None


def named(results: Sequence[Picture | WantedTable], name: str) -> Picture | WantedTable:
    """The figure or table of this name.

    Raises:
        WrongInputError: there is none.
    """
    for wanted in results:
        if wanted.name == name:
            return wanted
    names = [output.name for output in results]
    reason = nearest(name, names) or f"; there are {', '.join(names)}"
    raise WrongInputError(f"there is no figure or table {name!r}{reason}")
