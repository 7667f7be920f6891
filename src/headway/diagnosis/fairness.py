"""Fairness of flows: Jain's index, and the time until shares are even."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

_WINDOW_S = 1.0
"""Shares are taken over so long when it is asked whether they are even."""
_STEP_S = 0.1
_EVEN = 0.8
"""Shares are even if the least of them is this part of an equal one."""


def jain(values: Sequence[float]) -> float:
    """Jain's fairness index: the square of the sum over n times the sum of squares (Jain et al. 1984)."""
    return math.fsum(values) ** 2 / (len(values) * math.fsum(value**2 for value in values))


def evened_s(
    delivered: Sequence[Callable[[float, float], float]], begin_s: float, end_s: float
) -> float | None:
    """After how long flows first share evenly for a second: each has 80 % of an equal share.

    For two flows this is delta-fairness with a delta of 0.2 (Bansal et al. 2001; RFC 5166, section 2.6).

    Args:
        delivered: of every flow, what it got from a time until another.
        begin_s: when the last flow began.
        end_s: when the first ended.

    Returns:
        Seconds after ``begin_s``; None if they never do.
    """
    steps = int((end_s - begin_s - _WINDOW_S) / _STEP_S + 1e-6)
    for step in range(max(steps, -1) + 1):
        at_s = begin_s + step * _STEP_S
        got = [bytes_between(at_s, at_s + _WINDOW_S) for bytes_between in delivered]
        if min(got) >= _EVEN * math.fsum(got) / len(got) > 0:
            return step * _STEP_S
    return None
