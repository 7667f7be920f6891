"""Mahimahi traces: one line per opportunity to deliver 1500 bytes, in milliseconds."""

from __future__ import annotations

from pathlib import Path

from headway.errors import WrongInputError
from headway.foreign.files import read_beginning
from headway.foreign.numbers import whole_number
from headway.foreign.shown import quoted


def read_opportunities(file: Path) -> tuple[int, ...]:
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
