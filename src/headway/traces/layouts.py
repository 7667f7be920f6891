"""Tables of rates as collections of traces have them: which column is a rate, in which unit, and which is time.

Layouts are those of the collections' own descriptions: Riiser et al., MMSys 2013 (Norway, HSDPA) and van der Hooft et al. 2016
(Ghent, 4G); Raca et al., MMSys 2018 and 2020 (Ireland, 4G and 5G); Narayanan et al., IMC 2020 (Lumos5G); FCC's Measuring
Broadband America; Puffer. Others say the unit in a column's name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

RATE_UNITS = {
    "bit/s": 1.0,
    "kbit/s": 1e3,
    "Mbit/s": 1e6,
    "Gbit/s": 1e9,
    "B/s": 8.0,
    "kB/s": 8e3,
    "MB/s": 8e6,
}
"""Bits per second."""
AMOUNT_UNITS = {"B": 8.0, "kB": 8e3, "MB": 8e6, "bit": 1.0, "kbit": 1e3, "Mbit": 1e6}
"""Bits that pass until the next row."""
_KNOWN = {
    "dl_bitrate": ("kbit/s", "Raca et al. (Ireland)"),
    "ul_bitrate": ("kbit/s", "Raca et al. (Ireland)"),
    "throughput(mbps)": ("Mbit/s", ""),
    "bytes_sec_interval": ("B/s", "FCC"),
    "bytes_sec": ("B/s", "FCC"),
    "delivery_rate": ("B/s", "Puffer"),
    "bandwidth_kbps": ("kbit/s", ""),
}
_OF_NAMES = (
    (r"gbps|gbit/?s|gb/s", "Gbit/s"),
    (r"mbps|mbit/?s|mbits?_per_s|mb/s", "Mbit/s"),
    (r"kbps|kbit/?s|kbits?_per_s", "kbit/s"),
    (r"bytes?(/|_per_|p)s(ec(ond)?)?", "B/s"),
    (r"bps|bits?(/|_per_)s(ec(ond)?)?", "bit/s"),
    (r"\bbytes\b|_bytes\b", "B"),
)
_TIME = re.compile(r"(?i)^(time.*|ts|t|date.*|dtime|seconds|elapsed.*|seq_num|.*timestamp.*)$")
_LUMOS = frozenset(("run_num", "seq_num", "throughput"))


@dataclass(frozen=True)
class RateColumn:
    """A column that a rate is in.

    Attributes:
        place: from 0.
        unit: of `RATE_UNITS` or `AMOUNT_UNITS`.
        known: whose layout it is; empty if its name says the unit.
    """

    place: int
    unit: str
    known: str = ""


def rate_columns(names: Sequence[str]) -> tuple[RateColumn, ...]:
    """The columns whose names say that they are rates, and in which unit."""
    folded = [name.strip().lower() for name in names]
    columns = [
        RateColumn(place, unit, known)
        for place, name in enumerate(folded)
        for unit, known in _of_name(name)
    ]
    if not columns and set(folded) >= _LUMOS:
        return (RateColumn(folded.index("throughput"), "Mbit/s", "Lumos5G"),)
    downwards = [
        rate_column for rate_column in columns if folded[rate_column.place] == "dl_bitrate"
    ]
    return tuple(downwards or columns)


def unit_of(name: str) -> str | None:
    """The unit that a column's name says; None if it says none."""
    return next((unit for unit, _ in _of_name(name.strip().lower())), None)


def _of_name(name: str) -> list[tuple[str, str]]:
    if name in _KNOWN:
        return [_KNOWN[name]]
    return [(unit, "") for pattern, unit in _OF_NAMES if re.search(pattern, name)][:1]


def time_column(names: Sequence[str]) -> int | None:
    """The first column whose name is one of times; None if there is none."""
    return next((place for place, name in enumerate(names) if _TIME.match(name.strip())), None)
