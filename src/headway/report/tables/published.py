"""Published values beside ours."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from headway.analysis import Analysis
from headway.analysis.numbers import significant
from headway.analysis.published import Beside, Order, beside, evidence, orders
from headway.analysis.verdict import Verdict
from headway.report.scale import written
from headway.report.tables.table import NONE, Table, interval_text

FILE = "published.csv"


def published_table(analyses: Sequence[Analysis]) -> Table:
    """Every published value beside ours, with evidence; no rows if nothing was published."""
    found = [one for analysis in analyses for one in beside(analysis)]
    sources = {one.published.source for one in found}
    several = len(sources) > 1
    return Table(
        headings=(
            *("cell", "what", "published", "ours", "published and ours"),
            *("evidence from our runs", "why they differ", *(("source",) if several else ())),
        ),
        rows=tuple(((*_row(one), *((one.published.source,) if several else ())),) for one in found),
        labels=8,
        remark=f"Source of the published values: {sources.pop()}." if len(sources) == 1 else "",
    )


def _row(one: Beside) -> tuple[str, ...]:
    published = one.published
    return (
        one.title or "all",
        subject(one),
        written(published.value, published.unit),
        _ours(one),
        one.words,
        _evidence(one) or NONE,
        published.why or NONE,
    )


def _ours(one: Beside) -> str:
    if one.value is None:
        return NONE
    said = f"{significant(one.value)} {one.published.unit}"
    known = one.interval and one.interval.high > one.interval.low
    return f"{said} ({interval_text(one.interval, 3)})" if known else said


def subject(one: Beside) -> str:
    """Whose value it is, and of what time."""
    against = f" against {one.published.against}" if one.published.against else ""
    return f"{one.published.contender}{against}{_at(one.published.at_s)}"


def _at(time_s: float | None) -> str:
    return "" if time_s is None else f" at {written(time_s, 's')}"


def _evidence(one: Beside) -> str:
    sides = [side for side in (one.side, one.against) if side]
    if len(sides) == 1:
        return evidence(sides[0])
    return ". ".join(f"{side.contender}: {evidence(side)}" for side in sides)


def orders_table(analyses: Sequence[Analysis]) -> Table:
    """Which of two contenders is faster: as published, and in our runs."""
    return Table(
        headings=("cell", "compared", "published", "ours", "the same", "values published"),
        rows=tuple(
            (_order_row(one, analysis.metric.unit),)
            for analysis in analyses
            for one in orders(analysis)
        ),
        labels=5,
    )


def _order_row(one: Order, unit: str) -> tuple[str, ...]:
    words = {Verdict.UNDECIDED: "no significant difference", Verdict.INCOMPARABLE: "not compared"}
    same = {True: "yes", False: "no", None: NONE}[one.same]
    first, second = (written(value) for value in one.published)
    return (
        one.title or "all",
        f"{one.comparison.contender} : {one.comparison.against}{_at(one.at_s)}",
        one.theirs.value,
        words.get(one.ours, one.ours.value),
        same,
        f"{first} and {second} {unit}",
    )


def published_frame(analyses: Sequence[Analysis]) -> pl.DataFrame:
    """Every published value beside ours with every number."""
    rows = [
        {
            "experiment": analysis.experiment.name,
            "metric": one.published.metric,
            "cell": one.published.cell,
            "title": one.title,
            "contender": one.published.contender,
            "against": one.published.against,
            "at_s": one.published.at_s,
            "unit": one.published.unit,
            "published": one.published.value,
            "ours": one.value,
            "ours_low": one.interval.low if one.interval else None,
            "ours_high": one.interval.high if one.interval else None,
            "ratio": one.ratio,
            "agreement": one.agreement.value,
            "in_words": one.words,
            "evidence": _evidence(one),
            "why": one.published.why,
            "source": one.published.source,
        }
        for analysis in analyses
        for one in beside(analysis)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)
