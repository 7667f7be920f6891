"""Judging evidence: of one run, or of several runs of a contender in a cell together."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from headway.diagnosis.validation.evidence import Crossing, Echoes, Evidence, Rates
from headway.diagnosis.validation.expected import Loss
from headway.selftest.check import Check
from headway.selftest.intervals import effective_trials, share_interval
from headway.study.queue import FRAME_BYTES

PASSED = "passed"
CONTROL_RTT, CONTROL_LOSS = "control RTT", "control loss"
LINK_RATE, STEADY_GOODPUT = "link rate", "steady goodput"
LOSS, LEAST_DELAY = "loss", "least delay"
"""Names of checks; to the last two belongs a direction, as ``loss down``."""
_FRAME_MBIT = 2 * FRAME_BYTES * 8e-6
"""A frame at either end of a second may count or not."""
_RECORD_MBIT = 16384 * 8e-6
"""So may the largest TLS record (RFC 8446, 5.1), which a receiver gets all at once."""


def judge(found: Sequence[Evidence], runs: Sequence[str] = ()) -> tuple[Check, ...]:
    """Checks of the evidence of a contender's runs in a cell.

    Repetitions meet paths of their own: delays, rates and losses may be drawn by their seeds. Each delay and each
    rate is judged beside what its own run was to meet, and of all runs the one is told that is farthest off.
    Counts are added up, and so is what is expected of them.

    Args:
        found: what each run left.
        runs: their names, in the same order, which notes tell where runs differ.
    """
    names = runs if len(found) > 1 and runs else [""] * len(found)
    named = tuple(zip(found, names, strict=True))
    echoes = [(one.echoes, name) for one, name in named if one.echoes]
    rates = [(one.rates, name) for one, name in named if one.rates]
    crossings: dict[tuple[str, str], list[tuple[Crossing, str]]] = defaultdict(list)
    for one, name in named:
        for crossing in one.crossings:
            crossings[crossing.between, crossing.way].append((crossing, name))
    checks = _echo_checks(echoes) if echoes else []
    for same in crossings.values():
        checks += _crossing_checks(same)
    return tuple(checks + _rate_checks(rates))


def verdict(checks: Iterable[Check]) -> str | None:
    """`PASSED`, or what failed; None if nothing was checked."""
    known = list(checks)
    failed = "; ".join(str(check) for check in known if not check.passed)
    return failed or (PASSED if known else None)


def _farthest(checks: Iterable[Check], off: Callable[[Check], float]) -> list[Check]:
    """The check that is farthest beyond its bounds or, if all pass, farthest off; none of none."""
    known = [check for check in checks if check.measured is not None]
    return [max(known, key=lambda check: (check.excess, off(check)))] if known else []


def _from_expected(check: Check) -> float:
    return abs(_above_expected(check))


def _above_expected(check: Check) -> float:
    return (check.measured or 0.0) - check.expected


def _noted(note: str, run: str) -> str:
    return f"{note}; the run that is farthest off is {run}" if run else note


def _echo_checks(found: Sequence[tuple[Echoes, str]]) -> list[Check]:
    pings = sum(len(one.rtts_ms) for one, _ in found)
    note = f"the one of {pings} pings that is farthest off; the sum of all delays"
    rtts = (
        Check(
            CONTROL_RTT,
            one.between,
            one.span.stated_ms,
            rtt,
            one.span.least_ms,
            one.span.lone_ms,
            "ms",
            _noted(note, run),
        )
        for one, run in found
        for rtt in one.rtts_ms
    )
    lossy = [_Lost(one.loss, one.sent - len(one.rtts_ms), one.sent) for one, _ in found if one.loss]
    lost = _loss_checks(CONTROL_LOSS, found[0][0].between, lossy, "round trips")
    return [*_farthest(rtts, _from_expected), *lost]


def _crossing_checks(found: Sequence[tuple[Crossing, str]]) -> Iterator[Check]:
    first, _ = found[0]
    missed = sum(one.missed for one, _ in found)
    note = "packets that captures found no room for; such captures prove nothing else"
    yield Check(f"missed by captures {first.way}", first.between, 0, missed, 0, 0, "packets", note)
    whole = [(one, run) for one, run in found if not one.missed]
    yield from _count_checks([one for one, _ in whole])
    yield from _delay_checks(whole)


def _count_checks(found: Sequence[Crossing]) -> Iterator[Check]:
    if even := [one for one in found if one.loss]:  # or else a packet may be duplicated or damaged
        way, between = even[0].way, even[0].between
        strangers = sum(one.strangers for one in even)
        note = "packets at the receiver that its sender's capture lacks"
        yield Check(f"strangers {way}", between, 0, strangers, 0, 0, "packets", note)
    if counted := [one for one in found if one.queue_drops is not None]:
        way, between = counted[0].way, counted[0].between
        off, packets = sum(map(_unexplained, counted)), sum(one.packets for one in counted)
        note = f"packets, of {packets}, missing from the receiver's capture and from drop counters"
        yield Check(f"unexplained losses {way}", between, 0, off, 0, 0, "packets", note)
        lost = [_Lost(one.loss, one.path_drops or 0, _met_loss(one)) for one in counted if one.loss]
        if any(one.of for one in lost):
            yield from _loss_checks(f"{LOSS} {way}", between, lost, "packets past the queue")


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


@dataclass(frozen=True)
class _Lost:
    """What a run lost: by its path's loss, so many of so many."""

    loss: Loss
    lost: int
    of: int


