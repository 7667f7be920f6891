"""Pacing: how the sender in front of the narrowest link spread its packets, and how they came to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from headway.diagnosis.departures import (
    BOTTLENECK_FILE,
    SENDER_FILE,
    read_departures,
    together,
)
from headway.diagnosis.firstflight import asked_after_s
from headway.diagnosis.metrics.measure import FinishedRun, measure
from headway.diagnosis.spacing import Spacing, Train, burst_lengths, spacing
from headway.planning.narrowlink import narrow_link


@measure
def _pacing(finished: FinishedRun) -> Mapping[str, Any]:
    link = narrow_link(finished.flow)
    if link is None:
        return {}
    rate, rtt_ns = float(link.rate), link.segment.path.rtt.ns
    asked_ns = _asked_ns(finished)
    sent = _since(read_departures(finished.directory, SENDER_FILE), asked_ns)
    came = _since(read_departures(finished.directory, BOTTLENECK_FILE), asked_ns + link.lag.ns)
    first = [train.between(train.at_ns[0], train.at_ns[0] + rtt_ns) for train in sent]
    later = [train.between(train.at_ns[0] + rtt_ns) for train in came]
    return {
        "first_burst_packets": _longest(first, rate),
        **_columns(
            "sender",
            spacing([train.between(train.at_ns[0] + rtt_ns) for train in sent], rate, rtt_ns),
        ),
        **_columns("bottleneck", spacing([together(later)] if later else [], rate, rtt_ns)),
    }


def _asked_ns(finished: FinishedRun) -> float:
    """When the server's host had the request, or its handshake was over; 0 if that is not known.

    Of a sender behind a proxy it is not: all that it sent with data counts.
    """
    transfer, measurement = finished.transfer, finished.measured
    asked_s = asked_after_s(measurement.connect_s, measurement.tls_s)
    if asked_s is None or len(transfer.segments) > 1:
        return 0.0
    (segment,) = transfer.segments
    return (transfer.began_s + asked_s + segment.rtt_s - segment.delay_s) * 1e9


def _since(trains: Sequence[Train], from_ns: float) -> list[Train]:
    result = (train.between(from_ns) for train in trains)
    return [train for train in result if len(train.at_ns)]


def _longest(flights: Sequence[Train], rate_bit_s: float) -> int | None:
    return max((int(burst_lengths(flight, rate_bit_s).max()) for flight in flights), default=None)


def _columns(place: str, parts: Spacing | None) -> dict[str, Any]:
    return {f"{place}_{name}": value for name, value in asdict(parts).items()} if parts else {}
