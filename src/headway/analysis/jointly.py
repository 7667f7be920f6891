"""One verdict over several metrics: in which a contender is better, in which worse, and whether that is a trade."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headway.analysis.analysis import Analysis
from headway.analysis.contest import Pairing
from headway.analysis.metric import Metric
from headway.analysis.numbers import listed, percent
from headway.analysis.overview import ComparisonOutcome, Overview, overviews
from headway.analysis.summary import by_telling
from headway.columns import METRICS
from headway.errors import counted

_SAME = (ComparisonOutcome.IDENTICAL, ComparisonOutcome.EQUAL)
_MOST_NAMED = 4
"""More metrics of one outcome are counted after the first of them."""


@dataclass(frozen=True)
class MetricOutcome:
    """How one contender compares with another by one metric, over all cells.

    Attributes:
        metric: the metric.
        overview: how the cells came out.
    """

    metric: Metric
    overview: Overview

    @property
    def name(self) -> str:
        """The metric, as short as it can be said."""
        known = METRICS.get(self.metric.column)
        return known.ranking.heading if known and known.ranking else self.metric.label

    @property
    def better(self) -> int:
        """In how many cells it is better."""
        return self.overview.tally.count(ComparisonOutcome.FASTER)

    @property
    def worse(self) -> int:
        """In how many cells it is worse."""
        return self.overview.tally.count(ComparisonOutcome.SLOWER)

    @property
    def kind(self) -> str:
        """``better``, ``worse``, ``mixed``, ``same``, or ``open`` if no difference is shown but none excluded."""
        if self.better and self.worse:
            return "mixed"
        if self.better or self.worse:
            return "better" if self.better else "worse"
        same = sum(map(self.overview.tally.count, _SAME))
        return "same" if same == self.overview.tally.total else "open"

    @property
    def said(self) -> str:
        """How it compares, by how much, and in how many of the cells: ``17 to 21 % sooner in 3 of 4 conditions``."""
        if self.kind == "same":
            return "the same"
        if self.kind == "open":
            return "not shown to differ"
        words, total = self.metric.comparative, self.overview.tally.total
        sides = zip(
            words,
            (self.overview.faster_by, self.overview.slower_by),
            (self.better, self.worse),
            strict=True,
        )
        return ", ".join(
            _sized(word, span)
            + ("" if count == total else f" in {count} of {counted(total, 'condition')}")
            for word, span, count in sides
            if count
        )


@dataclass(frozen=True)
class JointVerdict:
    """One contender against another by all metrics of an experiment.

    Attributes:
        pairing: the two.
        outcomes: by each metric, in the study's order.
    """

    pairing: Pairing
    outcomes: tuple[MetricOutcome, ...]

    @property
    def is_trade(self) -> bool:
        """Whether something is better and something worse."""
        return any(outcome.better for outcome in self.outcomes) and any(
            outcome.worse for outcome in self.outcomes
        )

    @property
    def tone(self) -> str:
        """Of all together: ``mixed`` of a trade, else what most of the metrics are that differ."""
        if self.is_trade:
            return "mixed"
        kinds = [outcome.kind for outcome in self.outcomes]
        return next((kind for kind in ("better", "worse", "open") if kind in kinds), "same")

    @property
    def clause(self) -> str:
        """What the metrics say together, agreement first: ``sooner in LCP and Speed Index, later in FCP: a trade``."""
        groups: dict[str, list[str]] = {}
        for outcome in self.outcomes:
            groups.setdefault(_group(outcome), []).append(outcome.name)
        ordered = sorted(groups.items(), key=lambda group: (_rank(group[0]), -len(group[1])))
        if len(ordered) == 1:
            words, names = ordered[0]
            every = "both metrics" if len(names) == 2 else f"all {len(names)} metrics"
            return f"{words} in {every}: {_named(names)}"
        text = ", ".join(f"{words} in {_named(names)}" for words, names in ordered)
        return f"{text}: a trade" if self.is_trade else text

    @property
    def sentence(self) -> str:
        """The same, of both contenders."""
        return f"{self.pairing}, by all metrics: {self.clause}."


def joint_verdicts(analyses: Sequence[Analysis]) -> tuple[JointVerdict, ...]:
    """A verdict for each comparison, those first that are farthest apart by the first metric; none of one metric alone.

    Args:
        analyses: of an experiment, of each of its metrics.
    """
    if len(analyses) < 2:
        return ()
    by_pairing: dict[Pairing, list[MetricOutcome]] = {
        pairing: [] for pairing in by_telling(analyses[0])
    }
    for analysis in analyses:
        for overview in overviews(analysis):
            pairing = Pairing(overview.contender, overview.against)
            if pairing in by_pairing:
                by_pairing[pairing].append(MetricOutcome(analysis.metric, overview))
    return tuple(
        JointVerdict(pairing, tuple(outcomes))
        for pairing, outcomes in by_pairing.items()
        if len(outcomes) > 1
    )


def _group(metric_outcome: MetricOutcome) -> str:
    better, worse = metric_outcome.metric.comparative
    words = {
        "better": better,
        "worse": worse,
        "mixed": f"now {better}, now {worse}",
        "same": "the same",
        "open": "not shown to differ",
    }
    return words[metric_outcome.kind]


def _rank(words: str) -> int:
    """Differences stand before what is the same, and that before what is open."""
    return {"the same": 1, "not shown to differ": 2}.get(words, 0)


def _named(names: Sequence[str]) -> str:
    if len(names) <= _MOST_NAMED:
        return listed(names)
    return f"{', '.join(names[: _MOST_NAMED - 1])} and {len(names) - _MOST_NAMED + 1} more"


def _sized(word: str, span: tuple[float, float] | None) -> str:
    """A difference with its size, where a share of the other's value says anything."""
    if span is None or not all(map(math.isfinite, span)):
        return word
    sizes: Iterable[str] = dict.fromkeys(map(percent, span))
    least, *most = sizes
    if not most:
        return f"{least} {word}"
    return f"{least.removesuffix(' %')} to {most[0]} {word}"
