"""Times that packets were in a queue, counted in classes of an eighth of an octave.

The lab kernel counts them so (patch ``dualpi2-sojourn-times``): below 8 us each microsecond has a class, and from there on
each octave has eight. The last class has what is longer than the others.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

_OCTAVE_BITS = 3
_OCTAVE = 1 << _OCTAVE_BITS


def added(counts: Sequence[int], others: Sequence[int]) -> tuple[int, ...]:
    """Packets by class of two queues together."""
    return tuple(a + b for a, b in itertools.zip_longest(counts, others, fillvalue=0))


def begin_us(number: int) -> int:
    """The shortest time of a class, microseconds."""
    if number < _OCTAVE:
        return number
    octave, eighth = divmod(number, _OCTAVE)
    return (_OCTAVE + eighth) << (octave - 1)


def quantile_ms(counts: Sequence[int], share: float) -> float | None:
    """The time that a share of the packets was in the queue at most; None without packets.

    It is the end of the class of that packet: up to an eighth more than the time itself, never less.

    Args:
        counts: packets by class.
        share: 0 to 1.
    """
    total = sum(counts)
    if not total:
        return None
    reached = itertools.accumulate(counts)
    number = next(place for place, packets in enumerate(reached) if packets >= share * total)
    return begin_us(number + 1) / 1000


def mean_ms(counts: Sequence[int]) -> float | None:
    """The mean time of a packet in the queue, of the middles of classes; None without packets."""
    total = sum(counts)
    if not total:
        return None
    twice_us = sum(
        packets * (begin_us(place) + begin_us(place + 1)) for place, packets in enumerate(counts)
    )
    return twice_us / 2 / total / 1000
