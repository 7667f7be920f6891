"""Writing a study's report: the page, its figures and its tables."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.text import Text

from headway.analysis import Analysis, StudyResults, analyse, load_results
from headway.analysis.acrosslevels import Across, across_levels
from headway.analysis.disturbances import Unmet, unmet
from headway.analysis.validated import Validated, validated, validation_warning
from headway.records.provenance import told_study
from headway.records.store import REPORT
from headway.report.chosen import check_runs, chosen_groups
from headway.report.encoded import WRITTEN, encoded
from headway.report.figures import Picture
from headway.report.page import render
from headway.report.parts import ExperimentPart, experiment_part
from headway.report.shown import shown_groups
from headway.report.styles import study_styles
from headway.report.tables import (
    bursts,
    claims,
    comparisons,
    disturbances,
    failures,
    faults,
    flows,
    guide,
    holdups,
    pages,
    published,
    repetitions,
    runs,
    samples,
    shares,
    validation,
    wholes,
)
from headway.report.tables.spins import spins_warning
from headway.report.terminal import print_analyses
from headway.report.theme import Style
from headway.study.experiment import Study

PAGE = "index.html"


@dataclass(frozen=True)
class Report:
    """What a study's results say: as a summary for the terminal, and as a page with files.

    Both are of the same analyses, which are made once.

    Attributes:
        directory: the results' directory.
        results: what is in it.
    """

    directory: Path
    results: StudyResults

    @classmethod
    def of(cls, directory: Path) -> Report:
        """The report of a results directory.

        Raises:
            WrongInputError: it is not a results directory.
        """
        return cls(directory, load_results(directory))

    def judged_by(self, study: Study) -> Report:
        """The same report, its claims and published values being those of a study."""
        return Report(self.directory, self.results.judged_by(told_study(study)))

    @cached_property
    def analyses(self) -> tuple[tuple[Analysis, ...], ...]:
        """Every metric of every experiment.

        Raises:
            WrongInputError: the runs lack a metric.
        """
        return tuple(
            tuple(analyse(self.results, experiment, metric) for metric in experiment.metrics)
            for experiment in self.results.experiments
        )

    @cached_property
    def across(self) -> tuple[Across | None, ...]:
        """Of every experiment the levels of the axis that it compares."""
        return tuple(across_levels(self.results, one) for one in self.results.experiments)

    @cached_property
    def validated(self) -> tuple[Validated, ...]:
        """What validates the runs; empty if nothing does."""
        firsts = [metrics[0] for metrics in self.analyses]
        return validated(self.directory, self.results, firsts)

    @cached_property
    def unmet(self) -> tuple[Unmet, ...]:
        """Disturbances that paths name and no packet met."""
        return unmet(self.results)

    def check_runs(self, runs: Sequence[str]) -> None:
        """Check that the runs to be shown over time are there.

        Raises:
            WrongInputError: one is not.
        """
        check_runs(self.results, runs)

    def print_summary(self, console: Console) -> None:
        """Print every experiment's table and answer; legible without colour at 80 columns."""
        for warning in self._warnings:
            console.print(Text(warning, style="bold red"))
        print_analyses(console, self.results, self.analyses, self.across)

    @property
    def _warnings(self) -> tuple[str, ...]:
        """What a reader must know first, beside what the manifest tells."""
        validity = validation_warning(self.validated)
        unmet = disturbances.disturbances_warning(self.unmet)
        told = validity, unmet, spins_warning(self.results)
        return tuple(filter(None, told))

    def write(self, runs: Sequence[str] = ()) -> Path:
        """Write the page and its files; see `write_report`."""
        check_runs(self.results, runs)
        styles = study_styles([metrics[0] for metrics in self.analyses])
        experiments = zip(self.analyses, self.across, strict=True)
        parts = [self._part(metrics, across, styles, runs) for metrics, across in experiments]
        target = self.directory / REPORT
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        for part in parts:
            for picture in part.pictures:
                _write_picture(target, picture)
        tables = _tables(self.results, parts, self.validated)
        for name, table in tables.items():
            (target / name).write_text(table.write_csv(), encoding="utf-8")
        page = target / PAGE
        page.write_text(
            render(self.results, parts, self.validated, self._warnings, tuple(tables)),
            encoding="utf-8",
        )
        return page

    def _part(
        self,
        metrics: Sequence[Analysis],
        across: Across | None,
        styles: Mapping[str, Style],
        runs: Sequence[str],
    ) -> ExperimentPart:
        """What the page says of an experiment, with these runs over time or typical ones."""
        groups = chosen_groups(self.results, metrics[0], runs)
        shown = shown_groups(self.directory, metrics[0], styles, groups)
        return experiment_part(self.results, metrics, styles, shown, across)


def write_report(directory: Path, runs: Sequence[str] = ()) -> Path:
    """Write the report of a results directory into its ``report/``.

    The page ``index.html`` stands alone; beside it are its figures as SVG and PNG, with their
    data as CSV, and its tables as CSV. Equal results give equal files; those of an earlier report are removed.

    Args:
        directory: results of a study.
        runs: names of the runs that are shown over time; some that are typical if none are named.

    Returns:
        The page.

    Raises:
        WrongInputError: it is not a results directory, lacks the study's metric, or has no such
            run.
    """
    return Report.of(directory).write(runs)


def _write_picture(target: Path, picture: Picture) -> None:
    for suffix in WRITTEN:
        (target / f"{picture.name}.{suffix}").write_bytes(encoded(picture, suffix))


def _tables(
    results: StudyResults,
    parts: Sequence[ExperimentPart],
    validated: Sequence[Validated],
) -> dict[str, pl.DataFrame]:
    """The tables with every number, by name of their file; those without rows are left out."""
    own = [metric.analysis for part in parts for metric in part.metrics]
    levels = [one for part in parts if part.across for one in part.across.across.analyses]
    everything = [*own, *levels]
    firsts = [part.first.analysis for part in parts]
    tables = {
        samples.FILE: samples.samples_frame(everything),
        wholes.FILE: wholes.wholes_frame(everything),
        comparisons.FILE: comparisons.comparisons_frame(everything),
        guide.FILE: guide.guide_frame(firsts),
        guide.GAINS_FILE: guide.gains_frame(firsts),
        guide.TERMS_FILE: guide.terms_frame(firsts),
        pages.FILE: pages.pages_frame(results, firsts),
        shares.FILE: shares.shares_frame(firsts),
        flows.FILE: flows.flows_frame(results, firsts),
        holdups.FILE: holdups.holdups_frame(firsts),
        bursts.FILE: bursts.bursts_frame(firsts),
        published.FILE: published.published_frame(everything),
        claims.FILE: claims.claims_frame([part.analyses for part in parts]),
        faults.FILE: faults.faults_frame(firsts),
        failures.FILE: failures.failures_frame(results.runs),
        disturbances.FILE: disturbances.disturbances_frame(results),
        validation.FILE: validation.validation_frame(validated),
        repetitions.FILE: repetitions.repetitions_frame(firsts),
        runs.FILE: runs.runs_frame(results.runs),
    }
    return {name: table for name, table in tables.items() if not table.is_empty()}
