"""Sizes of a kind's objects: lognormal, with a sum that is exact."""

from __future__ import annotations

from collections.abc import Sequence

from headway.errors import WrongInputError
from headway.instruments.corpus.keystream import Keystream


def lognormal_sizes(
    stream: Keystream, total: int, floors: Sequence[int], sigma: float, where: str
) -> list[int]:
    """Sizes in bytes whose sum is `total`, each at least its floor.

    Args:
        stream: of the draws.
        total: sum of the sizes.
        floors: what each object needs; what is left is shared as lognormal deviates are to each
            other.
        sigma: standard deviation of their natural logarithm.
        where: whose sizes they are, for errors.

    Raises:
        WrongInputError: `total` is less than the floors' sum, or there is nothing to give it to.
    """
    rest = total - sum(floors)
    if rest < 0:
        raise WrongInputError(f"must be at least {sum(floors)} bytes, not {total}", where=where)
    if not floors:
        if total:
            raise WrongInputError(f"no object is there to have {total} bytes", where=where)
        return []
    deviates = [stream.lognormal(sigma) for _ in floors]
    return [floor + part for floor, part in zip(floors, _apportioned(rest, deviates), strict=True)]


def _apportioned(total: int, weights: Sequence[int]) -> list[int]:
    """Whole parts of `total` in proportion to the weights, by cumulative rounding down."""
    sum_of_all = sum(weights)
    parts, given, cumulated = [], 0, 0
    for weight in weights:
        cumulated += weight
        parts.append(total * cumulated // sum_of_all - given)
        given += parts[-1]
    return parts
