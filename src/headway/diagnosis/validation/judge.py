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


def judge(kinds_of_evidence: Sequence[Evidence], runs: Sequence[str] = ()) -> tuple[Check, ...]:
    """Checks of the evidence of a contender's runs in a cell.

    Repetitions meet paths of their own: delays, rates and losses may be drawn by their seeds. Each delay and each
    rate is judged beside what its own run was to meet, and of all runs the one is told that is farthest off.
    Counts are added up, and so is what is expected of them.

    Args:
        kinds_of_evidence: what each run left.
        runs: their names, in the same order, which notes tell where runs differ.
    """
    names = runs if len(kinds_of_evidence) > 1 and runs else [""] * len(kinds_of_evidence)
    named = tuple(zip(kinds_of_evidence, names, strict=True))
    echoes = [(evidence.echoes, name) for evidence, name in named if evidence.echoes]
    rates = [(evidence.rates, name) for evidence, name in named if evidence.rates]
    crossings: dict[tuple[str, str], list[tuple[Crossing, str]]] = defaultdict(list)
    for course, name in named:
        for crossing in course.crossings:
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


def _echo_checks(pairs: Sequence[tuple[Echoes, str]]) -> list[Check]:
    pings = sum(len(echoes.rtts_ms) for echoes, _ in pairs)
    note = f"the one of {pings} pings that is farthest off; the sum of all delays"
    rtts = (
        Check(
            CONTROL_RTT,
            echoes.between,
            echoes.span.stated_ms,
            rtt,
            echoes.span.least_ms,
            echoes.span.lone_ms,
            "ms",
            _noted(note, run),
        )
        for echoes, run in pairs
        for rtt in echoes.rtts_ms
    )
    lossy = [
        _Lost(echoes.loss, echoes.sent - len(echoes.rtts_ms), echoes.sent)
        for echoes, _ in pairs
        if echoes.loss
    ]
    lost = _loss_checks(CONTROL_LOSS, pairs[0][0].between, lossy, "round trips")
    return [*_farthest(rtts, _from_expected), *lost]


def _crossing_checks(pairs: Sequence[tuple[Crossing, str]]) -> Iterator[Check]:
    first, _ = pairs[0]
    missed = sum(crossing.missed for crossing, _ in pairs)
    note = "packets that captures found no room for; such captures prove nothing else"
    yield Check(f"missed by captures {first.way}", first.between, 0, missed, 0, 0, "packets", note)
    whole = [(crossing, run) for crossing, run in pairs if not crossing.missed]
    yield from _count_checks([crossing for crossing, _ in whole])
    yield from _delay_checks(whole)


def _count_checks(crossings: Sequence[Crossing]) -> Iterator[Check]:
    if even := [
        crossing for crossing in crossings if crossing.loss
    ]:  # or else a packet may be duplicated or damaged
        way, between = even[0].way, even[0].between
        strangers = sum(crossing.strangers for crossing in even)
        note = "packets at the receiver that its sender's capture lacks"
        yield Check(f"strangers {way}", between, 0, strangers, 0, 0, "packets", note)
    if counted := [crossing for crossing in crossings if crossing.queue_drops is not None]:
        way, between = counted[0].way, counted[0].between
        off, packets = (
            sum(map(_unexplained, counted)),
            sum(crossing.packets for crossing in counted),
        )
        note = f"packets, of {packets}, missing from the receiver's capture and from drop counters"
        yield Check(f"unexplained losses {way}", between, 0, off, 0, 0, "packets", note)
        lost = [
            _Lost(crossing.loss, crossing.path_drops or 0, _met_loss(crossing))
            for crossing in counted
            if crossing.loss
        ]
        if any(kind.of for kind in lost):
            yield from _loss_checks(f"{LOSS} {way}", between, lost, "packets past the queue")


def _dropped(crossing: Crossing) -> int:
    return (crossing.queue_drops or 0) + (crossing.path_drops or 0)


def _met_loss(crossing: Crossing) -> int:
    """How many packets came to where the path loses them: those that no queue dropped or held."""
    on_their_way = max(crossing.missing - _dropped(crossing), 0)
    return crossing.packets - (crossing.queue_drops or 0) - on_their_way


def _unexplained(crossing: Crossing) -> int:
    """By how much captures and counters differ, as far as packets on their way do not explain it."""
    dropped, surely_lost = _dropped(crossing), crossing.missing - crossing.unfinished
    return max(surely_lost - dropped, dropped - crossing.missing, 0)


@dataclass(frozen=True)
class _Lost:
    """What a run lost: by its path's loss, so many of so many."""

    loss: Loss
    lost: int
    of: int


def _loss_checks(name: str, where: str, lost_kinds: Sequence[_Lost], what: str) -> list[Check]:
    """Losses of all runs together, none of no run.

    Where runs lose different shares, their sum varies less than a binomial one of the mean share (Hoeffding 1956).
    """
    if not lost_kinds:
        return []
    lost, of = sum(kind.lost for kind in lost_kinds), sum(kind.of for kind in lost_kinds)
    trials = math.fsum(effective_trials(kind.of, kind.loss.correlation) for kind in lost_kinds)
    share = (
        math.fsum(kind.loss.share * kind.of for kind in lost_kinds) / of
        if of
        else lost_kinds[0].loss.share
    )
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


def _delay_checks(pairs: Sequence[tuple[Crossing, str]]) -> Iterator[Check]:
    note = "one-way delay of the fastest packet: the sum of the delays"
    least = (
        Check(
            f"{LEAST_DELAY} {crossing.way}",
            crossing.between,
            crossing.span.stated_ms,
            crossing.least_ms,
            crossing.span.least_ms,
            crossing.span.lone_ms,
            "ms",
            _noted(note, run),
        )
        for crossing, run in pairs
    )
    yield from _farthest(least, _from_expected)  # Where nothing arrived, drops tell.
    note = (
        "one-way delay of the slowest packet: with all queues full at most the upper bound, and if the only queue "
        "dropped packets at least that of a full one less a packet"
    )
    greatest = (
        Check(
            f"greatest delay {crossing.way}",
            crossing.between,
            crossing.span.greatest_ms,
            crossing.greatest_ms,
            _least_of_slowest_ms(crossing),
            crossing.span.greatest_ms,
            "ms",
            _noted(note, run),
        )
        for crossing, run in pairs
        if crossing.span.greatest_ms is not None
    )
    yield from _farthest(greatest, _above_expected)


def _least_of_slowest_ms(crossing: Crossing) -> float:
    """A queue that dropped packets had been full."""
    full = crossing.span.full_ms if crossing.met_full_queue else None
    return crossing.span.least_ms if full is None else full


def _rate_checks(pairs: Sequence[tuple[Rates, str]]) -> list[Check]:
    note = "most over a second; all of the rate if the queue stood"
    busiest = (
        Check(
            LINK_RATE,
            rates.between,
            rates.link_mbit,
            rates.busiest_mbit,
            rates.link_mbit - _FRAME_MBIT if rates.standing else 0,
            rates.link_mbit + _FRAME_MBIT,
            "Mbit/s",
            _noted(note, run),
        )
        for rates, run in pairs
    )
    note = "median second of the second half; at most the link's rate less headers"
    steady = (
        Check(
            STEADY_GOODPUT,
            rates.between,
            rates.payload_mbit,
            rates.steady_mbit,
            0,
            rates.payload_mbit + _RECORD_MBIT,
            "Mbit/s",
            _noted(note, run),
        )
        for rates, run in pairs
    )
    return [*_farthest(busiest, _above_expected), *_farthest(steady, _above_expected)]
