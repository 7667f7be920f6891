"""The table of contenders: what tells those of an experiment apart."""

from __future__ import annotations

from headway.analysis import Analysis, StudyResults
from headway.analysis.contenders import Trait
from headway.report.section import Section
from headway.report.setting import texts
from headway.report.tables.kind import TableKind
from headway.report.tables.table import Table

STANDARDS = (
    "HTTP/1.1 over TCP (RFC 9112), HTTP/2 over TCP (RFC 9113), "
    "HTTP/3 over QUIC (RFC 9114, RFC 9000)."
)
"""What the names of versions mean."""


def contenders_table(results: StudyResults, analysis: Analysis) -> Table:
    """What tells the contenders apart: a row for each of them; no rows if there is only one."""
    telling = [
        trait for trait in analysis.traits if trait.telling and not _repeats(analysis, trait)
    ]
    columns = [texts(results, trait) for trait in telling]
    rows = tuple((row,) for row in zip(analysis.contenders, *columns, strict=True))
    headings = ("contender", *(trait.name for trait in telling))
    return Table(headings, rows if telling else (), len(headings), STANDARDS)


def _repeats(analysis: Analysis, trait: Trait) -> bool:
    """Whether it says what the protocol says: contenders of the axis ``protocol`` are that."""
    protocols = next(trait.values for trait in analysis.traits if trait.name == "protocol")
    return trait.values == tuple(f"protocol {protocol}" for protocol in protocols)


KIND = TableKind(
    place=10,
    section=Section.SETTING,
    name="contenders",
    caption="What tells the contenders apart",
    table=lambda matter: contenders_table(matter.results, matter.first),
    most=240,
)
