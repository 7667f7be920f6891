"""The columns that may tell cells apart, and their values as text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from headway.analysis.numbers import data_size, plain


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

ABSENCE = {
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


def shortened(runs: pl.DataFrame) -> Callable[[Column], Column]:
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


def null_last(value: Any) -> tuple[bool, Any]:
    """A key that sorts null after everything."""
    return (value is None, 0 if value is None else value)


def ordered_levels(
    values: set[tuple[Any, ...]], runs: pl.DataFrame, column: str
) -> list[tuple[Any, ...]]:
    """Levels in ascending order; workloads by their size."""
    if column != "workload":
        return sorted(values, key=lambda found: tuple(map(null_last, found)))
    table = runs.group_by("workload").agg(*_SIZES, _PAGE_BYTES)
    sizes = {
        name: [*map(null_last, (*size, _count(name), page_bytes))]
        for name, *size, page_bytes in table.iter_rows()
    }
    return sorted(values, key=lambda found: [(sizes[name], name) for name in found])


def numbers(column: Column, shown: list[list[Any]], runs: pl.DataFrame) -> tuple[float, ...] | None:
    """The levels as numbers, different from each other; workloads by what orders them."""
    values = [found[0] for found in shown if len(found) == 1]
    if column.column == "workload":
        sizes = {name: size for name, *size in runs.group_by("workload").agg(*_SIZES).iter_rows()}
        telling = [{sizes[name][place] for name in values} for place in range(len(_SIZES))]
        place = next((at for at, found in enumerate(telling) if len(found) == len(values)), 0)
        values = [sizes[name][place] for name in values]
    numeric = [value for value in values if isinstance(value, int | float)]
    return tuple(numeric) if len(set(numeric)) == len(shown) else None
