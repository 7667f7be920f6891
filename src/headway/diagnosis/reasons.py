"""Reasons why a transfer went no faster, from sample to sample.

Told from the bottleneck's counters and the state of the connections' senders; ``docs/why.md`` has
the rules in words.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from headway.diagnosis.segment import Moment, SegmentSamples, StateSource
from headway.diagnosis.sender import Phase, Sender
from headway.diagnosis.transfer import TimeSpan
from headway.study.queue import FRAME_BYTES

_BUSY_SHARE = 0.95
"""A link that carries this share of its rate is what limits the transfer."""
_GROWTH = 1.1
"""A transfer whose rate grew by this factor within a round trip is still opening its window."""

_PROBE_PACKETS = 2
"""What a time-out sends at first (RFC 9002, section 6.2.4)."""


class Limit(StrEnum):
    """What holds a transfer back; see ``docs/why.md``."""

    HANDSHAKE = "handshake"
    OUTAGE = "outage"
    PATH = "path"
    PROCESSOR = "processor"
    GROWTH = "growth"
    CWND = "congestion window"
    RECOVERY = "recovery"
    IDLE_RECOVERY = "idle recovery"
    RECEIVE_WINDOW = "receive window"
    SEND_BUFFER = "send buffer"
    APPLICATION = "application"
    PLATEAU = "plateau"


@dataclass(frozen=True)
class LimitedInterval:
    """Between two moments: for which share of it what held the transfer back."""

    begin_s: float
    end_s: float
    shares: dict[Limit, float]

    @property
    def limit(self) -> Limit:
        """What held it back for the largest share."""
        return max(self.shares, key=self.shares.__getitem__)


def intervals(segment: SegmentSamples) -> list[LimitedInterval]:
    """What held a segment's transfer back between each two moments."""
    return [
        LimitedInterval(before.at_s, after.at_s, _shares(segment, index))
        for index, (before, after) in enumerate(pairwise(segment.moments), start=1)
        if after.at_s > before.at_s
    ]


def _shares(segment: SegmentSamples, index: int) -> dict[Limit, float]:
    """Of an interval; whoever has something to send waits for the path where that is down."""
    shares = _shares_of_up_path(segment, index)
    before, after = segment.moments[index - 1 : index + 1]
    down = share_within(segment.segment.outages, before.at_s, after.at_s)
    if not down:
        return shares
    idle = shares.pop(Limit.APPLICATION, 0.0)
    return {
        Limit.APPLICATION: idle,
        Limit.OUTAGE: down * (1 - idle),
        **{limit: share * (1 - down) for limit, share in shares.items()},
    }


def _shares_of_up_path(segment: SegmentSamples, index: int) -> dict[Limit, float]:
    before, after = segment.moments[index - 1 : index + 1]
    if _path_is_used(before, after, segment.segment.rate_mbit) and _takes_part(before, after):
        return {Limit.PATH: 1.0}
    if _processor_is_used(before, after):
        return {Limit.PROCESSOR: 1.0}
    if segment.evidence is StateSource.COUNTERS:
        return _shares_by_counters(segment, index)
    votes = [_shares_of_sender(segment, index, key) for key in _decisive(before, after)]
    if not votes:
        return {Limit.APPLICATION: 1.0}
    return votes[0] if len(votes) == 1 else _together(votes)


def _together(votes: Sequence[Mapping[Limit, float]]) -> dict[Limit, float]:
    """What held several connections back: those that had data to send, each as much as the next.

    An idle connection does not count while another has data to send.
    """
    idle = min(vote.get(Limit.APPLICATION, 0.0) for vote in votes)
    shares: dict[Limit, float] = defaultdict(float)
    for vote in votes:
        for limit, share in vote.items():
            if limit is not Limit.APPLICATION:
                shares[limit] += share
    busy = math.fsum(shares.values())
    return {
        Limit.APPLICATION: idle,
        **{limit: share / busy * (1 - idle) for limit, share in shares.items() if busy},
    }


def _takes_part(before: Moment, after: Moment) -> bool:
    """Whether the connections, as far as they are known, have something on the way."""
    states = (*before.senders.values(), *after.senders.values())
    return not states or any(state.outstanding for state in states)


def _path_is_used(before: Moment, after: Moment, rate_mbit: float | None) -> bool:
    """Whether a queue stands, or the link carried what it can."""
    if min(before.backlog_bytes, after.backlog_bytes) >= 2 * FRAME_BYTES:
        return True
    if rate_mbit is None:
        return False
    possible = rate_mbit * 1e6 / 8 * (after.at_s - before.at_s)
    return after.sent_bytes - before.sent_bytes >= _BUSY_SHARE * possible


def _processor_is_used(before: Moment, after: Moment) -> bool:
    """Whether a core of the sender's or the receiver's host hardly ever paused."""
    possible = _BUSY_SHARE * (after.at_s - before.at_s)
    return any(
        after.busy_s[core] - before.busy_s.get(core, 0.0) >= possible for core in after.busy_s
    )


def _decisive(before: Moment, after: Moment) -> list[Hashable]:
    """The connections that sent; if none did, those that wait for something."""
    both = [key for key in after.senders if key in before.senders]
    sent = [
        key for key in both if after.senders[key].sent_packets > before.senders[key].sent_packets
    ]
    return sent or [key for key in both if before.senders[key].outstanding]


