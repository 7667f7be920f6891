"""Lines over a numeric factor: medians, or their differences, with intervals, a panel per combination of the others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import NamedTuple

from headway.analysis import Analysis, Cell, Pairing
from headway.analysis.metric import Metric
from headway.report.figures.data import differences_said, medians_said
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.layout import Grid, arranged
from headway.report.most_telling import representative_cells
from headway.report.plots import Tiles, below_legend, title, x_axis, y_axis
from headway.report.scale import (
    Scale,
    difference_text,
    ratio_text,
    ratio_ticks,
    tick_texts,
    value_scale,
)
from headway.report.section import Section
from headway.report.sheet import Point, Sheet, text_width
from headway.report.tables.comparisons import comparisons_frame
from headway.report.tables.samples import samples_frame
from headway.report.theme import MUTED, Style

_LEAST_LEVELS = 3
_MOST_PANELS = 16
_HEIGHT = 170.0
_GAP = 22.0
_LEAST_PANEL = 250.0
_BESIDE = 70.0
"""What a panel takes beside its plot, in which its title stands."""
_EDGE = 26.0
"""Between the outermost levels and the edges of the plot."""
_WIDE_RATIO = 10.0
"""Levels whose greatest is this many times the least stand on a logarithmic axis."""
_ALIKE = 1.3
"""Medians whose greatest is at most this many times the least are on one another over a decade."""
_FARTHEST = 20.0
"""Differences beyond this factor stand at the edge."""
_DODGE = 3.0
"""Pixels between contenders at the same level, so that their intervals can be told apart."""


@dataclass(frozen=True)
class _Axis:
    """The factor from left to right: its place, its levels as text, and where they stand (0 to 1)."""

    place: int
    name: str
    labels: tuple[str, ...]
    shares: tuple[float, ...]


class _Mark(NamedTuple):
    """A value with its interval, in words, and whether runs of it failed."""

    value: float
    low: float
    high: float
    said: str
    partly: bool


@dataclass(frozen=True)
class _Curves:
    """What is drawn of each contender: medians, or where those lie on one another, differences from another.

    Attributes:
        names: the contenders that have a line.
        against: from which the differences are; empty of medians.
        metric: what was measured.
    """

    names: tuple[str, ...]
    against: str
    metric: Metric

    @property
    def named(self) -> str:
        """What is drawn, in words."""
        if not self.against:
            return self.metric.label
        return f"difference in {self.metric.label} from {self.against}"

    def mark(self, cell: Cell, contender: str) -> _Mark | None:
        """What is drawn of a contender in a cell; None if nothing was measured."""
        if self.against:
            return self._difference(cell, contender)
        side = cell.side(contender)
        if side is None or side.sample is None:
            return None
        middle, interval = side.sample.median, side.sample.interval
        low, high = (interval.low, interval.high) if interval else (middle, middle)
        text = f"{contender}: {self.metric.text(middle)}, n = {side.sample.n}"
        return _Mark(middle, low, high, text, side.failures > 0)

    def _difference(self, cell: Cell, contender: str) -> _Mark | None:
        """As a ratio, none farther than a factor of 20."""
        comparison = cell.comparison(Pairing(contender, self.against))
        if comparison is None or comparison.relative is None or comparison.relative <= -1:
            return None
        interval = comparison.relative_interval
        ends = (
            (interval.low, interval.high)
            if interval
            else (comparison.relative, comparison.relative)
        )
        low, high = (min(max(1 + end, 1 / _FARTHEST), _FARTHEST) for end in ends)
        failed = any(s and s.failures for s in map(cell.side, (contender, self.against)))
        text = f"{contender} against {self.against}: {difference_text(comparison.relative)}"
        return _Mark(1 + comparison.relative, low, high, text, failed)


def _curves(analysis: Analysis) -> _Curves:
    """Differences, where medians that span a decade are alike in most cells and all are compared with one."""
    medians = _Curves(analysis.contenders, "", analysis.metric)
    against = {pairing.against for pairing in analysis.pairings}
    values = [
        [side.sample.median for side in cell.sides if side.sample and side.sample.median > 0]
        for cell in analysis.cells
    ]
    result = [value for cell in values for value in cell]
    if len(against) != 1 or not result or max(result) < _WIDE_RATIO * min(result):
        return medians
    apart = [max(cell) / min(cell) for cell in values if len(cell) > 1]
    if not apart or median(apart) > _ALIKE:
        return medians
    names = tuple(pairing.contender for pairing in analysis.pairings)
    return _Curves(names, against.pop(), analysis.metric)


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    axis = _axis(analysis)
    if axis is None or not any(side.sample for cell in analysis.cells for side in cell.sides):
        return None
    others = _other_factors(analysis, axis)
    cells = representative_cells(analysis, _MOST_PANELS * len(axis.labels), [axis.place])
    grid = arranged(analysis, cells, others, [axis.place])
    curves = _curves(analysis)
    apart = f": differences from {curves.against}" if curves.against else ""
    return Picture(
        name=picture_name(analysis, "lines"),
        title=f"{analysis.metric.label} over {axis.name}{apart}",
        caption=_caption(analysis, curves, len(cells)),
        drawing=partial(_sheet, subject, curves, axis, grid),
        data=lambda: (
            comparisons_frame([analysis], words=False)
            if curves.against
            else samples_frame([analysis])
        ),
        said=differences_said(analysis.pairings, cells)
        if curves.against
        else medians_said(analysis, cells),
    )


KIND = Kind(place=20, section=Section.RESULTS, draw=_draw)


def _axis(analysis: Analysis) -> _Axis | None:
    """The numeric factor with the most levels; None if none has enough."""
    pairs = [
        (len(factor.levels), -place)
        for place, factor in enumerate(analysis.conditions.factors)
        if factor.values is not None and len(factor.levels) >= _LEAST_LEVELS
    ]
    if not pairs:
        return None
    place = -max(pairs)[1]
    factor = analysis.conditions.factors[place]
    values = factor.values or ()
    return _Axis(place, factor.name, factor.levels, _shares(values, factor.name == "size"))


def _shares(values: Sequence[float], proportional: bool) -> tuple[float, ...]:
    """Where levels stand between the first (0) and the last (1).

    On a logarithmic axis zero stands a step before the smallest of the others.
    """
    positive = sorted(value for value in values if value > 0)
    wide = positive and positive[-1] / positive[0] >= _WIDE_RATIO
    if min(values) >= 0 and len(positive) > 1 and (proportional or wide):
        zero = positive[0] ** 2 / positive[1]
        places = [math.log(value or zero) for value in values]
    else:
        places = list(values)
    low, high = min(places), max(places)
    return tuple((place - low) / (high - low) for place in places)


def _other_factors(analysis: Analysis, axis: _Axis) -> list[int]:
    return [place for place in range(len(analysis.conditions.factors)) if place != axis.place]


def _caption(analysis: Analysis, curves: _Curves, shown: int) -> str:
    text = (
        f"Typical differences of pairs of runs from {curves.against}, whose medians and the others’ would lie on "
        "one another; bars are the 95 % intervals for all of them together. Panels beside each other have the "
        "same scale."
        if curves.against
        else f"Medians of the {analysis.metric.label}; bars are their confidence intervals, the whole "
        "range below six runs. Panels beside each other have the same scale."
    )
    sides = [side for cell in analysis.cells for side in cell.sides]
    if any(side.failures and side.sample for side in sides):
        text += " A hollow mark: some of its runs failed."
    if any(side.sample is None for side in sides):
        text += " A gap: no run finished."
    if shown < len(analysis.cells):
        text += f" {shown} of {len(analysis.cells)} conditions, evenly spread over the levels."
    return text


def _sheet(subject: Subject, curves: _Curves, axis: _Axis, grid: Grid, width: float) -> Sheet:
    analysis = subject.analysis
    styles = {name: subject.styles_here[name] for name in curves.names}
    columns = _columns(analysis, axis, grid, width)
    scales = _scales(curves, grid, columns)
    ticks = {row: _ticks(curves, scale) for row, scale in scales.items()}
    texts = {row: _texts(curves, tick) for row, tick in ticks.items()}
    left = max(text_width(text) for result in texts.values() for text in result) + 8
    tiles = Tiles(len(grid.rows), columns, left, _HEIGHT, _GAP)
    sheet, head = below_legend(styles, tiles, width, curves.named)
    for place, frame in enumerate(tiles.frames(width, head)):
        title(sheet, frame, grid.rows[place])
        row = place // columns
        scale = replace(scales[row], start=frame.bottom, end=frame.top)
        y_axis(sheet, frame, scale, ticks[row], texts[row])
        if curves.against:
            sheet.line((frame.left, scale(1.0)), (frame.right, scale(1.0)), colour=MUTED)
        xs = [frame.left + _EDGE + share * (frame.width - 2 * _EDGE) for share in axis.shares]
        x_axis(sheet, frame, xs, axis.labels, axis.name)
        cells = {xs[cell.levels[axis.place]]: cell for at, _, cell in grid.places if at == place}
        _plot(sheet, curves, cells, scale, styles)
    return sheet


def _ticks(curves: _Curves, scale: Scale) -> list[float]:
    if not curves.against:
        return scale.ticks(6)
    return ratio_ticks(replace(scale, start=0, end=_HEIGHT), _HEIGHT / 6)


def _texts(curves: _Curves, ticks: Sequence[float]) -> list[str]:
    return list(map(ratio_text, ticks)) if curves.against else tick_texts(curves.metric, ticks)


def _scales(curves: _Curves, grid: Grid, columns: int) -> dict[int, Scale]:
    """A scale for each row of panels, so that neighbours compare; all linear or all not."""
    values: dict[int, list[float]] = {}
    for place, _, cell in grid.places:
        values.setdefault(place // columns, []).extend(_values(curves, cell))
    if curves.against:
        return {row: _around_one(result) for row, result in values.items()}
    log = value_scale([value for result in values.values() for value in result], 0, 1).log
    wide = 0.0 if log else math.inf
    return {row: value_scale(result, 0, 1, wide) for row, result in values.items()}


def _around_one(ratios: Sequence[float]) -> Scale:
    """Equal ratios have equal heights, and 1 is among them."""
    low, high = min([*ratios, 0.98]), max([*ratios, 1.02])
    return Scale(low / 1.02, high * 1.02, 0, 1, log=True)


def _columns(analysis: Analysis, axis: _Axis, grid: Grid, width: float) -> int:
    """Panels side by side: a row for each level of the first other factor, if that fits."""
    widest = max(map(text_width, grid.rows))
    most = max(1, int(width / max(_LEAST_PANEL, widest + _BESIDE)))
    inner = _other_factors(analysis, axis)[1:]
    count = math.prod(len(analysis.conditions.factors[place].levels) for place in inner)
    if len(inner) and 1 < count <= most and len(grid.rows) % count == 0:
        return count
    return min(most, len(grid.rows))


def _values(curves: _Curves, cell: Cell) -> list[float]:
    marks = (curves.mark(cell, name) for name in curves.names)
    return [value for mark in marks if mark for value in (mark.value, mark.low, mark.high)]


def _plot(
    sheet: Sheet,
    curves: _Curves,
    cells: Mapping[float, Cell],
    scale: Scale,
    styles: Mapping[str, Style],
) -> None:
    """The lines of all contenders; ``cells`` by their place from left to right."""
    count = len(curves.names)
    for place, contender in enumerate(curves.names):
        dodge = (place - (count - 1) / 2) * min(_DODGE, 10 / count)
        marks = [
            (x + dodge, curves.mark(cell, contender))
            for x, cell in sorted(cells.items(), key=lambda point: point[0])
            if cell.side(contender)
        ]
        _line(sheet, marks, scale, styles[contender], small=count > 6)


def _line(
    sheet: Sheet,
    marks: Sequence[tuple[float, _Mark | None]],
    scale: Scale,
    style: Style,
    small: bool,
) -> None:
    runs: list[list[Point]] = [[]]
    bars: list[tuple[Point, Point]] = []
    whole: list[tuple[Point, str]] = []
    partly: list[tuple[Point, str]] = []
    for x, mark in marks:
        if mark is None:
            runs.append([])
            continue
        at = (x, scale(mark.value))
        runs[-1].append(at)
        (partly if mark.partly else whole).append((at, mark.said))
        if mark.high > mark.low:
            bars.append(((x, scale(mark.low)), (x, scale(mark.high))))
    sheet.lines(bars, colour=style.colour, width=1.4, opacity=0.55)
    long_enough = [run for run in runs if len(run) > 1]
    sheet.lines(long_enough, colour=style.colour, width=1.6, dash=style.dash)
    size = 5.0 if small else 6.0
    for pairs, grown, hollow in ((whole, 0, False), (partly, 1, True)):
        points, texts = [at for at, _ in pairs], [text for _, text in pairs]
        sheet.dots(
            points,
            style.colour,
            style.marker,
            size=size + grown,
            hollow=hollow,
            halo=True,
            labels=texts,
        )
