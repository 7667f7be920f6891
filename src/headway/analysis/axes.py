"""Cells told apart by the axes of their study: in its order, its words and its units."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from headway.analysis.columns import COLUMNS, Condition, numbers
from headway.analysis.conditions import Factor
from headway.analysis.pathconditions import aspect_column
from headway.study.levelwords import aspect_of, level_title
from headway.study.units import Duration, Rate, Ratio, UnitError, split_quantity

Grid = Mapping[str, Mapping[str, Any]]
"""The coordinates of cells, by name, in the study's order."""

_COLUMN_OF = {axis: column.column for column in COLUMNS for axis in column.naming.axes}

_QUANTITIES: Mapping[str, Callable[[str], float]] = {
    "ms": lambda text: Duration.parse(text).ms,
    "Mbit/s": lambda text: Rate.parse(text).mbit,
    "%": lambda text: 100 * Ratio.parse(text),
}
"""What a study states, in the unit of a column."""

CONTENDER = "contender"
"""The axis of contenders, where what is compared are the levels of another one."""
_TELL_THEMSELVES = frozenset({CONTENDER})
"""Axes whose levels need no name before them."""
_UNDERSTOOD = {"path", "workload", "knobs", "hops", "links"}
"""Parts of a key that a name omits."""
_WORDS = {"rtt": "RTT", "congestion_control": "CC", "initial_window": "IW"}


@dataclass(frozen=True)
class Axis:
    """An axis of a study, as a factor.

    Attributes:
        key: its dotted name.
        factor: its name and levels, in the study's order.
        column: the column that says the same; None if none does.
        level_of: index of each cell's level.
    """

    key: str
    factor: Factor
    column: str | None
    level_of: Mapping[str, int]


def axes_of(runs: pl.DataFrame, grid: Grid, columns: Sequence[Condition]) -> tuple[Axis, ...]:
    """The axes that tell the cells of these runs apart; none if the grid lacks one of the cells.

    Args:
        runs: the runs of an experiment.
        grid: coordinates of its cells.
        columns: the columns that may say the same.
    """
    measured = set(runs["cell"].unique().to_list())
    if not measured or not measured <= set(grid):
        return ()
    cells = {name: at for name, at in grid.items() if name in measured}
    by_name = {column.column: column for column in columns}
    keys = list(dict.fromkeys(key for at in cells.values() for key in at))
    column_of = {key: by_name.get(_column(key)) for key in keys}
    parts = {
        key for key, column in column_of.items() if column and _is_part(key, column, cells, runs)
    }
    column_of |= dict.fromkeys(parts)
    names = _names(column_of, parts)
    return tuple(_axis(names[key], key, column_of[key], cells, runs) for key in keys)


def _column(key: str) -> str:
    """The column of the records, or of an aspect of paths in words, that says the same as an axis."""
    return _COLUMN_OF.get(key) or aspect_column(aspect_of(key) or "")


def _is_part(key: str, column: Condition, cells: Grid, runs: pl.DataFrame) -> bool:
    """Whether an axis is of one path of several, and its column of all of them together."""
    quantity = _QUANTITIES.get(column.unit)
    if quantity is None or not runs.schema[column.column].is_numeric():
        return False
    for cell, value in runs.select("cell", column.column).unique().drop_nulls().iter_rows():
        stated = cells[cell].get(key)
        try:
            number = quantity(stated) if isinstance(stated, str) else value
        except UnitError:
            return False
        if not math.isclose(number, value, rel_tol=1e-6):
            return True
    return False


def _axis(name: str, key: str, column: Condition | None, cells: Grid, runs: pl.DataFrame) -> Axis:
    values: dict[str, Any] = {}
    level_of: dict[str, int] = {}
    for cell, at in cells.items():
        text = json.dumps(at.get(key), sort_keys=True)
        values.setdefault(text, at.get(key))
        level_of[cell] = list(values).index(text)
    recorded = _recorded(runs, column, level_of, len(values)) if column else None
    texts = _told_apart(
        [
            _text(key, value, column, recorded[level] if recorded else [])
            for level, value in enumerate(values.values())
        ],
        list(values.values()),
    )
    title = column.naming.title if column else f"{name} {{}}"
    if all(_is_managed_queue(key, value) for value in values.values()):
        title = "{}"  # a discipline says that it is of a queue
    if key in _TELL_THEMSELVES or key.endswith(".queue.discipline"):
        title = "{}"
    elif key.endswith(".queue.size"):
        title = "queue {}"
    factor = Factor(
        name=name,
        levels=texts,
        titles=tuple(map(title.format, texts)),
        values=_in_one_unit(list(values.values()))
        or (numbers(column, recorded, runs) if column and recorded else None),
        unstated=frozenset(level for level, value in enumerate(values.values()) if value is None),
    )
    return Axis(key, factor, column.column if column else None, level_of)


