"""The order in which things began, of which files keep another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

_Item = TypeVar("_Item")


def in_time(items: Sequence[_Item], began_s: Sequence[float | None]) -> list[_Item]:
    """Things in the order in which they began; what began at the same time stays in order.

    What has no time follows what it follows in its file.

    Args:
        items: in the order of their file.
        began_s: when each began, in seconds; None where that is not known.
    """
    times: list[float] = []
    before = float("-inf")
    for time_s in began_s:
        # What is no number cannot be sorted by.
        before = time_s if time_s is not None and time_s == time_s else before
        times.append(before)
    return [items[at] for at in sorted(range(len(items)), key=times.__getitem__)]
