"""Numbers as people read them: significant digits, percent, p-values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

MINUS = "\N{MINUS SIGN}"
_MOST_DIGITS = 7
"""Beyond this, digits say nothing about a measurement in microseconds."""


def significant(value: float, digits: int = 3) -> str:
    """Write a number with this many significant digits and without an exponent."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else f"{MINUS if value < 0 else ''}∞"
    rounded = float(f"{value:.{digits - 1}e}")
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:.{decimals}f}".replace("-", MINUS)


def distinguished(values: Sequence[float], digits: int = 3) -> list[str]:
    """Write numbers with as many digits as it takes to tell unequal ones apart.

    The smallest difference between two of them must show as what it is, within a half: else
    9.31499 and 9.31501 would read as 9.31 and 9.32.
    """
    ordered = sorted({value for value in values if math.isfinite(value)})
    gaps = [(upper - lower, lower, upper) for lower, upper in pairwise(ordered)]
    for count in range(digits, _MOST_DIGITS + 1):
        if not gaps or _shows(min(gaps), count):
            break
    return [significant(value, count) for value in values]


def _shows(gap: tuple[float, float, float], digits: int) -> bool:
    size, lower, upper = gap
    shown = float(f"{upper:.{digits - 1}e}") - float(f"{lower:.{digits - 1}e}")
    return abs(shown - size) <= size / 2


def plain(value: float) -> str:
    """Write a setting: as given, without trailing zeros."""
    return f"{value:.6g}" if abs(value) < 1e6 else f"{value:.0f}"


def percent(share: float) -> str:
    """Write the size of a share as ``34 %``; its sign is left to the words around it."""
    size = abs(share) * 100
    if size == 0:
        return "0 %"
    if size < 0.1:
        return "less than 0.1 %"
    return f"{size:.1f} %" if size < 9.95 else f"{size:.0f} %"


def signed_percent(share: float) -> str:
    """Write a relative difference for a table, in percent: ``−34``, ``+3.2``, ``×12``."""
    if share >= 9.995:
        return f"×{significant(1 + share)}"
    size = abs(share) * 100
    text = f"{size:.1f}" if size < 9.95 else f"{size:.0f}"
    if text == "0.0":
        return text
    return f"{MINUS if share < 0 else '+'}{text}"


def p_value(p: float) -> str:
    """Write a p-value as ``p = 0.0079`` or ``p < 0.001``."""
    if p < 0.001:
        return "p < 0.001"
    return f"p = {float(f'{p:.1e}'):g}"


def data_size(count: int) -> str:
    """Write a number of bytes in the largest unit it fills: ``10 MiB``, ``125 kB``."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= factor and count % factor == 0:
            return f"{count // factor} {unit}"
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{plain(round(count / factor, 2))} {unit}"
    return f"{count} B"


def listed(items: Sequence[str], last: str = "and") -> str:
    """Join as in a sentence: ``a, b and c``."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"
