"""Validation of a study: all runs of a contender in a cell, judged together by the paths that were configured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from headway.analysis.analysis import Analysis
from headway.analysis.result_loading import StudyResults
from headway.diagnosis.validation import judge, load_evidence
from headway.errors import counted
from headway.records.store import ARTIFACTS
from headway.selftest.check import Check

_MOST_TOLD = 3


@dataclass(frozen=True)
class Validated:
    """A contender's runs in a cell, judged together.

    Attributes:
        experiment: the experiment; empty if the study is a single one.
        cell: name of the cell.
        title: of the cell.
        contender: the contender.
        runs: how many of its runs were validated.
        checks: of all of them.
    """

    experiment: str
    cell: str
    title: str
    contender: str
    runs: int
    checks: tuple[Check, ...]

    @property
    def place(self) -> str:
        """Where it is, in words; empty if there is nothing else."""
        return ", ".join(filter(None, (self.experiment, self.title, self.contender)))

    @property
    def failed(self) -> tuple[Check, ...]:
        """Checks that did not pass."""
        return tuple(check for check in self.checks if not check.passed)


def validated(
    directory: Path, results: StudyResults, analyses: Sequence[Analysis]
) -> tuple[Validated, ...]:
    """What validates a study's runs, in the order of cells and contenders; empty if nothing does.

    Args:
        directory: of the results.
        results: the runs.
        analyses: one of each experiment.
    """
    frame = results.runs.filter(pl.col("validation").is_not_null())
    if frame.is_empty():
        return ()
    by_side = frame.sort("run_id").group_by("experiment", "cell", "contender").agg("run_id")
    runs = {tuple(key): run_ids for *key, run_ids in by_side.iter_rows()}
    rows = []
    for analysis in analyses:
        for cell in analysis.cells:
            for contender in analysis.contenders:
                side = (analysis.experiment.name, cell.name, contender)
                known = {
                    name: load_evidence(directory / ARTIFACTS / name) for name in runs.get(side, ())
                }
                evidence = {name: sources for name, sources in known.items() if sources}
                if evidence:
                    checks = judge(list(evidence.values()), list(evidence))
                    rows.append(
                        Validated(side[0], cell.name, cell.title, contender, len(evidence), checks)
                    )
    return tuple(rows)


def validation_warning(validations: Sequence[Validated]) -> str:
    """What a reader must know before anything else: that paths were not as configured."""
    failed = [(validation, check) for validation in validations for check in validation.failed]
    if not failed:
        return ""
    text = "; ".join(f"{validation.place}: {check}" for validation, check in failed[:_MOST_TOLD])
    rest = len(failed) - _MOST_TOLD
    more = f"; and {counted(rest, 'more check')}" if rest > 0 else ""
    return f"The validation failed: {text}{more}. Do not rely on the results."
