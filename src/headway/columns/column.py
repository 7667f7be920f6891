"""A column: what is measured, its type and unit, and by which of its values a contender is better.

A family of columns is a model, `Columns`, whose fields are made by `given`, `column` and `metric`.
Everything else that is said of a column anywhere is taken from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

_UNITS = {
    "s": "s",
    "ms": "ms",
    "mbit": "Mbit/s",
    "pct": "%",
    "bytes": "bytes",
    "segments": "segments",
    "packets": "packets",
    "stalls": "stalls",
    "switches": "switches",
}
"""What the last word of a name tells."""
_RATIOS = frozenset({"index", "ratio", "share", "utilisation"})
"""Last words of names of numbers without a unit."""


class Better(Enum):
    """Which values of a metric are the better contender's."""

    LESS = "less"
    MORE = "more"


FASTER_SLOWER = ("faster", "slower")
LOWER_HIGHER = ("lower", "higher")
HIGHER_LOWER = ("higher", "lower")
MORE_LESS_EVEN = ("more even", "less even")


class Of(Enum):
    """The runs in which a metric is measured, so that a study may name it."""

    ALL = "all runs"
    REQUESTS = "requests and bulk flows"
    ENCRYPTED_REQUESTS = "the same with TLS"
    BULK_DOWNLOADS = "bulk downloads"
    PAGES = "pages"
    PAINTED_PAGES = "pages whose frames are kept"
    CALLS = "calls"
    SERIES = "series of requests"
    STREAMS = "streams, and messages both ways"
    MESSAGES = "messages both ways"
    UPLOADS = "uploads"
    TREES = "trees of calls"
    VIDEOS = "videos"
    COMPETING = "flows that compete"
    FOREGROUND = "flows that are not in the background"
    COMPETING_VIDEOS = "videos that compete"


class Needs(Enum):
    """What a metric needs beside, of the path or the protocol."""

    NOTHING = ""
    CONSTANT_RATE = "a link towards the client whose rate is constant"
    PACING = "capture.pacing, and a link towards the client whose rate is constant"
    TCP = "a client that speaks TCP"
    QUIC = "a client that speaks QUIC"
    RESOLVER = "a resolver, [dns]"
    CONTENT_TAKEN = "a server that takes the content of an upload, with status 200 and not early"
    DUAL_STACK = "hosts of both families, [dual_stack]"
    LIVE = "live video, workload.live"
    INTERACTIONS = "a click or a key, workload.interactions"
    PROCESSOR = "a host with a processor, kernel.processor"
    DUAL_QUEUE = "a link towards the client whose queue is dualpi2"
    PROXY_PROCESSOR = (
        "a host between client and server with a processor, such as proxy.kernel.processor"
    )


@dataclass(frozen=True)
class Ranking:
    """What makes a column one that contenders are compared by.

    Attributes:
        label: what it is, in words.
        heading: the same as short as it can be said.
        better: which values are.
        of: the runs that have it.
        words: what a contender with a better or a worse value is.
        best: the value that none is better than, as 1 of a ratio of equals; `better` then says nothing, and what is
            nearer to it, as a ratio, is better. None if there is none, or it is the least or the greatest.
        needs: what those runs have to have beside.
    """

    label: str
    heading: str
    better: Better
    of: Of
    words: tuple[str, str]
    best: float | None = None
    needs: Needs = Needs.NOTHING

    @property
    def told(self) -> str:
        """Which values are better, in a word or two."""
        return self.better.value if self.best is None else f"nearest to {self.best:g}"


@dataclass(frozen=True)
class Naming:
    """How a condition that may tell cells apart is called, and its values in a title.

    Attributes:
        name: what it is, in a word or two.
        title: how a value stands in a title; ``{}`` is the value.
        absent: what null means; None if null means that nothing is known.
        alone: how a value stands among others of all kinds; None if as in a title, with the name if that has the value only.
        unsaid: values, as titles write them ("1.5 kB"), that no text names where they are the same in all cells; if not
            `absent` alone.
        states: how yes and no stand, of a condition that has no other values.
        place: conditions stand in a title in the order of their places.
        axes: keys of studies that say the same where they are axes.
        listed: whether a value is a list, behind commas: what is in all of them is said even where the rest differs.
    """

    name: str
    title: str = "{}"
    absent: str | None = None
    alone: str | None = None
    unsaid: tuple[str, ...] | None = None
    states: tuple[str, str] = ("yes", "no")
    place: int = 0
    axes: tuple[str, ...] = ()
    listed: bool = False

    @property
    def keyed(self) -> str:
        """How a value stands where nothing else says what it is of."""
        if self.alone is not None:
            return self.alone
        return f"{self.name} {{}}" if self.title == "{}" else self.title


