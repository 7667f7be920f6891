"""Latencies of requests, or of messages of streams, of several runs together: latency over percentile."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from headway.diagnosis.quantile import at_share

_PER_DECADE = 20
_TOLD = (0.5, 0.95, 0.99)


class Awaited(StrEnum):
    """What took so long."""

    REQUESTS = "requests"
    MESSAGES = "messages"


@dataclass(frozen=True)
class Latencies:
    """How long requests took, or messages of streams.

    Attributes:
        count: of them.
        curve: shares of them, rising, and what they took at most, in milliseconds.
        timed: which of the two they are.
    """

    count: int
    curve: tuple[tuple[float, float], ...]
    timed: Awaited = Awaited.REQUESTS

    @classmethod
    def of(
        cls, runs: Iterable[Sequence[float]], timed: Awaited = Awaited.REQUESTS
    ) -> Latencies | None:
        """Those of several runs, in milliseconds; None without any."""
        ordered = sorted(value for run in runs for value in run)
        if not ordered:
            return None
        places = math.floor(_PER_DECADE * math.log10(len(ordered)))
        shares = {1 - 10 ** (-place / _PER_DECADE) for place in range(places + 1)} | {*_TOLD, 1.0}
        curve = tuple((share, at_share(ordered, share)) for share in sorted(shares))
        return cls(len(ordered), curve, timed)

    @property
    def told(self) -> tuple[float, ...]:
        """The median, and what 95 and 99 % took at most."""
        values = dict(self.curve)
        return tuple(values[share] for share in _TOLD)
