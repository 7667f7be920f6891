"""The kind of a figure of the report: when it is drawn, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from headway.analysis import Analysis
from headway.nearby.document import NearbyAnswer
from headway.report.evidence import NOTHING, RunEvidence
from headway.report.section import Section
from headway.report.sheet import Sheet
from headway.report.theme import Style

if TYPE_CHECKING:
    import polars as pl

WIDE, NARROW = 1040.0, 360.0
"""Widths of the page's column, in pixels: on a desk, and in a hand."""
_LEAST_WIDE = 600.0
FAILED = "†"
"""Marks what some runs failed in."""


@dataclass(frozen=True)
class Subject:
    """What figures are drawn of: one metric of an experiment, and chosen runs over time.

    Attributes:
        analysis: the metric.
        styles: how contenders are drawn.
        evidence: what the runs left.
        nearby: what becomes of the answer nearby; None if nothing was tried.
    """

    analysis: Analysis
    styles: Mapping[str, Style]
    evidence: RunEvidence = NOTHING
    nearby: NearbyAnswer | None = None

    @property
    def styles_here(self) -> dict[str, Style]:
        """Styles of the experiment's contenders, in their order."""
        return {name: self.styles[name] for name in self.analysis.contenders}


@dataclass(frozen=True)
class Picture:
    """A figure of the page.

    Attributes:
        name: name of its files, without suffix.
        title: heading.
        caption: what it shows and how to read it; what it leaves out.
        drawing: draws it at a width in pixels.
        data: makes the table of what it shows, and of what it leaves out.
        said: what it shows in words, for those who cannot see it; empty if other words say it all.
        fits_narrow: whether it can be drawn at ``NARROW``; else narrow screens scroll across it.
        of: which runs it is of, if chosen ones.
    """

    name: str
    title: str
    caption: str
    drawing: Callable[[float], Sheet]
    data: Callable[[], pl.DataFrame]
    said: str = ""
    fits_narrow: bool = True
    of: str = ""

    @cached_property
    def wide(self) -> Sheet:
        """Drawing for wide screens and for files."""
        return self.drawing(WIDE)

    @cached_property
    def narrow(self) -> Sheet | None:
        """Drawing for narrow screens; None if these scroll across the wide one."""
        return self.drawing(NARROW) if self.fits_narrow else None

    @property
    def alternative(self) -> str:
        """What a reader is told who cannot see it."""
        return f"{self.caption} {self.said}".strip()


@dataclass(frozen=True)
class Kind:
    """A kind of figure.

    Attributes:
        place: kinds stand in the order of their places.
        section: part of the page.
        draw: makes the figure; None if the data are not fit for it.
        every_metric: whether it is drawn for every metric of an experiment, not only the first.
        of_differences: whether it is of how contenders differ, cell by cell, rather than of what they measured.
        of_runs: whether it is of chosen runs, which stand beside each other.
    """

    place: int
    section: Section
    draw: Callable[[Subject], Picture | None]
    every_metric: bool = True
    of_differences: bool = False
    of_runs: bool = False


def is_narrow(width: float) -> bool:
    """Whether a drawing of this width is laid out as for a hand."""
    return width < _LEAST_WIDE


def picture_name(analysis: Analysis, kind: str) -> str:
    """Name of a figure's files: experiment, metric, kind."""
    parts = (analysis.experiment.name, analysis.metric.column, kind)
    return "-".join(part for part in parts if part)