def _told_apart(texts: Sequence[str], values: Sequence[Any]) -> tuple[str, ...]:
    """Texts of levels; where two are alike, what the study says of each."""
    return tuple(
        text if texts.count(text) == 1 or value is None else " ".join(_words_of(value))
        for text, value in zip(texts, values, strict=True)
    )


def _recorded(
    runs: pl.DataFrame, column: Condition, level_of: Mapping[str, int], levels: int
) -> list[list[Any]]:
    """What the records say of each level."""
    by_values: dict[int, dict[Any, None]] = defaultdict(dict)
    table = runs.group_by("cell", maintain_order=True).agg(pl.col(column.column).unique().sort())
    for cell, values in table.iter_rows():
        by_values[level_of[cell]].update(dict.fromkeys(values))
    return [list(by_values[level]) for level in range(levels)]


def _text(key: str, value: Any, column: Condition | None, recorded: list[Any]) -> str:
    """A level as the study has it; what is more than a word there, as the records have it."""
    if isinstance(value, Mapping) and value.keys() == {"mean", "burst"}:
        return f"{value['mean']} in bursts of {value['burst']}"
    if _is_managed_queue(key, value):
        return _queue(value)
    known = column.text(recorded[0]) if column and len(recorded) == 1 else None
    if value is None:
        return known or "usual"
    is_table = isinstance(value, dict | list)
    words = level_title(key, value) if is_table else None
    has_text = known is not None and (words is None or recorded[0] == known)
    if has_text and (is_table or key == "workload.site"):
        return str(known)
    return words or ", ".join(_words_of(value)) or "none"


def _is_managed_queue(key: str, value: Any) -> bool:
    """Whether a level is a queue of which more is said than its size."""
    return (
        key.rpartition(".")[2] == "queue" and isinstance(value, Mapping) and "discipline" in value
    )


def _queue(value: Mapping[str, Any]) -> str:
    """``0.5 BDP droptail``, ``100 packets codel ECN``."""
    units = {
        "size": "{}",
        "drain": "{}",
        "bdp": "{} BDP",
        "packets": "{} packets",
        "discipline": "{}",
    }
    parts = [unit.format(value[key]) for key, unit in units.items() if key in value]
    others = _words_of({k: v for k, v in value.items() if k not in units and k != "ecn"})
    return " ".join([*parts, *(["ECN"] if value.get("ecn") else []), *others])


def _words_of(value: Any, prefix: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _words_of(inner, f"{prefix}{key} ")
    elif isinstance(value, list):
        yield prefix + " + ".join(", ".join(_words_of(inner)) for inner in value)
    elif isinstance(value, bool):
        yield f"{prefix}{'on' if value else 'off'}"
    else:
        yield f"{prefix}{value}"


def _in_one_unit(values: Sequence[Any]) -> tuple[float, ...] | None:
    """The levels as numbers if all are written in the same unit."""
    try:
        pairs = [split_quantity(str(value)) for value in values]
    except UnitError:
        return None
    if len({unit for _, unit in pairs}) > 1:
        return None
    return tuple(float(number) for number, _ in pairs)


def _names(column_of: Mapping[str, Condition | None], parts: Collection[str]) -> dict[str, str]:
    """What the axes are called, in a word or two; as the file calls them where words are equal, or are those of a whole."""
    short = {key: key if key in parts else _name(key, column) for key, column in column_of.items()}
    called = list(short.values())
    return {key: name if called.count(name) == 1 else key for key, name in short.items()}


def _name(key: str, column: Condition | None) -> str:
    if key == "workload.size":
        return "size"
    return column.name if column else key_words(key)


def key_words(key: str) -> str:
    """A key of a study in words: ``server.initial_window`` is ``server IW``."""
    parts = [part for part in key.split(".") if part not in _UNDERSTOOD] or [key]
    return " ".join(_WORDS.get(part, part.replace("_", " ")) for part in parts)
