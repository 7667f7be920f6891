"""Published values beside ours."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

import polars as pl

from headway.analysis import Analysis
from headway.analysis.numbers import significant
from headway.analysis.published import TOLERANCE, Agreement, Beside, beside, evidence
from headway.analysis.publishedorder import PublishedOrder, orders
from headway.analysis.verdict import Verdict
from headway.report.scale import written
from headway.report.section import Section
from headway.report.tables.kind import KeptFile, TableKind
from headway.report.tables.table import NONE, Table, interval_text
from headway.study.published import Statistic

FILE = "published.csv"
_MOST_ROWS = 120
"""If there are more values, a table has the furthest ones, and another one tells of all by cell."""
_FURTHEST = 30
UNKNOWN = "not known"
"""Why ours differs, where nobody has found out."""


def published_table(analyses: Sequence[Analysis]) -> Table:
    """Published values beside ours, with evidence; no rows if nothing was published."""
    every = [comparison for analysis in analyses for comparison in beside(analysis)]
    besides = every if len(every) <= _MOST_ROWS else _furthest(every)
    sources = {comparison.published.source for comparison in besides}
    several = len(sources) > 1
    remarks = [f"Source of the published values: {source}." for source in sources if not several]
    if len(besides) < len(every):
        remarks.append(f"The {len(besides)} of {len(every)} that differ most; {FILE} has all.")
    return Table(
        headings=(
            *("cell", "what", "published", "ours", "published and ours"),
            *("evidence from our runs", "why they differ", *(("source",) if several else ())),
        ),
        rows=tuple(
            ((*_row(comparison), *((comparison.published.source,) if several else ())),)
            for comparison in besides
        ),
        labels=8,
        remark=" ".join(remarks),
    )


def _furthest(besides: Sequence[Beside]) -> list[Beside]:
    """The values that differ by the largest factors."""
    ranked = [
        comparison
        for comparison in besides
        if comparison.ratio is not None and comparison.ratio > 0
    ]
    return sorted(ranked, key=lambda comparison: -abs(math.log(comparison.ratio or 1)))[:_FURTHEST]


def published_by_cell(analyses: Sequence[Analysis], most: int = _MOST_ROWS) -> Table:
    """Of more values than this: how far ours are from the published ones, by cell and contender."""
    besides = [comparison for analysis in analyses for comparison in beside(analysis)]
    many = len(besides) > most
    groups = groupby(sorted(besides, key=_place), key=_place) if many else ()
    return Table(
        headings=(
            *("cell", "what", "metric", "values", "measured", "agree"),
            *("ours / published, median", "least", "greatest", "why"),
        ),
        rows=tuple((_group_row([*group]),) for _, group in groups),
        labels=3,
    )


def _place(comparison: Beside) -> tuple[str, str, str]:
    return comparison.published.metric, comparison.title, _whose(comparison)


def _group_row(group: Sequence[Beside]) -> tuple[str, ...]:
    ratios = [comparison.ratio for comparison in group if comparison.ratio is not None]
    counts = Counter(comparison.agreement for comparison in group)
    triple = (statistics.median(ratios), min(ratios), max(ratios)) if ratios else ()
    return (
        group[0].title or "all",
        _whose(group[0]),
        group[0].published.metric,
        str(len(group)),
        str(len(group) - counts[Agreement.NOT_MEASURED]),
        str(counts[Agreement.AGREES]),
        *([significant(ratio) for ratio in triple] or [NONE] * 3),
        _reasons([comparison for comparison in group if comparison.agreement.is_missed]),
    )


def _reasons(missed: Sequence[Beside]) -> str:
    """What is known of why values are missed."""
    values = dict.fromkeys(
        comparison.published.why for comparison in missed if comparison.published.why
    )
    return " ".join(values) or (UNKNOWN if missed else NONE)


def _row(comparison: Beside) -> tuple[str, ...]:
    return (
        comparison.title or "all",
        subject(comparison),
        _theirs(comparison),
        _ours(comparison),
        comparison.words,
        _evidence(comparison) or NONE,
        comparison.published.why or NONE,
    )


def _theirs(comparison: Beside) -> str:
    """The published value with what was published of its spread."""
    published = comparison.published
    texts = []
    if published.sd is not None:
        texts.append(f"sd {significant(published.sd)}")
    if published.quartiles:
        texts.append("quartiles " + " and ".join(map(significant, published.quartiles)))
    if published.n is not None:
        texts.append(f"n = {published.n}")
    text = written(published.value, published.unit)
    return f"{text} ({', '.join(texts)})" if texts else text


def _ours(comparison: Beside) -> str:
    """Our value with its interval, and how many of our runs failed, which are not in it."""
    failed = "; ".join(
        f"{failures} of {runs} runs failed" for failures, runs in _failed(comparison)
    )
    if comparison.value is None:
        return failed or NONE
    texts = [failed] if failed else []
    if comparison.interval and comparison.interval.high > comparison.interval.low:
        texts.insert(0, interval_text(comparison.interval, 3))
    text = f"{significant(comparison.value)} {comparison.published.unit}"
    return f"{text} ({'; '.join(texts)})" if texts else text


def _failed(comparison: Beside) -> Iterator[tuple[int, int]]:
    for side in (comparison.side, comparison.against):
        if side and side.failures:
            yield side.failures, side.runs


def _whose(comparison: Beside) -> str:
    against = f" against {comparison.published.against}" if comparison.published.against else ""
    median = ", median" if comparison.published.statistic is Statistic.MEDIAN else ""
    return f"{comparison.published.contender}{against}{median}"


def subject(comparison: Beside) -> str:
    """Whose value it is, which statistic, and of what time."""
    return f"{_whose(comparison)}{_time(comparison.published.span)}"


def _time(span: object) -> str:
    return "" if span is None else f", {span}"


def _evidence(comparison: Beside) -> str:
    sides = [side for side in (comparison.side, comparison.against) if side]
    if len(sides) == 1:
        return evidence(sides[0])
    return ". ".join(f"{side.contender}: {evidence(side)}" for side in sides)


def orders_table(analyses: Sequence[Analysis]) -> Table:
    """Which of two contenders is faster, as published and in our runs; counts if they are many."""
    pairs = [(order, analysis.metric.unit) for analysis in analyses for order in orders(analysis)]
    if len(pairs) > _MOST_ROWS:
        return _orders_by_cell([published_order for published_order, _ in pairs])
    return Table(
        headings=("cell", "compared", "published", "ours", "the same", "values published"),
        rows=tuple((_order_row(published_order, unit),) for published_order, unit in pairs),
        labels=5,
    )


def _orders_by_cell(published_orders: Sequence[PublishedOrder]) -> Table:
    groups = groupby(sorted(published_orders, key=_order_place), key=_order_place)
    rows = []
    for (title, compared), group in groups:
        same = Counter(published_order.same for published_order in group)
        counts = (str(same.total()), str(same[True]), str(same[False]), str(same[None]))
        rows.append(((title or "all", compared, *counts),))
    return Table(
        headings=("cell", "compared", "values", "same direction", "another", "not compared"),
        rows=tuple(rows),
        labels=2,
    )


def _order_place(published_order: PublishedOrder) -> tuple[str, str]:
    return (
        published_order.title,
        f"{published_order.comparison.contender} : {published_order.comparison.against}",
    )


def _order_row(published_order: PublishedOrder, unit: str) -> tuple[str, ...]:
    words = {Verdict.UNDECIDED: "no significant difference", Verdict.INCOMPARABLE: "not compared"}
    same = {True: "yes", False: "no", None: NONE}[published_order.same]
    first, second = (written(value) for value in published_order.published)
    return (
        published_order.title or "all",
        f"{published_order.comparison.contender} : {published_order.comparison.against}{_time(published_order.span)}",
        published_order.theirs.value,
        words.get(published_order.ours, published_order.ours.value),
        same,
        f"{first} and {second} {unit}",
    )


def published_frame(analyses: Sequence[Analysis]) -> pl.DataFrame:
    """Every published value beside ours with every number."""
    rows = [
        _numbers(analysis, comparison) for analysis in analyses for comparison in beside(analysis)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _numbers(analysis: Analysis, comparison: Beside) -> dict[str, object]:
    published, span, quartiles = (
        comparison.published,
        comparison.published.span,
        comparison.published.quartiles,
    )
    return {
        "experiment": analysis.experiment.name,
        "metric": published.metric,
        "cell": published.cell,
        "title": comparison.title,
        "contender": published.contender,
        "against": published.against,
        "from_s": span.from_s if span else None,
        "to_s": span.to_s if span else None,
        "origin": span.origin.value if span else None,
        "statistic": published.statistic.value,
        "unit": published.unit,
        "published": published.value,
        "published_n": published.n,
        "published_sd": published.sd,
        "published_q1": quartiles[0] if quartiles else None,
        "published_q3": quartiles[1] if quartiles else None,
        "ours": comparison.value,
        "ours_low": comparison.interval.low if comparison.interval else None,
        "ours_high": comparison.interval.high if comparison.interval else None,
        "runs": comparison.side.runs if comparison.side else None,
        "failed": comparison.side.failures if comparison.side else None,
        "ratio": comparison.ratio,
        "agreement": comparison.agreement.value,
        "in_words": comparison.words,
        "evidence": _evidence(comparison),
        "why": published.why,
        "source": published.source,
    }


BY_CELL = TableKind(
    place=10,
    section=Section.PUBLISHED,
    name="values-by-cell",
    caption="Values by cell, published and ours",
    table=lambda matter: published_by_cell(matter.metrics),
)
KIND = TableKind(
    place=20,
    section=Section.PUBLISHED,
    caption="Values, published and ours",
    remark=(
        "Ours is the same statistic of our runs, by default the mean, with its interval; runs that failed are "
        f"in none. Values agree if they differ by at most {100 * TOLERANCE:.0f} % or our interval holds the published "
        "one."
    ),
    table=lambda matter: published_table(matter.metrics),
    file=FILE,
    frame=lambda matter: published_frame(matter.everything),
    looks="prose",
    kept=KeptFile("values", "every published value"),
)
ORDERS = TableKind(
    place=30,
    section=Section.PUBLISHED,
    name="orders",
    caption="Which is faster, published and ours",
    table=lambda matter: orders_table(matter.metrics),
)
