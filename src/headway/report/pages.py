"""Reading page loads: what the browser recorded of chosen runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headway.pages.arrivals import Carried, with_arrivals
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
    load = with_arrivals(read_load(directory), _carried(directory))
    return PageStory(run, load, visual_progress(load.frames))


def _carried(directory: Path) -> Carried:
    """What the path carried to the client during a load; nothing if that was not kept."""
    from headway.diagnosis.samples import read_samples
    from headway.diagnosis.transfer import Transfer

    try:
        transfer, samples = Transfer.load(directory), read_samples(directory)
    except FileNotFoundError:
        return ()
    device = transfer.segments[0].loss_devices[0]
    return tuple(
        ((one.at_s - transfer.began_s) * 1e3, float(one.queues[device].sent_bytes))
        for one in samples.taken
        if device in one.queues and one.at_s >= transfer.began_s
    )
