"""In bursts of which length packets left their sender, and came to the bottleneck."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from headway.analysis import Analysis
from headway.analysis.bursts import CLASSES
from headway.report.section import Section
from headway.report.tables.kind import TableKind

FILE = "bursts.csv"
SENDER, BOTTLENECK = "sender", "bottleneck"


def bursts_frame(analyses: Sequence[Analysis]) -> pl.DataFrame:
    """Shares of packets, a row per experiment, cell, contender, place and class of lengths."""
    rows = [
        {
            "experiment": analysis.experiment.name,
            "cell": cell.name,
            "title": cell.title,
            "contender": side.contender,
            "place": place,
            "burst_packets": length,
            "share": share,
        }
        for analysis in analyses
        for cell in analysis.cells
        for side in cell.sides
        for place, bursts in ((SENDER, side.sent_in), (BOTTLENECK, side.came_in))
        if bursts
        for length, share in zip(CLASSES, bursts.shares, strict=True)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


KIND = TableKind(
    place=20,
    section=Section.RESULTS,
    caption="Shares of packets by the length of their burst",
    file=FILE,
    frame=lambda matter: bursts_frame(matter.firsts),
)
