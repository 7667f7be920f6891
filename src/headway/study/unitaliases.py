"""Units as people write them elsewhere (``Mbps``, ``MB/s``, ``sec``), and how much of a base unit each is.

Only a refusal needs them: it says the value in a unit that study files take. A spelling that means
one thing to some and another to others has several readings, and all of them are named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

_PREFIXES = {
    "": Decimal(1),
    **{
        prefix: Decimal(1000) ** power
        for power, prefixes in enumerate(("kK", "mM", "gG", "tT", "pP"), start=1)
        for prefix in prefixes
    },
    **{
        f"{prefix}{i}": Decimal(1024) ** power
        for power, prefixes in enumerate(("kK", "mM", "gG", "tT", "pP"), start=1)
        for prefix in prefixes
        for i in "iI"
    },
}
_DATA = re.compile(
    r"(?P<prefix>[kmgtp]i?)?(?P<what>bits?|bytes?|octets?|b)?(?P<per>/s|ps|/sec(ond)?|/second)?",
    re.IGNORECASE,
)
_BIT, _BYTE = Decimal(1), Decimal(8)


def data_readings(unit: str, *, rate: bool) -> tuple[Decimal, ...]:
    """How many bits (a second) a unit of data, or of rates, may be; none if it is no such unit.

    Args:
        unit: as written, such as ``MBps``.
        rate: whether a rate is wanted; what names no time is then one a second.
    """
    match = _DATA.fullmatch(unit.replace(" per second", "/s").replace("-", ""))
    if not match or not unit or (match["per"] and not rate):
        return ()
    factor = _PREFIXES[match["prefix"] or ""]
    return tuple(factor * each for each in _what(match["what"] or "", unit, rate=rate))


def _what(what: str, unit: str, *, rate: bool) -> tuple[Decimal, ...]:
    """Bits in the thing that is counted: a small b is a bit and a large one a byte, where its writer tells them apart."""
    word = what.lower()
    if word.startswith("bit"):
        return (_BIT,)
    if word.startswith(("byte", "octet")):
        return (_BYTE,)
    if not word:
        return (_BIT,) if rate else (_BYTE,)
    if what == "B":
        careless = rate and len(unit) > 1 and unit.isupper() and unit.isalpha()
        return (_BIT, _BYTE) if careless else (_BYTE,)
    return (_BIT,) if rate else (_BYTE, _BIT)


def _words(*rows: tuple[str, str]) -> dict[str, Decimal]:
    return {word: Decimal(factor) for words, factor in rows for word in words.split()}


_DURATIONS = _words(
    ("nsec nsecs nanosecond nanoseconds", "1"),
    ("usec usecs microsecond microseconds μs", "1e3"),
    ("msec msecs millisecond milliseconds", "1e6"),
    ("sec secs second seconds", "1e9"),
    ("m mins minute minutes", "60e9"),
    ("h hr hrs hour hours", "3600e9"),
    ("d day days", "86400e9"),
)
_RATIOS = _words(("percent pct", "0.01"), ("‰ permille", "0.001"), ("ppm", "1e-6"))
_BANDWIDTHS = _words(("hz hertz", "1"), ("khz", "1e3"), ("mhz", "1e6"), ("ghz", "1e9"))
_LENGTHS = _words(
    ("metre metres meter meters", "1"),
    ("kilometre kilometres kilometer kilometers", "1e3"),
    ("mi mile miles", "1609.344"),
    ("nmi", "1852"),
)
_DECIBELS = _words(("db decibel decibels", "1"))
_ANGLES = _words(("degree degrees", "1"))
_BY_KIND: Mapping[str, Mapping[str, Decimal]] = {
    "duration": _DURATIONS,
    "ratio": _RATIOS,
    "bandwidth": _BANDWIDTHS,
    "length": _LENGTHS,
    "number of decibels": _DECIBELS,
    "signal-to-noise ratio": _DECIBELS,
    "angle": _ANGLES,
}


def readings(kind: str, unit: str) -> tuple[Decimal, ...]:
    """How many base units of a kind of quantity a unit may be, the likeliest first; none if that is not known.

    Args:
        kind: as `headway.study.units` names it.
        unit: as written.
    """
    if kind == "rate":
        return data_readings(unit, rate=True)
    if kind == "size":
        return tuple(bits / 8 for bits in data_readings(unit, rate=False))
    known = _BY_KIND.get(kind, {})
    decimal = known.get(unit, known.get(unit.lower()))
    return () if decimal is None else (decimal,)
