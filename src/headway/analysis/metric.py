"""Metrics: the columns that contenders are compared by, and how their values are written."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from headway.analysis.numbers import distinguished, significant
from headway.analysis.sample import Measurements, Observation
from headway.columns import METRICS, Better
from headway.columns.column import FASTER_SLOWER
from headway.errors import WrongInputError, nearest

_FASTER_OR_SLOWER = re.compile(r"\b(faster|slower)\b")


@dataclass(frozen=True)
class Metric:
    """A measured column.

    Attributes:
        column: its name in ``runs.parquet``.
        label: what it is, in words.
        unit: unit of its values.
        less_is_better: whether the smaller value is the better one; true of a metric with a best value, whose distance
            from it is compared.
        words: what a contender with a better or a worse value is.
        best: the value that is best, if it is neither the least nor the greatest.
    """

    column: str
    label: str
    unit: str
    less_is_better: bool = True
    words: tuple[str, str] = FASTER_SLOWER
    best: float | None = None

    def judged(self, measured: Measurements) -> Measurements:
        """What contenders are compared by: the values, or how many times each is away from the best one."""
        if self.best is None:
            return measured
        runs = measured.observations
        return Measurements.of(
            (Observation(run.seed, run.rep, self.away(run.value)) for run in runs),
            measured.given_up,
            measured.looks,
        )

    def away(self, value: float) -> float:
        """How many times a value is away from the best one, at least 1; the value itself if there is none such."""
        if self.best is None:
            return value
        return max(value / self.best, self.best / value) if value > 0 else math.inf

    @property
    def as_measured(self) -> Metric:
        """The same, its values compared as numbers, whichever of them are better."""
        return replace(self, best=None)

    @property
    def remark(self) -> str:
        """How values are compared, if that is not obvious; else empty."""
        if self.best is None:
            return ""
        half, twice = (f"{self.best * factor:g}" for factor in (0.5, 2))
        return (
            f"Best is {self.best:g}: what counts is how many times a value is away from it, up or down, so "
            f"{half} and {twice} are alike."
        )

    @property
    def legend(self) -> str:
        """The remark where `distance` stands beside medians."""
        return f"{self.remark} The median of that is in brackets: (×2)." if self.remark else ""

    def distance(self, measured: Measurements) -> str:
        """`` (×2.1)``: the median of how many times values are away from the best one; empty if there is none such."""
        if self.best is None or (sample := self.judged(measured).sample) is None:
            return ""
        return f" (×{significant(sample.median)})"

    @property
    def comparative(self) -> tuple[str, str]:
        """What a better and a worse value are beside a size: ``12 % sooner``."""
        if self.words != FASTER_SLOWER:
            return self.words
        if self.unit == "s":
            return "sooner", "later"
        return ("lower", "higher") if self.less_is_better else ("higher", "lower")

    def said(self, text: str) -> str:
        """A text about faster and slower contenders, in this metric's words."""
        if self.words == FASTER_SLOWER:
            return text
        words = dict(zip(FASTER_SLOWER, self.words, strict=True))
        return _FASTER_OR_SLOWER.sub(lambda match: words[match[0]], text)

    def text(self, value: float) -> str:
        """One value with its unit."""
        return self.texts([value])[0]

    def texts(self, values: Sequence[float]) -> list[str]:
        """Values with one common unit, with enough digits to tell them apart."""
        factor, unit = self.scale(values)
        texts = distinguished([value * factor for value in values])
        return [f"{text} {unit}".rstrip() for text in texts]

    def headed(self, text: str) -> str:
        """A heading above values, with their unit if they have one."""
        return text if self.unit == "1" else f"{text} [{self.unit}]"

    def scale(self, values: Sequence[float]) -> tuple[float, str]:
        """Factor and unit to write these values in: milliseconds if all are short times."""
        if self.unit == "s" and values and 0 < max(values) < 0.1:
            return 1e3, "ms"
        return 1.0, "" if self.unit == "1" else self.unit


def metric_named(column: str) -> Metric:
    """The metric of this column; every column of times is one.

    Raises:
        WrongInputError: nothing tells which of two values of the column would be better.
    """
    if (known := METRICS.get(column)) and known.ranking:
        ranking = known.ranking
        less = ranking.better is Better.LESS or ranking.best is not None
        return Metric(column, ranking.label, known.unit, less, ranking.words, ranking.best)
    if column.endswith("_s"):
        return Metric(column, column.removesuffix("_s").replace("_", " "), "s")
    others = "docs/columns.md lists metrics; every column of times (`..._s`) is one"
    raise WrongInputError(f"{column!r} is not a metric{nearest(column, [*METRICS], then=others)}")
