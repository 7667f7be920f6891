"""Statistics of the self-test: what a healthy lab measures lies within the intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.selftest.intervals import (
    burst_mean_interval,
    deviation_interval,
    effective_trials,
    joint_effective_trials,
    mean_burst,
    mean_interval,
    share_interval,
)

shares = st.floats(0.001, 0.999)
trials = st.integers(1, 100_000)


def _chain(mean: float, burst: float, length: int, seed: int) -> np.ndarray:
    """Losses by the Gilbert-Elliott model, one step at a time."""
    draw = np.random.default_rng(seed)
    leave = 1 / burst
    enter = leave * mean / (1 - mean)
    bad, found = False, []
    for chance in draw.random(length):
        found.append(bad)
        bad = chance >= leave if bad else chance < enter
    return np.array(found)


@given(shares, trials)
def test_share_interval_holds_the_share_and_stays_within_0_and_1(share: float, count: int) -> None:
    low, high = share_interval(share, count)
    assert 0 <= low <= high <= 1
    assert low <= share + 1 / count
    assert high >= share - 1 / count


@given(trials)
def test_certain_events_have_no_tolerance(count: int) -> None:
    assert share_interval(0, count) == (0, 0)
    assert share_interval(1, count) == (1, 1)


@given(shares, st.integers(100, 10_000))
def test_share_interval_narrows_with_more_trials(share: float, count: int) -> None:
    low, high = share_interval(share, count)
    lower, higher = share_interval(share, 100 * count)
    assert higher - lower <= high - low


def test_share_interval_fails_a_healthy_lab_less_than_once_in_a_thousand() -> None:
    draws = np.random.default_rng(1).binomial(5000, 0.02, size=20_000) / 5000
    low, high = share_interval(0.02, 5000)
    assert np.mean((draws < low) | (draws > high)) < 0.001


def test_share_interval_notices_a_loss_that_is_a_third_too_high() -> None:
    _, high = share_interval(0.03, 6000)
    assert high < 0.04


@given(st.integers(1, 10_000), st.floats(0, 0.99))
def test_dependent_trials_tell_less(count: int, correlation: float) -> None:
    assert effective_trials(count, correlation) <= count
    assert effective_trials(count, 0) == count


def test_effective_trials_describe_a_bursty_chain() -> None:
    mean, burst, length = 0.05, 5, 4000
    correlation = 1 - 1 / burst - mean / (1 - mean) / burst
    means = [_chain(mean, burst, length, seed).mean() for seed in range(300)]
    variance = mean * (1 - mean) / effective_trials(length, correlation)
    assert np.var(means) == pytest.approx(variance, rel=0.25)


def test_joint_trials_of_independent_packets_are_all_of_them() -> None:
    assert joint_effective_trials(1000, (0.1, 0.2), (0, 0)) == pytest.approx(1000)
    assert joint_effective_trials(1000, (0.1, 0.2), (0.8, 0.8)) < 1000


@given(st.lists(st.integers(1, 9), min_size=1, max_size=50))
def test_mean_burst_is_the_mean_of_the_lengths(lengths: list[int]) -> None:
    events = [flag for length in lengths for flag in [True] * length + [False]]
    assert mean_burst(np.array(events)) == pytest.approx(np.mean(lengths))
    assert mean_burst(np.array(events[:-1])) == pytest.approx(np.mean(lengths))
    assert mean_burst(np.array([False, *events])) == pytest.approx(np.mean(lengths))


def test_mean_burst_of_nothing_is_unknown() -> None:
    assert mean_burst(np.zeros(5, np.bool_)) is None
    assert mean_burst(np.zeros(0, np.bool_)) is None


@given(st.floats(1, 20), st.integers(0, 10_000))
def test_burst_interval_holds_the_mean(mean: float, members: int) -> None:
    low, high = burst_mean_interval(mean, members)
    assert low <= mean * (1 + 1e-9)
    assert high >= min(mean, members) * (1 - 1e-9)


def test_burst_interval_holds_what_a_chain_does() -> None:
    for seed in range(20):
        events = _chain(0.04, 4, 6000, seed)
        low, high = burst_mean_interval(4, int(events.sum()))
        measured = mean_burst(events)
        assert measured is not None
        assert low <= measured <= high


@pytest.mark.parametrize(("deviation", "count"), [(0.1, 20), (1, 200), (1000, 5000)])
def test_moments_of_normal_samples_lie_within(deviation: float, count: int) -> None:
    """The intervals are to miss one sample in many thousands, and are seen to miss few."""
    samples = np.random.default_rng(1).normal(5, deviation, (2000, count))
    for interval, seen in (
        (mean_interval(5, deviation, count), samples.mean(axis=1)),
        (deviation_interval(deviation, count), samples.std(axis=1)),
    ):
        assert np.mean((seen < interval[0]) | (seen > interval[1])) < 0.002
