"""Legends: contenders with their dots and lines, as text flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headway.report.sheet import Sheet, text_width
from headway.report.theme import Colour, Style

_LINE = 20.0
_SWATCH = 28.0
_GAP = 18.0


def legend_height(names: Sequence[str], width: float) -> float:
    """Height of a legend with these names."""
    return _LINE * (1 + max((row for row, _ in _places(names, width)), default=-1))


def style_legend(sheet: Sheet, styles: Mapping[str, Style], left: float, top: float) -> None:
    """Write contenders with their lines and dots."""
    names = tuple(styles)
    for name, (row, x) in zip(names, _places(names, sheet.width - left), strict=True):
        style, y = styles[name], top + (row + 0.5) * _LINE
        ends = ((left + x, y), (left + x + _SWATCH - 6, y))
        sheet.line(*ends, colour=style.colour, width=1.8, dash=style.dash)
        middle = (left + x + _SWATCH / 2 - 3, y)
        sheet.dots([middle], style.colour, style.marker, size=6, halo=True)
        at = left + x + _SWATCH
        sheet.label(at, y, name, sheet.width - at, toggles=style.colour)


def colour_legend(sheet: Sheet, colours: Mapping[str, Colour], left: float, top: float) -> None:
    """Write what colours of areas stand for."""
    names = tuple(colours)
    for name, (row, x) in zip(names, _places(names, sheet.width - left), strict=True):
        y = top + (row + 0.5) * _LINE
        sheet.box(left + x + 6, y - 6, 16, 12, fill=colours[name])
        sheet.label(left + x + _SWATCH, y, name, sheet.width - left - x - _SWATCH)


def _places(names: Sequence[str], width: float) -> list[tuple[int, float]]:
    """Row and offset of each entry."""
    places, row, x = [], 0, 0.0
    for name in names:
        needed = _SWATCH + text_width(name)
        if x and x + needed > width:
            row, x = row + 1, 0.0
        places.append((row, x))
        x += needed + _GAP
    return places
