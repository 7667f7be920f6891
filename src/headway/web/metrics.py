"""Measuring the metrics of a page load, and whether it came over the protocol that it should have.

What each means, and where it is defined, is in docs/web-metrics.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from headway.columns import Page
from headway.web.byteindex import byte_index_ms
from headway.web.load import PageLoad
from headway.web.traffic import traffic_of

PROTOCOL_IDS = {"h1": "http/1.1", "h2": "h2", "h3": "h3"}
"""ALPN identifiers (RFC 7301, section 6; RFC 9113, section 3.1; RFC 9114, section 3.1)."""


_Measure = Callable[[PageLoad], Mapping[str, float | int | str | None]]
_MEASURES: list[_Measure] = []


def measure(function: _Measure) -> _Measure:
    """Register a function that measures columns of `headway.columns.Page`.

    A value is None if what it measures did not happen.
    """
    _MEASURES.append(function)
    return function


def page_metrics(load: PageLoad) -> Page:
    """All metrics of a load; also of a failed one, as far as it came. Decodes its frames."""
    return Page.model_validate(
        {name: value for function in _MEASURES for name, value in function(load).items()}
    )


@measure
def _times(load: PageLoad) -> Mapping[str, float | None]:
    """What the browser itself tells."""
    return {
        "connect_start_s": _seconds(load.connect_start_ms),
        "response_start_s": _seconds(load.response_start_ms),
        "fcp_s": _seconds(load.fcp_ms),
        "lcp_s": _seconds(load.lcp_ms),
        "dcl_s": _seconds(load.dcl_ms),
        "onload_s": _seconds(load.onload_ms),
        "plt_s": _seconds(load.plt_ms),
        "byte_index_s": _seconds(byte_index_ms(load)),
    }


@measure
def _progress(load: PageLoad) -> Mapping[str, float | str | None]:
    """What its frames show."""
    # Imported here because numpy takes a while to load, and only pages need it.
    from headway.web.visual import visual_progress

    progress = visual_progress(load.frames)
    return {
        "speed_index_s": _seconds(progress.speed_index_ms),
        "vc85_s": _seconds(progress.complete_ms(0.85)),
        "vc95_s": _seconds(progress.complete_ms(0.95)),
        "vc99_s": _seconds(progress.complete_ms(0.99)),
        "visual_problem": progress.problem,
    }


@measure
def _traffic(load: PageLoad) -> Mapping[str, float | int | None]:
    """What servers sent before the load event."""
    traffic = traffic_of(load)
    return {
        "objects": traffic.total.objects,
        "connections": traffic.connections,
        "domains": traffic.domains,
        "page_bytes": traffic.total.content_bytes,
        "largest_share": traffic.largest_object_share,
        "largest_byte_share": traffic.largest_byte_share,
    }


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
