"""Ramp-up: how soon a bulk transfer filled its path, and when the bottleneck's sender left slow start."""

from __future__ import annotations

import math
from collections.abc import Sequence

from headway.columns import RampUp
from headway.diagnosis.goodput import INTERVAL_S
from headway.diagnosis.segment import SegmentSamples
from headway.diagnosis.sender import Phase, Sender
from headway.diagnosis.transfer import SampledSegment, Transfer
from headway.study.family import Family

_FULL_SHARE = 0.9
"""A path that delivers this share of the payload it can carry is full."""
_FULL_INTERVALS = 5
"""For how long it must do so: half a second."""


def ramp_up_of(
    segments: Sequence[SegmentSamples],
    transfer: Transfer,
    received: Sequence[int] = (),
    family: Family = Family.IPV4,
) -> RampUp:
    """How a run that went well grew, from its segments.

    Args:
        segments: what was observed of the run's.
        transfer: where these are.
        received: bytes over time, as `received_bytes` has them; empty if there was no bulk flow.
        family: of its addresses.
    """
    place, narrow = bottleneck(transfer.segments)
    rate_mbit = narrow.rate_mbit
    return RampUp(
        ramp_s=path_filled_s(received, rate_mbit, family) if rate_mbit else None,
        slow_start_s=slow_start_ended_s(segments[place], transfer),
    )


def bottleneck(segments: Sequence[SampledSegment]) -> tuple[int, SampledSegment]:
    """The segment with the least constant rate, and its place; the client's if none has any."""
    places = enumerate(segments)
    return min(places, key=lambda entry: entry[1].rate_mbit or float("inf"))


def path_filled_s(
    received: Sequence[int], rate_mbit: float, family: Family = Family.IPV4
) -> float | None:
    """When goodput reached the path's rate, seconds from when the client began; None if never.

    It is the start of the first half second in which the receiver got at least 90 % of the payload
    that the path can carry in it. In no interval is more counted than the path can carry: data
    that waited for the repair of a loss are handed on at once, and did not arrive at once.

    Args:
        received: bytes in each interval, as `received_bytes` has them.
        rate_mbit: rate of the path's narrowest link.
        family: of packets, whose headers count; those of QUIC are a few bytes longer than those of TCP.
    """
    full = rate_mbit * 1e6 / 8 * INTERVAL_S * family.payload_share
    counted = [min(amount, full) for amount in received]
    for start in range(len(counted) - _FULL_INTERVALS + 1):
        if (
            math.fsum(counted[start : start + _FULL_INTERVALS])
            >= _FULL_SHARE * _FULL_INTERVALS * full
        ):
            return round(start * INTERVAL_S, 9)
    return None


def slow_start_ended_s(segment: SegmentSamples, transfer: Transfer) -> float | None:
    """When any of the segment's senders that had begun to send was first sampled outside slow start.

    None also if that was after the last byte of a page, when a browser goes on with something else.
    """
    begins_s = segment.begins_s(transfer)
    if transfer.page and transfer.end_s is not None:
        segment = segment.until(transfer.end_s)
    return next(
        (
            round(moment.at_s - transfer.began_s, 9)
            for moment in segment.moments
            if moment.at_s > begins_s and any(map(_left_slow_start, moment.senders.values()))
        ),
        None,
    )


def _left_slow_start(sender: Sender) -> bool:
    """Whether a sender repairs losses, or has reached a threshold that it tells.

    A QUIC sender that tells none counts as out of slow start as soon as its window rests, and that
    it also does for want of data.
    """
    if sender.phase is Phase.AVOIDANCE:
        return sender.ssthresh_bytes is not None
    return sender.phase is Phase.RECOVERY
