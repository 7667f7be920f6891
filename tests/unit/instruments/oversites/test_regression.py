"""Least squares over sites: what explains is found with its size, what does not is not, and rows of a site count once."""

from __future__ import annotations

import numpy as np
import pytest

from headway.instruments.oversites.regression import Fit, Matrix, fit

SITES, ROWS = 24, 8
GROUPS = np.repeat(np.arange(SITES), ROWS)
HELD = (np.arange(SITES * ROWS) % 2).astype(float)[:, None]


def found(explained: Matrix, **terms: Matrix) -> Fit:
    one = fit(explained, list(terms.items()), HELD, GROUPS)
    assert one is not None
    return one


def test_what_explains_is_told_from_what_does_not() -> None:
    rng = np.random.default_rng(1)
    cause, other = rng.normal(5, 2, size=SITES * ROWS), rng.normal(size=SITES * ROWS)
    explained = 0.1 * cause + 0.4 * HELD[:, 0] + rng.normal(0, 0.1, size=SITES * ROWS)
    one = found(explained, cause=cause, other=other)
    first, second = one.terms
    assert first.effect == pytest.approx(0.1 * cause.std(), abs=3 * first.error)
    assert first.p < 1e-6
    assert first.share > 0.3
    assert second.p > 0.05
    assert second.share < 0.01
    assert one.r_squared > 0.8
    assert (one.rows, one.groups) == (SITES * ROWS, SITES)


def test_least_squares_are_those_of_a_library() -> None:
    rng = np.random.default_rng(2)
    cause = rng.normal(size=SITES * ROWS)
    explained = rng.normal(size=SITES * ROWS) + cause
    one = found(explained, cause=cause).terms[0]
    columns = np.column_stack([np.ones(SITES * ROWS), HELD, cause])
    expected, *_ = np.linalg.lstsq(columns, explained, rcond=None)
    assert one.effect == pytest.approx(expected[-1] * cause.std())


def test_rows_of_a_site_are_no_evidence_of_their_own() -> None:
    """What is drawn once for each site on both sides: in 200 studies without a cause, 5 % are called one by chance,
    at most 22 (three standard deviations); counted as rows of their own, most would be."""
    rng = np.random.default_rng(3)
    false, naive = 0, 0
    for _ in range(200):
        cause, explained = (np.repeat(rng.normal(size=SITES), ROWS) for _ in range(2))
        false += found(explained, cause=cause).terms[0].p < 0.05
        alone = fit(explained, [("cause", cause)], HELD, np.arange(SITES * ROWS))
        naive += alone is not None and alone.terms[0].p < 0.05
    assert false <= 22
    assert naive > 80


def test_what_does_not_vary_or_says_the_same_is_left_out() -> None:
    rng = np.random.default_rng(4)
    cause = rng.normal(size=SITES * ROWS)
    constant = np.ones(SITES * ROWS)
    one = found(cause.copy(), cause=cause, twice=2 * cause, constant=constant, held=HELD[:, 0])
    assert [term.name for term in one.terms] == ["cause"]
    assert one.left_out == ("twice", "constant", "held")
    assert one.r_squared == pytest.approx(1)


def test_too_few_sites_say_nothing() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=16)
    few = np.repeat(np.arange(2), 8)
    assert fit(values, [("cause", rng.normal(size=16))], np.ones((16, 1)), few) is None
    assert fit(values, [], np.ones((16, 1)), np.arange(16)) is None
