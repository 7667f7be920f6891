"""Fates of a packet by a path's random losses, duplicates and damages, as probabilities.

The number of undamaged copies that arrive of one packet has a generating function; that of a
chain of links is the composition of theirs (the theory of branching processes). On each link, as
in the kernel's netem: a packet that is duplicated and lost arrives once, and the second copy of
one that is duplicated may itself be lost.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.polynomial import Polynomial

from headway.contract.probe_orders import SMALL_FRAME_BYTES
from headway.selftest.ideal import Course
from headway.study.path import Direction

_HARMLESS_BYTES = 6
"""A flipped bit in the source's hardware address changes nothing for the receiver."""
_UDP_BYTES = SMALL_FRAME_BYTES - 34
"""A flipped bit outside of these is noticed, or harmless, at the next router."""


@dataclass(frozen=True)
class Fate:
    """What becomes of small packets on a course.

    Attributes:
        lost: probability that no undamaged copy arrives.
        repeated: probability that several arrive.
        correlation: of losses of neighbours, the strongest of any link.
    """

    lost: float
    repeated: float
    correlation: float


def fate(course: Course) -> Fate:
    """What becomes of small packets at the beginning of a course's time."""
    copies = Polynomial([0.0, 1.0])
    for stage in reversed(course.stages):
        copies = _copies(stage.direction)(copies)
    lost, once = (*copies.coef, 0.0)[:2]
    correlation = max(_correlation(stage.direction) for stage in course.stages)
    return Fate(float(lost), max(float(1 - lost - once), 0.0), correlation)


def _copies(direction: Direction) -> Polynomial:
    loss, duplication = float(direction.loss.mean), float(direction.duplication)
    damage = float(direction.corruption) * (1 - _HARMLESS_BYTES / SMALL_FRAME_BYTES)
    none = loss * (1 - duplication)
    two = duplication * (1 - loss) * (1 - loss)
    intact = Polynomial([damage, 1 - damage])
    composed = Polynomial([none, 1 - none - two, two])(intact)
    assert isinstance(composed, Polynomial)
    return composed


def _correlation(direction: Direction) -> float:
    loss = direction.loss
    return 1 - loss.enter_bad - loss.leave_bad if loss.burst > 1 else 0.0


def damaged_share(course: Course) -> float | None:
    """Share of the arriving frames that are visibly damaged.

    None if several links damage packets, where the shares are not worked out.
    """
    damaging = [index for index, s in enumerate(course.stages) if s.direction.corruption]
    if not damaging:
        return 0.0
    if len(damaging) > 1:
        return None
    share = float(course.stages[damaging[0]].direction.corruption)
    if damaging[0] == len(course.stages) - 1:
        return share * (1 - _HARMLESS_BYTES / SMALL_FRAME_BYTES)
    seen = share * _UDP_BYTES / SMALL_FRAME_BYTES
    return seen / (1 - share + seen + share * _HARMLESS_BYTES / SMALL_FRAME_BYTES)
