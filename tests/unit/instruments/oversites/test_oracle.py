"""Choosing a strategy for each site: gains that are there are found, and chance is not taken for one."""

from __future__ import annotations

import numpy as np
import pytest

from headway.instruments.oversites.oracle import (
    Logs,
    cross_fitted,
    elsewhere_best,
    flattered,
    gains,
)

SITES, STRATEGIES, REPETITIONS = 30, 5, 8


def sites_of(seed: int, spread: float) -> list[Logs]:
    """Sites at which strategies differ by as much in truth, and runs by a tenth by chance."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(SITES):
        truth = rng.normal(0, spread, size=(STRATEGIES, 1)) if spread else np.zeros((STRATEGIES, 1))
        found.append(truth + rng.normal(0, 0.1, size=(STRATEGIES, REPETITIONS)))
    return found


def test_an_oracle_gains_nothing_where_strategies_do_not_differ() -> None:
    """Over 60 studies the mean gain is 0 within four standard errors; judged by what it chose by, it is not."""
    honest, flattering = [], []
    for seed in range(60):
        sites = sites_of(seed, spread=0.0)
        told = [cross_fitted(site) for site in sites]
        honest.append(np.mean([one.oracle - one.strategies[0] for one in told]))
        flattering.append(np.mean([flattered(site) - np.median(site[0]) for site in sites]))
    error = np.std(honest, ddof=1) / np.sqrt(len(honest))
    assert abs(np.mean(honest)) < 4 * error
    assert np.mean(flattering) < -0.03
    assert error < 0.005


def test_an_interval_that_holds_nothing_shows_no_gap() -> None:
    """In 60 studies without differences, at most six show a gap: 2.5 % would on one side, with four more by chance."""
    shown = 0
    for seed in range(60):
        told = [cross_fitted(site) for site in sites_of(100 + seed, spread=0.0)]
        logs = np.array([[one.oracle - one.strategies[0]] for one in told])
        shown += gains(logs, 0)[0].closed is not None
    assert shown <= 6


def test_a_gap_that_is_there_is_found_whole() -> None:
    """With differences three times as wide as chance, what is chosen is mostly what is best."""
    rng = np.random.default_rng(5)
    truths = rng.normal(0, 0.3, size=(SITES, STRATEGIES))
    sites = [
        truth[:, None] + rng.normal(0, 0.1, size=(STRATEGIES, REPETITIONS)) for truth in truths
    ]
    told = [cross_fitted(site) for site in sites]
    base = np.array([one.strategies[0] for one in told])
    first = np.array([one.strategies[1] for one in told])
    logs = np.column_stack([first - base, np.array([one.oracle for one in told]) - base])
    other, oracle = gains(logs, 1)
    expected = np.expm1((truths.min(axis=1) - truths[:, 0]).mean())
    assert oracle.relative == pytest.approx(expected, abs=0.03)
    assert oracle.closed == 1
    assert other.closed is not None
    assert other.closed_interval is not None
    assert other.closed == pytest.approx(logs[:, 0].mean() / logs[:, 1].mean())
    assert other.closed_interval.holds(other.closed)


def test_who_is_always_best_is_always_chosen() -> None:
    site = np.array([[2.0, 2.1, 1.9, 2.0], [1.0, 1.2, 0.9, 1.1]])
    one = cross_fitted(site)
    assert one.chosen.tolist() == [0, 1]
    assert one.oracle == pytest.approx(one.strategies[1])


def test_a_rule_knows_nothing_of_the_site_it_is_judged_at() -> None:
    """The last site of each class alone is otherwise: it gets what is best at the others, which is worse there."""
    medians = np.array([[0, 1], [0, 1], [1, 0], [1, 0], [1, 0], [0, 1]], dtype=float)
    alike = [np.arange(6) < 3] * 3 + [np.arange(6) >= 3] * 3
    assert elsewhere_best(medians, alike) == [0, 0, 0, 0, 0, 1]
