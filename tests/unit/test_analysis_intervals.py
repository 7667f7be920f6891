"""Intervals against those of SciPy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from headway.statistics.interval import LEVEL, share_interval


@given(st.data(), st.integers(1, 100_000))
def test_the_interval_of_a_share_is_clopper_and_pearsons(data: st.DataObject, n: int) -> None:
    count = data.draw(st.integers(0, n))
    found = share_interval(count, n)
    expected = stats.binomtest(count, n).proportion_ci(LEVEL, method="exact")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
