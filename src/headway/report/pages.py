"""Reading page loads: what the browser recorded of chosen runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headway.pages.load import EVENTS_FILE, read_load
from headway.pages.visual import visual_progress
from headway.records.store import ARTIFACTS
from headway.report.chosen import ChosenRun
from headway.report.figures.kind import PageStory


def page_stories(directory: Path, runs: Sequence[ChosenRun]) -> tuple[PageStory, ...]:
    """Loads of pages, also failed ones; only such as left a recording.

    Args:
        directory: the study's results.
        runs: which runs.
    """
    found = [_page_story(directory / ARTIFACTS / run.run_id, run) for run in runs]
    return tuple(story for story in found if story)


def _page_story(directory: Path, run: ChosenRun) -> PageStory | None:
    if not (directory / EVENTS_FILE).exists():
        return None  # no page, or the runs were given without what they left behind
    load = read_load(directory)
    return PageStory(run, load, visual_progress(load.frames))
