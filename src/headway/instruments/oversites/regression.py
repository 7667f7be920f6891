"""Least squares over rows that belong to sites, with errors that take a site's rows as one observation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.statistics.distributions import student_tail

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Term:
    """A quantity that may explain another.

    Attributes:
        name: what it is.
        effect: what one standard deviation of it adds to the explained quantity.
        error: standard error of that.
        p: two-sided, that it adds nothing.
        share: of the variance, what is left unexplained without it.
    """

    name: str
    effect: float
    error: float
    p: float
    share: float


@dataclass(frozen=True)
class Fit:
    """A regression.

    Attributes:
        terms: what was asked for, in its order.
        left_out: what does not vary, or only with other terms.
        r_squared: share of the variance that all together explain.
        rows: how many.
        groups: how many sites they belong to.
    """

    terms: tuple[Term, ...]
    left_out: tuple[str, ...]
    r_squared: float
    rows: int
    groups: int


def fit(
    explained: Matrix,
    terms: Sequence[tuple[str, Matrix]],
    matrix: Matrix,
    groups: NDArray[np.int64],
) -> Fit | None:
    """Explain a quantity by terms, other things held equal.

    Errors are by the jackknife that leaves out one group at a time (MacKinnon, Nielsen and Webb 2023), and p-values of
    Student's t with one degree of freedom less than there are groups: rows of a group may depend on each other
    in any way.

    Args:
        explained: a value for each row.
        terms: names, and a value for each row.
        matrix: a column for each quantity that is held equal, as 0 and 1 for what is no number.
        groups: of each row, the number of its group.

    Returns:
        None if there are too few rows or groups to tell anything.
    """
    base = _independent(np.column_stack([np.ones(len(explained)), matrix]))
    kept, left_out = _varying(base, terms)
    columns = np.column_stack([base, *(column for _, column in kept)])
    numbers = np.unique(groups)
    if not kept or len(numbers) <= len(kept) + 2 or len(explained) < 2 * columns.shape[1]:
        return None
    whole = _coefficients(columns, explained)
    without = np.array(
        [
            _coefficients(columns[groups != number], explained[groups != number])
            for number in numbers
        ]
    )
    scale = (len(numbers) - 1) / len(numbers)
    errors = np.sqrt(scale * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    total = _unexplained(np.ones((len(explained), 1)), explained)
    rest = _unexplained(columns, explained)
    words = []
    for place, (name, _) in enumerate(kept, start=base.shape[1]):
        effect, error = float(whole[place]), float(errors[place])
        p = 2 * student_tail(abs(effect) / error, len(numbers) - 1) if error > 0 else 0.0
        fewer = _unexplained(np.delete(columns, place, axis=1), explained)
        words.append(Term(name, effect, error, p, (fewer - rest) / total if total > 0 else 0.0))
    explained_share = 1 - rest / total if total > 0 else 0.0
    return Fit(tuple(words), tuple(left_out), explained_share, len(explained), len(numbers))


def _varying(
    base: Matrix, terms: Sequence[tuple[str, Matrix]]
) -> tuple[list[tuple[str, Matrix]], list[str]]:
    """The terms in units of their standard deviation, without those that say what others say."""
    kept: list[tuple[str, Matrix]] = []
    left_out: list[str] = []
    columns = base
    for name, values in terms:
        spread = float(values.std())
        scaled = (values - values.mean()) / spread if spread > 1e-12 else values
        larger = np.column_stack([columns, scaled])
        if spread > 1e-12 and np.linalg.matrix_rank(larger) == larger.shape[1]:
            kept.append((name, scaled))
            columns = larger
        else:
            left_out.append(name)
    return kept, left_out


def _independent(columns: Matrix) -> Matrix:
    """The columns without those that are sums of others before them."""
    kept = columns[:, :1]
    for column in columns.T[1:]:
        larger = np.column_stack([kept, column])
        if np.linalg.matrix_rank(larger) == larger.shape[1]:
            kept = larger
    return kept


def _coefficients(columns: Matrix, values: Matrix) -> Matrix:
    return np.asarray(np.linalg.lstsq(columns, values, rcond=None)[0])


def _unexplained(columns: Matrix, values: Matrix) -> float:
    """Sum of squares that the columns leave."""
    left = values - columns @ _coefficients(columns, values)
    return float(left @ left)
