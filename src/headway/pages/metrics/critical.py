"""Waits of the load event and the first paint."""

from __future__ import annotations

from collections.abc import Mapping

from headway.pages.critical import (
    blocking_first_share,
    blocks_rendering,
    last_before_load,
    last_before_paint,
    phases_until_load,
)
from headway.pages.load import PageLoad
from headway.pages.metrics.measure import measure, seconds


@measure
def _blocking(load: PageLoad) -> Mapping[str, float | int | None]:
    """What blocked rendering."""
    last = last_before_paint(load)
    blocking = [resource for resource in load.resources if blocks_rendering(resource)]
    return {
        "blocking_objects": len(blocking),
        "blocking_bytes": sum(resource.body_bytes for resource in blocking),
        "blocked_s": seconds(last.ended_ms) if last else None,
        "blocking_first_share": blocking_first_share(load),
    }


@measure
def _critical(load: PageLoad) -> Mapping[str, float | None]:
    """The phases of the critical path to the load event."""
    names = ("processing", "held", "connect", "wait", "receive")
    columns = [f"critical_{name}_s" for name in names]
    if last_before_load(load) is None:
        return dict.fromkeys(columns)
    return dict(zip(columns, map(seconds, phases_until_load(load)), strict=True))
