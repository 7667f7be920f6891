"""Names of page loads, and sentences about them, which the figures share."""

from __future__ import annotations

from collections.abc import Sequence

from headway.report.chosen import runs_said
from headway.report.evidence import PageStory


def load_names(stories: Sequence[PageStory]) -> list[str]:
    """Names of loads, each unlike the others: contenders, with cell or run where that is needed."""
    contenders = [story.run.contender for story in stories]
    with_cells = [", ".join(filter(None, (s.run.contender, s.run.cell))) for s in stories]
    for names in (contenders, with_cells):
        if len(set(names)) == len(names):
            return names
    return [f"{name}, {s.run.run_id}" for name, s in zip(contenders, stories, strict=True)]


def loads_title(title: str, stories: Sequence[PageStory]) -> str:
    """A figure's title, with the loads' cell if they have one in common."""
    cells = list(dict.fromkeys(story.run.cell for story in stories))
    return f"{title}: {cells[0]}" if len(cells) == 1 and cells[0] else title


def loads_said(stories: Sequence[PageStory]) -> str:
    """Which runs these are, as a sentence."""
    return runs_said([story.run for story in stories])
