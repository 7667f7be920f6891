"""All metrics of a page load, and whether it came over the protocol that it should have.

What each means, and where it is defined, is in docs/web-metrics.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from headway.web.byteindex import byte_index_ms
from headway.web.load import PageLoad
from headway.web.traffic import traffic_of
from headway.web.visual import visual_progress

PROTOCOL_IDS = {"h1": "http/1.1", "h2": "h2", "h3": "h3"}
"""ALPN identifiers (RFC 7301, section 6; RFC 9113, section 3.1; RFC 9114, section 3.1)."""


@dataclass(frozen=True)
class PageMetrics:
    """Metrics of a page load: times in seconds after navigation start, counts and bytes.

    A value is None if what it measures did not happen. Counts and bytes are of resources that were
    requested before the load event and answered by a server.

    Attributes:
        connect_start_s: the connection for the page is begun.
        response_start_s: first byte of the page's response.
        fcp_s: first contentful paint.
        lcp_s: largest contentful paint.
        dcl_s: the DOMContentLoaded event is fired.
        onload_s: the load event is fired.
        plt_s: page load time: the last resource requested before the load event has come.
        speed_index_s: area above the curve of visual progress.
        vc85_s: the page is visually complete to 85 %.
        vc95_s: to 95 %.
        vc99_s: to 99 %.
        byte_index_s: area above the curve of bytes received.
        objects: responses.
        connections: that carried them.
        domains: host names that they came from.
        page_bytes: of their content, as sent.
        largest_share: of the objects, on the connection with the most objects.
        largest_byte_share: of the bytes, on the connection with the most bytes.
        visual_problem: why there are no visual metrics; None if there are.
    """

    connect_start_s: float | None
    response_start_s: float | None
    fcp_s: float | None
    lcp_s: float | None
    dcl_s: float | None
    onload_s: float | None
    plt_s: float | None
    speed_index_s: float | None
    vc85_s: float | None
    vc95_s: float | None
    vc99_s: float | None
    byte_index_s: float | None
    objects: int
    connections: int
    domains: int
    page_bytes: int
    largest_share: float | None
    largest_byte_share: float | None
    visual_problem: str | None


def page_metrics(load: PageLoad) -> PageMetrics:
    """All metrics of a load; also of a failed one, as far as it came. Decodes its frames."""
    progress = visual_progress(load.frames)
    traffic = traffic_of(load)
    return PageMetrics(
        connect_start_s=_seconds(load.connect_start_ms),
        response_start_s=_seconds(load.response_start_ms),
        fcp_s=_seconds(load.fcp_ms),
        lcp_s=_seconds(load.lcp_ms),
        dcl_s=_seconds(load.dcl_ms),
        onload_s=_seconds(load.onload_ms),
        plt_s=_seconds(load.plt_ms),
        speed_index_s=_seconds(progress.speed_index_ms),
        vc85_s=_seconds(progress.complete_ms(0.85)),
        vc95_s=_seconds(progress.complete_ms(0.95)),
        vc99_s=_seconds(progress.complete_ms(0.99)),
        byte_index_s=_seconds(byte_index_ms(load)),
        objects=traffic.total.objects,
        connections=traffic.connections,
        domains=traffic.domains,
        page_bytes=traffic.total.content_bytes,
        largest_share=traffic.largest_object_share,
        largest_byte_share=traffic.largest_byte_share,
        visual_problem=progress.problem,
    )


def protocol_error(load: PageLoad, expected: str) -> str | None:
    """The first resource that came over another protocol than it should have, in a line.

    All that a server answered counts, with any status, 304 among them, whenever it was requested;
    what came from the browser's cache does not, as its protocol is that of an earlier load.

    Args:
        load: to be checked.
        expected: ``h1``, ``h2`` or ``h3``.

    Returns:
        None if all came over the expected one.
    """
    wanted = PROTOCOL_IDS[expected]
    for resource in load.resources:
        if resource.from_network and resource.protocol != wanted:
            came = resource.protocol or "an unknown protocol"
            return f"{resource.url} was loaded over {came} instead of {wanted}"
    return None


def _seconds(time_ms: float | None) -> float | None:
    return None if time_ms is None else time_ms / 1e3
