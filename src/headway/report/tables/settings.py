"""The table of settings that adapters made in the programs, and why."""

from __future__ import annotations

from headway.analysis import StudyResults
from headway.report.section import Section
from headway.report.tables.kind import TableKind
from headway.report.tables.table import Table


def settings_table(results: StudyResults) -> Table:
    """What the adapters set in the programs, and why."""
    return Table(
        headings=("program", "setting", "value", "why"),
        rows=tuple(
            ((setting.program, setting.setting, setting.value, setting.why),)
            for setting in results.manifest.settings
        ),
        labels=4,
    )


KIND = TableKind(
    place=10,
    section=Section.PROGRAMS,
    name="settings",
    caption="Settings of programs",
    table=lambda matter: settings_table(matter.results),
    said=lambda _: ("What was set in the programs beyond what the study asks for.",),
    looks="prose",
    most=240,
)
