"""Box plots of runs: contenders one below the other, every run a dot, a panel per cell."""

from __future__ import annotations

from functools import partial

from headway.analysis import Analysis, Cell, ContenderRuns
from headway.analysis.metric import Metric
from headway.analysis.numbers import significant
from headway.columns.column import FASTER_SLOWER
from headway.report.figures.data import medians_said, runs_data
from headway.report.figures.kind import FAILED, Kind, Picture, Subject, picture_name
from headway.report.most_telling import left_out, telling_cells
from headway.report.panels import Panel, draw_panels, fitting_limit, most_panels, value_axis
from headway.report.scale import Scale, tick_texts
from headway.report.section import Section
from headway.report.sheet import Sheet
from headway.report.theme import INK, MUTED, Style

_BOX = 13.0
_LEAST_FOR_BOX = 5
"""Runs below which quartiles say nothing that the dots do not."""
_MOST_DOTS = 60
"""More runs than this are not drawn one by one."""


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    if not any(side.sample for cell in analysis.cells for side in cell.sides):
        return None
    cells = telling_cells(analysis, most_panels(analysis))
    styles = subject.styles_here

    def sheet(width: float) -> Sheet:
        draw = partial(_panel, analysis, styles)
        return draw_panels(analysis, cells, width, draw, analysis.metric.label)

    return Picture(
        name=picture_name(analysis, "runs"),
        title=f"Every run: {analysis.metric.label}",
        caption=_caption(analysis, len(cells)),
        drawing=sheet,
        data=lambda: runs_data(analysis),
        said=medians_said(analysis, cells),
    )


KIND = Kind(place=30, section=Section.RESULTS, draw=_draw)


def _caption(analysis: Analysis, shown: int) -> str:
    text = (
        "A dot is a run, from the first repetition (top) to the last; the tick with its value is "
        f"the median; the box spans the quartiles (from {_LEAST_FOR_BOX} runs on) and the line "
        f"through it the whole range. The value of one that is clearly {_best(analysis)} is bold."
    )
    text += f" {analysis.metric.legend}" if analysis.metric.legend else ""
    if any(side.failures for cell in analysis.cells for side in cell.sides):
        text += f" {FAILED} is the number of runs that failed."
    text += (
        " Every panel has its own axis from zero: compare lengths within a panel, values between "
        "panels."
    )
    return text + left_out(shown, len(analysis.cells))


def _best(analysis: Analysis) -> str:
    return "fastest" if analysis.metric.words == FASTER_SLOWER else "best"


def _panel(analysis: Analysis, styles: dict[str, Style], sheet: Sheet, panel: Panel) -> None:
    labels = _labels(analysis, panel.cell)
    reaches = {side.contender: _reach(side) for side in panel.cell.sides}
    scale = panel.scale(fitting_limit(panel, reaches, labels))
    value_axis(sheet, panel, scale, lambda ticks: tick_texts(analysis.metric, ticks))
    for row, contender in enumerate(analysis.contenders):
        side = panel.cell.side(contender)
        if side is None:
            sheet.text(panel.left + 6, panel.y(row), "not run", MUTED, size=10)
            continue
        _draw_side(sheet, panel, scale, side, row, styles[contender], analysis.metric)
        sheet.text(
            scale(reaches[contender]) + 8,
            panel.y(row),
            labels[contender],
            INK if side.sample else MUTED,
            bold=contender == panel.cell.winner,
        )


def _draw_side(
    sheet: Sheet,
    panel: Panel,
    scale: Scale,
    side: ContenderRuns,
    row: int,
    style: Style,
    metric: Metric,
) -> None:
    sample = side.sample
    if sample is None:
        return
    y, median, colour = panel.y(row), scale(sample.median), style.colour
    sheet.line((panel.left, y), (scale(sample.low), y), colour=colour, opacity=0.25)
    sheet.line((scale(sample.low), y), (scale(sample.high), y), colour=colour)
    if sample.n >= _LEAST_FOR_BOX and not sample.constant:
        low, high = (scale(quartile) for quartile in sample.quartiles)
        sheet.box(low, y - _BOX / 2, high - low, _BOX, fill=colour, opacity=0.28)
    if len(side.observations) <= _MOST_DOTS:
        _dots(sheet, panel, scale, side, row, style, metric)
    sheet.line((median, panel.y(row - 0.36)), (median, panel.y(row + 0.36)), width=1.6)


def _dots(
    sheet: Sheet,
    panel: Panel,
    scale: Scale,
    side: ContenderRuns,
    row: int,
    style: Style,
    metric: Metric,
) -> None:
    count = len(side.observations)
    places = [
        (scale(run.value), panel.y(row + offset))
        for run, offset in zip(side.observations, _offsets(count), strict=True)
    ]
    size = min(5.5, max(2.8, 28 / count))
    texts = [
        f"{side.contender}, seed {run.seed}: {metric.text(run.value)}" for run in side.observations
    ]
    sheet.dots(places, style.colour, style.marker, size=size, halo=count <= 7, labels=texts)


def _offsets(count: int) -> list[float]:
    """Heights that keep equal values apart: runs in their order, spread over the row."""
    if count < 2:
        return [0.0] * count
    return [0.56 * (place / (count - 1) - 0.5) for place in range(count)]


def _labels(analysis: Analysis, cell: Cell) -> dict[str, str]:
    """Median and failures of each contender, in one unit."""
    factor, unit = analysis.metric.scale([side.sample.median for side in cell.sides if side.sample])
    labels = {}
    for side in cell.sides:
        away = analysis.metric.distance(side.measured)
        parts = [f"{significant(side.sample.median * factor)} {unit}{away}"] if side.sample else []
        if side.failures == side.runs:
            parts.append(f"all {side.runs} failed")
        elif side.failures:
            parts.append(f"{FAILED}{side.failures}")
        labels[side.contender] = " ".join(parts) or "not measured"
    return labels


def _reach(side: ContenderRuns) -> float:
    """The rightmost thing drawn for a side."""
    return side.sample.high if side.sample else 0.0
