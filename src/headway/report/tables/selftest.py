"""The table of the emulation's test of itself."""

from __future__ import annotations

import itertools

from headway.analysis import StudyResults
from headway.analysis.numbers import plain
from headway.report.section import Section
from headway.report.tables.kind import TableKind
from headway.report.tables.table import NONE, Table
from headway.selftest.check import Check


def self_test_table(results: StudyResults) -> Table:
    """What the emulation's test of itself measured, path by path."""
    by_path = itertools.groupby(results.manifest.self_test, key=lambda test: test.path)
    return Table(
        headings=("path", "checked", "expected", "measured", "allowed", "passed"),
        rows=tuple(tuple(_self_test_row(test) for test in tests) for _, tests in by_path),
        labels=2,
    )


def _self_test_row(test: Check) -> tuple[str, ...]:
    return (
        test.path,
        test.name,
        _quantity(test.expected, test.unit),
        _quantity(test.measured, test.unit),
        f"{_quantity(test.low, '')} to {_quantity(test.high, test.unit)}",
        "yes" if test.passed else "NO",
    )


def _quantity(value: float | None, unit: str) -> str:
    return NONE if value is None else f"{plain(value)} {unit}".strip()


KIND = TableKind(
    place=10,
    section=Section.SELF_TEST,
    name="self-test",
    caption="Self-test",
    table=lambda matter: self_test_table(matter.results),
    said=lambda matter: (
        matter.results.manifest.warning
        or "What the paths did before the campaign was within bounds.",
    ),
    looks="",
)
