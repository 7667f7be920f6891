"""What varies between a study's cells, and how a cell is called by it."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from headway.analysis.numbers import data_size, plain


@dataclass(frozen=True)
class Factor:
    """A condition that varies between cells.

    Attributes:
        name: what it is, in a word or two.
        levels: its values as text, in order, to stand below the name: ``100 ms``.
        titles: the same as parts of a title: ``RTT 100 ms``.
        values: the same as numbers in the unit of their column, for an axis; None if they are
            not numbers.
    """

    name: str
    levels: tuple[str, ...]
    titles: tuple[str, ...]
    values: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Constant:
    """A condition that is the same in all cells: its name and its value as text."""

    name: str
    value: str
    title: str


@dataclass(frozen=True)
class Conditions:
    """The conditions of a study's cells.

    Attributes:
        factors: what varies, in the order in which titles give it.
        levels: for each cell, in order, the index of its level of each factor.
        constants: what does not vary.
        dependents: what varies, but follows from the factors.
        drawn: what varies between the repetitions of a contender in a cell, with its range.
    """

    factors: tuple[Factor, ...]
    levels: Mapping[str, tuple[int, ...]]
    constants: tuple[Constant, ...]
    dependents: tuple[Factor, ...]
    drawn: tuple[Constant, ...]

    @property
    def notable_constants(self) -> tuple[str, ...]:
        """Titles of the constants that a reader needs: not absences, nor the same way back."""
        stated = {constant.name: constant.value for constant in self.constants}
        there = {f"{name} up": value for name, value in stated.items()}
        return tuple(
            constant.title
            for constant in self.constants
            if constant.value not in (_ABSENCE.get(constant.name), there.get(constant.name))
        )

    def title(self, cell: str) -> str:
        """The cell's title: its levels; empty if nothing varies."""
        return self.joined(self.levels[cell])

    def joined(self, levels: Sequence[int]) -> str:
        """The title of a cell with these levels of the first factors."""
        parts = zip(self.factors, levels, strict=False)
        return ", ".join(factor.titles[level] for factor, level in parts)


@dataclass(frozen=True)
class Column:
    """A column that may tell cells apart.

    Attributes:
        column: its name in the records.
        name: what it is, in a word or two.
        level: its value as text.
        title: how that text stands in a title; ``{}`` is the text.
        absent: what null means; None if null means that nothing is known.
    """

    column: str
    name: str
    level: Callable[[Any], str]
    title: str
    absent: str | None = None

    def text(self, value: Any) -> str:
        """A value as text."""
        return (self.absent or "?") if value is None else self.level(value)

    def titled(self, value: Any) -> str:
        """A value as it stands in a title."""
        return self.text(value) if value is None else self.title.format(self.level(value))


def _unit(unit: str) -> Callable[[float], str]:
    return lambda value: f"{plain(value)} {unit}"


COLUMNS = (
    Column("workload", "workload", str, "{}"),
    Column("device", "device", str, "{}", "no page"),
    Column("cache", "cache", str, "cache {}", "no page"),
    Column("origins", "hosts", str, "hosts: {}", "no page"),
    Column("profile", "profile", str, "{}", "no profile"),
    Column("rate_mbit", "rate", _unit("Mbit/s"), "{}", "no rate limit"),
    Column("rate_up_mbit", "rate up", _unit("Mbit/s"), "{} up", "no rate limit up"),
    Column("rtt_ms", "RTT", _unit("ms"), "RTT {}"),
    Column("loss_pct", "loss", _unit("%"), "loss {}"),
    Column("loss_up_pct", "loss up", _unit("%"), "loss up {}"),
    Column("loss_burst", "loss bursts", plain, "bursts of {}"),
    Column("jitter_ms", "jitter", _unit("ms"), "jitter {}"),
    Column("server_cc", "server's CC", str, "server {}"),
    Column("client_cc", "client's CC", str, "client {}"),
    Column("server_iw", "server's IW", str, "server IW {}", "server's own IW"),
    Column("client_iw", "client's IW", str, "client IW {}", "client's own IW"),
    Column("server", "server", str, "{}"),
    Column("client", "client", str, "{}"),
    Column("proxy", "proxy", str, "via {}", "no proxy"),
    Column("bypass", "bypassed", str, "bypassing {}", "nothing bypassed"),
    Column("proxy_cc", "proxy's CC", str, "proxy {}", "no proxy's CC"),
    Column("proxy_iw", "proxy's IW", str, "proxy IW {}", "no proxy's IW"),
    Column("proxy_upstream_cc", "proxy's CC up", str, "proxy {} up", "no proxy's CC"),
    Column("proxy_upstream_iw", "proxy's IW up", str, "proxy IW {} up", "no proxy's IW"),
    Column("knobs", "knobs", str, "{}", "no knobs set"),
    Column("upstream_protocol", "upstream", str, "upstream {}", "no upstream"),
    Column("upstream_rate_mbit", "upstream rate", _unit("Mbit/s"), "upstream {}", "no limit"),
    Column("upstream_rtt_ms", "upstream RTT", _unit("ms"), "upstream RTT {}", "no upstream"),
    Column("upstream_loss_pct", "upstream loss", _unit("%"), "upstream loss {}", "no upstream"),
    Column("tls", "encryption", lambda on: "TLS" if on else "no TLS", "{}"),
    Column("queue_bytes", "queue", data_size, "queue {}", "no limit in bytes"),
    Column("clock", "clock", str, "{} clock"),
    Column("variation", "variation", str, "variation {}", "variation not told"),
)
"""In the order of titles. A column whose values follow from those before it (a queue of one
BDP follows from rate and RTT) is not part of the title."""

