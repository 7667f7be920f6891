"""Values of a contender that is compared with no other: its own in each cell, with its interval."""

from __future__ import annotations

from dataclasses import dataclass

from headway.analysis.analysis import Analysis
from headway.analysis.cells import ContenderRuns
from headway.analysis.estimate_text import measured
from headway.analysis.metric import Metric
from headway.errors import counted

_TAKEN = "total_s"
"""The metric that a contender simply takes."""


@dataclass(frozen=True)
class OwnValue:
    """What the only contender measured in a cell.

    Attributes:
        where: title of the cell; empty if nothing varies.
        value: the median with its unit.
        sure: what it is the median of, and its interval; or why there is none.
        failed: how many of its runs failed; empty if none did.
    """

    where: str
    value: str
    sure: str
    failed: str

    @property
    def said(self) -> str:
        """``0.479 s (median of 6, 0.39 to 1.16 s)``, and what failed."""
        own = f"{self.value} ({self.sure})" if self.value else self.sure
        return "; ".join(filter(None, (own, self.failed)))


def own_values(analysis: Analysis) -> tuple[OwnValue, ...]:
    """The values of the only contender, cell by cell; none if there are several contenders."""
    if len(analysis.contenders) > 1:
        return ()
    return tuple(
        _own_value(analysis.metric, cell.title, side)
        for cell in analysis.cells
        for side in cell.sides
    )


def alone_sentences(analysis: Analysis) -> tuple[str, ...]:
    """The same as sentences: ``h3 takes 0.479 s (median of 6, 0.39 to 1.16 s).``"""
    return tuple(
        f"{f'{own_value.where}: ' if own_value.where else ''}{_sentence(analysis, own_value)}."
        for own_value in own_values(analysis)
    )


def _sentence(analysis: Analysis, own_value: OwnValue) -> str:
    contender, metric = analysis.baseline, analysis.metric
    if not own_value.value:
        return f"{contender}: {metric.label}: {own_value.said}"
    subject = f"{contender} takes" if metric.column == _TAKEN else f"{contender}: {metric.label}"
    return f"{subject} {own_value.said}"


def _own_value(metric: Metric, where: str, side: ContenderRuns) -> OwnValue:
    failed = f"{side.failures} of {counted(side.runs, 'run')} failed" if side.failures else ""
    sample = side.sample
    if sample is None:
        return OwnValue(where, "", "no run measured it", failed)
    factor, unit = metric.scale([sample.median])
    interval = sample.interval.scaled(factor) if sample.interval else None
    value, ends = measured(sample.median * factor, interval)
    if sample.n == 1:
        sure = "a single run"
    elif sample.constant:
        sure = f"the same in all {sample.n} runs"
    else:
        sure = f"median of {sample.n}, {ends} {unit}".rstrip()
    return OwnValue(where, f"{value} {unit}".rstrip(), sure, failed)
