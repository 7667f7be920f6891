"""Stacked bars of packets by the length of the burst that they left their sender in, a bar per contender, a panel per cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import polars as pl

from headway.analysis import Analysis, Cell, ContenderRuns
from headway.analysis.bursts import CLASSES, Bursts
from headway.analysis.numbers import significant
from headway.report.cellpanels import CellPanels
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.legend import colour_legend, legend_height
from headway.report.panels import Panel, draw_panels, value_axis
from headway.report.section import Section
from headway.report.sheet import Sheet, text_width
from headway.report.tables.bursts import SENDER, bursts_frame
from headway.report.theme import FASTER, INK, SLOWER

_BAR = 15.0
_LABEL = 14.0
"""Beside the label at the end of a bar."""
COLOURS = dict(zip(CLASSES, (*reversed(FASTER), *SLOWER), strict=True))
"""From each packet alone, in green, to long bursts, in purple."""
BurstsOf = Callable[[ContenderRuns], Bursts | None]


def _draw(subject: Subject) -> Picture | None:
    return burst_picture(
        subject,
        "bursts",
        "Packets by the length of the burst that they left in",
        "As they left the sender in front of the narrowest link",
        SENDER,
        lambda side: side.sent_in,
    )


KIND = Kind(place=44, section=Section.RESULTS, draw=_draw, every_metric=False)


def burst_picture(
    subject: Subject, name: str, title: str, where: str, place: str, of: BurstsOf
) -> Picture | None:
    """The figure of one place; None if nothing was measured there.

    Args:
        subject: what is drawn.
        name: of the kind of figure.
        title: its heading.
        where: what it shows, as the beginning of a sentence.
        place: the same, as the table has it.
        of: the bursts of a contender there.
    """
    analysis = subject.analysis
    panels = CellPanels.of(analysis, of)
    if panels is None:
        return None
    text = (
        f"{where}, all finished runs together, without the first flight. In a burst, each packet follows the one before "
        "within a third of what a full packet takes on that link. At the end of a bar: the length in the mean over packets."
    )
    return Picture(
        name=picture_name(analysis, name),
        title=title,
        caption=text + panels.left_out(),
        drawing=partial(_sheet, analysis, panels.cells, of),
        data=lambda: bursts_frame([analysis]).filter(pl.col("place") == place),
        said=_said(panels.cells, of),
    )


def _said(cells: Sequence[Cell], of: BurstsOf) -> str:
    return told(
        f"{cell.title}, {side.contender}: {_mean(bursts)} packets, "
        + ", ".join(
            f"{significant(100 * share)} % in {length}"
            for length, share in zip(CLASSES, bursts.shares, strict=True)
            if share
        )
        for cell in cells
        for side in cell.sides
        if (bursts := of(side))
    )


def _mean(bursts: Bursts) -> str:
    return significant(bursts.mean)


def _sheet(analysis: Analysis, cells: Sequence[Cell], of: BurstsOf, width: float) -> Sheet:
    all_bursts = [of_side for cell in cells for side in cell.sides if (of_side := of(side))]
    there = [
        place for place in range(len(CLASSES)) if any(bursts.shares[place] for bursts in all_bursts)
    ]
    names = [CLASSES[place] for place in there]
    # The first one says of what.
    colours = {
        f"{'' if at else 'bursts of '}{name}": COLOURS[name] for at, name in enumerate(names)
    }
    label = max(text_width(_mean(bursts)) for bursts in all_bursts) + _LABEL
    head = legend_height(tuple(colours), width) + 10
    draw = partial(_panel, analysis, of, label)
    sheet = draw_panels(analysis, cells, width, draw, "share of packets", head)
    colour_legend(sheet, colours, 0, 0)
    return sheet


def _panel(analysis: Analysis, of: BurstsOf, label: float, sheet: Sheet, panel: Panel) -> None:
    scale = panel.scale(panel.width / (panel.width - label))
    value_axis(sheet, panel, scale, lambda ticks: [f"{100 * tick:.0f} %" for tick in ticks])
    for row, contender in enumerate(analysis.contenders):
        side, start, y = panel.cell.side(contender), 0.0, panel.y(row)
        bursts = of(side) if side else None
        if not bursts:
            continue
        for length, share in zip(CLASSES, bursts.shares, strict=True):
            left, right = scale(start), scale(start + share)
            if right - left >= 0.1:
                sheet.box(left, y - _BAR / 2, right - left, _BAR, fill=COLOURS[length])
            start += share
        sheet.text(scale(1.0) + 6, y, _mean(bursts), INK)
