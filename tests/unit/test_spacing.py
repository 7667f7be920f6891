"""How packets are spread over time, of series made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.columns import LONGEST_BURST
from headway.diagnosis.departures import together
from headway.diagnosis.spacing import Spacing, Train, burst_lengths, spacing

FRAME = 1514
RATE = 1514 * 8e3
"""At which a full packet takes 1 ms, so that packets of a burst are less than a third of 1 ms apart."""
MS = 1_000_000
RTT_NS = 50 * MS


def train(at_ms: list[float], size: int = FRAME) -> Train:
    at_ns = np.array([round(at * MS) for at in at_ms], dtype=np.int64)
    return Train(at_ns, np.full(len(at_ms), size, dtype=np.int64))


def told(*trains: Train, rate: float = RATE) -> Spacing:
    found = spacing(trains, rate, RTT_NS)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("every_ms", "at_rate"), [(1.0, 1), (1.05, 1), (2.0, 0), (0.5, 0), (9.6, 0), (70.0, 0)]
)
def test_a_constant_rate_has_its_gap_and_no_bursts(every_ms: float, at_rate: int) -> None:
    found = told(train([every_ms * number for number in range(1000)]))
    assert (found.gap_p50_ms, found.gap_p95_ms) == pytest.approx((every_ms, every_ms))
    assert (found.burst_packets, found.longest_burst_packets) == (1.0, 1)
    assert found.bursts == (1000,)
    assert (found.even_share, found.rate_share) == (1.0, at_rate)


def test_a_window_at_once_is_one_burst_of_its_size() -> None:
    """Once in a round trip, at half the link's rate in the mean."""
    found = told(train([100 * flight for flight in range(20) for _ in range(50)]))
    assert found.bursts == (*(0,) * 49, 1000)
    assert found.burst_packets == found.longest_burst_packets == 50
    assert (found.gap_p50_ms, found.gap_p95_ms) == (0, 0)
    assert (found.even_share, found.rate_share) == (0, 0)


def test_pairs_at_the_links_rate_are_not_even_but_have_the_rate() -> None:
    found = told(train([2 * pair for pair in range(500) for _ in range(2)]))
    assert found.bursts == (0, 1000)
    assert (found.even_share, found.rate_share) == (0, 1)


def test_lengths_are_distributed_over_packets() -> None:
    # Three packets alone, and a burst of nine: a packet is in one of 7 in the mean, a burst has 3.
    found = told(train([0, 1, 2, *[3] * 9]))
    assert found.bursts == (3, 0, 0, 0, 0, 0, 0, 0, 9)
    assert found.burst_packets == pytest.approx((3 * 1 + 9 * 9) / 12)


@pytest.mark.parametrize(("gap_ms", "lengths"), [(0.33, [3]), (0.34, [1, 1, 1])])
def test_a_burst_ends_with_a_third_of_a_packets_time(gap_ms: float, lengths: list[int]) -> None:
    assert burst_lengths(train([0, gap_ms, 2 * gap_ms]), RATE).tolist() == lengths


def test_by_kempf_and_others_a_train_is_what_follows_within_a_tenth_of_a_millisecond() -> None:
    """At their bottleneck's 40 Mbit/s, a third of a packet's time is 0.1 ms, to a hundredth."""
    assert burst_lengths(train([0, 0.099, 0.201]), 40e6).tolist() == [2, 1]


@pytest.mark.parametrize("size", [300, 1514])
def test_small_packets_take_less_time(size: int) -> None:
    every_ms = size / FRAME
    found = told(train([every_ms * number for number in range(1000)], size))
    assert (found.even_share, found.rate_share if size == FRAME else 1) == (1, 1)


def test_evenness_is_by_the_senders_own_rate_which_may_change() -> None:
    slow = [4.0 * number for number in range(250)]
    fast = [1000 + 2.0 * number for number in range(500)]
    found = told(train(slow + fast))
    # Around the change, the mean of a round trip is neither.
    assert 0.94 < found.even_share < 1
    assert found.rate_share == 0


def test_connections_are_looked_at_each_by_itself() -> None:
    one = [2.0 * number for number in range(500)]
    found = told(train(one), train([at + 0.1 for at in one]))
    assert (found.even_share, found.burst_packets) == (1, 1)
    mixed = told(together([train(one), train([at + 0.1 for at in one])]))
    assert (mixed.even_share, mixed.burst_packets) == (0, 2)
    assert mixed.rate_share == 1


def test_long_bursts_are_counted_together() -> None:
    found = told(train([0.0] * 200 + [5.0]))
    assert len(found.bursts) == LONGEST_BURST
    assert (found.bursts[0], found.bursts[-1], found.longest_burst_packets) == (1, 200, 200)


def test_nothing_is_told_of_less_than_two_packets() -> None:
    assert spacing([], RATE, RTT_NS) is None
    assert spacing([train([0.0])], RATE, RTT_NS) is None


def test_a_single_burst_had_no_rate() -> None:
    assert told(train([0.0, 0.0])).rate_share is None


@given(st.lists(st.integers(0, 10 * MS), min_size=2, max_size=200))
def test_whatever_comes_every_packet_is_in_one_burst(gaps_ns: list[int]) -> None:
    at_ns = np.cumsum(gaps_ns)
    found = told(Train(at_ns, np.full(len(at_ns), FRAME)))
    assert sum(found.bursts) == len(at_ns)
    assert 1 <= found.burst_packets <= found.longest_burst_packets <= len(at_ns)
    assert 0 <= found.even_share <= 1
    assert found.rate_share is None or 0 <= found.rate_share <= 1
