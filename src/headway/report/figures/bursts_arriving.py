"""The same bars of how packets came to the narrowest link, where that is not how they left their sender."""

from __future__ import annotations

from headway.report.figures.bursts import burst_picture
from headway.report.figures.kind import Kind, Picture, Section, Subject
from headway.report.tables.bursts import BOTTLENECK


def _draw(subject: Subject) -> Picture | None:
    sides = [side for cell in subject.analysis.cells for side in cell.sides]
    if all(side.sent_in == side.came_in for side in sides):
        return None
    return burst_picture(
        subject,
        "bursts-arriving",
        "Packets by the length of the burst that they came to the bottleneck in",
        "As packets of all connections came to the narrowest link, before its queue",
        BOTTLENECK,
        lambda side: side.came_in,
    )


KIND = Kind(place=45, section=Section.RESULTS, draw=_draw, every_metric=False)
