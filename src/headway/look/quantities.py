"""Quantities as people read them."""

from __future__ import annotations

_BYTES = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
_BITS = ((10**9, "Gbit/s"), (10**6, "Mbit/s"), (10**3, "kbit/s"))


def size(count: int) -> str:
    """Bytes with three digits, such as ``1.23 MB``."""
    return _scaled(count, _BYTES, "bytes")


def rate(bit_per_s: float) -> str:
    """Bits per second with three digits, such as ``1.23 Mbit/s``."""
    return _scaled(bit_per_s, _BITS, "bit/s")


def seconds(duration_s: float) -> str:
    """A duration with three digits, such as ``1.23 s``, or in minutes and hours if it is long."""
    if duration_s < 120:
        return (
            f"{duration_s:.3g} s"
            if duration_s >= 1 or not duration_s
            else f"{duration_s * 1e3:.3g} ms"
        )
    minutes, rest = divmod(round(duration_s), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _scaled(value: float, scale: tuple[tuple[int, str], ...], unit: str) -> str:
    for factor, name in scale:
        if value >= factor:
            return f"{value / factor:.3g} {name}"
    return f"{value:g} {unit}"
