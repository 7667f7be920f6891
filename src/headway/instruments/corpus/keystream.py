"""Bytes and draws that look random and depend on a key alone, on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from decimal import Context, Decimal
from typing import TypeVar

_T = TypeVar("_T")
_BLOCK = 4096
# Decimal arithmetic is exact where a C library's exp() may differ in the last bit.
_EXACT = Context(prec=28)


class Keystream:
    """A stream of bytes from SHAKE128 (FIPS 202) and draws from it.

    The random module is not used: its methods' results may change with Python's version.

    Args:
        key: whatever tells this stream from others.
    """

    def __init__(self, key: str) -> None:
        self._key = key
        self._blocks = 0
        self._rest = b""

    def take(self, count: int) -> bytes:
        """The next bytes of the stream."""
        missing = count - len(self._rest)
        if missing > 0:
            self._rest += self._next_block(max(missing, _BLOCK))
        taken, self._rest = self._rest[:count], self._rest[count:]
        return taken

    def _next_block(self, count: int) -> bytes:
        self._blocks += 1
        return hashlib.shake_128(f"{self._key}/{self._blocks}".encode()).digest(count)

    def below(self, limit: int) -> int:
        """A whole number from 0 to `limit` - 1, all equally likely (to 1 in 2^64)."""
        return int.from_bytes(self.take(8)) * limit >> 64

    def between(self, least: int, most: int) -> int:
        """A whole number from `least` to `most`, both included."""
        return least + self.below(most - least + 1)

    def choice(self, items: tuple[_T, ...]) -> _T:
        """One of the items."""
        return items[self.below(len(items))]

    def shuffled(self, items: Iterable[_T]) -> list[_T]:
        """The items in another order (Fisher and Yates)."""
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order

    def normal(self) -> Decimal:
        """A standard normal deviate: the sum of twelve uniform ones less 6, so within 6 of 0."""
        total = sum(int.from_bytes(self.take(4)) for _ in range(12)) - 6 * 2**32
        return _EXACT.divide(Decimal(total), Decimal(2**32))

    def lognormal(self, sigma: float) -> int:
        """A deviate, in units of 2^-32, whose natural logarithm is normal.

        Args:
            sigma: standard deviation of that logarithm; its mean is 0.
        """
        exponent = _EXACT.multiply(Decimal(repr(sigma)), self.normal())
        return int(_EXACT.multiply(_EXACT.exp(exponent), Decimal(2**32)))
