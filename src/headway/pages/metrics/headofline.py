"""Bytes and time that the load's streams held back behind lost packets, from Chromium's own log."""

from __future__ import annotations

import math
from collections.abc import Mapping

from headway.pages.headofline import held_back
from headway.pages.load import PageLoad
from headway.pages.metrics.measure import measure, seconds
from headway.pages.netlog import quic_sessions

_CLOCKS_DIFFER_MS = 2.0
"""The log's times are whole milliseconds."""


@measure
def _head_of_line(load: PageLoad) -> Mapping[str, float | int | None]:
    """Of all QUIC connections that were begun during the load; nothing without any, or without a log."""
    ended_ms = max((resource.ended_ms or 0.0 for resource in load.resources), default=0.0)
    begin_ms = load.time_origin_ms - _CLOCKS_DIFFER_MS
    sessions = quic_sessions(load.net_log, begin_ms, begin_ms + ended_ms) if load.net_log else ()
    if not any(session.frames for session in sessions):
        return dict.fromkeys(("hol_bytes", "hol_connection_bytes", "hol_s", "hol_gap_packets"))
    held_back_spans = [held_back(session.frames) for session in sessions]
    return {
        "hol_bytes": sum(back.stream_bytes for back in held_back_spans),
        "hol_connection_bytes": sum(back.connection_bytes for back in held_back_spans),
        "hol_s": seconds(math.fsum(back.held_ms for back in held_back_spans)),
        "hol_gap_packets": max(session.longest_gap for session in sessions),
    }
