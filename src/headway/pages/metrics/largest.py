"""Parts of the largest contentful paint, as web.dev names them, which add up to it."""

from __future__ import annotations

from collections.abc import Mapping

from headway.pages.load import PageLoad
from headway.pages.metrics.measure import measure, seconds
from headway.pages.resource import Resource


@measure
def _parts(load: PageLoad) -> Mapping[str, float | None]:
    """After the page's first byte; nothing without a paint, or if the browser does not tell of what."""
    names = ("lcp_load_delay_s", "lcp_load_time_s", "lcp_render_delay_s")
    painted_ms, first_byte_ms = load.lcp_ms, load.response_start_ms
    if painted_ms is None or first_byte_ms is None or load.lcp_url is None:
        return dict.fromkeys(names)
    first_byte_ms = min(first_byte_ms, painted_ms)
    image = _image(load)
    if image is None:
        asked_ms = came_ms = first_byte_ms
    else:
        asked_ms = min(max(first_byte_ms, image.sent_ms), painted_ms)
        came_ms = min(max(asked_ms, image.ended_ms or asked_ms), painted_ms)
    parts_ms = (asked_ms - first_byte_ms, came_ms - asked_ms, painted_ms - came_ms)
    return dict(zip(names, map(seconds, parts_ms), strict=True))


def _image(load: PageLoad) -> Resource | None:
    """What was painted largest, if it was requested: text was not, nor what a URL has in itself."""
    if not load.lcp_url:
        return None
    return next((resource for resource in load.resources if resource.url == load.lcp_url), None)
