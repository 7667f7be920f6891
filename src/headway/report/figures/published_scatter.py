"""Many published values and ours: a dot for each, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from headway.analysis.published import TOLERANCE, Beside, beside
from headway.report.figures.kind import (
    Kind,
    Picture,
    Section,
    Subject,
    picture_name,
)
from headway.report.figures.published import MOST_ROWS
from headway.report.legend import legend_height, style_legend
from headway.report.plots import Frame, title, x_axis, y_axis
from headway.report.scale import Scale, written
from headway.report.sheet import Point, Sheet
from headway.report.tables.published import published_frame
from headway.report.theme import GREEN, INK, Style

_LARGEST = 520.0
_LEFT, _RIGHT = 62.0, 16.0
_TITLE, _FOOT = 26.0, 40.0
_MARGIN = 1.15


def _draw(subject: Subject) -> Picture | None:
    found = [one for one in beside(subject.analysis) if one.value is not None]
    shown = [one for one in found if one.published.value > 0 and (one.value or 0) > 0]
    if len(found) <= MOST_ROWS or not shown:
        return None
    left_out = len(found) - len(shown)
    said = f" {left_out} more are not positive." if left_out else ""
    return Picture(
        name=picture_name(subject.analysis, "published"),
        title="Values: published and ours",
        caption="A dot for each published value: as published across, ours upwards. On the dashed "
        f"line both are equal; in the band they differ by at most {TOLERANCE:.0%}.{said}".replace(
            "%", " %"
        ),
        drawing=partial(_sheet, subject, shown),
        data=lambda: published_frame([subject.analysis]),
    )


KIND = Kind(place=6, section=Section.PUBLISHED, draw=_draw)


def _sheet(subject: Subject, found: Sequence[Beside], width: float) -> Sheet:
    styles = {
        name: style
        for name, style in subject.styles_here.items()
        if any(one.published.contender == name for one in found)
    }
    units = list(dict.fromkeys(one.published.unit for one in found))
    side = min(_LARGEST, width - _LEFT - _RIGHT)
    head = legend_height(tuple(styles), width)
    sheet = Sheet(width, head + len(units) * (_TITLE + side + _FOOT))
    style_legend(sheet, styles, 0, 0)
    for place, unit in enumerate(units):
        frame = Frame(_LEFT, head + place * (_TITLE + side + _FOOT) + _TITLE, side, side)
        _panel(sheet, [one for one in found if one.published.unit == unit], frame, styles)
    return sheet


def _panel(sheet: Sheet, found: Sequence[Beside], frame: Frame, styles: dict[str, Style]) -> None:
    """Values of one unit."""
    unit = found[0].published.unit
    values = [value for one in found for value in (one.published.value, one.value or 0.0)]
    low, high = min(values) / _MARGIN, max(values) * _MARGIN
    across = Scale(low, high, frame.left, frame.right, log=True)
    up = Scale(low, high, frame.bottom, frame.top, log=True)
    title(sheet, frame, f"ours, {unit}")
    ticks = across.ticks(6)
    y_axis(sheet, frame, up, ticks, [*map(written, ticks)])
    x_axis(sheet, frame, [*map(across, ticks)], [*map(written, ticks)], f"published, {unit}")
    sheet.areas([_band(across, up)], fill=GREEN, opacity=0.18)
    sheet.line((across(low), up(low)), (across(high), up(high)), colour=INK, dash=(4.0, 3.0))
    for name, style in styles.items():
        points = [
            (across(one.published.value), up(one.value or 0.0))
            for one in found
            if one.published.contender == name
        ]
        sheet.dots(points, style.colour, style.marker, size=5)


def _band(across: Scale, up: Scale) -> list[Point]:
    """Where values agree, within the plot."""
    most, least = 1 + TOLERANCE, 1 - TOLERANCE
    low, high = across.low, across.high
    corners = (
        *((low, low), (low, low * most), (high / most, high)),
        *((high, high), (high, high * least), (low / least, low)),
    )
    return [(across(x), up(y)) for x, y in corners]
