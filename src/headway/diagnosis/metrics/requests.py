"""Requests, bulk flows or calls, as a client tells of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headway.diagnosis.goodput import received_bytes
from headway.diagnosis.metrics.measure import FinishedRun, measure


@measure
def _requests(finished: FinishedRun) -> Mapping[str, Any]:
    measured = finished.measured
    return {
        "dns_s": measured.dns_s,
        "connect_s": measured.connect_s,
        "tls_s": measured.tls_s,
        "ttfb_s": measured.ttfb_s,
        "total_s": measured.total_s,
        "each_s": measured.each_s,
        "bytes": measured.bytes,
        "content_sent_bytes": measured.content_sent_bytes,
    }


@measure
def _spoken(finished: FinishedRun) -> Mapping[str, Any]:
    """Of a page, its own metrics say it."""
    spoken, race = finished.measured.spoken, finished.measured.race
    values: dict[str, Any] = {"document_protocol": spoken} if spoken else {}
    if race:
        values |= {"quic_tries": 1, "quic_tries_lost": int(race.lost), "quic_wait_s": race.wait_s}
    return values


@measure
def _page(finished: FinishedRun) -> Mapping[str, Any]:
    """What `headway.pages.metrics` measured, where the browser's output was at hand."""
    return dict(finished.measured.page or {})


@measure
def _call(finished: FinishedRun) -> Mapping[str, Any]:
    return dict(finished.measured.call or {})


@measure
def _goodput(finished: FinishedRun) -> Mapping[str, float | None]:
    size, total_s = finished.measured.bytes, finished.measured.total_s
    return {"goodput_mbit": size * 8e-6 / total_s if size and total_s else None}


@measure
def _received(finished: FinishedRun) -> Mapping[str, tuple[int, ...] | None]:
    flows, began_s = finished.measured.flows, finished.measured.began_s
    return {"received_bytes": received_bytes(flows, began_s) if flows else None}