def _loss_checks(name: str, where: str, found: Sequence[_Lost], what: str) -> list[Check]:
    """Losses of all runs together, none of no run.

    Where runs lose different shares, their sum varies less than a binomial one of the mean share (Hoeffding 1956).
    """
    if not found:
        return []
    lost, of = sum(one.lost for one in found), sum(one.of for one in found)
    trials = math.fsum(effective_trials(one.of, one.loss.correlation) for one in found)
    share = math.fsum(one.loss.share * one.of for one in found) / of if of else found[0].loss.share
    low, high = share_interval(share, trials)
    return [
        Check(
            name,
            where,
            100 * share,
            100 * lost / of if of else None,
            100 * low,
            100 * high,
            "%",
            f"{lost} of {of} {what}, binomial interval",
        )
    ]


def _delay_checks(found: Sequence[tuple[Crossing, str]]) -> Iterator[Check]:
    note = "one-way delay of the fastest packet: the sum of the delays"
    least = (
        Check(
            f"{LEAST_DELAY} {one.way}",
            one.between,
            one.span.stated_ms,
            one.least_ms,
            one.span.least_ms,
            one.span.lone_ms,
            "ms",
            _noted(note, run),
        )
        for one, run in found
    )
    yield from _farthest(least, _from_expected)  # Where nothing arrived, drops tell.
    note = (
        "one-way delay of the slowest packet: with all queues full at most the upper bound, and if the only queue "
        "dropped packets at least that of a full one less a packet"
    )
    greatest = (
        Check(
            f"greatest delay {one.way}",
            one.between,
            one.span.greatest_ms,
            one.greatest_ms,
            _least_of_slowest_ms(one),
            one.span.greatest_ms,
            "ms",
            _noted(note, run),
        )
        for one, run in found
        if one.span.greatest_ms is not None
    )
    yield from _farthest(greatest, _above_expected)


def _least_of_slowest_ms(one: Crossing) -> float:
    """A queue that dropped packets had been full."""
    full = one.span.full_ms if one.met_full_queue else None
    return one.span.least_ms if full is None else full


def _rate_checks(found: Sequence[tuple[Rates, str]]) -> list[Check]:
    note = "most over a second; all of the rate if the queue stood"
    busiest = (
        Check(
            LINK_RATE,
            one.between,
            one.link_mbit,
            one.busiest_mbit,
            one.link_mbit - _FRAME_MBIT if one.standing else 0,
            one.link_mbit + _FRAME_MBIT,
            "Mbit/s",
            _noted(note, run),
        )
        for one, run in found
    )
    note = "median second of the second half; at most the link's rate less headers"
    steady = (
        Check(
            STEADY_GOODPUT,
            one.between,
            one.payload_mbit,
            one.steady_mbit,
            0,
            one.payload_mbit + _RECORD_MBIT,
            "Mbit/s",
            _noted(note, run),
        )
        for one, run in found
    )
    return [*_farthest(busiest, _above_expected), *_farthest(steady, _above_expected)]
