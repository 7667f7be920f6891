"""Critical paths of the page loads that are shown, step by step."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from headway.analysis import Analysis, StudyResults
from headway.columns import Status
from headway.instruments.waterfalls.blocking import blocking_sentences
from headway.instruments.waterfalls.drawing import resource_name
from headway.instruments.waterfalls.loads import load_names
from headway.pages.critical import (
    PHASES,
    Step,
    critical_path,
    last_before_load,
    last_before_paint,
)
from headway.pages.load import PageLoad, Resource
from headway.report.evidence import PageStory
from headway.report.section import Section
from headway.report.tables.kind import TableKind
from headway.report.tables.table import (
    NONE,
    Table,
    left_out,
    level_headings,
    levels,
    shown_cells,
)

Row = tuple[str, ...]
_COLUMNS = (
    "critical_processing_s",
    "critical_held_s",
    "critical_connect_s",
    "critical_wait_s",
    "critical_receive_s",
    "onload_s",
)
"""``PHASES``, and what they add up to."""


def critical_means(results: StudyResults, analysis: Analysis) -> Table:
    """Mean milliseconds of the critical path to the load event by phase; no rows without pages."""
    runs = results.runs_of(analysis.experiment)
    if not {*_COLUMNS, "blocked_s"} <= set(runs.columns):
        return Table((), (), 0)
    table = (
        runs.filter(pl.col("status") == Status.OK.value, pl.col("critical_wait_s").is_not_null())
        .group_by("cell", "contender")
        .agg(pl.len().alias("n"), pl.col("blocked_s", *_COLUMNS).mean())
    )
    means = {(row["cell"], row["contender"]): row for row in table.iter_rows(named=True)}
    cells = shown_cells(analysis, len(analysis.contenders))
    rows = tuple(
        tuple(
            (*levels(analysis, cell), name, str(row["n"]), *_means(row))
            for name in analysis.contenders
            if (row := means.get((cell.name, name)))
        )
        for cell in cells
    )
    return Table(
        headings=(
            *level_headings(analysis),
            "contender",
            "n",
            "rendering blocked until",
            *PHASES,
            "onLoad",
        ),
        rows=tuple(group for group in rows if group),
        labels=len(analysis.conditions.factors) + 1,
        remark=left_out(analysis, cells, "runs.csv"),
    )


def _means(row: Mapping[str, Any]) -> tuple[str, ...]:
    values = (row[name] for name in ("blocked_s", *_COLUMNS))
    return tuple(NONE if value is None else _length(value * 1e3) for value in values)


def critical_table(stories: Sequence[PageStory]) -> Table:
    """The critical paths to the first paint and to the load event of each load; no rows if unknown."""
    groups = [
        group
        for name, story in zip(load_names(stories), stories, strict=True)
        for group in _groups(name, story.load)
    ]
    return Table(
        headings=(
            "load",
            "until",
            "resource",
            "asked for after",
            "from",
            *PHASES,
            "until",
        ),
        rows=tuple(groups),
        labels=4,
    )


def _groups(name: str, load: PageLoad) -> Iterator[tuple[Row, ...]]:
    for text, at_ms, last in (
        ("FCP", load.fcp_ms, last_before_paint(load)),
        ("onLoad", load.onload_ms, last_before_load(load)),
    ):
        if last is not None and at_ms is not None:
            steps = critical_path(load, last)
            rows = [_row(name, text, load, step) for step in steps]
            yield (*rows, _sum(name, text, steps, at_ms))


def _row(name: str, text: str, load: PageLoad, step: Step) -> Row:
    return (
        name,
        text,
        resource_name(load, step.resource),
        _after(load, step.cause, step.waited),
        _ms(step.from_ms),
        *map(_length, step.phases),
        _ms(step.until_ms),
    )


def _after(load: PageLoad, cause: Resource | None, waited: bool) -> str:
    if cause is None:
        return NONE
    return f"{'parser waited for ' if waited else ''}{resource_name(load, cause)}"


def _sum(name: str, text: str, steps: Sequence[Step], at_ms: float) -> Row:
    sums = [math.fsum(lengths) for lengths in zip(*(step.phases for step in steps), strict=True)]
    # From the last byte to the milestone, the browser works.
    sums[0] += max(0.0, at_ms - steps[-1].until_ms)
    return (name, text, "all", "", _ms(0.0), *map(_length, sums), _ms(at_ms))


def _ms(at_ms: float) -> str:
    return f"{max(0.0, at_ms):.0f}"


def _length(length_ms: float) -> str:
    """A number of milliseconds, if there is one to speak of."""
    return NONE if length_ms < 0.5 else _ms(length_ms)


MEANS = TableKind(
    place=20,
    section=Section.PAGES,
    name="critical-means",
    caption="What the load event waited for, in milliseconds",
    remark=(
        "Means over the finished loads: the phases of the critical path add up to onLoad. Rendering is blocked until "
        "the last of the page itself, scripts and style sheets has come that the browser says block it."
    ),
    table=lambda matter: critical_means(matter.results, matter.first),
)
KIND = TableKind(
    place=30,
    section=Section.PAGES,
    name="critical-paths",
    caption="Critical paths of the loads shown, in milliseconds",
    remark=(
        "Each step is what the browser needed before it could ask for the next, back from what came last before the "
        "first contentful paint (FCP) or the load event. Processing: from that to the request. Held back: the browser "
        "had asked and did not yet work on it. Waiting: from then, or from the connection, to the first byte. "
        "Receiving ends with the last byte, or when the next request was made."
    ),
    table=lambda matter: critical_table(matter.evidence.pages),
    said=lambda matter: blocking_sentences(matter.evidence.pages),
    heading="What blocked the page",
    looks="",
    of_runs=True,
)
