"""Bulk flows over time: how much more one contender has received than another, and the goodput."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from headway.analysis import Analysis, Cell
from headway.analysis.goodput import Values
from headway.analysis.shares import shares
from headway.report.figures.data import flows_data
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.flowpanels import Curve, FlowCell, Flows, flows_of
from headway.report.legend import legend_height, style_legend
from headway.report.plots import Frame, Tiles, title, x_axis, y_axis
from headway.report.scale import Scale, written
from headway.report.section import Section
from headway.report.sheet import Point, Sheet, text_width
from headway.report.styles import pairing_styles
from headway.report.theme import INK, MUTED, PAPER, RULE, Style

_NARROWEST = 240.0
_HEIGHT = 220.0
_GAP = 20.0
_LEFT = 28.0
_MARGIN = 1.15
"""From the least and the greatest ratio to the ends of their axis, as a factor."""

_INSET_WIDTH, _INSET_HEIGHT = 0.6, 0.48
"""Size of the embedded plot with its labels, as shares of the plot that it is in."""
_INSET_LABELS = 18.0
"""Room for its labels, at its left and below it."""
_INSET_TEXT = 9.0
_USUAL, _HEADROOM = 95, 1.25
"""Its axis ends at the greatest goodput, but at most so far above this percentile of all values: what
waited for the repair of a loss is handed on at once, in peaks many times as high as the path's rate."""
_FEW_MARKS = 4
_RATIOS, _GOODPUT = "bytes received:", "embedded, goodput [Mbit/s]:"


def _draw(subject: Subject) -> Picture | None:
    # The sum of flows that compete is the link's rate, whoever has it: they have figures of their own.
    flows = None if shares(subject.analysis) else flows_of(subject.analysis)
    if flows is None:
        return None
    return Picture(
        name=picture_name(subject.analysis, "goodput"),
        title="Goodput over time",
        caption=_caption(subject.analysis, flows),
        drawing=partial(_sheet, subject, flows),
        data=lambda: flows_data(flows),
    )


KIND = Kind(place=15, section=Section.RESULTS, draw=_draw, every_metric=False)


def _caption(analysis: Analysis, flows: Flows) -> str:
    embedded = (
        f"ean goodput in every {written(flows.span_s, 's')}, Mbit/s; peaks of data "
        "that waited for the repair of a loss are cut off."
    )
    text = f"M{embedded}"
    if flows.pairings:
        text = (
            "Bytes that a contender had received over those of another, each the mean over its "
            "runs, on a logarithmic axis; 1 is dashed. While either had received nothing, nothing "
            "is drawn. Bands are 95 % intervals of a bootstrap over the runs, by seed. "
            f"Embedded: m{embedded}"
        )
    if any(marks for cell in flows.cells for marks in cell.published.values()):
        text += " Hollow marks: published values, each at the middle of its interval of time."
    if len(flows.cells) < len(analysis.cells):
        text += f" {len(flows.cells)} of {len(analysis.cells)} cells."
    if len(flows.pairings) < len(analysis.pairings):
        text += f" {len(flows.pairings)} of {len(analysis.pairings)} comparisons."
    return text


def _sheet(subject: Subject, flows: Flows, width: float) -> Sheet:
    compared, alone = pairing_styles(subject.styles, flows.pairings), subject.styles_here
    above = legend_height(tuple(compared), width - text_width(_RATIOS) - 8)
    head = above + legend_height(tuple(alone), width - text_width(_GOODPUT) - 8) + 8
    count = len(flows.cells)
    columns = _columns([cell.cell for cell in flows.cells], max(1, int(width / _NARROWEST)))
    tiles = Tiles(count, columns, _LEFT, _HEIGHT, _GAP)
    sheet = Sheet(width, head + tiles.total_height)
    _legend(sheet, _RATIOS, compared, 0)
    _legend(sheet, _GOODPUT, alone, above)
    most_mbit = _usual_mbit(flows)
    places = tiles.frames(width, head)
    for place, (flow_cell, frame) in enumerate(zip(flows.cells, places, strict=True)):
        row = flows.cells[place - place % columns :][:columns]
        end_s = max(map(_end_s, row))
        letter = f"{ascii_lowercase[place]}  " if count > 1 else ""
        title(sheet, frame, f"{letter}{flow_cell.cell.title}")
        across = Scale(0.0, end_s, frame.left, frame.right)
        up = Scale(*_ends(row, (1 - _INSET_WIDTH) * end_s), frame.bottom, frame.top, log=True)
        _plot_ratios(sheet, flow_cell, frame, across, up, compared)
        _plot_goodput(sheet, flow_cell, _inset(frame), end_s, most_mbit, alone)
    return sheet


def _legend(sheet: Sheet, name: str, styles: Mapping[str, Style], top: float) -> None:
    sheet.text(0, top + 10, name if styles else "", MUTED)
    style_legend(sheet, styles, text_width(name) + 8, top)


def _columns(cells: Sequence[Cell], most: int) -> int:
    """Panels side by side: as many as fit such that those of every row share a condition."""
    for count in range(min(most, len(cells)), 1, -1):
        rows = [cells[start : start + count] for start in range(0, len(cells), count)]
        shared = [
            place
            for place in range(len(cells[0].levels))
            if all(len({cell.levels[place] for cell in row}) == 1 for row in rows)
        ]
        if shared and len(cells) % count == 0:
            return count
    return min(most, len(cells))


def _end_s(flow_cell: FlowCell) -> float:
    return max(float(curve.at_s[-1] + curve.at_s[0]) for curve in flow_cell.goodput.values())


def _usual_mbit(flows: Flows) -> float:
    """The greatest goodput but for peaks."""
    result = [curve.values for cell in flows.cells for curve in cell.goodput.values()]
    return _HEADROOM * float(np.percentile(np.concatenate(result), _USUAL))


