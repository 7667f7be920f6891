"""Writing a study's report: the page, its figures and its tables."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rich.console import Console
from rich.text import Text

from headway.analysis import Analysis, StudyResults, analyse, load_results
from headway.analysis.acrosslevels import Across, across_levels
from headway.analysis.disturbances import Unmet, unmet
from headway.analysis.explained import explained
from headway.analysis.validated import Validated, validated, validation_warning
from headway.nearby.document import read_nearby
from headway.records.store import REPORT
from headway.report.chosen import check_runs
from headway.report.encoded import WRITTEN, encoded
from headway.report.page import render
from headway.report.sections import ExperimentPart, experiment_part
from headway.report.styles import study_styles
from headway.report.summary import print_analyses
from headway.report.tables import frames
from headway.report.tables.disturbances import disturbances_warning
from headway.report.tables.kind import Matter
from headway.report.tables.spins import spins_warning
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
        # Here only is a report about a study that is there, and not about what results tell of it.
        from headway.records.archived_study import archived_study

        return Report(self.directory, self.results.judged_by(archived_study(study)))

    @cached_property
    def analyses(self) -> tuple[tuple[Analysis, ...], ...]:
        """Every metric of every experiment.

        Raises:
            WrongInputError: the runs lack a metric.
        """
        return explained(
            [
                [analyse(self.results, experiment, metric) for metric in experiment.metrics]
                for experiment in self.results.experiments
            ]
        )

    @cached_property
    def across(self) -> tuple[Across | None, ...]:
        """Of every experiment the levels of the axis that it compares."""
        return tuple(
            across_levels(self.results, experiment) for experiment in self.results.experiments
        )

    @cached_property
    def validated(self) -> tuple[Validated, ...]:
        """What validates the runs; empty if nothing does."""
        firsts = [metrics[0] for metrics in self.analyses]
        return validated(self.directory, self.results, firsts)

    @cached_property
    def matter(self) -> Matter:
        """What the tables are made of."""
        nearby = read_nearby(self.directory)
        return Matter(self.results, self.analyses, self.across, self.validated, nearby=nearby)

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
        unmet = disturbances_warning(self.unmet)
        triple = validity, unmet, spins_warning(self.results)
        return tuple(filter(None, triple))

    def write(self, runs: Sequence[str] = ()) -> Path:
        """Write the page and its files; see `write_report`."""
        check_runs(self.results, runs)
        parts = self._parts(runs)
        target = self.directory / REPORT
        if target.exists():
            shutil.rmtree(target)
        target.mkdir()
        for picture in (picture for part in parts for picture in part.pictures):
            for suffix in WRITTEN:
                (target / f"{picture.name}.{suffix}").write_bytes(encoded(picture, suffix))
        files = {kind.file: frame for kind, frame in frames(self.matter).items()}
        for name, frame in files.items():
            (target / name).write_text(frame.write_csv(), encoding="utf-8")
        page = target / PAGE
        page.write_text(render(self.matter, parts, self._warnings, tuple(files)), encoding="utf-8")
        return page

    def _parts(self, runs: Sequence[str]) -> list[ExperimentPart]:
        """What the page says of each experiment, with these runs over time or typical ones."""
        styles = study_styles(self.matter.firsts)
        return [
            experiment_part(self.directory, matter, styles, runs)
            for matter in self.matter.each_experiment
        ]


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
