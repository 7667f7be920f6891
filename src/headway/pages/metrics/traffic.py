"""Counts of what servers sent."""

from __future__ import annotations

from collections.abc import Mapping

from headway.pages.load import PageLoad
from headway.pages.load_check import PROTOCOL_IDS
from headway.pages.metrics.measure import measure
from headway.pages.traffic import NOTHING, traffic_of


@measure
def _traffic(load: PageLoad) -> Mapping[str, float | int | None]:
    """What servers sent before the load event."""
    traffic = traffic_of(load)
    versions = [
        (version, traffic.by_protocol.get(identifier, NOTHING))
        for version, identifier in PROTOCOL_IDS.items()
    ]
    return {
        "objects": traffic.total.objects,
        "connections": traffic.connections,
        "domains": traffic.domains,
        "page_bytes": traffic.total.content_bytes,
        "image_bytes": traffic.image_bytes,
        "largest_share": traffic.largest_object_share,
        "largest_byte_share": traffic.largest_byte_share,
        **{f"{version}_objects": amount.objects for version, amount in versions},
        **{f"{version}_bytes": amount.content_bytes for version, amount in versions},
    }
