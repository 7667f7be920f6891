"""Least squares of which no coefficient may be negative, for a handful of coefficients.

scipy has it for any number of them, and takes longer to load than all that a small plan does.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Sequence

Rows = Sequence[Sequence[float]]


def nonnegative_least_squares(products: Rows, targets: Sequence[float]) -> list[float]:
    """The coefficients, none below 0, that fit observations best in least squares.

    Which of them are 0 is tried: of n coefficients in 2^n ways. The best one fits best among those that the normal
    equations give without the others, and that have no coefficient below 0 (Lawson and Hanson 1974, chapter 23).

    Args:
        products: sums over observations of products of every two features; positive definite.
        targets: sums of each feature times what was observed.
    """
    best, most = [0.0] * len(targets), 0.0
    for kept in _choices(len(targets)):
        solved = _solved([[products[i][j] for j in kept] for i in kept], [targets[i] for i in kept])
        # Less the squares of what was observed, the sum of squares is the negative of this.
        explained = _product(solved, [targets[i] for i in kept])
        if min(solved) >= 0 and explained > most:
            best, most = [0.0] * len(targets), explained
            for x, i in zip(solved, kept, strict=True):
                best[i] = x
    return best


def _choices(count: int) -> Iterator[tuple[int, ...]]:
    sizes = range(1, count + 1)
    return itertools.chain.from_iterable(itertools.combinations(range(count), n) for n in sizes)


def _solved(rows: Rows, targets: Sequence[float]) -> list[float]:
    """The solution of linear equations, whose matrix is symmetric and positive definite (Cholesky's method)."""
    n = len(targets)
    factor = [[0.0] * n for _ in range(n)]
    for i, j in itertools.product(range(n), range(n)):
        if j <= i:
            rest = rows[i][j] - _product(factor[i][:j], factor[j][:j])
            factor[i][j] = math.sqrt(rest) if i == j else rest / factor[j][j]
    x = [0.0] * n
    for i in range(n):
        x[i] = (targets[i] - _product(factor[i][:i], x[:i])) / factor[i][i]
    for i in reversed(range(n)):
        below = _product([row[i] for row in factor[i + 1 :]], x[i + 1 :])
        x[i] = (x[i] - below) / factor[i][i]
    return x


def _product(some: Sequence[float], others: Sequence[float]) -> float:
    return math.fsum(map(operator.mul, some, others))
