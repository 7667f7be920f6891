"""Metrics: the columns that contenders are compared by, and how their values are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from headway.analysis.numbers import distinguished
from headway.columns import METRICS, Better
from headway.columns.column import FASTER_SLOWER
from headway.errors import WrongInputError

_FASTER_OR_SLOWER = re.compile(r"\b(faster|slower)\b")


@dataclass(frozen=True)
class Metric:
    """A measured column.

    Attributes:
        column: its name in ``runs.parquet``.
        label: what it is, in words.
        unit: unit of its values.
        less_is_better: whether the smaller value is the faster contender's.
        words: what a contender with a better or a worse value is.
    """

    column: str
    label: str
    unit: str
    less_is_better: bool = True
    words: tuple[str, str] = FASTER_SLOWER

    def said(self, text: str) -> str:
        """A text about faster and slower contenders, in this metric's words."""
        if self.words == FASTER_SLOWER:
            return text
        words = dict(zip(FASTER_SLOWER, self.words, strict=True))
        return _FASTER_OR_SLOWER.sub(lambda found: words[found[0]], text)

    def text(self, value: float) -> str:
        """One value with its unit."""
        return self.texts([value])[0]

    def texts(self, values: Sequence[float]) -> list[str]:
        """Values with one common unit, with enough digits to tell them apart."""
        factor, unit = self.scale(values)
        texts = distinguished([value * factor for value in values])
        return [f"{text} {unit}".rstrip() for text in texts]

    def headed(self, said: str) -> str:
        """A heading above values, with their unit if they have one."""
        return said if self.unit == "1" else f"{said} [{self.unit}]"

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
        less = known.ranking.better is Better.LESS
        return Metric(column, known.ranking.label, known.unit, less, known.ranking.words)
    if column.endswith("_s"):
        return Metric(column, column.removesuffix("_s").replace("_", " "), "s")
    raise WrongInputError(
        f"{column!r} is not a metric; metrics are {', '.join(METRICS)}, and times (`..._s`)"
    )
