"""Many published values and ours: a dot for each, on logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from headway.analysis.published import TOLERANCE, Beside, beside
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.figures.published import MOST_ROWS
from headway.report.legend import legend_height, style_legend
from headway.report.plots import Frame, title, x_axis, y_axis
from headway.report.scale import Scale, written
from headway.report.section import Section
from headway.report.sheet import Point, Sheet
from headway.report.styles import dots_apart
from headway.report.tables.published import published_frame
from headway.report.theme import GREEN, INK, Style

_LARGEST, _LEAST = 520.0, 340.0
"""Sides of a plot: none is larger, and plots stand beside each other if they have so much."""
_LEFT, _RIGHT = 62.0, 16.0
_TITLE, _FOOT = 26.0, 40.0
_MARGIN = 1.15


@dataclass(frozen=True)
class Dot:
    """A published value and ours.

    Attributes:
        contender: whose it is.
        published: as published; of a relative difference, how many times as much.
        ours: likewise.
        unit: of both.
    """

    contender: str
    published: float
    ours: float
    unit: str


def dots(besides: Iterable[Beside]) -> list[Dot]:
    """The values that were measured and are above zero, times in seconds, differences as ratios."""
    made = [
        _dot(comparison, comparison.value) for comparison in besides if comparison.value is not None
    ]
    return [dot for dot in made if dot.published > 0 and dot.ours > 0]


def _dot(comparison: Beside, ours: float) -> Dot:
    told_published = comparison.published
    if told_published.against is not None:
        return Dot(
            told_published.contender,
            1 + told_published.value / 100,
            1 + ours / 100,
            "times as much",
        )
    seconds = 1e-3 if told_published.unit == "ms" else 1.0
    unit = "s" if told_published.unit == "ms" else told_published.unit
    return Dot(told_published.contender, told_published.value * seconds, ours * seconds, unit)


def _draw(subject: Subject) -> Picture | None:
    besides = [
        comparison for comparison in beside(subject.analysis) if comparison.value is not None
    ]
    shown = dots(besides)
    if len(besides) <= MOST_ROWS or not shown:
        return None
    left_out = len(besides) - len(shown)
    text = f" {left_out} more are not positive." if left_out else ""
    return Picture(
        name=picture_name(subject.analysis, "published"),
        title="Values: published and ours",
        caption="A dot for each published value: as published across, ours upwards. On the dashed "
        f"line both are equal; in the band they differ by at most {TOLERANCE:.0%}.{text}".replace(
            "%", " %"
        ),
        drawing=partial(scatter, shown, subject.styles_here),
        data=lambda: published_frame([subject.analysis]),
    )


KIND = Kind(place=6, section=Section.PUBLISHED, draw=_draw)


def scatter(results: Sequence[Dot], styles: Mapping[str, Style], width: float) -> Sheet:
    """A plot for each unit, both axes logarithmic."""
    named = {dot.contender for dot in results}
    here = dots_apart({name: style for name, style in styles.items() if name in named})
    units = list(dict.fromkeys(dot.unit for dot in results))
    across = max(1, min(len(units), int(width / _LEAST)))
    each = width / across
    side = min(_LARGEST, each - _LEFT - _RIGHT)
    head, tall = legend_height(tuple(here), width), _TITLE + side + _FOOT
    sheet = Sheet(width, head + math.ceil(len(units) / across) * tall)
    style_legend(sheet, here, 0, 0)
    for place, unit in enumerate(units):
        row, column = divmod(place, across)
        frame = Frame(column * each + _LEFT, head + row * tall + _TITLE, side, side)
        _panel(sheet, [dot for dot in results if dot.unit == unit], frame, here)
    return sheet


def _panel(sheet: Sheet, results: Sequence[Dot], frame: Frame, styles: Mapping[str, Style]) -> None:
    """Values of one unit."""
    unit = results[0].unit
    values = [value for dot in results for value in (dot.published, dot.ours)]
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
        points = [(across(dot.published), up(dot.ours)) for dot in results if dot.contender == name]
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
