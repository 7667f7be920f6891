"""Quantiles of what was measured: values that occurred, none between them."""

from __future__ import annotations

import math
from collections.abc import Sequence


def at_share(ordered: Sequence[float], share: float) -> float:
    """The least value that so large a share of values do not exceed."""
    # A share such as 0.95 of 20 is a hair above 19.
    place = math.ceil(share * len(ordered) - 1e-9)
    return ordered[max(place, 1) - 1]
