"""How many repetitions would decide a claim, and which rest on a single exact path."""

from __future__ import annotations

import pytest

from headway.analysis.claim_estimate import Finding, Judgement
from headway.planning.region import MOST_NEEDED, Region
from headway.statistics.interval import Interval, share_interval

AT_MOST_20 = Region(-1, 20)


def share(events: int, n: int, region: Region = AT_MOST_20) -> Finding:
    interval = share_interval(events, n).scaled(100)
    return Finding("x", 100 * events / n, interval, region, n, "%", events=events)


@pytest.mark.parametrize("n", [3, 10, 16])
def test_no_failure_of_a_few_is_decided_by_seventeen(n: int) -> None:
    """0 of 17 has an upper end of 19.5 % (Clopper and Pearson), 0 of 16 one of 20.6 %."""
    assert share(0, n).needed == 17
    assert share(0, 17).judgement is Judgement.HOLDS
    assert share(0, 17).needed is None


def test_a_share_on_its_edge_is_decided_by_no_number() -> None:
    assert share(2, 10).needed is None


def estimate(value: float, low: float, high: float, region: Region, n: int = 10) -> Finding:
    return Finding("x", value, Interval(low, high, 0.95, "made"), region, n, "s", repeated=True)


@pytest.mark.parametrize(
    ("value", "low", "high", "needed"),
    [
        (8.0, 2.0, 12.0, 40),  # reaches over 10 by an arm of 4, at a distance of 2
        (1.0, -1.0, 9.0, 40),  # reaches over 0, likewise; 10 is far and not reached
        (12.0, 8.0, 30.0, 40),  # from above
        (9.9, 2.0, 20.0, None),  # more than anybody carries out
    ],
)
def test_the_distance_that_counts_is_to_the_edge_that_is_reached_over(
    value: float, low: float, high: float, needed: int | None
) -> None:
    found = estimate(value, low, high, Region(0, 10))
    assert found.judgement is Judgement.UNDECIDED
    assert found.needed == needed
    assert needed is None or needed <= MOST_NEEDED


def test_repetitions_that_are_one_run_over_and_over_are_one() -> None:
    assert estimate(8.6, 8.599, 8.601, Region(0, 10)).on_one_path
    assert not estimate(8.6, 8.5, 8.7, Region(0, 10)).on_one_path
    assert not share(0, 17).on_one_path
    gap = Finding(
        "x", -90.0, Interval(-90.01, -89.99, 0.95, "made"), Region(), 10, "%", repeated=True
    )
    assert gap.on_one_path
    wide = Finding(
        "x", -90.0, Interval(-90.1, -89.9, 0.95, "made"), Region(), 10, "%", repeated=True
    )
    assert not wide.on_one_path
