"""Limits of a run's transfer: seconds by cause, for its record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from headway.columns import TransferLimits
from headway.diagnosis.attribution import Cause, causes, first_byte_s, largest, times_by_limit
from headway.diagnosis.bottleneckuse import bottleneck_use
from headway.diagnosis.reasons import Limit
from headway.diagnosis.segment import SegmentSamples
from headway.diagnosis.transfer import Transfer


def limits_of(segments: Sequence[SegmentSamples], transfer: Transfer) -> TransferLimits:
    """Tell what limited a run that went well, from its segments."""
    if transfer.end_s is None or not segments or len(segments[0].moments) < 2:
        return TransferLimits()
    begin_s = first_byte_s(segments, transfer)
    spent = causes(segments, begin_s, transfer.end_s)
    # A bulk flow may be cut off, and what the path still held is none of its transfer; a browser
    # goes on with what is no part of the page's load time.
    ends = transfer.flows or transfer.page
    during = [segment.until(transfer.end_s) for segment in segments] if ends else segments
    return _limits(during, begin_s - transfer.began_s, spent, (transfer.began_s, transfer.end_s))


def _limits(
    segments: Sequence[SegmentSamples],
    handshake_s: float,
    spent: Mapping[Cause, float],
    span_s: tuple[float, float],
) -> TransferLimits:
    cause = largest(spent)
    times = defaultdict(float, times_by_limit(spent))
    seconds = {limit: round(times[limit], 9) for limit in Limit}
    waited = cause is None or handshake_s >= seconds[cause.limit]
    return TransferLimits(
        limited_by=Limit.HANDSHAKE if cause is None or waited else cause.limit,
        limited_section=None if cause is None or waited else segments[cause.section].segment.name,
        limits_source=", ".join(dict.fromkeys(segment.evidence for segment in segments)),
        handshake_s=round(handshake_s, 9),
        outage_s=seconds[Limit.OUTAGE],
        path_s=seconds[Limit.PATH],
        processor_limited_s=seconds[Limit.PROCESSOR],
        growth_s=seconds[Limit.GROWTH],
        cwnd_s=seconds[Limit.CWND],
        recovery_s=seconds[Limit.RECOVERY],
        idle_recovery_s=seconds[Limit.IDLE_RECOVERY],
        application_s=seconds[Limit.APPLICATION],
        plateau_s=seconds[Limit.PLATEAU],
        rwnd_limited_s=seconds[Limit.RECEIVE_WINDOW],
        sndbuf_limited_s=seconds[Limit.SEND_BUFFER],
        retransmits=_sum(segment.lost for segment in segments),
        timeouts=_sum(segment.timeouts for segment in segments),
        **dict(bottleneck_use(segments, *span_s)),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    """Over all sections; None if one of them does not tell."""
    known = list(counts)
    return None if None in known else sum(count or 0 for count in known)
