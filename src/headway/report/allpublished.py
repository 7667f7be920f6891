"""All published values of a study beside ours, in one figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from headway.analysis import Analysis
from headway.analysis.published import TOLERANCE, Beside, beside
from headway.errors import counted
from headway.report.figures import Picture
from headway.report.figures.published_scatter import dots, scatter
from headway.report.tables.published import published_frame
from headway.report.theme import Style


def values_picture(analyses: Sequence[Analysis], styles: Mapping[str, Style]) -> Picture | None:
    """A dot for each value of every experiment and metric; None if nothing can be drawn."""
    besides: list[Beside] = [comparison for analysis in analyses for comparison in beside(analysis)]
    shown = dots(besides)
    if not shown:
        return None
    missing = counted(len(besides) - len(shown), "value")
    left = f" {missing} not measured." if len(besides) > len(shown) else ""
    return Picture(
        name="values",
        title="Published values and ours",
        caption="A dot for each published value: as published across, ours upwards. On the dashed line "
        f"both are equal; in the band they differ by at most {100 * TOLERANCE:.0f} %.{left}",
        drawing=partial(scatter, shown, styles),
        data=lambda: published_frame(analyses),
    )
