"""Latency over percentile: contenders as curves, a panel per cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import polars as pl

from headway.analysis import Analysis, Cell, ContenderRuns
from headway.analysis.latencies import Awaited
from headway.analysis.numbers import significant
from headway.report.cellpanels import CellPanels, sides_frame
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.plots import Frame, titled_panels, x_axis, y_axis
from headway.report.scale import Scale, value_scale, written
from headway.report.section import Section
from headway.report.sheet import Sheet

_MOST_PANELS = 6
_SHARES = (0.0, 0.9, 0.99, 0.999, 0.9999)
_LAST = 1e-5
"""Of requests: what is rarer stands at the edge."""


_SPANS = {
    Awaited.REQUESTS: "a request was to be made to the last byte of its response",
    Awaited.MESSAGES: "a message was made to its last byte",
}


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    panels = CellPanels.of(analysis, lambda side: side.latencies, _MOST_PANELS)
    if panels is None:
        return None
    timed = _timed(analysis.cells)
    text = (
        f"The time that so large a share of {timed} did not exceed, of all finished runs together, from when "
        f"{_SPANS[timed]}. Each tenfold step to the right leaves out nine of ten slower {timed}."
    )
    return Picture(
        name=picture_name(analysis, "percentiles"),
        title="Latency over percentile",
        caption=text + panels.left_out(),
        drawing=partial(_sheet, subject, panels.cells),
        data=partial(_data, analysis),
        said=told(
            f"{cell.title}, {side.contender}: median {half} ms, 95 % {most} ms, 99 % {nearly_all} ms"
            for cell, side in panels.sides
            if side.latencies
            for half, most, nearly_all in [map(significant, side.latencies.told)]
        ),
    )


KIND = Kind(place=42, section=Section.RESULTS, draw=_draw, every_metric=False)


def _timed(cells: Sequence[Cell]) -> Awaited:
    """What took the time, of cells that have such."""
    return next(side.latencies.timed for cell in cells for side in cell.sides if side.latencies)


def _data(analysis: Analysis) -> pl.DataFrame:
    return sides_frame(analysis, _rows)


def _rows(side: ContenderRuns) -> Iterator[dict[str, Any]]:
    if (latencies := side.latencies) is not None:
        for share, latency_ms in latencies.curve:
            yield {
                latencies.timed.value: latencies.count,
                "share": share,
                "latency_ms": latency_ms,
            }


def _sheet(subject: Subject, cells: Sequence[Cell], width: float) -> Sheet:
    panels = [(cell.title, partial(_panel, subject, cell)) for cell in cells]
    return titled_panels(
        panels, subject.styles_here, width, left=48, height=160, upwards="latency [ms]"
    )


def _panel(subject: Subject, cell: Cell, sheet: Sheet, frame: Frame) -> None:
    pairs = [(side, side.latencies) for side in cell.sides if side.latencies]
    rarest = max(max(1 / latencies.count for _, latencies in pairs) / 2, _LAST)
    across = Scale(1.0, rarest, frame.left, frame.right, log=True)
    values = [latency for _, latencies in pairs for _, latency in latencies.curve]
    up = value_scale(values, frame.bottom, frame.top)
    ticks = up.ticks(5)
    y_axis(sheet, frame, up, ticks, [written(tick) for tick in ticks])
    shares = [share for share in _SHARES if 1 - share >= rarest]
    labels = [f"{100 * share:g} %" for share in shares]
    x_axis(sheet, frame, [across(1 - share) for share in shares], labels, _timed([cell]).value)
    for side, latencies in pairs:
        style = subject.styles[side.contender]
        line = [(across(max(1 - share, rarest)), up(latency)) for share, latency in latencies.curve]
        sheet.lines([line], colour=style.colour, width=1.7, dash=style.dash)
