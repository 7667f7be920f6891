"""Filmstrips: what pages showed at even times, loads below each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from headway.analysis.numbers import significant
from headway.pages.visual import ShownFrame
from headway.report.figures.data import progress_data, told
from headway.report.figures.kind import (
    Kind,
    PageStory,
    Picture,
    Section,
    Subject,
    is_narrow,
    picture_name,
)
from headway.report.figures.loads import load_names, loads_said, loads_title
from headway.report.scale import written
from headway.report.sheet import Sheet, shortened, text_width
from headway.report.theme import INK, MUTED, RULE
from headway.report.thumbnails import BLANK, aspect, thumbnails

_MOST_COLUMNS, _FEWER_COLUMNS = 10, 4
_GAP = 8.0
_WIDEST = 180.0
_HIGHEST = 240.0
_RIM = 1.0
"""At the sheet's edge, so that frames are not cut."""
_TIMES = 20.0
_NAME = 24.0
_BELOW = 34.0
_DENSITY = 1.6
"""Pixels of a thumbnail per pixel of the page."""
_MOST_BYTES, _FEWER_BYTES = 140_000, 50_000
"""All thumbnails of a drawing together; fewer on narrow ones."""
_STEPS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


@dataclass(frozen=True)
class _Film:
    """A drawing's thumbnails and where they stand.

    Attributes:
        times_ms: of its columns.
        width: of a thumbnail.
        height: of a thumbnail.
        pictures: by the file that they show.
    """

    times_ms: tuple[float, ...]
    width: float
    height: float
    pictures: Mapping[Path, bytes]

    def left(self, column: int) -> float:
        """Where a column begins."""
        return _RIM + column * (self.width + _GAP)


def _draw(subject: Subject) -> Picture | None:
    stories = [story for story in subject.pages if story.progress.problem is None]
    if not stories:
        return None
    return Picture(
        name=picture_name(subject.analysis, "filmstrip"),
        title=loads_title("Filmstrip", stories),
        caption=(
            "What the page showed at these times after the start of the navigation, and how much "
            f"of its final picture that is. A bold frame: it had changed. {loads_said(stories)}"
        ),
        drawing=partial(_sheet, stories),
        data=lambda: progress_data(stories),
        said=told(
            f"{name}: {_told(one)}" for name, one in zip(load_names(stories), stories, strict=True)
        ),
    )


KIND = Kind(place=54, section=Section.PAGES, draw=_draw, every_metric=False)


def _sheet(stories: Sequence[PageStory], width: float) -> Sheet:
    film = _film(stories, width)
    tall = _NAME + film.height + _BELOW
    sheet = Sheet(width, _TIMES + tall * len(stories))
    for column, at_ms in enumerate(film.times_ms):
        x = film.left(column) + film.width / 2
        sheet.text(x, 8, written(at_ms / 1e3, "s"), MUTED, size=11, anchor="middle")
    for place, (story, name) in enumerate(zip(stories, load_names(stories), strict=True)):
        _strip(sheet, story, name, film, _TIMES + place * tall)
    return sheet


def _film(stories: Sequence[PageStory], width: float) -> _Film:
    columns = _FEWER_COLUMNS if is_narrow(width) else _MOST_COLUMNS
    most_bytes = _FEWER_BYTES if is_narrow(width) else _MOST_BYTES
    times_ms = _even_times_ms(max(_complete_ms(story) for story in stories), columns)
    files = [s.frame.file for story in stories for s in _shown(story, times_ms) if s]
    each = min((width - 2 * _RIM + _GAP) / len(times_ms) - _GAP, _WIDEST)
    ratio = max(aspect([shown.frame.file for shown in story.progress.shown]) for story in stories)
    each = min(each, _HIGHEST / ratio)
    pixels = max(1, round(each * _DENSITY))
    made = thumbnails(files, pixels, most_bytes)
    return _Film(times_ms, each, each * ratio, made)


def _complete_ms(story: PageStory) -> float:
    return story.progress.last_change_ms or 0.0


def _even_times_ms(end_ms: float, most: int) -> tuple[float, ...]:
    """Multiples of the least round step of which so many reach the end."""
    rough = max(end_ms, 1.0) / most
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in _STEPS if unit * factor * most >= end_ms)
    return tuple(round(step * (n + 1), 6) for n in range(max(1, math.ceil(end_ms / step - 1e-9))))


def _shown(story: PageStory, times_ms: Sequence[float]) -> list[ShownFrame | None]:
    """What the page showed at these times; None before its first frame."""
    return [
        next((one for one in reversed(story.progress.shown) if one.frame.at_ms <= at_ms), None)
        for at_ms in times_ms
    ]


def _strip(sheet: Sheet, story: PageStory, name: str, film: _Film, top: float) -> None:
    heading = shortened(name, sheet.width * 0.6, 14, bold=True)
    sheet.text(0, top + 10, heading, size=14, bold=True)
    beside = text_width(heading, 14, bold=True) + 12
    sheet.text(beside, top + 11, shortened(_told(story), sheet.width - beside), MUTED)
    top += _NAME
    before = 0.0
    for column, shown in enumerate(_shown(story, film.times_ms)):
        left, share = film.left(column), shown.share if shown else 0.0
        picture = film.pictures.get(shown.frame.file) if shown else None
        sheet.bitmap(left, top, film.width, film.height, picture or BLANK)
        changed = share != before
        _frame(sheet, left, top, film, changed)
        text = f"{math.floor(100 * share + 1e-9)} %"
        middle, y = left + film.width / 2, top + film.height + 11
        sheet.text(middle, y, text, INK if changed else MUTED, bold=changed, anchor="middle")
        before = share


def _frame(sheet: Sheet, left: float, top: float, film: _Film, changed: bool) -> None:
    right, bottom = left + film.width, top + film.height
    corners = ((left, top), (right, top), (right, bottom), (left, bottom), (left, top))
    sheet.line(*corners, colour=INK if changed else RULE, width=1.6 if changed else 1)


def _told(story: PageStory) -> str:
    index_ms = story.progress.speed_index_ms
    complete_s = significant(_complete_ms(story) / 1e3)
    index = f"Speed Index {significant(index_ms / 1e3)} s, " if index_ms is not None else ""
    return f"{index}complete after {complete_s} s; {story.run.repetition}"
