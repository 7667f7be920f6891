"""A server's first flight: what it sends of a response before the first acknowledgment of it comes back.

RFC 6928 and section 7.2 of RFC 9002 call what it may send then the initial window. It is what it did send that
counts here, by the samples of the queue that its packets come to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from headway.diagnosis.segment import Moment, SegmentSamples

_BEFORE = 0.25
"""Of a round trip: so long before the request came, the server had nothing to send any more."""
_APART = 1.25
_FEW = 2
"""Flights that differ by less may be of the same window: beside data there are packets of other kinds."""


@dataclass(frozen=True)
class FirstFlight:
    """How much was sent before the first acknowledgment came back: packets, and bytes on the wire."""

    packets: int
    bytes: int

    def is_apart_from(self, other: FirstFlight) -> bool:
        """Whether two flights are of different windows: by a quarter, and by more than two packets."""
        less, more = sorted((self.packets, other.packets))
        return more > _APART * less and more - less > _FEW


def sampled_first_flight(segment: SegmentSamples, asked_s: float) -> FirstFlight | None:
    """That of a server whose only segment this is; None if no sample was taken before the acknowledgment.

    Args:
        segment: the segment.
        asked_s: when the request left the client: as soon as its handshake was complete.
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
    return FirstFlight(packets + dropped, round(_come(after) - _come(before) + dropped * size))


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


def asked_after_s(connect_s: float | None, tls_s: float | None) -> float | None:
    """When a client could send its request, from its start: after the later handshake, as far as it tells."""
    return max((one for one in (connect_s, tls_s) if one is not None), default=None)
