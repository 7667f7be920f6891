"""The table of repetitions: how many each cell took, where they go on until intervals are narrow, and why they stopped."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from headway.analysis import Analysis
from headway.analysis.numbers import listed, significant
from headway.analysis.stopping import Knowledge, known
from headway.report.section import Section
from headway.report.tables.kind import Matter, TableKind
from headway.report.tables.table import NONE, Table

FILE = "repetitions.csv"
_MOST_ROWS = 120


def repetitions_table(analysis: Analysis) -> Table:
    """A row for contenders of a cell that have the same repetitions; none if their number was fixed."""
    known_values = known(analysis)
    several = len(analysis.cells) > 1
    rows = tuple((_row(analysis, knowledge, several),) for knowledge in known_values[:_MOST_ROWS])
    headings = (
        *(("conditions",) if several else ()),
        *("contenders", "the widest interval is of", "stopped", "repetitions", "± [%]"),
    )
    left = f"The first {_MOST_ROWS} of {len(known_values)} rows; {FILE} has all."
    return Table(headings, rows, len(headings) - 2, left if len(known_values) > _MOST_ROWS else "")


def _row(analysis: Analysis, knowledge: Knowledge, several: bool) -> tuple[str, ...]:
    everybody = set(knowledge.contenders) == set(analysis.contenders)
    return (
        *((analysis.titles.get(knowledge.cell, knowledge.cell),) if several else ()),
        "all" if everybody else listed(list(knowledge.contenders)),
        knowledge.widest or NONE,
        knowledge.why(analysis.experiment),
        str(knowledge.repetitions),
        NONE if knowledge.reach is None else significant(100 * knowledge.reach, 2),
    )


def repetitions_frame(analyses: Sequence[Analysis]) -> pl.DataFrame:
    """The same of all experiments."""
    rows = [
        {
            "experiment": analysis.experiment.name,
            "cell": knowledge.cell,
            "contenders": ", ".join(knowledge.contenders),
            "repetitions": knowledge.repetitions,
            "most": analysis.experiment.looks[-1],
            "until": analysis.experiment.repetitions.until,
            "reach": knowledge.reach,
            "widest": knowledge.widest,
            "why": knowledge.why(analysis.experiment),
        }
        for analysis in analyses
        for knowledge in known(analysis)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _remark(matter: Matter) -> str:
    experiment = matter.first.experiment
    return (
        f"Results were looked at after {', '.join(map(str, experiment.looks))} repetitions, and stopped when every "
        f"interval reached at most {experiment.repetitions.until} to either side: of comparisons as a factor, of flows "
        "that compete in points of the first flow's share. Each interval is meant by itself, at the level that lets it "
        f"be looked at {len(experiment.looks)} times; those in tables and figures are for all comparisons together, "
        "and so wider."
    )


KIND = TableKind(
    place=10,
    section=Section.NUMBERS,
    caption="How many repetitions it took",
    remark=_remark,
    table=lambda matter: repetitions_table(matter.first),
    file=FILE,
    frame=lambda matter: repetitions_frame(matter.firsts),
    most=_MOST_ROWS,
)
