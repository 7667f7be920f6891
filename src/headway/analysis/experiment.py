"""An experiment as the manifest tells it: what is compared, and what others published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headway.analysis.compare import Pairing
from headway.errors import WrongInputError
from headway.study.published import GONE, Origin, Statistic
from headway.study.units import Duration

DEFAULT_METRIC = "total_s"


@dataclass(frozen=True, order=True)
class Span:
    """An interval of time in a run, in seconds from its origin."""

    from_s: float
    to_s: float
    origin: Origin

    def __str__(self) -> str:
        after = "" if self.origin is Origin.START else f" after the {self.origin}"
        return f"{self.from_s:g} to {self.to_s:g} s{after}"


@dataclass(frozen=True)
class PublishedValue:
    """A value that somebody published.

    Attributes:
        cell: name of the cell; empty if the experiment has none like it.
        contender: whose value it is.
        against: None if it is the contender's own value; else it is the relative difference, in
            percent, between the contender and this one.
        metric: column that it is a value of.
        value: the value.
        unit: its unit.
        source: where it was published.
        why: why ours differs, as far as it is known.
        statistic: what it is of the published runs.
        span: None if it is of the whole transfer.
        n: number of published runs; None if it was not said.
        sd: their standard deviation, in the same unit; None if it was not published.
        quartiles: their lower and upper quartile, likewise.
    """

    cell: str
    contender: str
    against: str | None
    metric: str
    value: float
    unit: str
    source: str
    why: str
    statistic: Statistic = Statistic.MEAN
    span: Span | None = None
    n: int | None = None
    sd: float | None = None
    quartiles: tuple[float, float] | None = None


@dataclass(frozen=True)
class Experiment:
    """What an experiment asks; what is not known is empty.

    Attributes:
        name: its name; empty if the study is a single experiment.
        question: its question.
        contenders: names in the study's order, each with the settings that make it, as text.
        baseline: contender that others are compared with.
        comparisons: what is compared; each against the baseline if empty.
        metrics: columns that contenders are compared by, the most important first.
        published: values to set beside ours.
        grid: coordinates of its cells by name, in the study's order.
    """

    name: str = ""
    question: str = ""
    contenders: tuple[tuple[str, str], ...] = ()
    baseline: str | None = None
    comparisons: tuple[Pairing, ...] = ()
    metrics: tuple[str, ...] = (DEFAULT_METRIC,)
    published: tuple[PublishedValue, ...] = ()
    grid: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def experiment_from(raw: Mapping[str, Any]) -> Experiment:
    """The typed view of an experiment's JSON object."""
    contenders = raw.get("contenders") or {}
    return Experiment(
        name=str(raw.get("name") or ""),
        question=str(raw.get("question") or ""),
        contenders=tuple((str(name), _settings(made)) for name, made in contenders.items()),
        baseline=str(raw["baseline"]) if raw.get("baseline") else None,
        comparisons=tuple(Pairing(*map(str, pair)) for pair in raw.get("comparisons") or ()),
        metrics=tuple(map(str, raw.get("metrics") or (DEFAULT_METRIC,))),
        published=tuple(_published(entry) for entry in raw.get("published") or ()),
        grid={cell["name"]: cell["at"] for cell in raw.get("grid") or ()},
    )


def _published(entry: Mapping[str, Any]) -> PublishedValue:
    if entry.get("at"):
        again = "run the study again into the same directory with --resume"
        raise WrongInputError(f"{GONE}; {again}", where="manifest.json: published")
    against, low, high = (entry.get(key) for key in ("against", "q1", "q3"))
    return PublishedValue(
        cell=str(entry.get("cell") or ""),
        contender=str(entry["contender"]),
        against=str(against) if against else None,
        metric=str(entry.get("metric") or DEFAULT_METRIC),
        value=float(entry["value"]),
        unit=str(entry.get("unit") or ""),
        source=str(entry.get("source") or ""),
        why=str(entry.get("why") or ""),
        statistic=Statistic(entry.get("statistic") or Statistic.MEAN),
        span=_span(entry) if entry.get("origin") else None,
        n=entry.get("n"),
        sd=entry.get("sd"),
        quartiles=None if low is None or high is None else (float(low), float(high)),
    )


def _span(entry: Mapping[str, Any]) -> Span:
    from_s, to_s = (Duration.parse(entry[key]).s for key in ("from", "to"))
    return Span(from_s, to_s, Origin(entry["origin"]))


def _settings(made: Any, prefix: str = "") -> str:
    """Settings as one line, nested tables by dotted names: ``proxy.program envoy``."""
    if not isinstance(made, Mapping):
        return f"{prefix} {made}".strip()
    parts = [
        _settings(value, f"{prefix}.{key}" if prefix else str(key)) for key, value in made.items()
    ]
    return ", ".join(parts)
