"""In a waterfall: while what blocked the page was on its way, how much of what else came."""

from __future__ import annotations

import math
from collections.abc import Sequence

from headway.instruments.waterfalls.concurrent_resources import came_beside
from headway.instruments.waterfalls.drawing import Row, size_text
from headway.instruments.waterfalls.words import TEXT
from headway.pages.critical import blocks_rendering, last_before_paint
from headway.pages.load import PageLoad
from headway.report.scale import Scale
from headway.report.sheet import Sheet, text_width
from headway.report.theme import MUTED, RED

_SHADE = 0.09
_NAMED = 0.1
"""Of what came, a row with such a share is marked."""
_ASIDE = 5.0


def mark_beside(
    sheet: Sheet, load: PageLoad, rows: Sequence[Row], across: Scale, top: float, height: float
) -> None:
    """Shade the span of what blocked the page last, and write beside other rows what came in it.

    Args:
        sheet: the drawing.
        load: the page's.
        rows: of the waterfall.
        across: its time axis.
        top: of the first row.
        height: of a row.
    """
    last = last_before_paint(load)
    if last is None or last.ended_ms is None or not blocks_rendering(last):
        return
    left, right = across(last.started_ms), across(last.ended_ms)
    sheet.box(left, top, right - left, height * len(rows), fill=RED, opacity=_SHADE)
    came = {
        id(content_beside.resource): content_beside.content_bytes
        for content_beside in came_beside(load, last)
    }
    for place, row in enumerate(rows):
        count = sum(came.get(id(resource), 0) for resource in row.resources)
        if count >= _NAMED * math.fsum(came.values()) > 0:
            _write(sheet, size_text(count), row, across, top + (place + 0.5) * height)


def _write(sheet: Sheet, size: str, row: Row, across: Scale, y: float) -> None:
    """Write it behind the row's bars, else before them, in as many words as there is room for."""
    left, right = across(row.started_ms) - 3 * _ASIDE, across(row.ended_ms) + _ASIDE
    for text in (f"{size} meanwhile", size):
        width = text_width(text, TEXT)
        if right + width <= sheet.width:
            sheet.text(right, y, text, MUTED, size=TEXT)
            return
        if left - width >= across.start:
            sheet.text(left, y, text, MUTED, size=TEXT, anchor="end")
            return
