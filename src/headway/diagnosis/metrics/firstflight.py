"""The server's first flight, as the samples show it."""

from __future__ import annotations

from collections.abc import Mapping

from headway.diagnosis.firstflight import asked_after_s, began_before, sampled_first_flight
from headway.diagnosis.metrics.measure import FinishedRun, measure


@measure
def _first_flight(finished: FinishedRun) -> Mapping[str, int | str | None]:
    """Of a single segment: where a proxy answers, the server's window is not what the client waits for."""
    transfer, measurement = finished.transfer, finished.measured
    asked_s = asked_after_s(measurement.connect_s, measurement.tls_s)
    if len(finished.segments) != 1 or transfer.page or transfer.flows or asked_s is None:
        return {}
    segment, asked_s = finished.segments[0], transfer.began_s + asked_s
    if transfer.start_s is not None and began_before(segment.segment, asked_s, transfer.start_s):
        return {}
    first_flight = sampled_first_flight(segment, asked_s, measurement.bytes)
    return {
        "first_flight_packets": first_flight.packets if first_flight else None,
        "first_flight_bytes": first_flight.bytes if first_flight else None,
        "first_flight_limit": first_flight.limit if first_flight else None,
    }
