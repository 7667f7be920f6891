"""Figures drawn of made results, and what stands on their sheets."""

from collections.abc import Mapping, Sequence
from typing import Any

from headway.analysis import analyse
from headway.report.figures import Picture, Subject
from headway.report.figures.kind import Kind
from headway.report.sheet import Area, Sheet, Text, text_width
from headway.report.styles import study_styles
from headway.report.theme import PAPER, Colour
from tests.unit import made_results as made


def subject(
    rows: Sequence[dict[str, Any]], manifest: Mapping[str, Any] | None = None, **told: Any
) -> Subject:
    analysis = analyse(made.results(rows, manifest))
    return Subject(analysis, study_styles([analysis]), **told)


def drawn(kind: Kind, of: Subject) -> Picture:
    picture = kind.draw(of)
    assert picture is not None
    return picture


def texts(sheet: Sheet) -> list[str]:
    return [shape.text for shape in sheet.shapes if isinstance(shape, Text)]


def below(sheet: Sheet, text: Text) -> Colour:
    """The fill of the topmost box around the middle of a text."""
    fills = [
        shape.fill
        for shape in sheet.shapes
        if isinstance(shape, Area)
        for polygon in shape.polygons
        if min(x for x, _ in polygon) <= text.x <= max(x for x, _ in polygon)
        and min(y for _, y in polygon) <= text.y <= max(y for _, y in polygon)
    ]
    return fills[-1] if fills else PAPER


def grid_of(levels: Sequence[float], factor: Any, **times: Any) -> list[dict[str, Any]]:
    """A row of cells over an RTT; a contender's times are a multiple of ``factor(level)``."""
    return [
        row
        for level in levels
        for row in made.runs(
            {name: [factor(level) * time for time in of] for name, of in times.items()},
            cell=f"rtt_{level}",
            rtt_ms=float(level),
        )
    ]


def within(sheet: Sheet) -> bool:
    """Whether all texts lie on the sheet."""
    shift = {"start": 0.0, "middle": 0.5, "end": 1.0}
    for shape in sheet.shapes:
        if isinstance(shape, Text):
            long = text_width(shape.text, shape.size, shape.bold)
            left = shape.x - shift[shape.anchor] * long
            if left < -1 or left + long > sheet.width + 1 or not 0 <= shape.y <= sheet.height:
                return False
    return True
