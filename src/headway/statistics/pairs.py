"""Numbers of pairs of which a difference can be significant."""

from __future__ import annotations

import itertools

PAIRED_ALPHA = 0.05
"""Level of the verdict: Wilcoxon's test of pairs, or of places where nothing pairs the runs."""


def smallest_p(pairs: int) -> float:
    """The p-value of so many pairs that all point the same way."""
    return min(1.0, 2.0 ** (1 - pairs))


def fewest_pairs(comparisons: int = 1) -> int:
    """The smallest number of pairs of which a difference can be significant, alone among so many comparisons."""
    return next(n for n in itertools.count(1) if smallest_p(n) * comparisons < PAIRED_ALPHA)