@dataclass(frozen=True)
class Column:
    """A column as it was declared.

    Attributes:
        name: its name in ``runs.parquet``.
        kind: type of its values; of the values in it, if it holds several.
        several: whether it holds several values.
        meaning: what it says.
        unit: of its values; empty if they have none.
        ranking: None if contenders are not compared by it.
        naming: None if it tells no cells apart.
    """

    name: str
    kind: type
    several: bool
    meaning: str
    unit: str
    ranking: Ranking | None
    naming: Naming | None


class Columns(BaseModel):
    """A family of columns."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


def given(meaning: str, unit: str = "", naming: Naming | None = None) -> Any:
    """A column that every run has; otherwise as `column`."""
    return column(meaning, unit, ..., naming)


def column(meaning: str, unit: str = "", default: Any = None, naming: Naming | None = None) -> Any:
    """A column that may be null, or have another default.

    Args:
        meaning: what it says.
        unit: if its name does not tell.
        default: what stands in it where nothing is known.
        naming: if it may tell cells apart.
    """
    field: Any = Field(default=default, description=meaning, title=unit or None)
    field.metadata += [naming] if naming else []
    return field


def metric(
    meaning: str,
    label: str,
    heading: str = "",
    better: Better = Better.LESS,
    of: Of = Of.ALL,
    words: tuple[str, str] = FASTER_SLOWER,
    best: float | None = None,
    needs: Needs = Needs.NOTHING,
    unit: str = "",
) -> Any:
    """A column that contenders may be compared by; see `Ranking`, and `column` for its unit."""
    field: Any = Field(default=None, description=meaning, title=unit or None)
    field.metadata.append(Ranking(label, heading or label, better, of, words, best, needs))
    return field


def columns_of(family: type[Columns]) -> dict[str, Column]:
    """The columns of a family, by name, in order."""
    return {name: _column(name, field) for name, field in family.model_fields.items()}


def metrics_of(family: type[Columns]) -> dict[str, Column]:
    """Those that contenders may be compared by."""
    return {name: result for name, result in columns_of(family).items() if result.ranking}


def _column(name: str, field: FieldInfo) -> Column:
    kind, several = _values(field.annotation)
    return Column(
        name=name,
        kind=kind,
        several=several,
        meaning=field.description or "",
        unit=field.title or ("" if kind is str else _unit(name.rpartition("_")[2])),
        ranking=next((value for value in field.metadata if isinstance(value, Ranking)), None),
        naming=next((value for value in field.metadata if isinstance(value, Naming)), None),
    )


def _unit(last_word: str) -> str:
    """Unit by the last word of a name; 1 of what has none."""
    return "1" if last_word in _RATIOS else _UNITS.get(last_word, "")


def _values(annotation: Any) -> tuple[type, bool]:
    """The type of a column's values, and whether it holds several."""
    if isinstance(annotation, UnionType):
        (annotation,) = (value for value in get_args(annotation) if value is not NoneType)
    if get_origin(annotation) is tuple:
        return get_args(annotation)[0], True
    return annotation, False


def schema_of(family: type[Columns]) -> dict[str, Any]:
    """Column names and Polars types of a table of such records, in order."""
    # Imported here because it takes half a second, and most commands need no table.
    import polars as pl

    known = {bool: pl.Boolean(), int: pl.Int64(), float: pl.Float64(), str: pl.String()}
    types = {}
    for name, result in columns_of(family).items():
        kind = known[str if issubclass(result.kind, StrEnum) else result.kind]
        types[name] = pl.List(kind) if result.several else kind
    return types
