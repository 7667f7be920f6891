"""What held a run's transfer back: seconds by cause, for its record."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

from headway.results.hop import HopSamples, observe
from headway.results.reasons import Limit, intervals
from headway.results.transfer import Transfer


@dataclass(frozen=True)
class Limits:
    """What the samples of a run tell; seconds and bytes, None where there is no such thing."""

    limited_by: str | None = None
    limits_source: str | None = None
    upstream_limited_by: str | None = None
    handshake_s: float | None = None
    path_s: float | None = None
    growth_s: float | None = None
    cwnd_s: float | None = None
    recovery_s: float | None = None
    idle_recovery_s: float | None = None
    application_s: float | None = None
    plateau_s: float | None = None
    rwnd_limited_s: float | None = None
    sndbuf_limited_s: float | None = None
    retransmits: int | None = None
    timeouts: int | None = None
    utilisation: float | None = None
    queue_peak_bytes: int | None = None
    queue_drops: int | None = None
    path_drops: int | None = None


def find_limits(run_directory: Path, transfer: Transfer) -> Limits:
    """Tell what limited a run that went well, from what it left in its directory."""
    hops = observe(run_directory, transfer)
    if transfer.end_s is None or not hops or len(hops[0].moments) < 2:
        return Limits()
    spent = _spent(hops[0], transfer)
    upstream = _upstream_limited_by(hops[1], transfer) if len(hops) > 1 else None
    return _limits(hops[0], spent, upstream, transfer.end_s)


def _limits(
    hop: HopSamples, spent: dict[Limit, float], upstream: Limit | None, end_s: float
) -> Limits:
    last, rate_mbit = hop.moments[-1], hop.hop.rate_mbit
    known = hop.last_states.values()
    return Limits(
        limited_by=max(spent, key=spent.__getitem__),
        limits_source=hop.evidence,
        upstream_limited_by=upstream,
        handshake_s=spent[Limit.HANDSHAKE],
        path_s=spent[Limit.PATH],
        growth_s=spent[Limit.GROWTH],
        cwnd_s=spent[Limit.CWND],
        recovery_s=spent[Limit.RECOVERY],
        idle_recovery_s=spent[Limit.IDLE_RECOVERY],
        application_s=spent[Limit.APPLICATION],
        plateau_s=spent[Limit.PLATEAU],
        rwnd_limited_s=spent[Limit.RECEIVE_WINDOW],
        sndbuf_limited_s=spent[Limit.SEND_BUFFER],
        retransmits=sum(state.lost for state in known) if known else None,
        timeouts=sum(state.timeouts for state in known) if known else None,
        utilisation=last.sent_bytes * 8e-6 / (rate_mbit * end_s) if rate_mbit and end_s else None,
        queue_peak_bytes=max(moment.backlog_bytes for moment in hop.moments),
        queue_drops=last.queue_drops,
        path_drops=last.path_drops,
    )


def _spent(hop: HopSamples, transfer: Transfer) -> dict[Limit, float]:
    """Seconds by what held the transfer back; all together they are as long as the transfer.

    What the client receives at a time was sent a propagation delay earlier.
    """
    delay_s, end_s = hop.hop.delay_s, transfer.end_s or 0.0
    begins_s = hop.begins_s(transfer)
    spent: dict[Limit, float] = defaultdict(float)
    spent[Limit.HANDSHAKE] = begins_s + delay_s
    for interval in intervals(hop):
        begin_s = max(interval.begin_s, begins_s)
        span_s = min(interval.end_s, end_s - delay_s) - begin_s
        if span_s > 0:
            for limit, share in interval.shares.items():
                spent[limit] += share * span_s
    return defaultdict(float, {limit: round(time_s, 9) for limit, time_s in spent.items()})


def _upstream_limited_by(hop: HopSamples, transfer: Transfer) -> Limit | None:
    """What held the server back from its first byte until it had sent all to the proxy."""
    last_s = max((m.at_s for m in hop.moments if not m.silent_s), default=0.0) + hop.hop.delay_s
    spent = _spent(hop, replace(transfer, end_s=min(transfer.end_s or last_s, last_s)))
    del spent[Limit.HANDSHAKE]
    return max(spent, key=spent.__getitem__, default=None)
