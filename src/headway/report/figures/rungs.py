"""Shares of a video that were fetched in each quality: contenders as bars, a panel per cell."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import accumulate

import polars as pl

from headway.analysis import Analysis
from headway.analysis.numbers import significant
from headway.report.cellpanels import CellPanels, sides_frame
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.panels import Panel, draw_panels, value_axis
from headway.report.section import Section
from headway.report.sheet import Sheet, text_width
from headway.report.theme import FASTER, ON_FILL, SLOWER, Colour

_BAR, _TEXT = 15.0, 11.0
_FILLS = tuple(zip((*reversed(SLOWER), *FASTER), (*reversed(ON_FILL), *ON_FILL), strict=True))
"""Colours from the lowest rung to the highest, and that of text on each."""


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    panels = CellPanels.of(analysis, lambda side: side.rungs)
    if panels is None:
        return None
    text = (
        "Parts of all fetched segments, of all finished runs together, from the lowest rung of the ladder (purple, 1) "
        "to the highest (green)."
    )
    return Picture(
        name=picture_name(analysis, "rungs"),
        title="Segments by quality",
        caption=text + panels.left_out(),
        drawing=lambda width: draw_panels(
            analysis, panels.cells, width, partial(_panel, analysis), "share of segments"
        ),
        data=partial(_data, analysis),
        said=told(
            f"{cell.title}, {side.contender}: {_most(side.rungs)}" for cell, side in panels.sides
        ),
    )


KIND = Kind(place=43, section=Section.RESULTS, draw=_draw, every_metric=False)


def _most(shares: Sequence[float]) -> str:
    rung = max(range(len(shares)), key=lambda number: shares[number])
    return f"{significant(100 * shares[rung])} % on rung {rung + 1}"


def _data(analysis: Analysis) -> pl.DataFrame:
    return sides_frame(
        analysis,
        lambda side: ({"rung": rung, "share": share} for rung, share in enumerate(side.rungs)),
    )


def _panel(analysis: Analysis, sheet: Sheet, panel: Panel) -> None:
    scale = panel.scale(1.0)
    value_axis(sheet, panel, scale, lambda ticks: [f"{100 * tick:g} %" for tick in ticks])
    count = max((len(side.rungs) for cell in analysis.cells for side in cell.sides), default=0)
    for row, contender in enumerate(analysis.contenders):
        side = panel.cell.side(contender)
        shares = side.rungs if side else ()
        starts = accumulate(shares, initial=0.0)
        for rung, (start, share) in enumerate(zip(starts, shares, strict=False)):
            if share:
                left, right = scale(start), scale(start + share)
                _part(sheet, panel.y(row), left, right, str(rung + 1), rung_fill(rung, count))


def rung_fill(rung: int, count: int) -> tuple[Colour, Colour]:
    """Colour of a rung of so many, from purple to green, and that of text on it."""
    return _FILLS[round(rung * (len(_FILLS) - 1) / max(1, count - 1))]


def _part(
    sheet: Sheet, y: float, left: float, right: float, text: str, colours: tuple[Colour, Colour]
) -> None:
    fill, ink = colours
    sheet.box(left, y - _BAR / 2, right - left, _BAR, fill=fill)
    if text_width(text, _TEXT) + 4 < right - left:
        sheet.text((left + right) / 2, y, text, ink, size=_TEXT, anchor="middle")
