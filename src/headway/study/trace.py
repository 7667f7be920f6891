"""Mahimahi traces: one line per opportunity to deliver 1500 bytes, in milliseconds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headway.errors import WrongInputError
from headway.foreign.files import read_beginning
from headway.foreign.numbers import whole_number
from headway.foreign.shown import quoted

TRACE_KEY = "opportunities_ms"
"""Key under which a trace's contents stand beside its name in a study."""


def without_traces(value: Any) -> Any:
    """A study's value, its traces by name only."""
    if isinstance(value, Mapping):
        return {key: without_traces(one) for key, one in value.items() if key != TRACE_KEY}
    if isinstance(value, list):
        return [without_traces(one) for one in value]
    return value


def read_trace(file: Path) -> tuple[int, ...]:
    """Read the times of a trace's delivery opportunities in milliseconds.

    Raises:
        WrongInputError: the file cannot be read, or is not a trace: times are whole numbers that
            do not decrease, and the last one, which is the trace's length, is above zero.
    """
    try:
        lines = read_beginning(file, -1).decode("ascii").splitlines()
    except FileNotFoundError:
        raise WrongInputError("no such trace file", where=str(file)) from None
    except UnicodeDecodeError:
        raise WrongInputError("not a trace: one whole number a line", where=str(file)) from None
    except OSError as error:
        raise WrongInputError(f"cannot be read: {error.strerror}", where=str(file)) from None
    times: list[int] = []
    for number, line in enumerate(lines, start=1):
        where = f"{file}:{number}"
        time = whole_number(line.strip())
        if time is None:
            raise WrongInputError(
                f"{quoted(line)} is not a whole number of milliseconds", where=where
            )
        if times and time < times[-1]:
            raise WrongInputError(
                f"time {time} comes after {times[-1]}; times never decrease", where=where
            )
        times.append(time)
    if not times or times[-1] == 0:
        raise WrongInputError("a trace needs an opportunity at a time above zero", where=str(file))
    return tuple(times)
