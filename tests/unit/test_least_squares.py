"""Least squares without negative coefficients, against scipy's."""

import math

import numpy as np
import pytest
from scipy.optimize import nnls

from headway.statistics.leastsquares import nonnegative_least_squares


@pytest.mark.parametrize("seed", range(200))
def test_it_fits_as_scipy_does(seed: int) -> None:
    """Half of these fits would have coefficients below 0 otherwise; features differ in size, as those of labs do."""
    drawn = np.random.default_rng(seed)
    count = int(drawn.integers(1, 5))
    features = drawn.normal(size=(12, count)) * 10.0 ** drawn.integers(-2, 3, count)
    observed = drawn.normal(size=12)
    expected, _ = nnls(features, observed)
    found = nonnegative_least_squares(
        (features.T @ features).tolist(), (features.T @ observed).tolist()
    )
    scale = np.abs(features).max(axis=0)
    assert (found * scale).tolist() == pytest.approx((expected * scale).tolist(), abs=1e-9)


def test_what_no_feature_explains_has_no_coefficient() -> None:
    assert nonnegative_least_squares([[1.0, 0.5], [0.5, 1.0]], [-1.0, -2.0]) == [0.0, 0.0]


def test_one_that_would_be_negative_is_left_out() -> None:
    # Both together would be -1/3 and 7/6.
    found = nonnegative_least_squares([[1.0, 0.5], [0.5, 1.0]], [0.25, 1.0])
    assert found == [0.0, 1.0]
    assert math.isclose(sum(nonnegative_least_squares([[1.0, 0.5], [0.5, 1.0]], [1.0, 1.0])), 4 / 3)
