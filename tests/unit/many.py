"""Examples that hypothesis draws: some hundreds by day, thousands by night."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy

AMOUNTS = [200, pytest.param(4000, marks=pytest.mark.nightly)]
"""How many are drawn."""


def check_many(amount: int, check: Callable[..., None], *drawn: SearchStrategy[Any]) -> None:
    """Check what is to hold of all drawn values, of so many of them."""
    unhurried = settings(
        max_examples=amount,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    unhurried(given(*drawn)(check))()
