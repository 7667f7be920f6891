"""Judging evidence: of one run, or of several runs of a contender in a cell together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from headway.diagnosis.validation.evidence import Crossing, Echoes, Evidence, Rates
from headway.diagnosis.validation.expected import Loss
from headway.selftest.check import Check
from headway.selftest.intervals import effective_trials, share_interval
from headway.study.path import FRAME_BYTES

PASSED = "passed"
CONTROL_RTT, CONTROL_LOSS = "control RTT", "control loss"
LINK_RATE, STEADY_GOODPUT = "link rate", "steady goodput"
LOSS, LEAST_DELAY = "loss", "least delay"
"""Names of checks; to the last two belongs a direction, as ``loss down``."""
_FRAME_MBIT = 2 * FRAME_BYTES * 8e-6
"""A frame at either end of a second may count or not."""
_RECORD_MBIT = 16384 * 8e-6
"""So may the largest TLS record (RFC 8446, 5.1), which a receiver gets all at once."""


def judge(found: Sequence[Evidence]) -> tuple[Check, ...]:
    """Checks of the evidence of runs with the same setting.

    Counts are added up, of delays the extremes count.
    """
    echoes = [one.echoes for one in found if one.echoes]
    rates = [one.rates for one in found if one.rates]
    crossings: dict[tuple[str, str], list[Crossing]] = defaultdict(list)
    for one in found:
        for crossing in one.crossings:
            crossings[crossing.between, crossing.way].append(crossing)
    checks: list[Check] = []
    if echoes:
        checks += _echo_checks(echoes)
    for same in crossings.values():
        checks += _crossing_checks(same)
    if rates:
        checks += _rate_checks(rates)
    return tuple(checks)


def verdict(checks: Iterable[Check]) -> str | None:
    """`PASSED`, or what failed; None if nothing was checked."""
    known = list(checks)
    failed = "; ".join(str(check) for check in known if not check.passed)
    return failed or (PASSED if known else None)


def _echo_checks(found: Sequence[Echoes]) -> Iterator[Check]:
    first = found[0]
    rtts = [rtt for one in found for rtt in one.rtts_ms]
    span, sent = first.span, sum(one.sent for one in found)
    if rtts:
        farthest = max(rtts, key=lambda rtt: abs(rtt - span.stated_ms))
        yield Check(
            CONTROL_RTT,
            first.between,
            span.stated_ms,
            farthest,
            span.least_ms,
            span.lone_ms,
            "ms",
            f"the one of {len(rtts)} pings that is farthest off; the sum of all delays",
        )
    if first.loss:
        lost = sent - len(rtts)
        yield _loss_check(CONTROL_LOSS, first.between, first.loss, lost, sent, "round trips")


def _crossing_checks(found: Sequence[Crossing]) -> Iterator[Check]:
    missed = sum(one.missed for one in found)
    note = "packets that captures found no room for; such captures tell nothing else"
    yield Check(
        f"missed by captures {found[0].way}", found[0].between, 0, missed, 0, 0, "packets", note
    )
    whole = [one for one in found if not one.missed]
    if whole:
        yield from _loss_checks(whole)
        yield from _delay_checks(whole)


def _loss_checks(found: Sequence[Crossing]) -> Iterator[Check]:
    first, packets = found[0], sum(one.packets for one in found)
    strangers = sum(one.strangers for one in found)
    if first.loss:  # or else a packet may be duplicated or damaged
        note = "packets at the receiver that its sender's capture lacks"
        yield Check(f"strangers {first.way}", first.between, 0, strangers, 0, 0, "packets", note)
    if first.queue_drops is None:
        return
    off = sum(_unexplained(one) for one in found)
    note = f"packets, of {packets}, missing from the receiver's capture and from drop counters"
    yield Check(f"unexplained losses {first.way}", first.between, 0, off, 0, 0, "packets", note)
    trials = sum(_met_loss(one) for one in found)
    if first.loss and trials:
        lost = sum(one.path_drops or 0 for one in found)
        yield _loss_check(
            f"{LOSS} {first.way}", first.between, first.loss, lost, trials, "packets past the queue"
        )


def _dropped(one: Crossing) -> int:
    return (one.queue_drops or 0) + (one.path_drops or 0)


def _met_loss(one: Crossing) -> int:
    """How many packets came to where the path loses them: those that no queue dropped or held."""
    on_their_way = max(one.missing - _dropped(one), 0)
    return one.packets - (one.queue_drops or 0) - on_their_way


def _unexplained(one: Crossing) -> int:
    """By how much captures and counters differ, as far as packets on their way do not explain it."""
    dropped, surely_lost = _dropped(one), one.missing - one.unfinished
    return max(surely_lost - dropped, dropped - one.missing, 0)


def _loss_check(name: str, where: str, loss: Loss, lost: int, of: int, what: str) -> Check:
    trials = effective_trials(of, loss.correlation)
    low, high = share_interval(loss.share, trials)
    return Check(
        name,
        where,
        100 * loss.share,
        100 * lost / of if of else None,
        100 * low,
        100 * high,
        "%",
        f"{lost} of {of} {what}, binomial interval",
    )


def _delay_checks(found: Sequence[Crossing]) -> Iterator[Check]:
    first = found[0]
    span = first.span
    least = _extreme(min, (one.least_ms for one in found))
    greatest = _extreme(max, (one.greatest_ms for one in found))
    if least is None:
        return  # Nothing arrived; whether that is as it must be, drops tell.
    note = "one-way delay of the fastest packet: the sum of the delays"
    yield Check(
        f"{LEAST_DELAY} {first.way}",
        first.between,
        span.stated_ms,
        least,
        span.least_ms,
        span.lone_ms,
        "ms",
        note,
    )
    if span.greatest_ms is not None:
        note = "one-way delay of the slowest packet: with all queues full at most the upper bound"
        bounds = span.least_ms, span.greatest_ms
        yield Check(
            f"greatest delay {first.way}",
            first.between,
            span.greatest_ms,
            greatest,
            *bounds,
            "ms",
            note,
        )


def _extreme(
    choose: Callable[[list[float]], float], values: Iterable[float | None]
) -> float | None:
    known = [value for value in values if value is not None]
    return choose(known) if known else None


def _rate_checks(found: Sequence[Rates]) -> Iterator[Check]:
    first = found[0]
    standing = [one for one in found if one.standing]
    busiest = max(one.busiest_mbit for one in found)
    yield Check(
        LINK_RATE,
        first.between,
        first.link_mbit,
        busiest,
        first.link_mbit - _FRAME_MBIT if standing else 0,
        first.link_mbit + _FRAME_MBIT,
        "Mbit/s",
        "most over a second; all of the rate if the queue stood",
    )
    steady = [one.steady_mbit for one in found if one.steady_mbit is not None]
    if steady:
        yield Check(
            STEADY_GOODPUT,
            first.between,
            first.payload_mbit,
            max(steady),
            0,
            first.payload_mbit + _RECORD_MBIT,
            "Mbit/s",
            "median second of the second half; at most the link's rate less headers",
        )
