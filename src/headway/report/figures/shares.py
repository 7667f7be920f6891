"""Shares of goodput: all flows of a contender as one bar, a panel for each cell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby

from headway.analysis import Analysis, Cell
from headway.analysis.numbers import significant
from headway.analysis.shares import NameShares, Shared, Shares, shares
from headway.analysis.sharewords import got
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.flowcolours import name_colours
from headway.report.legend import colour_legend, legend_height
from headway.report.most_telling import representative_cells
from headway.report.plots import Frame, Tiles, x_axis
from headway.report.scale import Scale, written
from headway.report.section import Section
from headway.report.sheet import Sheet, text_width
from headway.report.tables.shares import shares_frame
from headway.report.theme import INK, MUTED, PAPER, Colour

_MOST_CELLS = 16
_PANEL = 340.0
"""Least width of a panel."""
_ROW, _BAR = 40.0, 16.0
_LEFT = 6.0
"""Room for half of a label."""
_BELOW = 6.0
"""Between the last bar and the axis."""
_GAP, _TEXT = 36.0, 11.0
_HOW = {
    Shared.EVEN: "even",
    Shared.UNCLEAR: "not clear whether even",
    Shared.UNTOLD: "",
}


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    kept = {cell.name for cell in representative_cells(analysis, _MOST_CELLS)}
    all_shares = [share for share in shares(analysis) if share.cell.name in kept]
    if not all_shares:
        return None
    by_cell = [
        (cell, list(own)) for cell, own in groupby(all_shares, key=lambda shares: shares.cell)
    ]
    fewer = len(by_cell) < len({share.cell.name for share in shares(analysis)})
    less = f" {len(by_cell)} of {len(analysis.cells)} conditions, evenly spread."
    return Picture(
        name=picture_name(analysis, "shares"),
        title="Who got how much",
        caption=(
            "A bar is a contender: what each flow got while all were there, Mbit/s, medians of the runs; of several "
            "flows of a name the one that got most in a run stands first. Dashed: fair shares. The line "
            "between two flows has the interval of the first one's goodput."
            + (less if fewer else "")
        ),
        drawing=partial(_sheet, analysis, by_cell),
        data=lambda: shares_frame([analysis]),
        said=_said(by_cell),
    )


KIND = Kind(place=2, section=Section.SHARES, draw=_draw, every_metric=False)

_ByCell = Sequence[tuple[Cell, Sequence[Shares]]]


def _said(by_cell: _ByCell) -> str:
    return " ".join(
        told(
            (f"{shares.contender}: {got(shares)}, {how(shares) or 'not judged'}" for shares in own),
            start=f"{cell.title}: " if cell.title else "",
        )
        for cell, own in by_cell
    )


def how(shares: Shares) -> str:
    """How the flows shared, in a few words: ``cubic takes``."""
    starved = shares.sharing is Shared.STARVED
    if shares.uneven and shares.taker:
        return f"{shares.taker} starves {shares.taken}" if starved else f"{shares.taker} takes"
    if shares.uneven:
        return "one is starved" if starved else "uneven"
    return _HOW[shares.sharing]


def _sheet(analysis: Analysis, by_cell: _ByCell, width: float) -> Sheet:
    colours = name_colours(analysis)
    rows = -(-len(by_cell) // max(1, int(width / _PANEL)))
    columns = -(-len(by_cell) // rows)
    height = _ROW * max(len(own) for _, own in by_cell) + _BELOW
    head = legend_height(tuple(colours), width) + 8
    tiles = Tiles(len(by_cell), columns, _LEFT, height, _GAP)
    sheet = Sheet(width, head + tiles.total_height)
    colour_legend(sheet, colours, 0, 0)
    most = max(shares.total_mbit.median for _, own in by_cell for shares in own)
    draw = partial(_panel, 1.02 * most or 1.0, colours)
    tiles.fill(sheet, ((cell.title, partial(draw, own)) for cell, own in by_cell), head)
    return sheet


def _panel(
    high: float, colours: Mapping[str, Colour], own: Sequence[Shares], sheet: Sheet, frame: Frame
) -> None:
    across = Scale(0, high, frame.left, frame.right)
    for place, contender_shares in enumerate(own):
        top = frame.top + place * _ROW
        words = how(contender_shares)
        room = frame.width - text_width(words, _TEXT) - 12
        sheet.label(frame.left, top + 9, contender_shares.contender, room, size=_TEXT)
        ink = INK if contender_shares.uneven else MUTED
        sheet.text(
            frame.right, top + 9, words, ink, size=_TEXT, bold=contender_shares.uneven, anchor="end"
        )
        _bar(sheet, contender_shares, across, top + 18, colours)
    ticks = across.ticks(max(2, int(frame.width / 60)))
    texts = [written(tick) for tick in ticks]
    x_axis(sheet, frame, [across(tick) for tick in ticks], texts, "goodput [Mbit/s]")


def _bar(
    sheet: Sheet, shares: Shares, across: Scale, top: float, colours: Mapping[str, Colour]
) -> None:
    """Flow after flow, so long that all together are the median of what all got."""
    parts = _parts(shares)
    medians = math.fsum(mbit for _, mbit in parts) or 1.0
    factor = shares.total_mbit.median / medians
    at = 0.0
    for name, mbit in parts:
        left, right = across(at * factor), across((at + mbit) * factor)
        fill = colours[name.named]
        sheet.box(left + 0.5, top, max(right - left - 1, 0.5), _BAR, fill=fill, opacity=0.75)
        text = significant(mbit)
        if text_width(text, _TEXT) + 6 <= right - left:
            sheet.text((left + right) / 2, top + _BAR / 2, text, size=_TEXT, anchor="middle")
        at += mbit
    _fair(sheet, shares, across, top, len(parts))
    if len(parts) == 2 and (interval := shares.names[0].ranked[0].mbit.interval):
        y, ends = top + _BAR + 3.5, (across(interval.low * factor), across(interval.high * factor))
        sheet.line((ends[0], y), (ends[1], y), width=1.6)
        sheet.lines((((x, y - 2.5), (x, y + 2.5)) for x in ends), width=1.2)


def _parts(shares: Shares) -> list[tuple[NameShares, float]]:
    """Every flow with the median of what it got."""
    return [(name, flow.mbit.median) for name in shares.names for flow in name.ranked]


def _fair(sheet: Sheet, shares: Shares, across: Scale, top: float, flows: int) -> None:
    """Where the bar would be divided if all had their fair shares."""
    at, total = 0.0, shares.total_mbit.median
    places = []
    for name in shares.names:
        for flow in name.ranked:
            fair = flow.share.median / flow.part.median if flow.part.median else 1 / flows
            at += fair * total
            places.append(across(at))
    runs = [((x, top - 3), (x, top + _BAR + 1)) for x in places[:-1]]
    sheet.lines(runs, colour=PAPER, width=2.4)
    sheet.lines(runs, colour=INK, width=1.2, dash=(3.0, 2.0))
