"""By which version a page came that was told none, and what the browser tried."""

from __future__ import annotations

from collections.abc import Mapping

from headway.pages.load import PageLoad
from headway.pages.load_check import PROTOCOL_IDS
from headway.pages.metrics.measure import measure, seconds
from headway.pages.races import stream_races


@measure
def _document(load: PageLoad) -> Mapping[str, str | None]:
    names = {alpn: name for name, alpn in PROTOCOL_IDS.items()}
    documents = (resource for resource in load.resources if resource.from_network)
    first = next(documents, None)
    return {"document_protocol": names.get(first.protocol or "") if first else None}


@measure
def _races(load: PageLoad) -> Mapping[str, int | float | str | None]:
    if load.net_log is None:
        return dict.fromkeys(("document_tried", "quic_tries", "quic_tries_lost", "quic_wait_s"))
    ends = (resource.ended_ms for resource in load.resources if resource.ended_ms is not None)
    origin_ms = load.time_origin_ms
    every = stream_races(load.net_log, origin_ms, origin_ms + max(ends, default=0))
    document = next((stream_race for stream_race in every if stream_race.url == load.url), None)
    races = [stream_race for stream_race in every if stream_race.is_race]
    return {
        "document_tried": ", ".join(document.tried) if document else None,
        "quic_tries": len(races),
        "quic_tries_lost": sum(race.won == "main" for race in races),
        "quic_wait_s": seconds(document.waited_ms) if document else None,
    }
