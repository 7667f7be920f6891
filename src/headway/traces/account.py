"""An account of a trace of delivery opportunities: its rates, gaps and bursts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from headway.traces.mahimahi import read_opportunities

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PACKET_BYTES = 1500
"""What passes at an opportunity: a packet of IP."""
_SERIES_PARTS = 60
_SECOND_MS = 1000


@dataclass(frozen=True)
class TraceAccount:
    """Facts about a trace, which starts again at its end.

    Attributes:
        opportunities: how many packets of 1500 bytes may pass in a round.
        length_ms: of a round.
        first_ms: the first opportunity.
        mean_bit_per_s: bits of IP packets per second, over a round.
        highest_bit_per_s: the same over the best second; over the whole round if that is shorter.
        longest_gap_ms: between opportunities that follow each other, from the end to the next round included.
        largest_burst: opportunities in the same millisecond.
        series_bit_per_s: mean rates of equal parts of a round, for a picture.
        sha256: of the opportunities as Mahimahi writes them, and so the trace's name.
    """

    opportunities: int
    length_ms: int
    first_ms: int
    mean_bit_per_s: int
    highest_bit_per_s: int
    longest_gap_ms: int
    largest_burst: int
    series_bit_per_s: tuple[int, ...]
    sha256: str

    @property
    def kind(self) -> str:
        """What the file is."""
        return "a Mahimahi trace: milliseconds at which a packet of 1500 bytes may pass"


def read_trace_account(file: Path) -> TraceAccount:
    """What a trace file holds.

    Raises:
        WrongInputError: the file cannot be read, or is no trace.
    """
    return trace_account(read_opportunities(file))


@lru_cache(maxsize=64)
def trace_account(times_ms: tuple[int, ...]) -> TraceAccount:
    """What a trace holds.

    Args:
        times_ms: of opportunities, which do not decrease; the last is above zero.
    """
    import numpy as np

    times = np.asarray(times_ms, dtype=np.int64)
    length_ms, first_ms = int(times[-1]), int(times[0])
    gaps = np.diff(times)
    window_ms = min(_SECOND_MS, length_ms)
    return TraceAccount(
        opportunities=len(times),
        length_ms=length_ms,
        first_ms=first_ms,
        mean_bit_per_s=_bit_per_s(len(times), length_ms),
        highest_bit_per_s=_bit_per_s(most_within(times_ms, window_ms), window_ms),
        longest_gap_ms=max(int(gaps.max(initial=0)), first_ms),
        largest_burst=most_within(times_ms, 1),
        series_bit_per_s=_series(times, length_ms),
        sha256=trace_digest(times_ms),
    )


def trace_digest(times_ms: Sequence[int]) -> str:
    """SHA-256 of a trace as Mahimahi writes it: a number a line."""
    state = hashlib.sha256()
    for start in range(0, len(times_ms), 1 << 16):
        state.update("".join(f"{time}\n" for time in times_ms[start : start + (1 << 16)]).encode())
    return state.hexdigest()


@lru_cache(maxsize=64)
def most_within(times_ms: tuple[int, ...], window_ms: int) -> int:
    """The most opportunities in any so many milliseconds of a trace that starts again at its end.

    Args:
        times_ms: of opportunities.
        window_ms: one is the least: opportunities of the same millisecond.
    """
    import numpy as np

    times = np.asarray(times_ms, dtype=np.int64)
    length_ms = int(times[-1])
    rounds, window_ms = divmod(max(window_ms, 1), length_ms)
    if not window_ms:
        # Whole rounds have each opportunity as often, wherever they begin.
        return rounds * len(times)
    again = np.concatenate([times, times + length_ms])
    ends = np.searchsorted(again, times + window_ms, side="left")
    return rounds * len(times) + int((ends - np.arange(len(times))).max())


def _series(times: NDArray[np.int64], length_ms: int) -> tuple[int, ...]:
    import numpy as np

    parts = min(_SERIES_PARTS, length_ms)
    edges = np.arange(parts + 1) * length_ms // parts
    counts = np.diff(np.searchsorted(times, edges, side="right"))
    # Those at 0 are of the first part.
    counts[0] += int(np.searchsorted(times, 0, side="right"))
    spans = np.diff(edges)
    return tuple(
        _bit_per_s(int(count), int(span)) for count, span in zip(counts, spans, strict=True)
    )


def _bit_per_s(packets: int, span_ms: int) -> int:
    return packets * PACKET_BYTES * 8 * 1000 // span_ms
