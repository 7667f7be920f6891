"""Pictures of a filmstrip: those of a page load's changes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from headway.pages.visual import ShownFrame
from headway.report.evidence import PageStory

_VISIBLE = 0.01
"""A page has changed if so much more, or less, of its final picture is there."""
_TOGETHER = 0.01
"""Changes that follow each other so soon, of the time until the last, are one."""
_FRAME_MS = 20.0
"""Frames have about such a distance: that of a paint may say it came a little before."""


@dataclass(frozen=True)
class Scene:
    """What a page showed from a change on.

    Attributes:
        shown: the frame, and how complete the page is in it.
        tag: what the change was: ``FCP``, ``complete``, both or nothing.
    """

    shown: ShownFrame
    tag: str = ""

    @property
    def at_ms(self) -> float:
        """When it was first shown."""
        return self.shown.frame.at_ms


def film(story: PageStory, most: int) -> list[Scene]:
    """The changes of a page load in order of time.

    The first paint, what was there at the first contentful paint, and the last change are always among them; of the
    others the largest, as far as there is room.

    Args:
        story: a load with frames.
        most: scenes, if what is always there is no more.
    """
    needed = _needed(story)
    there = {scene.shown for scene in needed}
    others = [Scene(change) for change in _largest_changes(story) if change not in there]
    chosen = [*needed, *others[: max(0, most - len(needed))]]
    return sorted(chosen, key=lambda scene: scene.at_ms)


def _needed(story: PageStory) -> list[Scene]:
    """The changes that every filmstrip has."""
    shown, last_ms = story.progress.shown, story.progress.last_change_ms
    fcp_ms = float("inf") if story.load.fcp_ms is None else story.load.fcp_ms
    first = next((shown_frame for shown_frame in shown if shown_frame.share > 0), None)
    painted = next(
        (shown_frame for shown_frame in shown if shown_frame.frame.at_ms >= fcp_ms - _FRAME_MS),
        None,
    )
    last = next((shown_frame for shown_frame in shown if shown_frame.frame.at_ms == last_ms), None)
    tags: dict[ShownFrame, list[str]] = {}
    for frame, tag in ((first, ""), (painted, "FCP"), (last, "complete")):
        if frame:
            tags.setdefault(frame, []).append(tag)
    return [
        Scene(shown_frame, ", ".join(filter(None, texts))) for shown_frame, texts in tags.items()
    ]


def _largest_changes(story: PageStory) -> list[ShownFrame]:
    """The frames in which a page had changed, small and quick changes together; after the largest change first."""
    changes: list[ShownFrame] = []
    soon_ms, began_ms = _TOGETHER * (story.progress.last_change_ms or 0.0), 0.0
    for frame in story.progress.shown:
        if abs(frame.share - (changes[-1].share if changes else 0.0)) < _VISIBLE:
            continue
        if changes and frame.frame.at_ms - began_ms < soon_ms:
            changes[-1] = frame
        else:
            changes.append(frame)
            began_ms = frame.frame.at_ms
    shares = pairwise([0.0, *(change.share for change in changes)])
    sizes = [abs(after - before) for before, after in shares]
    ranked = sorted(
        zip(sizes, changes, strict=True), key=lambda pair: (-pair[0], pair[1].frame.at_ms)
    )
    return [shown_frame for _, shown_frame in ranked]
