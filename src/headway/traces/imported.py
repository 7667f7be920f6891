"""Tables of rates over time, read as opportunities of a trace: what was understood is said, and what is not clear is asked for."""

from __future__ import annotations

import csv
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median, median_low
from typing import NamedTuple, NoReturn

from headway.errors import WrongInputError
from headway.foreign.shown import quoted
from headway.traces.layouts import AMOUNT_UNITS, RATE_UNITS, rate_columns, time_column, unit_of
from headway.traces.mahimahi import TimeUnit
from headway.traces.text import trace_lines

_PACKET_BITS = 12_000
_MOST_PACKETS = 20_000_000
_TIME_MS = {"s": 1e3, "ms": 1.0, "us": 1e-3, "ns": 1e-6}
_DATES = ("%Y.%m.%d_%H.%M.%S", "%Y-%m-%d %H:%M:%S", "%Y/%m/%d %H:%M:%S", "%d/%m/%Y %H:%M:%S")
_RIISER_COLUMNS = 6
_NOTHING = frozenset(("", "-", "na", "n/a", "nan", "none", "null"))
_MOST_MBIT = 500


@dataclass(frozen=True)
class TableReading:
    """How a table is to be read, as far as somebody says it.

    Attributes:
        column: of the rate: its name, or its number from 1.
        unit: of the rate, of the amount that passes until the next row, or of a single column of times.
        time: column of the time, likewise.
        time_unit: of the time.
        interval_ms: between rows, in the place of a column of times.
        rows: the rows that are meant: values by names of columns.
    """

    column: str | None = None
    unit: str | None = None
    time: str | None = None
    time_unit: TimeUnit | None = None
    interval_ms: float | None = None
    rows: Mapping[str, str] | None = None


class Span(NamedTuple):
    """How many bits pass from a time on, and for how long."""

    length_ms: float
    bits: float


class ImportedTrace(NamedTuple):
    """Opportunities in milliseconds, and what was understood."""

    opportunities_ms: tuple[int, ...]
    understood: str


class _RateTable(NamedTuple):
    """Rows of texts, and the names of columns; none if the file has no header."""

    names: tuple[str, ...]
    rows: list[list[str]]


def import_trace(file: Path, reading: TableReading) -> ImportedTrace:
    """Read a table of rates.

    Raises:
        WrongInputError: it cannot be read, or what its numbers are has to be said.
    """

    def refuse(reason: str) -> NoReturn:
        raise WrongInputError(reason, where=str(file))

    try:
        table = _chosen(_table(trace_lines(file)), reading)
        if not table.rows:
            refuse("has no row of numbers")
        if len(table.rows[0]) == 1 and reading.unit in _TIME_MS:
            return _of_times([row[0] for row in table.rows], str(reading.unit))
        spans, understood = _spans(table, reading)
        times = tuple(_opportunities(spans))
    except ValueError as error:
        refuse(str(error))
    if not times:
        refuse("no packet of 1500 bytes would pass")
    return ImportedTrace(times, understood)


def _table(lines: Sequence[str]) -> _RateTable:
    kept = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if kept and kept[0].lstrip()[:1] in "[{":
        return _of_json("\n".join(kept))
    mark = next((mark for mark in ("\t", ",", ";") if kept and mark in kept[0]), None)
    rows = list(csv.reader(kept, delimiter=mark)) if mark else [line.split() for line in kept]
    rows = [[cell.strip() for cell in row] for row in rows]
    if rows and all(_number(cell) is None for cell in rows[0]):
        return _RateTable(tuple(rows[0]), rows[1:])
    return _RateTable((), rows)


