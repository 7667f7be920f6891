"""The tables of the report: as text to be read, and as data with every number in full.

A `TableKind` that a module of this package, or of an instrument's `tables`, makes is a table of the report; nothing else
is to be done.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import polars as pl

from headway.modules import instrument_modules, modules_in
from headway.report.section import PLACES, Section
from headway.report.tables.kind import KeptFile, Matter, ShownTable, TableKind


@cache
def known_tables() -> tuple[TableKind, ...]:
    """All kinds of tables, in the order of the page."""
    modules = [*modules_in(__name__), *instrument_modules("tables")]
    variables = [var for module in modules for var in vars(module).values()]
    kinds = [variable for variable in variables if isinstance(variable, TableKind)]
    return tuple(sorted(kinds, key=lambda kind: (PLACES[kind.section], kind.place)))


def tables(matter: Matter, section: Section, *, of_runs: bool = False) -> tuple[ShownTable, ...]:
    """The tables of a section that have anything to say, those of each metric behind the others.

    Args:
        matter: an experiment, or the study.
        section: part of the page.
        of_runs: whether it is those of chosen runs.
    """
    here = [
        table for table in known_tables() if table.section is section and table.of_runs == of_runs
    ]
    made = [table_kind.shown(matter) for table_kind in here if not table_kind.every_metric]
    for analysis in matter.metrics if any(table_kind.every_metric for table_kind in here) else ():
        of_metric = matter.of_metric(analysis)
        made += [table_kind.shown(of_metric) for table_kind in here if table_kind.every_metric]
    return tuple(filter(None, made))


def differences(matter: Matter) -> tuple[ShownTable, ...]:
    """The tables of how the levels of an axis differ by a metric."""
    made = (table.shown(matter) for table in known_tables() if table.of_differences)
    return tuple(filter(None, made))


def on_terminal(matter: Matter) -> tuple[ShownTable, ...]:
    """The tables of a metric that the terminal shows."""
    made = (table.shown(matter) for table in known_tables() if table.on_terminal)
    return tuple(filter(None, made))


def answers(matter: Matter) -> tuple[tuple[str, ...], ...]:
    """The sentences of each table that answers an experiment's question."""
    return tuple(tuple(table.said(matter)) for table in known_tables() if table.answers)


def said(matter: Matter, section: Section) -> tuple[str, ...]:
    """What stands first in words in a section of an experiment."""
    return tuple(
        sentence
        for table in known_tables()
        if table.section is section and not table.of_runs
        for sentence in table.said(matter)
    )


def notes(matter: Matter, section: Section) -> tuple[str, ...]:
    """How to read the sentences of what has no table."""
    here = [table for table in known_tables() if table.section is section and not table.table]
    return tuple(table_kind.remark_of(matter) for table_kind in here if table_kind.remark)


def frames(matter: Matter) -> dict[TableKind, pl.DataFrame]:
    """The tables with every number; those without rows are left out."""
    made = {table: table.frame(matter) for table in known_tables() if table.frame}
    return {kind: frame for kind, frame in made.items() if not frame.is_empty()}


def kept(matter: Matter) -> Iterator[tuple[KeptFile, pl.DataFrame]]:
    """Those that `headway claims` keeps."""
    asks = any(metric.experiment.claims or metric.experiment.published for metric in matter.metrics)
    for kind in known_tables():
        if kind.kept and kind.frame and not (asks and kind.kept.alone):
            frame = kind.frame(matter)
            if not frame.is_empty():
                yield kind.kept, frame