def _ends(row: Sequence[FlowCell], late_s: float) -> tuple[float, float]:
    """Ends of a logarithmic axis of ratios that leave the embedded plots free.

    Args:
        row: panels side by side, which are to compare.
        late_s: when the embedded plots begin.
    """
    ratios = [curve for flow_cell in row for curve in flow_cell.ratios.values()]
    values = [value for curve in ratios for value in curve.values[curve.values > 0]]
    late = [curve.values[curve.at_s > late_s] for curve in ratios]
    late += [curve.high[curve.at_s > late_s] for curve in ratios]
    greatest_late = max((value for result in late for value in result if value > 1), default=1.0)
    low, high = min([1.0, *values]) / _MARGIN, max([1.0, *values]) * _MARGIN
    free = 1 - _INSET_HEIGHT
    return low, max(high, low * (greatest_late * _MARGIN / low) ** (1 / free))


def _inset(frame: Frame) -> Frame:
    """The embedded plot, at the upper right, without its labels."""
    width, height = _INSET_WIDTH * frame.width, _INSET_HEIGHT * frame.height
    return Frame(
        left=frame.right - width + _INSET_LABELS,
        top=frame.top,
        width=width - _INSET_LABELS,
        height=height - _INSET_LABELS,
    )


def _plot_ratios(
    sheet: Sheet,
    flow_cell: FlowCell,
    frame: Frame,
    across: Scale,
    up: Scale,
    styles: Mapping[str, Style],
) -> None:
    ticks = up.ticks(6)
    y_axis(sheet, frame, up, ticks, [*map(written, ticks)])
    times = across.ticks(5)
    x_axis(sheet, frame, [*map(across, times)], [*map(written, times)], "time [s]")
    sheet.line((frame.left, up(1)), (frame.right, up(1)), colour=INK, dash=(4.0, 3.0))
    for pairing, curve in flow_cell.ratios.items():
        style = styles[str(pairing)]
        sheet.areas(_bands(curve, across, up), fill=style.colour, opacity=0.22)
        lines = _lines(curve, curve.values > 0, across, up)
        sheet.lines(lines, colour=style.colour, width=1.8, dash=style.dash)


def _plot_goodput(
    sheet: Sheet,
    flow_cell: FlowCell,
    frame: Frame,
    end_s: float,
    most_mbit: float,
    styles: Mapping[str, Style],
) -> None:
    across = Scale(0.0, end_s, frame.left, frame.right)
    marked = [value for marks in flow_cell.published.values() for _, value in marks]
    greatest = max(float(curve.values.max()) for curve in flow_cell.goodput.values())
    high = max(min(greatest * _MARGIN, most_mbit), *marked, 0.0)
    up = Scale(0.0, high or 1.0, frame.bottom, frame.top)
    _inset_axes(sheet, frame, across, up)
    for name, curve in flow_cell.goodput.items():
        colour, dash = styles[name].colour, styles[name].dash
        lines = _lines(curve, np.isfinite(curve.values), across, up)
        sheet.lines(lines, colour=colour, width=1.0, dash=dash)
    for name, marks in flow_cell.published.items():
        points = [(across(at_s), up(value)) for at_s, value in marks if at_s <= end_s]
        sheet.dots(
            points,
            styles[name].colour,
            styles[name].marker,
            size=_mark_size(len(points)),
            hollow=True,
        )


def _mark_size(count: int) -> float:
    """How large marks of published values are, which are many if they are a series."""
    return 6.0 if count <= _FEW_MARKS else 4.5


def _inset_axes(sheet: Sheet, frame: Frame, across: Scale, up: Scale) -> None:
    """The embedded plot's own, on paper that covers what lies below."""
    left, tall = frame.left - _INSET_LABELS, frame.height + _INSET_LABELS
    sheet.box(left, frame.top, frame.right - left, tall, fill=PAPER)
    for value in up.ticks(4):
        y = up(value)
        sheet.line((frame.left, y), (frame.right, y), colour=RULE)
        sheet.text(frame.left - 3, y, written(value), MUTED, size=_INSET_TEXT, anchor="end")
    sheet.line((frame.left, frame.bottom), (frame.right, frame.bottom), colour=MUTED)
    for at_s in across.ticks(4):
        x, y = across(at_s), frame.bottom + 8
        sheet.text(x, y, written(at_s), MUTED, size=_INSET_TEXT, anchor="middle")


def _lines(
    curve: Curve, known: NDArray[np.bool_], across: Scale, up: Scale
) -> Iterator[list[Point]]:
    """The line, where there are values."""
    for places in _stretches(known):
        yield _points(curve.at_s[places], curve.values[places], across, up)


def _bands(curve: Curve, across: Scale, up: Scale) -> Iterator[list[Point]]:
    """The area of the intervals, where there are any."""
    for places in _stretches(np.isfinite(curve.low) & np.isfinite(curve.high)):
        lower = _points(curve.at_s[places], curve.low[places], across, up)
        upper = _points(curve.at_s[places], curve.high[places], across, up)
        yield [*lower, *reversed(upper)]


def _stretches(known: NDArray[np.bool_]) -> Iterator[slice]:
    """Places that lie side by side, at least two."""
    place = 0
    for there, group in groupby(known.tolist()):
        count = len(list(group))
        if there and count > 1:
            yield slice(place, place + count)
        place += count


def _points(times: Values, values: Values, across: Scale, up: Scale) -> list[Point]:
    """Points, cut off at the ends of the scale."""
    inside = np.clip(values, up.low, up.high)
    return [(across(at), up(value)) for at, value in zip(times, inside, strict=True)]
