"""Notes on what is left out of a file because it is not as it should be: a few lines, however much it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.sites.sifting import LEFT_OUT

_SHOWN = 5


def named(odd: Sequence[str]) -> Iterator[str]:
    """Lines about odd parts: the first few by name, the others counted.

    Args:
        odd: what is wrong with each part, and where it is.
    """
    yield from (f"{LEFT_OUT}{text}" for text in odd[:_SHOWN])
    if (more := len(odd) - _SHOWN) > 0:
        yield f"{LEFT_OUT}{more:,} more that are not as they should be"