def _of_json(text: str) -> _RateTable:
    """A list of objects, such as Sabre's."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("is JSON that is damaged") from None
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value) or not value:
        raise ValueError("is JSON, but not a list of objects with a rate each")
    names = tuple(map(str, value[0]))
    return _RateTable(names, [[str(row.get(name, "")) for name in names] for row in value])


def _chosen(table: _RateTable, reading: TableReading) -> _RateTable:
    """The rows that are meant."""
    rows = table.rows
    for name, value in (reading.rows or {}).items():
        place = _place(table, name)
        rows = [row for row in rows if len(row) > place and row[place] == value]
        if not rows:
            raise ValueError(f"no row has {value!r} in column {name!r}")
    return _RateTable(table.names, rows)


def _place(table: _RateTable, name: str) -> int:
    """A column of that name, or of that number from 1."""
    if name in table.names:
        return table.names.index(name)
    width = len(table.names) or len(table.rows[0])
    if name.isdecimal() and 0 < int(name) <= width:
        return int(name) - 1
    known = ", ".join(table.names)[:200] or f"numbers from 1 to {width}"
    raise ValueError(f"has no column {quoted(name)}; there are {known}")


def _spans(table: _RateTable, reading: TableReading) -> tuple[list[Span], str]:
    """What passes when, and in words how that was understood."""
    if not table.names and len(table.rows[0]) == _RIISER_COLUMNS and reading.column is None:
        return _of_riiser(table)
    place, unit, why = _rate(table, reading)
    kept = [row for row in table.rows if len(row) > place and row[place].lower() not in _NOTHING]
    rates = [_expected(row[place], "a rate") for row in kept]
    left_out = len(table.rows) - len(kept)
    lengths, how = _lengths(_RateTable(table.names, kept), place, reading)
    if unit in RATE_UNITS:
        spans = [
            Span(ms, rate * RATE_UNITS[unit] * ms / 1e3)
            for rate, ms in zip(rates, lengths, strict=True)
        ]
    else:
        spans = [
            Span(ms, rate * AMOUNT_UNITS[unit]) for rate, ms in zip(rates, lengths, strict=True)
        ]
    name = table.names[place] if table.names else f"column {place + 1}"
    missing = f"; {left_out} rows without a rate were left out" if left_out else ""
    return spans, f"{name} is {unit}{why}, {how}; {len(spans)} rows{missing}"


def _rate(table: _RateTable, reading: TableReading) -> tuple[int, str, str]:
    """The column of the rate, its unit, and why it is that."""
    units = {**RATE_UNITS, **AMOUNT_UNITS}
    if reading.unit is not None and reading.unit not in units:
        raise ValueError(
            f"{quoted(reading.unit)} is no unit of rates; there are {', '.join(units)}"
        )
    if reading.column is not None:
        place = _place(table, reading.column)
        unit = reading.unit or (unit_of(table.names[place]) if table.names else None)
        if unit is None:
            raise ValueError(
                f"column {quoted(reading.column)} does not say its unit; say it with --unit, as Mbit/s"
            )
        return place, unit, ""
    if table.names:
        columns = rate_columns(table.names)
        if len(columns) != 1:
            names = (
                ", ".join(table.names[rate_column.place] for rate_column in columns)
                if columns
                else ", ".join(table.names)
            )
            reason = (
                "several columns may be the rate"
                if columns
                else "no column's name says that it is a rate"
            )
            raise ValueError(f"{reason}: {names[:300]}; name one with --column, and its --unit")
        (column,) = columns
        return (
            column.place,
            reading.unit or column.unit,
            f", as {column.known} has it" if column.known else "",
        )
    width = len(table.rows[0])
    if width > 2:
        raise ValueError(
            f"has {width} columns without names; name the rate's with --column NUMBER and --unit"
        )
    place = width - 1
    return place, reading.unit or _guessed(table, place), ""


def _guessed(table: _RateTable, place: int) -> str:
    """Mbit/s, if a table of times and rates looks like those of Pensieve and nothing else."""
    rates = [_expected(row[place], "a rate") for row in table.rows if len(row) > place]
    fractions = any(rate % 1 for rate in rates)
    if place and fractions and median(rates) < _MOST_MBIT:
        return "Mbit/s"
    raise ValueError(
        f"its rates, of {min(rates):g} to {max(rates):g}, may be Mbit/s, kbit/s, or bytes an interval; say which with "
        "--unit (Mbit/s, kbit/s, B/s, B)"
    )


def _lengths(table: _RateTable, rate: int, reading: TableReading) -> tuple[list[float], str]:
    """How long each row lasts, in milliseconds, and in words why."""
    if reading.interval_ms is not None:
        return [reading.interval_ms] * len(table.rows), f"a row every {reading.interval_ms:g} ms"
    if "duration_ms" in table.names:
        lasts = table.names.index("duration_ms")
        return [
            _expected(row[lasts], "a duration") for row in table.rows
        ], "duration_ms is how long it lasts"
    place = _time_place(table, reading)
    if place is None or place == rate:
        raise ValueError(
            "has no column of times; say how long a row lasts with --interval, as '1 s'"
        )
    times, unit = _times([row[place] for row in table.rows], reading.time_unit)
    steps = [later - time for time, later in itertools.pairwise(times)]
    if any(step < 0 for step in steps):
        back = next(number for number, step in enumerate(steps, start=2) if step < 0)
        raise ValueError(
            f"time goes back in row {back}, so it has several runs; choose one with --rows COLUMN=VALUE, or say how long "
            "a row lasts with --interval"
        )
    usual = median_low([step for step in steps if step > 0] or [1000.0])
    name = table.names[place] if table.names else f"column {place + 1}"
    return [*steps, usual], f"from the time in {name} ({unit}) on, the last for {usual:g} ms"


def _time_place(table: _RateTable, reading: TableReading) -> int | None:
    if reading.time is not None:
        return _place(table, reading.time)
    return time_column(table.names) if table.names else 0


def _times(texts: Sequence[str], unit: TimeUnit | None) -> tuple[list[float], str]:
    """Times in milliseconds, and their unit in words."""
    numbers = [_number(text) for text in texts]
    if any(number is None for number in numbers):
        return [_date_ms(text) for text in texts], "dates"
    known = [number for number in numbers if number is not None]
    if unit is None:
        span = (max(known) - min(known)) / max(len(known) - 1, 1)
        first = known[0]
        epochs = ((1e18, "ns"), (1e15, "us"), (1e12, "ms"), (1e9, "s"))
        epoch = next((name for least, name in epochs if first >= least), None)
        if epoch is None and len(known) > 1 and span > 60:
            raise ValueError(
                f"its times are {span:g} apart in the mean; say their unit with --time-unit (s, ms, us)"
            )
        unit = TimeUnit(epoch or "s")
    return [time * _TIME_MS[unit] for time in known], unit.value


def _of_riiser(table: _RateTable) -> tuple[list[Span], str]:
    spans = [
        Span(_expected(row[5], "milliseconds"), 8 * _expected(row[4], "bytes"))
        for row in table.rows
    ]
    return spans, (
        "as the logs of Norway (HSDPA) and Ghent (4G) have it: column 5 is bytes since the row before, column 6 the "
        f"milliseconds since then; {len(spans)} rows"
    )


def _of_times(texts: Sequence[str], unit: str) -> ImportedTrace:
    times = [_expected(text, "a time") * _TIME_MS[unit] for text in texts]
    if any(later < time for time, later in itertools.pairwise(times)):
        raise ValueError("its times decrease, so they are none of opportunities")
    # What counts from 1970 begins at its first opportunity.
    begin = times[0] - 1 if times[0] >= 1e9 else 0
    read = tuple(int(time - begin) for time in times)
    return ImportedTrace(
        read, f"each line is the time of an opportunity, in {unit}; {len(read)} of them"
    )


def _opportunities(spans: Sequence[Span]) -> Iterator[int]:
    """A packet passes when its last bit has."""
    at_ms = passed = 0.0
    count = 0
    for span in spans:
        if span.length_ms < 0 or span.bits < 0:
            raise ValueError("has a rate or a duration below zero")
        if (passed + span.bits) / _PACKET_BITS > _MOST_PACKETS:
            raise ValueError(f"has more than {_MOST_PACKETS:,} packets; cut it")
        while (wanted := (count + 1) * _PACKET_BITS) <= passed + span.bits + 1e-6:
            count += 1
            share = (wanted - passed) / span.bits if span.bits else 1.0
            yield max(math.ceil(at_ms + span.length_ms * min(share, 1.0) - 1e-9), 1)
        at_ms += span.length_ms
        passed += span.bits


def _number(text: str) -> float | None:
    try:
        value = float(text) if text.isascii() else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _expected(text: str, what: str) -> float:
    value = _number(text)
    if value is None:
        raise ValueError(f"{quoted(text)} is not {what}")
    return value


def _date_ms(text: str) -> float:
    for form in _DATES:
        try:
            return datetime.strptime(text, form).timestamp() * 1e3
        except ValueError:
            continue
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1e3
    except ValueError:
        raise ValueError(f"{quoted(text)} is neither a number nor a date") from None
