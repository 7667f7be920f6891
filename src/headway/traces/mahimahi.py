"""Mahimahi traces: one line per opportunity to deliver 1500 bytes, in milliseconds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from statistics import median

from headway.errors import WrongInputError
from headway.foreign.numbers import whole_number
from headway.foreign.shown import quoted
from headway.traces.text import trace_lines

_MOST_OPPORTUNITIES = 20_000_000
_LONGEST_MS = 366 * 24 * 3_600_000
_EPOCHS = (
    (10**9, "seconds"),
    (10**12, "milliseconds"),
    (10**15, "microseconds"),
    (10**18, "nanoseconds"),
)
"""From when on times since 1970 are in which unit: all of this are after 2001."""
_ODD_GAP_MS = 100
"""A link that delivers a packet less often is rarer than a trace in another unit."""
_FEW = 10


class TimeUnit(StrEnum):
    """What the times of a trace are in."""

    SECONDS = "s"
    MILLISECONDS = "ms"
    MICROSECONDS = "us"
    NANOSECONDS = "ns"

    @property
    def per_ms(self) -> int:
        """How many make a millisecond; of seconds, which are more, 0."""
        return {"ms": 1, "us": 1000, "ns": 1_000_000}.get(self, 0)


def read_opportunities(file: Path, unit: TimeUnit | None = None) -> tuple[int, ...]:
    """Read the times of a trace's delivery opportunities in milliseconds.

    Args:
        file: the trace.
        unit: of its times; None for milliseconds, unless they look like something else.

    Raises:
        WrongInputError: the file cannot be read, is no trace, or its times are likely to be something else: times are
            whole numbers that do not decrease, and the last one, which is the trace's length, is above zero.
    """
    lines = trace_lines(file)
    times = _whole_numbers(file, lines)
    if not times or times[-1] == 0:
        raise WrongInputError("a trace needs an opportunity at a time above zero", where=str(file))
    if unit is None:
        _check_unit(file, times)
    read = tuple(_in_ms(times, unit or TimeUnit.MILLISECONDS))
    if read[-1] > _LONGEST_MS:
        raise WrongInputError(
            f"its last opportunity is after {read[-1] / 86_400_000:,.0f} days; a trace has at most a year",
            where=str(file),
        )
    if not read[-1]:
        raise WrongInputError("is shorter than a millisecond", where=str(file))
    return read


def _whole_numbers(file: Path, lines: Sequence[str]) -> list[int]:
    times: list[int] = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text:
            continue
        time = whole_number(text)
        where = f"{file}:{number}"
        if time is None:
            raise WrongInputError(
                f"{quoted(text)} is not a whole number of milliseconds, as Mahimahi's traces have one a line; "
                "`headway trace import` reads rates and tables",
                where=where,
            )
        if times and time < times[-1]:
            raise WrongInputError(
                f"time {time} comes after {times[-1]}; times never decrease. If these are rates, "
                "`headway trace import` reads them",
                where=where,
            )
        times.append(time)
        if len(times) > _MOST_OPPORTUNITIES:
            raise WrongInputError(
                f"has more than {_MOST_OPPORTUNITIES:,} opportunities; cut it", where=str(file)
            )
    return times


def _in_ms(times: Sequence[int], unit: TimeUnit) -> Iterator[int]:
    if unit is TimeUnit.SECONDS:
        return (time * 1000 for time in times)
    return (time // unit.per_ms for time in times)


def _check_unit(file: Path, times: Sequence[int]) -> None:
    """Refuse whole numbers that are likely to be something else than milliseconds from a trace's start.

    Raises:
        WrongInputError: they are.
    """
    epoch = next((name for least, name in reversed(_EPOCHS) if times[0] >= least), None)
    if epoch:
        raise WrongInputError(
            f"its times look like {epoch} since 1970: the first, {times[0]}, would be after "
            f"{times[0] / 31_557_600_000:,.1f} years. A trace's times begin at its start: "
            "`headway trace import` moves them there",
            where=str(file),
        )
    gaps = [later - time for time, later in itertools.pairwise(times)]
    if len(times) < _FEW or median(gaps) < _ODD_GAP_MS:
        return
    length_s, mean_kbit = times[-1] / 1000, len(times) * 12 / times[-1] * 1000
    raise WrongInputError(
        f"its {len(times):,} numbers would be {mean_kbit:.3g} kbit/s in the mean over {length_s:,.6g} s, with gaps of up to "
        f"{max(*gaps, times[0]) / 1000:,.6g} s, if they are milliseconds; as microseconds, {mean_kbit:.3g} Mbit/s over "
        f"{length_s / 1000:,.6g} s; or they are rates in rising order. Say which: "
        'rate = { trace = "FILE", unit = "ms" } (or "us"); `headway trace import FILE --unit kbit/s` reads rates',
        where=str(file),
    )
