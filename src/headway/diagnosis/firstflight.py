"""A server's first flight: what it sends of a response before the first acknowledgment of it comes back.

RFC 6928 and section 7.2 of RFC 9002 call what it may send then the initial window. It is what it did send that
counts here, by the samples of the queue that its packets come to; what ended it, by the state of its sender then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from headway.columns import FlightLimit
from headway.diagnosis.segment import Moment, SegmentSamples
from headway.diagnosis.sender import Sender
from headway.diagnosis.transfer import SampledSegment

_BEFORE = 0.25
"""Of a round trip: so long before the request came, the server had nothing to send any more."""
_APART = 1.25
_FEW = 2
"""Flights that differ by less may be of the same window: beside data there are packets of other kinds."""
_HEADERS_BYTES = 66
"""Of a packet at least: Ethernet, IPv4, TCP with timestamps; or UDP, a short header and the tag of QUIC."""


@dataclass(frozen=True)
class FirstFlight:
    """How much was sent before the first acknowledgment came back.

    Attributes:
        packets: how many.
        bytes: on the wire.
        limit: what ended it; None if nothing shows that.
    """

    packets: int
    bytes: int
    limit: FlightLimit | None = None

    def is_apart_from(self, other: FirstFlight) -> bool:
        """Whether one of two flights is a head start: by a quarter, and by more than two packets.

        It is none before one that was shorter because its response was.
        """
        less, more = sorted((self, other), key=lambda first_flight: first_flight.packets)
        if less.limit is FlightLimit.RESPONSE:
            return False
        return more.packets > _APART * less.packets and more.packets - less.packets > _FEW


def sampled_first_flight(
    segment: SegmentSamples, asked_s: float, body_bytes: int | None = None
) -> FirstFlight | None:
    """That of a server whose only segment this is; None if no sample was taken before the acknowledgment.

    Args:
        segment: the segment.
        asked_s: when the request left the client: as soon as its handshake was complete.
        body_bytes: of all responses together; None if that is not known.
    """
    rtt_s = segment.segment.rtt_s
    came_s = asked_s + rtt_s - segment.segment.delay_s
    before = _last_before(segment, came_s - _BEFORE * rtt_s)
    after = _last_before(segment, came_s + rtt_s)
    if before is None or after is None or after.at_s < came_s or _come(after) == _come(before):
        return None
    dropped = after.queue_drops - before.queue_drops
    packets = _passed(segment, after) - before.sent_packets
    if packets <= 0:
        return None
    size = (_come(after) - _come(before)) / packets
    flight = FirstFlight(packets + dropped, round(_come(after) - _come(before) + dropped * size))
    return replace(flight, limit=_limit(flight, before, after, body_bytes))


def _limit(
    flight: FirstFlight, before: Moment, after: Moment, body_bytes: int | None
) -> FlightLimit | None:
    """What ended a flight, if the senders that have data on the way agree in it."""
    if body_bytes and flight.bytes - flight.packets * _HEADERS_BYTES >= body_bytes:
        return FlightLimit.RESPONSE
    flight_limits = {
        _held_by(state, before.senders.get(key))
        for key, state in after.senders.items()
        if state.in_flight_bytes
    }
    return flight_limits.pop() if len(flight_limits) == 1 else None


def _held_by(state: Sender, earlier: Sender | None) -> FlightLimit | None:
    """The window that holds a sender, at the end of its flight."""
    if state.has_full_window:
        return FlightLimit.CONGESTION_WINDOW
    limited_s = state.rwnd_limited_s - (earlier.rwnd_limited_s if earlier else 0.0)
    return FlightLimit.RECEIVE_WINDOW if limited_s > 0 else None


def _passed(segment: SegmentSamples, after: Moment) -> int:
    """Packets that had passed the queue when it had sent what had come by then; about, if more came meanwhile."""
    later = [moment for moment in segment.moments if moment.at_s >= after.at_s]
    for moment in later:
        if _come(moment) != _come(after):
            break
        if not moment.backlog_bytes:
            return moment.sent_packets
    last = later[-1]
    sent_bytes = last.sent_bytes - after.sent_bytes
    size = sent_bytes / (last.sent_packets - after.sent_packets) if sent_bytes else math.inf
    return after.sent_packets + round(after.backlog_bytes / size)


def _come(moment: Moment) -> int:
    """Bytes that had come to the queue and were not dropped."""
    return moment.sent_bytes + moment.backlog_bytes


def _last_before(segment: SegmentSamples, at_s: float) -> Moment | None:
    return max(
        (moment for moment in segment.moments if moment.at_s < at_s),
        key=lambda moment: moment.at_s,
        default=None,
    )


def began_before(segment: SampledSegment, asked_s: float, start_s: float) -> bool:
    """Whether a response was on its way before its request could have come so: it was asked for earlier (0-RTT).

    Args:
        segment: the path.
        asked_s: when the client's handshake was complete.
        start_s: when the first byte of the response came to the client.
    """
    return start_s < asked_s + (1 - _BEFORE) * segment.rtt_s


def asked_after_s(connect_s: float | None, tls_s: float | None) -> float | None:
    """When a client could send its request, from its start: after the later handshake, as far as it tells."""
    return max((value for value in (connect_s, tls_s) if value is not None), default=None)
