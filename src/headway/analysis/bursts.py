"""Lengths of the bursts that packets were in, of several runs together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from operator import mul

from headway.columns import LONGEST_BURST

_FROM = (1, 2, 3, 5, 9, 17, 33, LONGEST_BURST, LONGEST_BURST + 1)
CLASSES = (
    *(f"{a}–{b - 1}" if b - a > 1 else str(a) for a, b in pairwise(_FROM[:-1])),
    f"{LONGEST_BURST} and more",
)
"""Of lengths, in packets: 1, 2, 3 to 4, 5 to 8 ..."""


@dataclass(frozen=True)
class Bursts:
    """How packets were spread over bursts.

    Attributes:
        packets: how many were in bursts of 1, 2, 3 ... packets, and of `LONGEST_BURST` and more.
        mean: length of the burst that a packet is in, in the mean over packets.
    """

    packets: tuple[int, ...]
    mean: float

    @classmethod
    def of(cls, runs: Sequence[Sequence[int]], means: Sequence[float]) -> Bursts | None:
        """Those of several runs, as columns have packets and mean of each; None without any."""
        counts = [sum(run) for run in runs]
        if not sum(counts):
            return None
        mean = sum(map(mul, counts, means)) / sum(counts)
        return cls(tuple(map(sum, zip_longest(*runs, fillvalue=0))), mean)

    @property
    def shares(self) -> tuple[float, ...]:
        """Of packets, by `CLASSES`."""
        return tuple(
            sum(self.packets[first - 1 : after - 1]) / sum(self.packets)
            for first, after in pairwise(_FROM)
        )
