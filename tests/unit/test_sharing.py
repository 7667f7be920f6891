"""How flows shared: fairness, fair rates, and values over time, by cases with known answers."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.analysis.metric import metric_named
from headway.diagnosis.delivered import Delivered
from headway.diagnosis.fairness import evened_s, jain
from headway.diagnosis.overtime import OverTime
from headway.planning.deploy import deploy
from headway.planning.maxmin import fair_rates_mbit, max_min
from headway.programs.measurement import BulkFlow
from headway.records.sharing import Sharer, Together
from tests.unit.test_flows import setting


def steady(mbit: float, begin_s: float = 0.0, end_s: float = 10.0) -> Delivered:
    so_far = np.array([0.0, mbit * 125_000 * (end_s - begin_s)])
    return Delivered(np.array([begin_s, end_s]), so_far)


def sharer(named: str, mbit: float, *, background: bool = False, begin_s: float = 0.0) -> Sharer:
    return Sharer(named, background, begin_s, 10.0, steady(mbit, begin_s), 5.0)


def test_jains_index_has_its_extremes() -> None:
    assert jain([3, 3, 3]) == 1
    assert jain([1, 0, 0, 0]) == 0.25
    assert jain([2, 1]) == pytest.approx(0.9)


def test_max_min_of_a_parking_lot_is_the_textbooks() -> None:
    """A long flow over two links; the link with two others leaves it a third, its rest goes to the other."""
    capacities = {"narrow": 3.0, "wide": 10.0}
    routes = [{"narrow", "wide"}, {"narrow"}, {"narrow"}, {"wide"}]
    assert max_min(capacities, routes) == pytest.approx([1, 1, 1, 9])
    assert max_min(capacities, routes, [inf, 0.5, inf, 2]) == pytest.approx([1.25, 0.5, 1.25, 2])
    assert max_min({}, [set()]) == [inf]


@given(
    st.lists(st.floats(0.1, 100), min_size=1, max_size=4),
    st.lists(st.sets(st.integers(0, 3), min_size=1), min_size=1, max_size=6),
)
def test_no_max_min_rate_can_grow_without_a_smaller_one_shrinking(
    rates: list[float], routes: list[set[int]]
) -> None:
    capacities = dict(enumerate(rates))
    routes = [known for one in routes if (known := one & capacities.keys())]
    found = max_min(capacities, routes)
    load = {
        link: sum(rate for rate, route in zip(found, routes, strict=True) if link in route)
        for link in capacities
    }
    assert all(load[link] <= capacities[link] * (1 + 1e-6) for link in capacities)
    for rate, route in zip(found, routes, strict=True):
        # A full link on which nobody has more: the definition of a bottleneck in max-min fairness.
        assert any(
            load[link] >= capacities[link] * (1 - 1e-6)
            and rate
            >= max(r for r, its in zip(found, routes, strict=True) if link in its) * (1 - 1e-6)
            for link in route
        )


def test_fair_rates_of_a_deployment_are_of_the_links_that_flows_cross() -> None:
    flows = deploy(setting()).flows
    assert fair_rates_mbit(flows) == pytest.approx([20 / 3] * 3)
    narrow = {"quic": {"protocol": "quic", "access": {"rate": "2 Mbit/s", "rtt": "10 ms"}}}
    slow = deploy(setting(flows={"tcp": {"protocol": "tcp", "count": 2}} | narrow)).flows
    assert fair_rates_mbit(slow) == pytest.approx([9, 9, 2])
    changing = {"rate": "20 Mbit/s", "rtt": "40 ms", "changes": [{"at": "1 s", "rate": "1 Mbit/s"}]}
    assert fair_rates_mbit(deploy(setting(path=changing)).flows) is None


def test_shares_are_even_when_the_least_has_four_fifths_of_an_equal_share() -> None:
    late = Delivered(np.array([0.0, 5.0, 10.0]), np.array([0.0, 0.0, 5 * 125_000 * 8.0]))
    both = [steady(8).between, late.between]
    # The window from t on has 8 (t - 4) of the late flow, which is 4/5 of the mean of that and 8 once t >= 4.67.
    assert evened_s(both, 0, 10) == pytest.approx(4.7)
    assert evened_s([steady(8).between, steady(1).between], 0, 10) is None
    assert evened_s(both, 0, 0.5) is None


def test_values_over_time_are_weighted_by_how_long_they_stood() -> None:
    samples = [(0.0, 5.0), (1.0, 1.0), (9.0, None), (10.0, 100.0), (12.0, 3.0)]
    found = OverTime.of(samples, 0.5, 10.5)
    assert found and found.stood == ((5.0, 0.5), (1.0, 8.0), (100.0, 0.5))
    assert found.mean == pytest.approx((2.5 + 8 + 50) / 9)
    assert (found.quantile(0.5), found.quantile(0.95), found.quantile(1)) == (1.0, 100.0, 100.0)
    assert OverTime.of(samples, 20, 30) is None


def test_what_bulk_flows_tell_adds_up() -> None:
    flows = [BulkFlow(0.0, 0.1, (100, 100)), BulkFlow(0.1, 0.1, (50,))]
    told = Delivered.told(flows, 2.0)
    assert told.between(0, 9) == 250
    assert told.between(2.1, 2.2) == pytest.approx(150)
    assert told.between(2.05, 2.1) == pytest.approx(50)


def test_flows_in_the_background_do_not_count() -> None:
    flows = (sharer("a", 6), sharer("b", 3, begin_s=1.0), sharer("load", 9, background=True))
    shared = Together(flows)
    assert shared.span_s == (1.0, 10.0)
    assert [shared.share(one) for one in flows[:2]] == pytest.approx([2 / 3, 1 / 3])
    assert [shared.fair_share(one) for one in flows[:2]] == pytest.approx([1.2, 0.6])
    assert shared.mbit(flows[2]) == pytest.approx(9)
    assert Together(()).columns == {}


def test_a_metric_that_is_no_time_says_so() -> None:
    told = "a is faster than b, not slower"
    assert metric_named("total_s").said(told) == told
    assert metric_named("jain_index").said(told) == "a is fairer than b, not less fair"
    assert metric_named("jain_index").text(0.9) == "0.900"
    assert metric_named("queue_delay_ms").said(told) == "a is lower than b, not higher"
