"""On which paths the table of known shapes that comes with Headway has been tried: elsewhere controllers look otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_QUEUES_BDP = (1.9, 3.1)
"""The table's runs have two products of bandwidth and delay; it has been tried up to three."""
_PRODUCTS_BYTES = (45_000, 65_000)
"""Bandwidth by delay: 50 kB of the table's runs, and up to 60 kB of those that it has been tried on."""
COLUMNS = (
    "rate_mbit",
    "rtt_ms",
    "queue_bytes",
    "loss_pct",
    "loss_up_pct",
    "jitter_ms",
    "upstream_rtt_ms",
)
"""Of a run, what decides."""
SCOPE = "links of constant rate without losses or jitter, bandwidth by delay of 50 to 60 kB, queues of two or three times that"


def outside_scope(run: Mapping[str, Any]) -> str:
    """What of a run's path is none of the table's, in words; empty if nothing is.

    Args:
        run: its values by column.
    """
    return ", ".join(_differences(run))


def _differences(run: Mapping[str, Any]) -> list[str]:
    texts = []
    loss_pct = max(run["loss_pct"] or 0, run["loss_up_pct"] or 0)
    if loss_pct:
        texts.append(f"loss {loss_pct:g} %")
    if run["jitter_ms"]:
        texts.append(f"jitter {run['jitter_ms']:g} ms")
    if run["upstream_rtt_ms"] is not None:
        texts.append("a second path")
    if not run["rate_mbit"]:
        return texts
    product = run["rate_mbit"] * run["rtt_ms"] * 125
    if not _PRODUCTS_BYTES[0] <= product <= _PRODUCTS_BYTES[1]:
        texts.append(f"bandwidth by delay {product / 1e3:.3g} kB")
    if run["queue_bytes"] is None:
        texts.append("a queue without limit in bytes")
    elif product and not _QUEUES_BDP[0] <= (bdp := run["queue_bytes"] / product) <= _QUEUES_BDP[1]:
        texts.append(f"queue {bdp:.2g} BDP")
    return texts