def _shares_of_sender(segment: SegmentSamples, index: int, key: Hashable) -> dict[Limit, float]:
    """By what a sender says of itself; time that it counts itself comes first."""
    span_s = segment.moments[index].at_s - segment.moments[index - 1].at_s
    before, after = (moment.senders[key] for moment in segment.moments[index - 1 : index + 1])
    idle_s = 0.0
    if _ends_in_repair(segment, index, key):
        idle_s += _idle_at_first_s(before, after, span_s)
    if after.sent_packets > before.sent_packets and _ends_in_repair(segment, index + 1, key):
        idle_s += _idle_at_last_s(after)
    by_limit = {
        Limit.RECEIVE_WINDOW: after.rwnd_limited_s - before.rwnd_limited_s,
        Limit.SEND_BUFFER: after.sndbuf_limited_s - before.sndbuf_limited_s,
        Limit.IDLE_RECOVERY: idle_s,
    }
    shares: dict[Limit, float] = {}
    left = 1.0
    for limit, time_s in by_limit.items():
        shares[limit] = min(max(time_s / span_s, 0.0), left)
        left -= shares[limit]
    shares[_reason(before, after)] = left
    return shares


def _reason(before: Sender, after: Sender) -> Limit:
    if after.phase is Phase.RECOVERY and (before.outstanding or after.outstanding):
        return Limit.RECOVERY
    if not (before.full or after.full):
        return Limit.APPLICATION
    sender = after if after.full else before
    return Limit.GROWTH if sender.phase is Phase.SLOW_START else Limit.CWND


def _idle_at_first_s(before: Sender, after: Sender, span_s: float) -> float:
    """Silence beyond a smoothed round trip after the last packet, although some are outstanding.

    When it ended within the span is known if little was sent since, or if a time-out ended it.
    """
    sent = after.sent_packets - before.sent_packets
    if not before.outstanding or before.srtt_s is None:
        return 0.0
    if sent <= _PROBE_PACKETS:
        resumed_s = span_s - after.silent_s if sent else span_s
    elif before.rto_s is not None and after.timeouts > before.timeouts:
        resumed_s = min(before.rto_s - before.silent_s, span_s)
    else:
        return 0.0
    return max(resumed_s - max(before.srtt_s - before.silent_s, 0.0), 0.0)


def _idle_at_last_s(after: Sender) -> float:
    """The same of a silence that began within a span and goes on after it."""
    if not after.outstanding or after.srtt_s is None:
        return 0.0
    return max(after.silent_s - after.srtt_s, 0.0)


def _ends_in_repair(segment: SegmentSamples, index: int, key: Hashable) -> bool:
    """Whether what a silent sender sends next repairs a loss; it may have waited for more data."""
    before = segment.moments[index - 1].senders[key]
    for moment in segment.moments[index:]:
        state = moment.senders.get(key, before)
        if state.sent_packets > before.sent_packets:
            return state.lost > before.lost or state.timeouts > before.timeouts
    return False


def _shares_by_counters(segment: SegmentSamples, index: int) -> dict[Limit, float]:
    """Without the sender's word: from what the bottleneck carried and the path dropped."""
    before, after = segment.moments[index - 1 : index + 1]
    rtt_s, span_s = segment.segment.rtt_s, after.at_s - before.at_s
    silent_s = 0.0
    if after.sent_packets - before.sent_packets == 0:
        silent_s = max(span_s - max(rtt_s - before.silent_s, 0.0), 0.0)
    silence = Limit.IDLE_RECOVERY if after.drops else Limit.APPLICATION
    share = silent_s / span_s
    shares = {silence: share, _reason_by_counters(segment, index): 1 - share}
    return (
        shares
        if segment.asked is None
        else _as_asked(shares, segment.asked, before.at_s, after.at_s)
    )


def share_within(spans: Sequence[TimeSpan], begin_s: float, end_s: float) -> float:
    """The share of an interval that spans, which are apart from each other, cover."""
    covered_s = math.fsum(
        max(min(span.end_s, end_s) - max(span.begin_s, begin_s), 0.0) for span in spans
    )
    return min(covered_s / (end_s - begin_s), 1.0)


def _as_asked(
    shares: Mapping[Limit, float], asked: Sequence[TimeSpan], begin_s: float, end_s: float
) -> dict[Limit, float]:
    """The shares of an interval in which a sender that was asked for nothing had nothing to send."""
    busy = share_within(asked, begin_s, end_s)
    by_limit = {limit: share * busy for limit, share in shares.items()}
    return by_limit | {Limit.APPLICATION: by_limit.get(Limit.APPLICATION, 0.0) + 1 - busy}


def _reason_by_counters(segment: SegmentSamples, index: int) -> Limit:
    before, after = segment.moments[index - 1 : index + 1]
    rtt_s, span_s = segment.segment.rtt_s, after.at_s - before.at_s
    # A drop is noticed a round trip later, and repaired after another one.
    noticed = _drops_at(segment.moments, after.at_s - rtt_s)
    if noticed > _drops_at(segment.moments, before.at_s - 2 * rtt_s):
        return Limit.RECOVERY
    if after.drops:
        return Limit.CWND
    window_s = max(rtt_s, 2 * span_s)
    middle = segment.sent_bytes_at(after.at_s - window_s)
    now = segment.sent_bytes_at(after.at_s) - middle
    earlier = middle - segment.sent_bytes_at(after.at_s - 2 * window_s)
    return Limit.GROWTH if now > _GROWTH * earlier else Limit.PLATEAU


def _drops_at(moments: list[Moment], at_s: float) -> int:
    index = bisect_right(moments, at_s, key=lambda moment: moment.at_s) - 1
    return moments[index].drops if index >= 0 else 0
