"""The target of a calibration: a series over time, or values of metrics, from a file or from other results."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path

import polars as pl

from headway.analysis.result_loading import load_results
from headway.columns import METRICS, Status
from headway.diagnosis.goodput import INTERVAL_S
from headway.errors import WrongInputError, nearest

SERIES = "goodput_mbit"
"""What a series over time is of."""
_TIME, _METRIC, _VALUE = "at_s", "metric", "value"
_FORMS = f"write {_TIME},{SERIES} for a series, or {_METRIC},{_VALUE} for values of metrics"
_MBIT = 8e-6
_LEAST = 0.01
"""Of the mean, what counts as wanted where less is: some packets of a beginning."""


@dataclass(frozen=True)
class Target:
    """A series of goodput, or values of metrics; one of them is empty.

    Attributes:
        at_s: ends of the series' intervals, seconds from when the client began; each begins at the one before.
        mbit: goodput in each interval, Mbit/s.
        values: of metrics.
    """

    at_s: tuple[float, ...] = ()
    mbit: tuple[float, ...] = ()
    values: Mapping[str, float] | None = None

    def residuals(self, run: Mapping[str, object]) -> list[float] | None:
        """By how much a run differs, as shares: 0.1 is 10 % of the target. None if it measured nothing of it.

        Of a series, the bytes received until each time are compared: comparing intervals would count a slightly late
        packet twice. Each difference is divided by the geometric mean of the target so far and of the series' mean, since
        counts scatter so; otherwise a knob that acts early, on few bytes, would not show. Of values it is each metric's
        relative difference.
        """
        if self.values:
            result = [(run.get(name), value) for name, value in self.values.items()]
            known = [(own, value) for own, value in result if isinstance(own, int | float)]
            if len(known) < len(result):
                return None
            return [(own - value) / abs(value) for own, value in known]
        received = run.get("received_bytes")
        if not isinstance(received, Sequence) or not received:
            return None
        mean = math.fsum(self.megabytes) / len(self.megabytes)
        pairs = zip(self._came(received), self.megabytes, strict=True)
        return [
            (own - wanted) / math.sqrt(max(wanted, mean * _LEAST) * mean) for own, wanted in pairs
        ]

    @property
    def size(self) -> int:
        """How many differences there are."""
        return len(self.values or self.at_s)

    @cached_property
    def megabytes(self) -> tuple[float, ...]:
        """What had come at the end of each interval."""
        edges = (0.0, *self.at_s)
        spans = (end - begin for begin, end in pairwise(edges))
        return tuple(
            accumulate(mbit * span / 8 for mbit, span in zip(self.mbit, spans, strict=True))
        )

    def farthest(self, run: Mapping[str, object]) -> str:
        """Where a run that has all that is wanted is farthest from it, in words."""
        if self.values:
            away = {
                name: abs(float(str(run[name])) - value) / abs(value)
                for name, value in self.values.items()
            }
            name = max(away, key=lambda text: away[text])
            return f"{name} is {float(str(run[name])):.4g}, and {self.values[name]:.4g} is wanted"
        received = run["received_bytes"]
        assert isinstance(received, Sequence)
        pairs = list(zip(self.at_s, self._came(received), self.megabytes, strict=True))
        at_s, own, wanted = max(pairs, key=lambda pair: abs(pair[1] - pair[2]))
        return f"at {at_s:g} s {own:.3g} MB had come, and {wanted:.3g} MB are wanted"

    def _came(self, received: Sequence[int]) -> list[float]:
        """What of a run had come at the same times, in MB."""
        sums = [0, *accumulate(received)]

        def until(at_s: float) -> float:
            place = min(at_s / INTERVAL_S, len(sums) - 1)
            low = int(place)
            high = min(low + 1, len(sums) - 1)
            return (sums[low] + (place - low) * (sums[high] - sums[low])) / 1e6

        return [until(at_s) for at_s in self.at_s]


def read_target(path: Path, contender: str | None = None) -> Target:
    """Read a target: a CSV file, or a directory of results of bulk flows, whose mean series is taken.

    Raises:
        WrongInputError: it is neither, or of another unit.
    """
    return _of_results(path, contender) if path.is_dir() else _of_file(path)


def _of_file(file: Path) -> Target:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise WrongInputError(f"cannot be read: {reason}", where=str(file)) from None
    rows = list(csv.reader(line for line in lines if line.strip() and not line.startswith("#")))
    if len(rows) < 2:
        raise WrongInputError(f"has no rows; {_FORMS}", where=str(file))
    if wrong := next((row for row in rows[1:] if len(row) != 2), None):
        raise WrongInputError(
            f"{','.join(wrong)!r} is no row of two values; {_FORMS}", where=str(file)
        )
    heading = tuple(name.strip() for name in rows[0])
    if heading == (_METRIC, _VALUE):
        return Target(values=_values(rows[1:], file))
    if len(heading) != 2 or heading[0] != _TIME:
        raise WrongInputError(f"has the columns {','.join(heading)}; {_FORMS}", where=str(file))
    if heading[1] != SERIES:
        raise WrongInputError(
            f"{heading[1]!r} is of another unit or quantity: a series is of {SERIES}, in Mbit/s",
            where=str(file),
        )
    pairs = [(_number(at_s, file), _number(mbit, file)) for at_s, mbit in rows[1:]]
    at_s, mbit = (tuple(column) for column in zip(*pairs, strict=True))
    if any(b <= a for a, b in pairwise((0.0, *at_s))) or not sum(mbit):
        raise WrongInputError(
            f"{_TIME} must increase from above 0, and not all of {SERIES} be 0", where=str(file)
        )
    return Target(at_s, mbit)


def _values(rows: Sequence[Sequence[str]], file: Path) -> dict[str, float]:
    values: dict[str, float] = {}
    for metric, text in rows:
        name = metric.strip()
        if name not in METRICS:
            known = (
                nearest(name, list(METRICS)) or "; docs/columns.md lists metrics, with their units"
            )
            raise WrongInputError(f"{name!r} is no metric of a run{known}", where=str(file))
        if name in values:
            raise WrongInputError(f"{name} is there twice, and has one value", where=str(file))
        values[name] = _number(text, file)
        if not values[name]:
            raise WrongInputError(f"{name} is 0, of which nothing is a share", where=str(file))
    return values


def _number(text: str, file: Path) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise WrongInputError(
            f"{text.strip()!r} is not a number; its unit is in the column's name", where=str(file)
        )
    return value


def _of_results(directory: Path, contender: str | None) -> Target:
    runs = load_results(directory).runs.filter(
        (pl.col("status") == Status.OK.value) & pl.col("received_bytes").is_not_null()
    )
    names = runs["contender"].unique(maintain_order=True).to_list()
    if not names:
        raise WrongInputError(
            "holds no bulk flows, of which a series is known", where=str(directory)
        )
    wanted = contender or names[0]
    if wanted not in names or (contender is None and len(names) > 1):
        raise WrongInputError(
            f"choose one of its contenders: {', '.join(names)}", where="--target-contender"
        )
    chosen = runs.filter(pl.col("contender") == wanted)
    cells = chosen.select("experiment", "cell").unique().height
    if cells > 1:
        raise WrongInputError(
            f"{wanted} ran in {cells} cells, and a series is of one: run its study for one, by --only or --set",
            where=str(directory),
        )
    series = chosen["received_bytes"].to_list()
    longest = max(map(len, series))
    means = [
        math.fsum(value[place] for value in series if place < len(value)) / len(series)
        for place in range(longest)
    ]
    ends = tuple(round((place + 1) * INTERVAL_S, 9) for place in range(longest))
    return Target(ends, tuple(mean * _MBIT / INTERVAL_S for mean in means))
