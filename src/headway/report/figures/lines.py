"""Lines over a numeric factor: medians with intervals, a panel per combination of the others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from headway.analysis import Analysis, Cell, ContenderRuns
from headway.analysis.metric import Metric
from headway.report.figures.data import medians_said
from headway.report.figures.kind import Kind, Picture, Section, Subject, picture_name
from headway.report.layout import Grid, arranged
from headway.report.plots import below_legend, title, x_axis, y_axis
from headway.report.scale import Scale, tick_texts, value_scale
from headway.report.sheet import Point, Sheet, text_width
from headway.report.tables.samples import samples_frame
from headway.report.telling import representative_cells
from headway.report.theme import Style

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
_DODGE = 3.0
"""Pixels between contenders at the same level, so that their intervals can be told apart."""


@dataclass(frozen=True)
class _Axis:
    """The factor from left to right: its place, its levels as text, and where they stand (0 to 1)."""

    place: int
    name: str
    labels: tuple[str, ...]
    shares: tuple[float, ...]


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    axis = _axis(analysis)
    if axis is None or not any(side.sample for cell in analysis.cells for side in cell.sides):
        return None
    others = _other_factors(analysis, axis)
    cells = representative_cells(analysis, _MOST_PANELS * len(axis.labels), [axis.place])
    grid = arranged(analysis, cells, others, [axis.place])
    return Picture(
        name=picture_name(analysis, "lines"),
        title=f"{analysis.metric.label} over {axis.name}",
        caption=_caption(analysis, len(cells)),
        drawing=partial(_sheet, subject, axis, grid),
        data=lambda: samples_frame([analysis]),
        said=medians_said(analysis, cells),
    )


KIND = Kind(place=20, section=Section.RESULTS, draw=_draw)


def _axis(analysis: Analysis) -> _Axis | None:
    """The numeric factor with the most levels; None if none has enough."""
    found = [
        (len(factor.levels), -place)
        for place, factor in enumerate(analysis.conditions.factors)
        if factor.values is not None and len(factor.levels) >= _LEAST_LEVELS
    ]
    if not found:
        return None
    place = -max(found)[1]
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


def _caption(analysis: Analysis, shown: int) -> str:
    said = (
        f"Medians of the {analysis.metric.label}; bars are their confidence intervals, the whole "
        "range below six runs. Panels beside each other have the same scale."
    )
    sides = [side for cell in analysis.cells for side in cell.sides]
    if any(side.failures and side.sample for side in sides):
        said += " A hollow mark: some of its runs failed."
    if any(side.sample is None for side in sides):
        said += " A gap: no run finished."
    if shown < len(analysis.cells):
        said += f" {shown} of {len(analysis.cells)} conditions, evenly spread over the levels."
    return said


def _sheet(subject: Subject, axis: _Axis, grid: Grid, width: float) -> Sheet:
    analysis, styles = subject.analysis, subject.styles_here
    columns = _columns(analysis, axis, grid, width)
    scales = _scales(grid, columns)
    ticks = {row: scale.ticks(6) for row, scale in scales.items()}
    texts = {row: tick_texts(analysis.metric, found) for row, found in ticks.items()}
    left = max(text_width(text) for found in texts.values() for text in found) + 8
    sheet, places = below_legend(
        styles, len(grid.rows), columns, width, left=left, height=_HEIGHT, gap=_GAP
    )
    for place, frame in enumerate(places):
        title(sheet, frame, grid.rows[place])
        row = place // columns
        scale = replace(scales[row], start=frame.bottom, end=frame.top)
        y_axis(sheet, frame, scale, ticks[row], texts[row])
        xs = [frame.left + _EDGE + share * (frame.width - 2 * _EDGE) for share in axis.shares]
        x_axis(sheet, frame, xs, axis.labels, axis.name)
        cells = {xs[cell.levels[axis.place]]: cell for at, _, cell in grid.places if at == place}
        _plot(sheet, analysis, cells, scale, styles)
    return sheet


def _scales(grid: Grid, columns: int) -> dict[int, Scale]:
    """A scale for each row of panels, so that neighbours compare; all linear or all not."""
    values: dict[int, list[float]] = {}
    for place, _, cell in grid.places:
        values.setdefault(place // columns, []).extend(_values(cell))
    log = value_scale([value for found in values.values() for value in found], 0, 1).log
    wide = 0.0 if log else math.inf
    return {row: value_scale(found, 0, 1, wide) for row, found in values.items()}


def _columns(analysis: Analysis, axis: _Axis, grid: Grid, width: float) -> int:
    """Panels side by side: a row for each level of the first other factor, if that fits."""
    widest = max(map(text_width, grid.rows))
    most = max(1, int(width / max(_LEAST_PANEL, widest + _BESIDE)))
    inner = _other_factors(analysis, axis)[1:]
    count = math.prod(len(analysis.conditions.factors[place].levels) for place in inner)
    if len(inner) and 1 < count <= most and len(grid.rows) % count == 0:
        return count
    return min(most, len(grid.rows))


def _values(cell: Cell) -> list[float]:
    samples = [side.sample for side in cell.sides if side.sample]
    ends = [sample.interval for sample in samples if sample.interval]
    return [
        *(sample.median for sample in samples),
        *(end for interval in ends for end in (interval.low, interval.high)),
    ]


def _plot(
    sheet: Sheet,
    analysis: Analysis,
    cells: Mapping[float, Cell],
    scale: Scale,
    styles: Mapping[str, Style],
) -> None:
    """The lines of all contenders; ``cells`` by their place from left to right."""
    count = len(analysis.contenders)
    for place, contender in enumerate(analysis.contenders):
        dodge = (place - (count - 1) / 2) * min(_DODGE, 10 / count)
        sides = [
            (x + dodge, side)
            for x, cell in sorted(cells.items(), key=lambda item: item[0])
            if (side := cell.side(contender))
        ]
        _line(sheet, sides, scale, styles[contender], analysis.metric, small=count > 6)


def _line(
    sheet: Sheet,
    sides: Sequence[tuple[float, ContenderRuns]],
    scale: Scale,
    style: Style,
    metric: Metric,
    small: bool,
) -> None:
    runs: list[list[Point]] = [[]]
    bars: list[tuple[Point, Point]] = []
    whole: list[tuple[Point, str]] = []
    partly: list[tuple[Point, str]] = []
    for x, side in sides:
        if side.sample is None:
            runs.append([])
            continue
        at = (x, scale(side.sample.median))
        runs[-1].append(at)
        told = f"{side.contender}: {metric.text(side.sample.median)}, n = {side.sample.n}"
        (partly if side.failures else whole).append((at, told))
        interval = side.sample.interval
        if interval and interval.high > interval.low:
            bars.append(((x, scale(interval.low)), (x, scale(interval.high))))
    sheet.lines(bars, colour=style.colour, width=1.4, opacity=0.55)
    long_enough = [run for run in runs if len(run) > 1]
    sheet.lines(long_enough, colour=style.colour, width=1.6, dash=style.dash)
    size = 5.0 if small else 6.0
    for found, grown, hollow in ((whole, 0, False), (partly, 1, True)):
        points, said = [at for at, _ in found], [told for _, told in found]
        sheet.dots(
            points,
            style.colour,
            style.marker,
            size=size + grown,
            hollow=hollow,
            halo=True,
            said=said,
        )
