"""Panels of plots: axes, grid lines and titles; what is plotted is up to the figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from headway.report.legend import legend_height, style_legend
from headway.report.scale import Scale, written
from headway.report.sheet import Point, Sheet, text_width
from headway.report.theme import MUTED, RULE, Style

TITLE = 22.0
BELOW = 34.0
"""Room for labels and name of the axis below a plot."""
_EDGE = 10.0
"""Room at the right for labels that stick out."""
NAME = 18.0
"""Height of the name of axes that go upwards."""
_APART = 10.0
"""Least distance between labels."""
_BUCKET = 2.0
"""Pixels of which one least and one greatest value is drawn."""
_LEAST_PANEL, _GAP = 300.0, 24.0
"""The width that a panel with a title needs, and the room between two."""


@dataclass(frozen=True)
class Frame:
    """The rectangle in which values are plotted, in pixels."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.top + self.height


@dataclass(frozen=True)
class Tiles:
    """Panels of one size that fill the width of a figure, row by row, each with room for a title and an axis.

    Attributes:
        count: number of panels.
        columns: panels side by side.
        left: room for labels at the left of each panel.
        height: of each plot, without title and axis.
        gap: between panels.
    """

    count: int
    columns: int
    left: float
    height: float
    gap: float = _GAP

    @classmethod
    def fitting(
        cls, count: int, least: float, width: float, *, left: float, height: float, gap: float
    ) -> Tiles:
        """As many side by side as have room, if each needs at least so much of the width."""
        columns = max(1, min(count, int(width / least)))
        return cls(count, columns, left, height, gap)

    @property
    def total_height(self) -> float:
        """Height of all of them."""
        return -(-self.count // self.columns) * (TITLE + self.height + BELOW)

    def frames(self, width: float, top: float) -> list[Frame]:
        """Where they plot, if the first row begins at the top, titles included."""
        pitch = (width - _EDGE + self.gap) / self.columns
        return [
            Frame(
                left=place % self.columns * pitch + self.left,
                top=top + place // self.columns * (TITLE + self.height + BELOW) + TITLE,
                width=pitch - self.gap - self.left,
                height=self.height,
            )
            for place in range(self.count)
        ]

    def fill(self, sheet: Sheet, panels: Iterable[Titled], top: float = 0.0) -> None:
        """Draw all of them, from the top on: of each the title, and what fills it."""
        for (name, draw), frame in zip(panels, self.frames(sheet.width, top), strict=True):
            title(sheet, frame, name)
            draw(sheet, frame)


Titled = tuple[str, Callable[[Sheet, Frame], None]]
"""A panel: its title, and what fills it."""


def below_legend(
    styles: Mapping[str, Style], tiles: Tiles, width: float, upwards: str
) -> tuple[Sheet, float]:
    """A sheet with a legend and what the panels below it have upwards, and where they begin."""
    head = legend_height(tuple(styles), width) + 8 + NAME
    sheet = Sheet(width, head + tiles.total_height)
    style_legend(sheet, styles, 0, 0)
    upward(sheet, upwards, head - 8 - NAME / 2)
    return sheet, head


def titled_panels(
    panels: Sequence[Titled],
    styles: Mapping[str, Style],
    width: float,
    *,
    left: float,
    height: float,
    upwards: str,
) -> Sheet:
    """A sheet with a legend and panels below it, as many side by side as have room.

    Args:
        panels: the title of each, and what fills it.
        styles: how contenders are drawn.
        width: of the sheet.
        left: room for labels at the left of each panel.
        height: of each plot, without title and axis.
        upwards: what all panels have upwards.
    """
    tiles = Tiles.fitting(len(panels), _LEAST_PANEL, width, left=left, height=height, gap=_GAP)
    sheet, head = below_legend(styles, tiles, width, upwards)
    tiles.fill(sheet, panels, head)
    return sheet


def upward(sheet: Sheet, name: str, y: float) -> None:
    """Say above the panels of a sheet what they have upwards."""
    sheet.label(0, y, f"\N{UPWARDS ARROW} {name}", sheet.width, MUTED, size=11)


def title(sheet: Sheet, frame: Frame, text: str) -> None:
    """Write a panel's title above it."""
    sheet.label(frame.left, frame.top - 11, text, frame.width)


def y_axis(
    sheet: Sheet, frame: Frame, scale: Scale, ticks: Sequence[float], texts: Sequence[str]
) -> None:
    """Draw grid lines with labels at the left."""
    for value, text in zip(ticks, texts, strict=True):
        y = scale(value)
        sheet.line((frame.left, y), (frame.right, y), colour=RULE)
        sheet.text(frame.left - 6, y, text, MUTED, size=11, anchor="end")


def x_axis(
    sheet: Sheet, frame: Frame, places: Sequence[float], texts: Sequence[str], name: str = ""
) -> None:
    """Draw the lower edge with labels, as many as have room; below them the axis' name."""
    sheet.line((frame.left, frame.bottom), (frame.right, frame.bottom), colour=MUTED)
    sheet.lines([((x, frame.bottom), (x, frame.bottom + 4)) for x in places], colour=MUTED)
    for x, text in _without_collisions(places, texts):
        sheet.text(x, frame.bottom + 12, text, MUTED, size=11, anchor="middle")
    if name:
        middle = frame.left + frame.width / 2
        room = 2 * min(middle, sheet.width - middle)
        sheet.label(middle, frame.bottom + 26, name, room, MUTED, size=11, anchor="middle")


def _without_collisions(places: Sequence[float], texts: Sequence[str]) -> list[tuple[float, str]]:
    """Labels from left to right without those that would touch; the last is always there."""
    entries = list(zip(places, texts, strict=True))
    kept: list[tuple[float, str]] = []
    end = float("-inf")
    for x, text in entries:
        half = text_width(text, 11) / 2
        if x - half >= end + _APART:
            kept.append((x, text))
            end = x + half
    if entries and kept[-1] != entries[-1]:
        x, text = entries[-1]
        start = x - text_width(text, 11) / 2 - _APART
        kept = [pair for pair in kept if pair[0] + text_width(pair[1], 11) / 2 <= start]
        kept.append((x, text))
    return kept


def steps(ordered: Sequence[float], count: int, across: Scale, up: Scale) -> list[Point]:
    """The line of an empirical distribution function.

    Args:
        ordered: values in ascending order.
        count: what all of them are a share of; greater than their number if some are missing.
        across: scale of the values.
        up: scale of the shares, from 0 to 1.
    """
    line: list[Point] = []
    for place, value in enumerate(ordered):
        x = across(value)
        line += [(x, up(place / count)), (x, up((place + 1) / count))]
    if line:
        line = [(across.start, line[0][1]), *line, (across.end, line[-1][1])]
    return line


def named_frame(sheet: Sheet, name: str, frame: Frame, up: Scale) -> None:
    """Draw a plot's grid and labels, and its name above."""
    ticks = up.ticks(4)
    y_axis(sheet, frame, up, ticks, [written(tick) for tick in ticks])
    sheet.label(frame.left, frame.top - 9, name, frame.width, MUTED, size=11)


def lines_over_time(
    times: Sequence[float], values: Sequence[float | None], across: Scale, up: Scale
) -> list[list[Point]]:
    """Lines through what is known, with the first, least and greatest value of every few pixels."""
    known = [(at, value) for at, value in zip(times, values, strict=True) if at <= across.high]
    lines: list[list[Point]] = []
    for unknown, group in groupby(known, key=lambda pair: pair[1] is None):
        if unknown:
            continue
        points = [(across(at), up(value)) for at, value in group if value is not None]
        line: list[Point] = []
        for _, bucket in groupby(points, key=lambda point: int(point[0] / _BUCKET)):
            line += _thinned(list(bucket))
        if len(line) > 1:
            lines.append(line)
    return lines


def _thinned(points: list[Point]) -> list[Point]:
    if len(points) <= 3:
        return points
    low, high = min(points, key=lambda p: p[1]), max(points, key=lambda p: p[1])
    kept = {points[0], low, high, points[-1]}
    return sorted(kept)
