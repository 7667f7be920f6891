"""The order of responses, and what it puts before what is seen."""

from __future__ import annotations

import math
from collections.abc import Mapping

from headway.pages.critical import blocks_rendering, last_before_paint
from headway.pages.fluid import Response, one_by_one, shared
from headway.pages.load import PageLoad
from headway.pages.metrics.measure import measure
from headway.pages.resource import Resource
from headway.pages.visual import coloured_share

_CLASSES = {"VeryHigh": 0, "High": 1, "Medium": 2, "Low": 3, "VeryLow": 4}
"""Chromium's, the most urgent first."""


@measure
def _order(load: PageLoad) -> Mapping[str, float | int | None]:
    """By Chromium's classes and requests, and with all at once; nothing of loads that do not tell what is seen."""
    coloured = coloured_share(load.load_frames)
    if load.window is None or coloured is None:
        return dict.fromkeys(("seen_images", "seen_image_bytes", "ordered_bytes", "shared_bytes"))
    seen, rendering = load.window.seen, last_before_paint(load)
    rendering_ms = (rendering.ended_ms if rendering else None) or 0.0
    answered = [
        resource
        for resource in load.page_resources
        if resource.body_bytes and resource.from_network
    ]
    responses = [
        Response(
            size=answer.body_bytes,
            seen=seen.get(answer.url, 0.0),
            blocks=_held_rendering(answer, load, rendering_ms),
            late=answer.sent_ms >= rendering_ms,
        )
        for answer in sorted(
            answered, key=lambda resource: _CLASSES.get(resource.priority, len(_CLASSES))
        )
    ]
    images = [response for response in responses if response.seen]
    rest = max(0.0, coloured * load.window.pixels - math.fsum(image.seen for image in images))
    return {
        "seen_images": len(images),
        "seen_image_bytes": int(math.fsum(image.size for image in images)),
        "ordered_bytes": one_by_one(responses, rest),
        "shared_bytes": shared(responses, rest),
    }


def _held_rendering(resource: Resource, load: PageLoad, until_ms: float) -> bool:
    """Whether it blocked rendering and came before the first paint, as not all do that browsers call so."""
    blocks = blocks_rendering(resource) or resource is load.resources[0]
    return blocks and resource.ended_ms is not None and resource.ended_ms <= until_ms