_SIZES = (pl.col("size_bytes").max(), pl.col("requests").max())
"""What orders workloads."""
_PAGE_BYTES = pl.col("page_bytes").max()
"""What orders those that load pages."""
_OBJECTS = re.compile(r"objects-(\d+)x(\d+)([A-Za-z]+)")
"""A page of so many objects of one size."""

_ABSENCE = {
    "device": "no page",
    "cache": "no page",
    "hosts": "no page",
    "loss up": "0 %",
    "jitter": "0 ms",
    "loss bursts": "1",
    "proxy": "no proxy",
    "profile": "no profile",
    "bypassed": "nothing bypassed",
    "proxy's CC": "no proxy's CC",
    "proxy's IW": "no proxy's IW",
    "proxy's CC up": "no proxy's CC",
    "proxy's IW up": "no proxy's IW",
    "knobs": "no knobs set",
    "upstream": "no upstream",
    "upstream rate": "no limit",
    "upstream RTT": "no upstream",
    "upstream loss": "no upstream",
    "rate up": "no rate limit up",
    "queue": "no limit in bytes",
    "server's IW": "server's own IW",
    "client's IW": "client's own IW",
    "variation": "variation not told",
}
"""Values of constants that go without saying."""


_Values = dict[tuple[str, str], list[Any]]
"""The values of a column by cell and contender."""


def conditions(runs: pl.DataFrame) -> Conditions:
    """Find what varies between the cells of an experiment and what is constant.

    Of a condition only the contenders for which it varies between cells tell the cells apart
    (``h3`` may keep its own congestion control in all of them). What is the same for a contender
    in all cells, but not for all contenders, is part of what the contender is, and what varies
    between its repetitions in a cell is drawn by chance: neither tells cells apart.
    """
    cells = sorted(runs["cell"].unique().to_list())
    keys: dict[str, tuple[int, ...]] = dict.fromkeys(cells, ())
    factors: list[Factor] = []
    constants: list[Constant] = []
    dependents: list[Factor] = []
    drawn: list[Constant] = []
    values_of = _values(runs)
    for column in map(_shortened(runs), COLUMNS):
        found = values_of.get(column.column)
        if found is None:
            constants += _constant(column, (runs[column.column][0],))
            continue
        if any(len(values) > 1 for values in found.values()):
            drawn.append(_drawn(column, found))
            continue
        by_cell = _by_cell(found)
        ordered = _ordered(set(by_cell.values()), runs, column.column)
        if len(ordered) == 1:
            constants += _constant(column, ordered[0])
            continue
        refined = {cell: (*keys[cell], ordered.index(by_cell[cell])) for cell in cells}
        if len(set(refined.values())) > len(set(keys.values())):
            factors.append(_factor(column, ordered, runs))
            keys = refined
        else:
            dependents.append(_factor(column, ordered, runs))
    told = _told_apart(factors, keys)
    return Conditions(*told, tuple(constants), tuple(dependents), tuple(drawn))


def _values(runs: pl.DataFrame) -> dict[str, _Values]:
    """The columns that are not the same in all runs, each with its values."""
    names = [column.column for column in COLUMNS if runs[column.column].n_unique() > 1]
    table = runs.group_by("cell", "contender").agg(pl.col(name).unique() for name in names)
    places = list(zip(table["cell"].to_list(), table["contender"].to_list(), strict=True))
    return {name: dict(zip(places, table[name].to_list(), strict=True)) for name in names}


def _by_cell(found: _Values) -> dict[str, tuple[Any, ...]]:
    """What a column says of each cell, nulls last; the same of all if it cannot tell them apart."""
    of_contender: dict[str, set[Any]] = defaultdict(set)
    of_cell: dict[str, set[Any]] = defaultdict(set)
    for (cell, contender), values in found.items():
        of_contender[contender].update(values)
        of_cell[cell].update(values)
    varying = {contender for contender, values in of_contender.items() if len(values) > 1}
    if not varying:
        everything = tuple(sorted(set().union(*of_contender.values()), key=_null_last))
        return dict.fromkeys(of_cell, everything)
    telling: dict[str, set[Any]] = defaultdict(set)
    for (cell, contender), values in found.items():
        if contender in varying:
            telling[cell].update(values)
    return {
        cell: tuple(sorted(telling.get(cell) or values, key=_null_last))
        for cell, values in of_cell.items()
    }


