"""Times that the browser tells, and the Byte Index."""

from __future__ import annotations

from collections.abc import Mapping

from headway.pages.byteindex import byte_index_ms
from headway.pages.load import PageLoad
from headway.pages.metrics.measure import measure, seconds


@measure
def _times(load: PageLoad) -> Mapping[str, float | None]:
    """What the browser itself tells."""
    return {
        "connect_start_s": seconds(load.connect_start_ms),
        "response_start_s": seconds(load.response_start_ms),
        "fcp_s": seconds(load.fcp_ms),
        "lcp_s": seconds(load.lcp_ms),
        "dcl_s": seconds(load.dcl_ms),
        "onload_s": seconds(load.onload_ms),
        "plt_s": seconds(load.plt_ms),
        "byte_index_s": seconds(byte_index_ms(load)),
    }
