"""Metrics: the columns that contenders are compared by, and how their values are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headway.analysis.numbers import distinguished
from headway.errors import WrongInputError


@dataclass(frozen=True)
class Metric:
    """A measured column.

    Attributes:
        column: its name in ``runs.parquet``.
        label: what it is, in words.
        unit: unit of its values.
        less_is_better: whether the smaller value is the faster contender's.
    """

    column: str
    label: str
    unit: str
    less_is_better: bool = True

    def text(self, value: float) -> str:
        """One value with its unit."""
        return self.texts([value])[0]

    def texts(self, values: Sequence[float]) -> list[str]:
        """Values with one common unit, with enough digits to tell them apart."""
        factor, unit = self.scale(values)
        return [f"{text} {unit}" for text in distinguished([value * factor for value in values])]

    def scale(self, values: Sequence[float]) -> tuple[float, str]:
        """Factor and unit to write these values in: milliseconds if all are short times."""
        if self.unit == "s" and values and 0 < max(values) < 0.1:
            return 1e3, "ms"
        return 1.0, self.unit


_KNOWN = {
    metric.column: metric
    for metric in (
        Metric("total_s", "time to the last byte", "s"),
        Metric("ttfb_s", "time to the first byte", "s"),
        Metric("connect_s", "time to the connection", "s"),
        Metric("tls_s", "time to the end of the TLS handshake", "s"),
        Metric("goodput_mbit", "goodput", "Mbit/s", less_is_better=False),
        Metric("ramp_s", "time to the path's full rate", "s"),
        Metric("slow_start_s", "time to the end of slow start", "s"),
        Metric("response_start_s", "response start", "s"),
        Metric("fcp_s", "first contentful paint", "s"),
        Metric("lcp_s", "largest contentful paint", "s"),
        Metric("dcl_s", "time to DOMContentLoaded", "s"),
        Metric("onload_s", "time to the load event", "s"),
        Metric("plt_s", "page load time", "s"),
        Metric("speed_index_s", "Speed Index", "s"),
        Metric("vc85_s", "time to 85 % visual completeness", "s"),
        Metric("vc95_s", "time to 95 % visual completeness", "s"),
        Metric("vc99_s", "time to 99 % visual completeness", "s"),
        Metric("byte_index_s", "Byte Index", "s"),
        Metric("response_start_s", "response start", "s"),
        Metric("fcp_s", "first contentful paint", "s"),
        Metric("lcp_s", "largest contentful paint", "s"),
        Metric("dcl_s", "DOMContentLoaded", "s"),
        Metric("onload_s", "onLoad", "s"),
        Metric("plt_s", "page load time", "s"),
        Metric("speed_index_s", "Speed Index", "s"),
        Metric("vc85_s", "85 % visually complete", "s"),
        Metric("vc95_s", "95 % visually complete", "s"),
        Metric("vc99_s", "99 % visually complete", "s"),
        Metric("byte_index_s", "Byte Index", "s"),
    )
}


def metric_named(column: str) -> Metric:
    """The metric of this column; any column that ends in ``_s`` is a time in seconds.

    Raises:
        WrongInputError: nothing tells which of two values of the column would be better.
    """
    if column in _KNOWN:
        return _KNOWN[column]
    if column.endswith("_s"):
        return Metric(column, column.removesuffix("_s").replace("_", " "), "s")
    known = ", ".join(_KNOWN)
    raise WrongInputError(f"{column!r} is not a metric; metrics are {known}, and times (`..._s`)")
