"""What the page shows of chosen runs: groups of them, each with its figures and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headway.analysis import Analysis
from headway.report.blocking import blocking_sentences
from headway.report.chosen import ChosenGroup
from headway.report.evidence import evidence_of
from headway.report.figures import Picture, Section, Subject, pictures
from headway.report.tables.critical import critical_table
from headway.report.tables.table import Table
from headway.report.theme import Style


@dataclass(frozen=True)
class Shown:
    """Runs beside each other, or some that were asked for.

    Attributes:
        title: what is compared, where, and by which luck.
        runs: names of the runs that left anything to show.
        pages: figures of page loads.
        critical: table of what the loads waited for.
        blocking: what blocked their first paint, in words.
        flows: figures of flows that competed over time.
        why: figures of the runs over time.
    """

    title: str
    runs: tuple[str, ...]
    pages: tuple[Picture, ...]
    critical: Table
    blocking: tuple[str, ...]
    flows: tuple[Picture, ...]
    why: tuple[Picture, ...]


def shown_groups(
    directory: Path,
    analysis: Analysis,
    styles: Mapping[str, Style],
    groups: Sequence[ChosenGroup],
) -> tuple[Shown, ...]:
    """The groups that left anything to show; their figures are told apart by a number from the second on."""
    found: list[Shown] = []
    for group in groups:
        left = evidence_of(directory, group.runs)
        if left.runs:
            suffix = f"-{len(found) + 1}" if found else ""
            found.append(_shown(Subject(analysis, styles, left), group, suffix))
    return tuple(found)


def _shown(subject: Subject, group: ChosenGroup, suffix: str) -> Shown:
    return Shown(
        title=group.title,
        runs=subject.evidence.runs,
        pages=_numbered(pictures(subject, Section.PAGES), suffix),
        critical=critical_table(subject.evidence.pages),
        blocking=blocking_sentences(subject.evidence.pages),
        flows=_numbered(pictures(subject, Section.FLOWS), suffix),
        why=_numbered(pictures(subject, Section.WHY), suffix),
    )


def _numbered(found: Sequence[Picture], suffix: str) -> tuple[Picture, ...]:
    return tuple(replace(one, name=f"{one.name}{suffix}") for one in found)
