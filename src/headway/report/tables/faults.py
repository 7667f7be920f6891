"""Single faults: what each packet costs, and which packets cost most."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import polars as pl

from headway.analysis import Analysis
from headway.analysis.faultcosts import FaultCost, Sweep, sweeps
from headway.analysis.faultsentences import TYPICAL_LOSS, position
from headway.report.section import Section
from headway.report.tables.kind import KeptFile, TableKind
from headway.report.tables.table import NONE, Table, number
from headway.study.path import Way

FILE = "faults.csv"
_SWEPT = (
    "Packets of a transfer without a fault, towards the server (up) and the client (down); how many of them met a "
    "fault, one in each run (tried); how many of these a run did not survive (fatal). Worst and mean: what the others "
    "cost."
)
_MOST_ROWS = 10
"""Of each contender in each cell, those that cost most."""


def faults_table(analysis: Analysis) -> Table:
    """The packets that cost each contender most, with the run that shows what happened."""
    unit = analysis.metric.unit
    several = any(sweep.title for sweep in sweeps(analysis))
    groups = tuple(
        tuple(_row(sweep, cost, several=several) for cost in _worst(sweep))
        for sweep in sweeps(analysis)
    )
    return Table(
        headings=(
            *(("cell",) if several else ()),
            *("contender", "packet", "carried", "run", "came [s]", "bytes", f"costs [{unit}]"),
        ),
        rows=groups,
        labels=5 if several else 4,
        remark=(
            f"The {_MOST_ROWS} of each that cost most; {FILE} has all. `headway packets RESULTS RUN` shows the "
            "packets of a run, one a line."
            if groups
            else ""
        ),
    )


def _worst(sweep: Sweep) -> Sequence[FaultCost]:
    return sorted(sweep.costs, key=lambda cost: -cost.median)[:_MOST_ROWS]


def _row(sweep: Sweep, fault_cost: FaultCost, *, several: bool) -> tuple[str, ...]:
    return (
        *((sweep.title,) if several else ()),
        sweep.contender,
        position(fault_cost.fault).removeprefix("the "),
        fault_cost.carried or NONE,
        fault_cost.run_id,
        number(fault_cost.at, 4),
        NONE if fault_cost.size_bytes is None else str(fault_cost.size_bytes),
        f"failed: {fault_cost.reason}" if fault_cost.failed else number(fault_cost.median, 3),
    )


def sweeps_table(analysis: Analysis) -> Table:
    """Each contender's sweep in a row."""
    unit = analysis.metric.unit
    several = any(sweep.title for sweep in sweeps(analysis))
    rows = tuple(
        (
            *((sweep.title,) if several else ()),
            sweep.contender,
            number(sweep.without, 3),
            str(sweep.packets[Way.UP]),
            str(sweep.packets[Way.DOWN]),
            str(len(sweep.costs)),
            str(len(sweep.fatal)),
            number(sweep.worst.median if sweep.worst else None, 3),
            sweep.worst.fault.place if sweep.worst else NONE,
            number(sweep.mean, 3),
            number(sweep.expected(TYPICAL_LOSS), 3),
        )
        for sweep in sweeps(analysis)
    )
    return Table(
        headings=(
            *(("cell",) if several else ()),
            "contender",
            f"without [{unit}]",
            "up",
            "down",
            "tried",
            "fatal",
            f"worst [{unit}]",
            "of",
            f"mean [{unit}]",
            f"at {TYPICAL_LOSS * 100:g} % loss [{unit}]",
        ),
        rows=(rows,) if rows else (),
        labels=2 if several else 1,
        remark=_SWEPT if rows else "",
    )


def faults_frame(analyses: Sequence[Analysis]) -> pl.DataFrame:
    """Every fault of every contender in every cell."""
    rows = [
        {"experiment": analysis.experiment.name, "metric": analysis.metric.column, **row}
        for analysis in analyses
        for sweep in sweeps(analysis)
        for row in _rows(sweep)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _rows(sweep: Sweep) -> Iterator[dict[str, object]]:
    for cost in sweep.costs:
        yield {
            "cell": sweep.cell,
            "title": sweep.title,
            "contender": sweep.contender,
            "fault": str(cost.fault),
            "kind": str(cost.fault.kind),
            "towards": "client" if cost.fault.direction is Way.DOWN else "server",
            "packets": "+".join(map(str, cost.fault.packets)),
            "carried": cost.carried,
            "came_s": cost.at,
            "bytes": cost.size_bytes,
            "runs": len(cost.seeds),
            "failed": cost.failed,
            "reason": cost.reason,
            "without": sweep.without,
            "cost": None if math.isinf(cost.median) else cost.median,
            "run": cost.run_id,
        }


SWEEPS = TableKind(
    place=10,
    section=Section.FAULTS,
    name="sweeps",
    caption="What single faults cost",
    remark=(
        "Each packet meets the fault in a run of its own, beside the run of the same seed without. Worst, mean: of the "
        "packets that a run survives. At random loss: of the packets tried, lost one at a time at most."
    ),
    table=lambda matter: sweeps_table(matter.first),
    looks="",
    most=240,
    on_terminal=True,
)
KIND = TableKind(
    place=20,
    section=Section.FAULTS,
    caption="The packets that cost most",
    table=lambda matter: faults_table(matter.first),
    file=FILE,
    frame=lambda matter: faults_frame(matter.firsts),
    kept=KeptFile("faults", "every fault, what the packet carried and what it cost"),
)
