"""Visual progress of page loads over each other: how complete the page is over time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from headway.analysis.numbers import significant
from headway.instruments.waterfalls.loads import load_names, loads_said, loads_title
from headway.report.evidence import PageStory
from headway.report.figures.data import progress_data
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.legend import legend_height, style_legend
from headway.report.plots import BELOW, Frame, x_axis, y_axis
from headway.report.scale import Scale, written
from headway.report.section import Section
from headway.report.sheet import Point, Reading, Sheet
from headway.report.styles import told_apart
from headway.report.theme import Style

_LEFT = 44.0
_HEIGHT = 230.0
_EDGE = 14.0
"""Room at the right for labels that stick out."""
_AFTER = 1.04
"""The axis ends so much later than the last change, as a factor."""
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
_SHADE = 0.12


def _draw(subject: Subject) -> Picture | None:
    stories = [story for story in subject.evidence.pages if story.progress.problem is None]
    if not stories:
        return None
    return Picture(
        name=picture_name(subject.analysis, "progress"),
        title=loads_title("Visual progress", stories),
        caption=(
            "Share of the page's final picture that is there. The Speed Index is the area above a "
            f"curve, shaded; the dashed line stands at its value. {loads_said(stories)}"
        ),
        drawing=partial(_sheet, subject, stories),
        data=lambda: progress_data(stories),
    )


KIND = Kind(place=52, section=Section.PAGES, draw=_draw, every_metric=False, of_runs=True)


def _sheet(subject: Subject, stories: Sequence[PageStory], width: float) -> Sheet:
    names = load_names(stories)
    styles = told_apart([subject.styles[story.run.contender] for story in stories])
    legend = {
        f"{name}: Speed Index {_seconds(story.progress.speed_index_ms)}": style
        for name, story, style in zip(names, stories, styles, strict=True)
    }
    head = legend_height(tuple(legend), width) + 12
    sheet = Sheet(width, head + _HEIGHT + BELOW)
    style_legend(sheet, legend, 0, 0)
    frame = Frame(_LEFT, head, width - _LEFT - _EDGE, _HEIGHT)
    across = Scale(0, _end_ms(stories) / 1e3, frame.left, frame.right)
    up = Scale(0, 1, frame.bottom, frame.top)
    for story, style in zip(stories, styles, strict=True):
        _shade(sheet, _curve(story, across, up), style, frame)
    y_axis(sheet, frame, up, _SHARES, [f"{share:.0%}".replace("%", " %") for share in _SHARES])
    ticks = across.ticks(max(2, int(frame.width / 70)))
    x_axis(sheet, frame, [across(tick) for tick in ticks], list(map(written, ticks)), "seconds")
    for name, story, style in zip(names, stories, styles, strict=True):
        curve = _curve(story, across, up)
        reading = Reading(name, across, up)
        sheet.line(*curve, colour=style.colour, width=2, dash=style.dash, reading=reading)
        _mark(sheet, story, style, across, frame)
    return sheet


def _end_ms(stories: Sequence[PageStory]) -> float:
    return _AFTER * (max(story.progress.last_change_ms or 0.0 for story in stories) or 1.0)


def _curve(story: PageStory, across: Scale, up: Scale) -> list[Point]:
    """The steps from navigation start to the end of the axis."""
    line: list[Point] = []
    height = up(0)
    for at_ms, share in story.progress.steps:
        if at_ms / 1e3 > across.high:
            break
        x = across(at_ms / 1e3)
        line += [(x, height), (x, up(share))]
        height = up(share)
    return [*line, (across.end, height)]


def _shade(sheet: Sheet, curve: Sequence[Point], style: Style, frame: Frame) -> None:
    """Fill the area above a curve."""
    above = [*curve, (frame.right, frame.top), (frame.left, frame.top)]
    sheet.areas([above], fill=style.colour, opacity=_SHADE)


def _mark(sheet: Sheet, story: PageStory, style: Style, across: Scale, frame: Frame) -> None:
    """A line at the Speed Index, with a dot of the contender's on the axis."""
    index_ms = story.progress.speed_index_ms
    if index_ms is None:
        return
    x = across(index_ms / 1e3)
    sheet.line((x, frame.top), (x, frame.bottom), colour=style.colour, dash=(5, 4))
    sheet.dots([(x, frame.bottom)], style.colour, style.marker, size=8, halo=True)


def _seconds(time_ms: float | None) -> str:
    return "unknown" if time_ms is None else f"{significant(time_ms / 1e3)} s"
