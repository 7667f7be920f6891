"""Reading what was sampled of runs over time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headway.errors import WrongInputError
from headway.records.store import ARTIFACTS
from headway.report.chosen import ChosenRun
from headway.report.figures.kind import Story


def stories(directory: Path, runs: Sequence[ChosenRun]) -> tuple[Story, ...]:
    """Runs over time; only such as left samples.

    Args:
        directory: the study's results.
        runs: which runs.
    """
    found = [_story(directory, run) for run in runs]
    return tuple(story for story in found if story)


def _story(directory: Path, run: ChosenRun) -> Story | None:
    from headway.diagnosis.series import read_series

    try:
        series = read_series(directory / ARTIFACTS / run.run_id)
    except WrongInputError:
        return None  # the runs were given without what they left behind
    return Story(run, series)
