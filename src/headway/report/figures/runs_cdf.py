"""Cumulative distributions of runs: contenders as curves, a panel per cell."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from headway.analysis import Analysis, Cell
from headway.report.figures.data import medians_said, runs_data
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.most_telling import left_out, telling_cells
from headway.report.plots import Frame, steps, titled_panels, x_axis, y_axis
from headway.report.scale import Scale, tick_texts, value_scale
from headway.report.section import Section
from headway.report.sheet import Sheet

_LEAST_RUNS = 8
"""Fewer runs make stairs rather than a curve; the box plots show them all."""
_MOST_PANELS = 6


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    cells = [cell for cell in telling_cells(analysis, _MOST_PANELS) if _varied(cell)]
    if not cells:
        return None
    return Picture(
        name=picture_name(analysis, "cdf"),
        title=f"Distribution of the {analysis.metric.label}",
        caption=_caption(analysis, len(cells)),
        drawing=partial(_sheet, subject, cells),
        data=lambda: runs_data(analysis),
        said=medians_said(analysis, cells),
    )


KIND = Kind(place=40, section=Section.RESULTS, draw=_draw, every_metric=False)


def _varied(cell: Cell) -> bool:
    """Whether there are enough runs, and not all of a contender's are the same."""
    samples = [side.sample for side in cell.sides if side.sample]
    return any(sample.n >= _LEAST_RUNS and not sample.constant for sample in samples)


def _caption(analysis: Analysis, shown: int) -> str:
    text = (
        f"Share of a contender's runs whose {analysis.metric.label} is at most the value below. A "
        "curve that ends below 100 % belongs to a contender of which runs failed."
    )
    return text + left_out(shown, len(analysis.cells))


def _sheet(subject: Subject, cells: Sequence[Cell], width: float) -> Sheet:
    panels = [(cell.title, partial(_panel, subject, cell)) for cell in cells]
    return titled_panels(
        panels, subject.styles_here, width, left=42, height=150, upwards="share of runs"
    )


def _panel(subject: Subject, cell: Cell, sheet: Sheet, frame: Frame) -> None:
    values = [run.value for side in cell.sides for run in side.observations]
    across = value_scale(values, frame.left, frame.right)
    up = Scale(0.0, 1.0, frame.bottom, frame.top)
    y_axis(sheet, frame, up, (0.0, 0.5, 1.0), ("0", "50 %", "100 %"))
    ticks = across.ticks(5)
    metric = subject.analysis.metric
    x_axis(sheet, frame, [*map(across, ticks)], tick_texts(metric, ticks), metric.label)
    for side in cell.sides:
        style = subject.styles[side.contender]
        ordered = sorted(run.value for run in side.observations)
        run = steps(ordered, side.runs, across, up)
        sheet.lines([run] if run else [], colour=style.colour, width=1.7, dash=style.dash)
