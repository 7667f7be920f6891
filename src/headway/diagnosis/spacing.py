"""Spacing of packets over time: gaps, bursts, and how near they are to a rate.

Kempf et al. 2025 ("QUIC Steps: Evaluating Pacing Strategies in QUIC Implementations") tell a server's pacing by the gaps
between its packets and by packet trains: packets that follow each other within 0.1 ms. Their bottleneck has 40 Mbit/s, at
which a full packet takes 0.30 ms. Here a burst is such a train, by a third of a full packet's time at the bottleneck's own
rate, so that it means the same on any link: what comes three times as fast as it can leave. As there, lengths are
distributed over packets, not over bursts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.columns import LONGEST_BURST
from headway.study.queue import FRAME_BYTES

_TOGETHER = 1 / 3
"""Of a full packet's time."""
_TOLERANCE = 0.1
_LEAST_PACKETS = 16
"""Full packets at the bottleneck's rate that the span of a sender's own rate has room for at least."""
Numbers: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Train:
    """Packets of one connection, or of one place, in their order.

    Attributes:
        at_ns: when each was seen.
        bytes: their sizes as frames.
    """

    at_ns: NDArray[np.int64]
    bytes: NDArray[np.int64]

    def between(self, from_ns: float, until_ns: float = np.inf) -> Train:
        """Those that were seen from a time until another."""
        kept = (self.at_ns >= from_ns) & (self.at_ns < until_ns)
        return Train(self.at_ns[kept], self.bytes[kept])


@dataclass(frozen=True)
class Spacing:
    """How packets of several trains were spread.

    Attributes:
        gap_p50_ms: median time from a packet to the next.
        gap_p95_ms: the 95th percentile.
        burst_packets: length of the burst that a packet is in, in the mean over packets.
        longest_burst_packets: the longest burst.
        bursts: packets in bursts of 1, 2, 3 ... packets, and of `LONGEST_BURST` and more.
        even_share: packets that came after what the one before them takes at their train's own rate, give or take 10 %.
        rate_share: packets of bursts that had the bottleneck's rate, give or take 10 %, with the time to the next burst;
            None if there is one burst alone.
    """

    gap_p50_ms: float
    gap_p95_ms: float
    burst_packets: float
    longest_burst_packets: int
    bursts: tuple[int, ...]
    even_share: float
    rate_share: float | None


def spacing(trains: Sequence[Train], rate_bit_s: float, rtt_ns: float) -> Spacing | None:
    """How packets were spread; None if no train has two.

    Args:
        trains: each by itself.
        rate_bit_s: of the bottleneck.
        rtt_ns: of the path, over which a train's own rate is taken.
    """
    trains = [train for train in trains if len(train.at_ns) > 1]
    if not trains:
        return None
    gaps_ms = np.concatenate([np.diff(train.at_ns) for train in trains]) / 1e6
    lengths = [burst_lengths(train, rate_bit_s) for train in trains]
    packets = np.concatenate([np.repeat(length, length) for length in lengths])
    counts = np.bincount(np.minimum(packets, LONGEST_BURST), minlength=2)[1:]
    at_rate = np.concatenate([_at_rate(train, rate_bit_s) for train in trains])
    median, late = np.quantile(gaps_ms, (0.5, 0.95))
    return Spacing(
        gap_p50_ms=float(median),
        gap_p95_ms=float(late),
        burst_packets=float(packets.mean()),
        longest_burst_packets=int(packets.max()),
        bursts=tuple(int(count) for count in counts),
        even_share=float(
            np.concatenate([_even(train, rate_bit_s, rtt_ns) for train in trains]).mean()
        ),
        rate_share=float(at_rate.mean()) if at_rate.size else None,
    )


def burst_lengths(train: Train, rate_bit_s: float) -> NDArray[np.int64]:
    """Packets in each burst of a train, in order.

    Args:
        train: the packets.
        rate_bit_s: of the bottleneck.
    """
    return np.diff(np.append(_starts(train, rate_bit_s), len(train.at_ns)))


def _starts(train: Train, rate_bit_s: float) -> NDArray[np.int64]:
    """Places of the first packets of bursts."""
    together_ns = _TOGETHER * FRAME_BYTES * 8e9 / rate_bit_s
    apart = np.diff(train.at_ns) >= together_ns
    return np.concatenate([[0], np.flatnonzero(apart) + 1])


def _at_rate(train: Train, rate_bit_s: float) -> NDArray[np.bool_]:
    """Of every packet but those of the last burst, which no other follows, whether its burst had the rate."""
    starts = _starts(train, rate_bit_s)
    sizes = np.add.reduceat(train.bytes, starts)[:-1]
    is_near = _near(np.diff(train.at_ns[starts]), sizes * 8e9 / rate_bit_s)
    return np.repeat(is_near, np.diff(starts))


def _even(train: Train, rate_bit_s: float, rtt_ns: float) -> NDArray[np.bool_]:
    """Of every packet but the first, whether it came when it was due at the train's own rate."""
    half_ns = max(rtt_ns, _LEAST_PACKETS * FRAME_BYTES * 8e9 / rate_bit_s) / 2
    at_ns = train.at_ns
    sent = np.concatenate([[0], np.cumsum(train.bytes)])
    # From a packet to a packet: in parts of a gap a constant rate would not be one.
    first = np.maximum(np.searchsorted(at_ns, at_ns[1:] - half_ns, side="right") - 1, 0)
    last = np.minimum(np.searchsorted(at_ns, at_ns[1:] + half_ns), len(at_ns) - 1)
    took_ns = at_ns[last] - at_ns[first]
    due_ns: Numbers = train.bytes[:-1] * took_ns / np.maximum(sent[last] - sent[first], 1)
    return _near(np.diff(at_ns), due_ns)


def _near(nd_array: NDArray[np.int64], due: Numbers) -> NDArray[np.bool_]:
    near: NDArray[np.bool_] = np.abs(nd_array - due) <= _TOLERANCE * due
    return near
