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
    every = [one for analysis in analyses for one in beside(analysis)]
    found = every if len(every) <= _MOST_ROWS else _furthest(every)
    sources = {one.published.source for one in found}
    several = len(sources) > 1
    remarks = [f"Source of the published values: {source}." for source in sources if not several]
    if len(found) < len(every):
        remarks.append(f"The {len(found)} of {len(every)} that differ most; {FILE} has all.")
    return Table(
        headings=(
            *("cell", "what", "published", "ours", "published and ours"),
            *("evidence from our runs", "why they differ", *(("source",) if several else ())),
        ),
        rows=tuple(((*_row(one), *((one.published.source,) if several else ())),) for one in found),
        labels=8,
        remark=" ".join(remarks),
    )


def _furthest(found: Sequence[Beside]) -> list[Beside]:
    """The values that differ by the largest factors."""
    ranked = [one for one in found if one.ratio is not None and one.ratio > 0]
    return sorted(ranked, key=lambda one: -abs(math.log(one.ratio or 1)))[:_FURTHEST]


def published_by_cell(analyses: Sequence[Analysis], most: int = _MOST_ROWS) -> Table:
    """Of more values than this: how far ours are from the published ones, by cell and contender."""
    found = [one for analysis in analyses for one in beside(analysis)]
    many = len(found) > most
    groups = groupby(sorted(found, key=_place), key=_place) if many else ()
    return Table(
        headings=(
            *("cell", "what", "metric", "values", "measured", "agree"),
            *("ours / published, median", "least", "greatest", "why"),
        ),
        rows=tuple((_group_row([*group]),) for _, group in groups),
        labels=3,
    )


def _place(one: Beside) -> tuple[str, str, str]:
    return one.published.metric, one.title, _whose(one)


def _group_row(group: Sequence[Beside]) -> tuple[str, ...]:
    ratios = [one.ratio for one in group if one.ratio is not None]
    counts = Counter(one.agreement for one in group)
    told = (statistics.median(ratios), min(ratios), max(ratios)) if ratios else ()
    return (
        group[0].title or "all",
        _whose(group[0]),
        group[0].published.metric,
        str(len(group)),
        str(len(group) - counts[Agreement.NOT_MEASURED]),
        str(counts[Agreement.AGREES]),
        *([significant(ratio) for ratio in told] or [NONE] * 3),
        _reasons([one for one in group if one.agreement.is_missed]),
    )


def _reasons(missed: Sequence[Beside]) -> str:
    """What is known of why values are missed."""
    told = dict.fromkeys(one.published.why for one in missed if one.published.why)
    return " ".join(told) or (UNKNOWN if missed else NONE)


def _row(one: Beside) -> tuple[str, ...]:
    return (
        one.title or "all",
        subject(one),
        _theirs(one),
        _ours(one),
        one.words,
        _evidence(one) or NONE,
        one.published.why or NONE,
    )


def _theirs(one: Beside) -> str:
    """The published value with what was published of its spread."""
    published = one.published
    told = []
    if published.sd is not None:
        told.append(f"sd {significant(published.sd)}")
    if published.quartiles:
        told.append("quartiles " + " and ".join(map(significant, published.quartiles)))
    if published.n is not None:
        told.append(f"n = {published.n}")
    said = written(published.value, published.unit)
    return f"{said} ({', '.join(told)})" if told else said


def _ours(one: Beside) -> str:
    """Our value with its interval, and how many of our runs failed, which are not in it."""
    failed = "; ".join(f"{failures} of {runs} runs failed" for failures, runs in _failed(one))
    if one.value is None:
        return failed or NONE
    told = [failed] if failed else []
    if one.interval and one.interval.high > one.interval.low:
        told.insert(0, interval_text(one.interval, 3))
    said = f"{significant(one.value)} {one.published.unit}"
    return f"{said} ({'; '.join(told)})" if told else said


def _failed(one: Beside) -> Iterator[tuple[int, int]]:
    for side in (one.side, one.against):
        if side and side.failures:
            yield side.failures, side.runs


def _whose(one: Beside) -> str:
    against = f" against {one.published.against}" if one.published.against else ""
    median = ", median" if one.published.statistic is Statistic.MEDIAN else ""
    return f"{one.published.contender}{against}{median}"


def subject(one: Beside) -> str:
    """Whose value it is, which statistic, and of what time."""
    return f"{_whose(one)}{_time(one.published.span)}"


def _time(span: object) -> str:
    return "" if span is None else f", {span}"


def _evidence(one: Beside) -> str:
    sides = [side for side in (one.side, one.against) if side]
    if len(sides) == 1:
        return evidence(sides[0])
    return ". ".join(f"{side.contender}: {evidence(side)}" for side in sides)


def orders_table(analyses: Sequence[Analysis]) -> Table:
    """Which of two contenders is faster, as published and in our runs; counts if they are many."""
    found = [(order, analysis.metric.unit) for analysis in analyses for order in orders(analysis)]
    if len(found) > _MOST_ROWS:
        return _orders_by_cell([one for one, _ in found])
    return Table(
        headings=("cell", "compared", "published", "ours", "the same", "values published"),
        rows=tuple((_order_row(one, unit),) for one, unit in found),
        labels=5,
    )


def _orders_by_cell(found: Sequence[PublishedOrder]) -> Table:
    groups = groupby(sorted(found, key=_order_place), key=_order_place)
    rows = []
    for (title, compared), group in groups:
        same = Counter(one.same for one in group)
        counts = (str(same.total()), str(same[True]), str(same[False]), str(same[None]))
        rows.append(((title or "all", compared, *counts),))
    return Table(
        headings=("cell", "compared", "values", "same direction", "another", "not compared"),
        rows=tuple(rows),
        labels=2,
    )


def _order_place(one: PublishedOrder) -> tuple[str, str]:
    return one.title, f"{one.comparison.contender} : {one.comparison.against}"


def _order_row(one: PublishedOrder, unit: str) -> tuple[str, ...]:
    words = {Verdict.UNDECIDED: "no significant difference", Verdict.INCOMPARABLE: "not compared"}
    same = {True: "yes", False: "no", None: NONE}[one.same]
    first, second = (written(value) for value in one.published)
    return (
        one.title or "all",
        f"{one.comparison.contender} : {one.comparison.against}{_time(one.span)}",
        one.theirs.value,
        words.get(one.ours, one.ours.value),
        same,
        f"{first} and {second} {unit}",
    )


def published_frame(analyses: Sequence[Analysis]) -> pl.DataFrame:
    """Every published value beside ours with every number."""
    rows = [_numbers(analysis, one) for analysis in analyses for one in beside(analysis)]
    return pl.DataFrame(rows, infer_schema_length=None)


def _numbers(analysis: Analysis, one: Beside) -> dict[str, object]:
    published, span, quartiles = one.published, one.published.span, one.published.quartiles
    return {
        "experiment": analysis.experiment.name,
        "metric": published.metric,
        "cell": published.cell,
        "title": one.title,
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
        "ours": one.value,
        "ours_low": one.interval.low if one.interval else None,
        "ours_high": one.interval.high if one.interval else None,
        "runs": one.side.runs if one.side else None,
        "failed": one.side.failures if one.side else None,
        "ratio": one.ratio,
        "agreement": one.agreement.value,
        "in_words": one.words,
        "evidence": _evidence(one),
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
