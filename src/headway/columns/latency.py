"""Columns of series of requests; the client measures them."""

from __future__ import annotations

from typing import Any

from headway.columns.column import Columns, Of, column, metric


def _latency(meaning: str, label: str) -> Any:
    return metric(meaning, label, of=Of.SERIES)


def _of_tree(meaning: str, label: str) -> Any:
    return metric(meaning, label, of=Of.TREES)


class Latency(Columns):
    """How long requests of a series took; null without one."""

    latency_mean_ms: float | None = _latency(
        "Of series of requests, as the five that follow: from when a request was to be made (of an open loop,"
        " its arrival) to the last byte of its response, the mean. Of messages both ways: from when one was "
        "made to the last byte of its answer.",
        "mean latency",
    )
    latency_p50_ms: float | None = _latency(
        "The same: half of them took no longer.", "median latency"
    )
    latency_p95_ms: float | None = _latency("The same for 95 %.", "latency, 95 %")
    latency_p99_ms: float | None = _latency("The same for 99 %.", "latency, 99 %")
    latency_max_ms: float | None = _latency("The longest.", "longest latency")
    latencies_ms: tuple[float, ...] = column(
        "That of every request, in the order in which they were to be made, to the microsecond; empty without a series.",
        default=(),
    )
    tree_mean_ms: float | None = _of_tree(
        "Of trees of calls (`fan_out`, `depth`), as the four that follow: from when the first call was to be made to "
        "the last byte of the last response, the mean.",
        "mean time of a tree",
    )
    tree_p50_ms: float | None = _of_tree("The same: half of them took no longer.", "median tree")
    tree_p95_ms: float | None = _of_tree("The same for 95 %.", "trees, 95 %")
    tree_p99_ms: float | None = _of_tree("The same for 99 %.", "trees, 99 %")
    tree_max_ms: float | None = _of_tree("The longest.", "longest tree")
    trees_ms: tuple[float, ...] = column(
        "That of every tree, in the order in which they were to begin; empty without trees.",
        default=(),
    )
