"""The base of modules that measure a page load."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from headway.pages.load import PageLoad

Measure = Callable[[PageLoad], Mapping[str, float | int | str | None]]
MEASURES: list[Measure] = []


def measure(function: Measure) -> Measure:
    """Register a function that measures columns of `headway.columns.PageMetrics`.

    A value is None if what it measures did not happen.
    """
    MEASURES.append(function)
    return function


def seconds(time_ms: float | None) -> float | None:
    """A time of the browser's, as columns have it."""
    return None if time_ms is None else time_ms / 1e3
