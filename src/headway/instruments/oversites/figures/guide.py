"""The guide: the best contender for each class of sites in each network; grey where chance may be why."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from headway.analysis.numbers import signed_percent
from headway.instruments.oversites.guide import Best, guide
from headway.instruments.oversites.tables import guide_frame
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.section import Section
from headway.report.sheet import Point, Sheet, text_width
from headway.report.theme import GREY, INK, MUTED, Colour

_MOST_NETWORKS = 12
_NARROW_NETWORKS = 3
_HEAD, _ROW, _BELOW = 26.0, 46.0, 6.0
_LEAST_COLUMN, _MOST_COLUMN = 84.0, 260.0
_FILL, _FAINT = 0.45, 0.3


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    best_values = guide(analysis)
    columns = tuple(dict.fromkeys(best.network for best in best_values))
    if not best_values or len(columns) > _MOST_NETWORKS:
        return None
    return Picture(
        name=picture_name(analysis, "guide"),
        title=f"Best {analysis.metric.label} by class of sites",
        caption=(
            "For the sites of a class in a network: the contender with the best medians, at a typical site by how "
            f"much against {analysis.baseline}, or where that is best itself against the next, and at how "
            "many sites. (+1): one other is not clearly worse. Grey: chance may be why (Wilcoxon's test over sites, "
            "adjusted for all pairs of contenders, networks and classes of the kind), or it is less than 1 %."
        ),
        drawing=partial(_sheet, subject, best_values, columns),
        data=lambda: guide_frame([analysis]),
        said=told(_said(best) for best in best_values),
        fits_narrow=len(columns) <= _NARROW_NETWORKS,
    )


KIND = Kind(place=37, section=Section.ADVICE, draw=_draw, every_metric=False)


def _said(best: Best) -> str:
    place = ", ".join(filter(None, (best.network, best.sites.title)))
    sure = "" if best.decided else ", which may be chance"
    return f"{place}: {best.contender} {_size(best)} against {best.against} at {best.count} sites{sure}"


def _size(best: Best) -> str:
    relative = best.difference.relative
    return "–" if relative is None else f"{signed_percent(relative)} %"


def _sheet(
    subject: Subject, best_values: Sequence[Best], columns: Sequence[str], width: float
) -> Sheet:
    rows = tuple(dict.fromkeys(best.sites.title for best in best_values))
    left = min(max(map(text_width, rows)) + 14, width / 3)
    column = max(min((width - left) / len(columns), _MOST_COLUMN), min(_LEAST_COLUMN, width / 3))
    sheet = Sheet(width, _HEAD + _ROW * len(rows) + _BELOW)
    for place, network in enumerate(columns):
        middle = left + (place + 0.5) * column
        sheet.label(middle, 10, network, column - 6, MUTED, size=11, anchor="middle")
    for place, title in enumerate(rows):
        sheet.label(left - 10, _HEAD + (place + 0.5) * _ROW, title, left - 12, anchor="end")
    for best in best_values:
        x, y = (
            left + columns.index(best.network) * column,
            _HEAD + rows.index(best.sites.title) * _ROW,
        )
        whose = "" if best.against == subject.analysis.baseline else f" against {best.against}"
        below = f"{_size(best)}{whose}, {best.count} sites"
        _entry(sheet, best, below, subject.styles[best.contender].colour, (x, y), column)
    return sheet


def _entry(
    sheet: Sheet, best: Best, below: str, colour: Colour, corner: Point, column: float
) -> None:
    x, y = corner
    fill, opacity = (colour, _FILL) if best.decided else (GREY, _FAINT)
    sheet.box(x + 1.5, y + 1.5, column - 3, _ROW - 3, fill=fill, opacity=opacity)
    others = len(best.leaders) - 1
    name = f"{best.contender}{f' (+{others})' if others else ''}"
    middle, ink, room = x + column / 2, INK if best.decided else MUTED, column - 10
    sheet.label(middle, y + 16, name, room, ink, bold=best.decided, anchor="middle")
    sheet.label(middle, y + 32, below, room, ink, size=11, anchor="middle")