def _drawn(column: Column, found: _Values) -> Constant:
    """The range of what was drawn."""
    values = sorted(set(itertools.chain.from_iterable(found.values())), key=_null_last)
    ends = [values[0], values[-1]] if len(values) > 2 else values
    return Constant(
        column.name,
        " to ".join(map(column.text, ends)),
        " to ".join(map(column.titled, ends)),
    )


def _told_apart(
    factors: list[Factor], keys: dict[str, tuple[int, ...]]
) -> tuple[tuple[Factor, ...], dict[str, tuple[int, ...]]]:
    """Add the cell's own name as a factor where the columns cannot tell cells apart."""
    if len(set(keys.values())) < len(keys):
        names = tuple(sorted(keys))
        factors = [*factors, Factor("cell", names, names)]
        keys = {cell: (*levels, names.index(cell)) for cell, levels in keys.items()}
    return tuple(factors), dict(sorted(keys.items(), key=lambda item: item[1]))


def _shortened(runs: pl.DataFrame) -> Callable[[Column], Column]:
    """Drop from workloads the words that all of them begin with: ``download 1 MB`` to ``1 MB``."""
    names = runs["workload"].drop_nulls().unique().to_list()
    common = _common_words(names)
    if len(names) < 2 or not common:
        return lambda column: column
    name = "size" if runs["size_bytes"].null_count() == 0 else common
    short = Column("workload", name, lambda text: _short(text, common), "{}")
    return lambda column: short if column.column == "workload" else column


def _common_words(names: Sequence[str]) -> str:
    """Words without digits that all names begin with and none consists of."""
    words = [name.split() for name in names]
    least = min((len(found) for found in words), default=1) - 1
    together = zip(*(found[:least] for found in words), strict=True)
    common = itertools.takewhile(
        lambda group: len(set(group)) == 1 and not re.search(r"\d", group[0]), together
    )
    return " ".join(group[0] for group in common)


def _short(workload: str, common: str) -> str:
    """A workload without these words; pages of objects of one size as ``10 x 5 kB``."""
    return _OBJECTS.sub(r"\1 x \2 \3", workload.removeprefix(f"{common} "))


def _count(workload: str) -> int:
    """How many objects a page of objects of one size has; 0 of other workloads."""
    found = _OBJECTS.search(workload)
    return int(found[1]) if found else 0


def _null_last(value: Any) -> tuple[bool, Any]:
    return (value is None, 0 if value is None else value)


def _ordered(
    values: set[tuple[Any, ...]], runs: pl.DataFrame, column: str
) -> list[tuple[Any, ...]]:
    """Levels in ascending order; workloads by their size."""
    if column != "workload":
        return sorted(values, key=lambda found: tuple(map(_null_last, found)))
    table = runs.group_by("workload").agg(*_SIZES, _PAGE_BYTES)
    sizes = {
        name: [*map(_null_last, (*size, _count(name), page_bytes))]
        for name, *size, page_bytes in table.iter_rows()
    }
    return sorted(values, key=lambda found: [(sizes[name], name) for name in found])


def _factor(column: Column, ordered: list[tuple[Any, ...]], runs: pl.DataFrame) -> Factor:
    shared = set.intersection(*map(set, ordered))
    shown = [[v for v in found if v not in shared] or list(found) for found in ordered]
    return Factor(
        name=column.name,
        levels=tuple(" / ".join(map(column.text, values)) for values in shown),
        titles=tuple(" / ".join(map(column.titled, values)) for values in shown),
        values=_numbers(column, shown, runs),
    )


def _numbers(
    column: Column, shown: list[list[Any]], runs: pl.DataFrame
) -> tuple[float, ...] | None:
    """The levels as numbers, different from each other; workloads by what orders them."""
    values = [found[0] for found in shown if len(found) == 1]
    if column.column == "workload":
        sizes = {name: size for name, *size in runs.group_by("workload").agg(*_SIZES).iter_rows()}
        telling = [{sizes[name][place] for name in values} for place in range(len(_SIZES))]
        place = next((at for at, found in enumerate(telling) if len(found) == len(values)), 0)
        values = [sizes[name][place] for name in values]
    numeric = [value for value in values if isinstance(value, int | float)]
    return tuple(numeric) if len(set(numeric)) == len(shown) else None


def _constant(column: Column, found: tuple[Any, ...]) -> list[Constant]:
    """A constant worth stating: known, and the same for all contenders."""
    if len(found) > 1 or (found[0] is None and column.absent is None):
        return []
    return [Constant(column.name, column.text(found[0]), column.titled(found[0]))]
