"""Filmstrips: what pages showed whenever they changed, loads below each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from headway.analysis.numbers import significant
from headway.instruments.waterfalls.film import Scene, film
from headway.instruments.waterfalls.loads import load_names, loads_said, loads_title
from headway.instruments.waterfalls.thumbnails import BLANK, aspect, thumbnails
from headway.report.evidence import PageStory
from headway.report.figures.data import progress_data, told
from headway.report.figures.kind import Kind, Picture, Subject, is_narrow, picture_name
from headway.report.plots import Frame, x_axis
from headway.report.scale import Scale, written
from headway.report.section import Section
from headway.report.sheet import Sheet, text_width
from headway.report.theme import INK, MUTED, RULE

_MOST, _FEWER = 8, 4
"""Pictures of a load, on wide and on narrow drawings."""
_GAP = 8.0
_WIDEST = 180.0
_HIGHEST = 240.0
_RIM = 1.0
"""At the sheet's edge, so that frames are not cut."""
_NAME = 24.0
_WORDS = 32.0
_LEADERS = 24.0
_AXIS = 16.0
"""Below a load's axis; the last one's has numbers, for which there is `_FOOT` beside."""
_FOOT = 8.0
_SMALL = 11.0
_APART = 7.0
_EDGE = 16.0
"""At both ends of the time axis, for half a number."""
_DENSITY = 1.6
"""Pixels of a thumbnail per pixel of the page."""
_MOST_BYTES, _FEWER_BYTES = 140_000, 50_000
"""All thumbnails of a drawing together; fewer on narrow ones."""


@dataclass(frozen=True)
class _Film:
    """A drawing's scenes, and how they stand.

    Attributes:
        scenes: of each load.
        width: of a thumbnail.
        height: of a thumbnail.
        pictures: by the file that they show.
        across: the time axis of all loads, in milliseconds.
    """

    scenes: tuple[tuple[Scene, ...], ...]
    width: float
    height: float
    pictures: Mapping[Path, bytes]
    across: Scale

    def left(self, place: int) -> float:
        """Where a thumbnail begins."""
        return _RIM + place * (self.width + _GAP)


def _draw(subject: Subject) -> Picture | None:
    stories = [story for story in subject.evidence.pages if story.progress.problem is None]
    if not stories:
        return None
    return Picture(
        name=picture_name(subject.analysis, "filmstrip"),
        title=loads_title("Filmstrip", stories),
        caption=(
            "What the page showed from each change on: when, after the start of the navigation, and how much of its "
            "final picture that is. Of many changes, the first paint, the first contentful paint (FCP) and the last are "
            "always there, of the others the largest. Below, the changes on one time axis for all loads. "
            f"{loads_said(stories)}"
        ),
        drawing=partial(_sheet, stories),
        data=lambda: progress_data(stories),
        said=told(
            f"{name}: {_told(page_story)}"
            for name, page_story in zip(load_names(stories), stories, strict=True)
        ),
    )


KIND = Kind(place=54, section=Section.PAGES, draw=_draw, every_metric=False, of_runs=True)


def _sheet(stories: Sequence[PageStory], width: float) -> Sheet:
    film = _film(stories, width)
    each = _NAME + film.height + _WORDS + _LEADERS + _AXIS
    sheet = Sheet(width, each * len(stories) + _FOOT)
    for place, (story, name, scenes) in enumerate(
        zip(stories, load_names(stories), film.scenes, strict=True)
    ):
        top = place * each
        _heading(sheet, story, name, top)
        for number, scene in enumerate(scenes):
            _picture(sheet, scene, film.left(number), top + _NAME, film)
        _times(sheet, scenes, film, top + each - _AXIS, place == len(stories) - 1)
    return sheet


def _film(stories: Sequence[PageStory], width: float) -> _Film:
    narrow = is_narrow(width)
    scenes = tuple(tuple(film(story, _FEWER if narrow else _MOST)) for story in stories)
    most = max(map(len, scenes))
    each = min((width - 2 * _RIM + _GAP) / most - _GAP, _WIDEST)
    ratio = max(aspect([shown.frame.file for shown in story.progress.shown]) for story in stories)
    each = min(each, _HIGHEST / ratio)
    files = [scene.shown.frame.file for result in scenes for scene in result]
    most_bytes = _FEWER_BYTES if narrow else _MOST_BYTES
    made = thumbnails(files, max(1, round(each * _DENSITY)), most_bytes)
    end_ms = max(scene.at_ms for result in scenes for scene in result) or 1.0
    return _Film(scenes, each, each * ratio, made, Scale(0, end_ms, _EDGE, width - _EDGE))


def _heading(sheet: Sheet, story: PageStory, name: str, top: float) -> None:
    room = min(text_width(name, 14, bold=True), sheet.width * 0.5)
    sheet.label(0, top + 10, name, room, size=14, bold=True)
    sheet.label(room + 12, top + 11, _told(story), sheet.width - room - 12, MUTED)


def _picture(sheet: Sheet, scene: Scene, left: float, top: float, film: _Film) -> None:
    right, bottom = left + film.width, top + film.height
    data = film.pictures.get(scene.shown.frame.file, BLANK)
    sheet.bitmap(left, top, film.width, film.height, data)
    corners = ((left, top), (right, top), (right, bottom), (left, bottom), (left, top))
    sheet.line(*corners, colour=INK if scene.tag else RULE, width=1.6 if scene.tag else 1)
    share = f"{math.floor(100 * scene.shown.share + 1e-9)} %"
    at = f"{significant(scene.at_ms / 1e3)} s"
    sheet.text(left, bottom + 11, at, size=_SMALL)
    sheet.text(left + text_width(at, _SMALL) + _APART, bottom + 11, share, bold=True, size=_SMALL)
    sheet.text(left, bottom + 24, scene.tag, MUTED, size=_SMALL)


def _times(sheet: Sheet, scenes: Sequence[Scene], film: _Film, y: float, last: bool) -> None:
    """The time axis, with a line to each picture from the moment from which it was shown."""
    frame = Frame(film.across.start, y, film.across.end - film.across.start, 0)
    ticks = film.across.ticks(max(2, int(frame.width / 70))) if last else []
    texts = [written(tick / 1e3, "s") for tick in ticks]
    x_axis(sheet, frame, [film.across(tick) for tick in ticks], texts)
    moments = [film.across(scene.at_ms) for scene in scenes]
    middles = [film.left(place) + film.width / 2 for place in range(len(scenes))]
    high = y - _LEADERS
    sheet.lines(
        [((middle, high), (x, y)) for middle, x in zip(middles, moments, strict=True)], colour=RULE
    )
    sheet.dots([(x, y) for x in moments], INK, size=5)


def _told(story: PageStory) -> str:
    index_ms = story.progress.speed_index_ms
    complete_s = significant((story.progress.last_change_ms or 0.0) / 1e3)
    index = f"Speed Index {significant(index_ms / 1e3)} s, " if index_ms is not None else ""
    return f"{index}complete after {complete_s} s; {story.run.repetition}"
