"""The same bars of how packets came to the narrowest link, where that is not how they left their sender."""

from __future__ import annotations

from headway.analysis import ContenderRuns
from headway.report.figures.bursts import burst_picture
from headway.report.figures.kind import Kind, Picture, Subject
from headway.report.section import Section
from headway.report.tables.bursts import BOTTLENECK

_VISIBLE = 0.01
"""Share of a bar."""


def _draw(subject: Subject) -> Picture | None:
    sides = [side for cell in subject.analysis.cells for side in cell.sides]
    if all(map(_came_as_sent, sides)):
        return None
    return burst_picture(
        subject,
        "bursts-arriving",
        "Packets by the length of the burst that they came to the bottleneck in",
        "As packets of all connections came to the narrowest link, before its queue",
        BOTTLENECK,
        lambda side: side.came_in,
    )


def _came_as_sent(side: ContenderRuns) -> bool:
    """Whether a difference could not be seen; next to each other, the places see packets up to microseconds apart."""
    if not side.sent_in or not side.came_in:
        return side.sent_in == side.came_in
    pairs = zip(side.sent_in.shares, side.came_in.shares, strict=True)
    return all(abs(sent - came) < _VISIBLE for sent, came in pairs)


KIND = Kind(place=45, section=Section.RESULTS, draw=_draw, every_metric=False)
