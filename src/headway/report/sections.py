"""Sections of an experiment's page: words, figures and tables, each made when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from headway.analysis import Analysis, Cell, answer
from headway.analysis.acrosslevels import Across
from headway.analysis.alone import alone_sentences
from headway.analysis.claimwords import judged, ledger_sentence
from headway.analysis.families import family_sentence
from headway.analysis.jointly import joint_verdicts
from headway.analysis.published import agreement_sentence
from headway.analysis.sentences import as_start, statement
from headway.analysis.summary import headlines
from headway.nearby.words import nearby_sentence
from headway.records.manifest import ArchivedExperiment
from headway.report import figures, setting, tables
from headway.report.chosen import chosen_groups
from headway.report.evidence import RunEvidence, evidence_of
from headway.report.figures import Picture, Subject
from headway.report.glance import Glance, ShownVerdict, glance, joint_glance
from headway.report.most_telling import telling_cells
from headway.report.section import Section
from headway.report.styles import study_styles
from headway.report.tables.kind import Matter, ShownTable
from headway.report.theme import Style

_MOST_SAID = 60
"""More statements than this, cell by cell, are left to the table of comparisons."""


@dataclass(frozen=True)
class MetricPart:
    """What the page says of one metric of an experiment.

    Attributes:
        subject: the metric.
        pictures: figures.
    """

    subject: Subject
    pictures: tuple[Picture, ...]

    @property
    def analysis(self) -> Analysis:
        return self.subject.analysis

    @cached_property
    def answer(self) -> tuple[str, ...]:
        """Sentences that answer the question."""
        return answer(self.analysis)

    @cached_property
    def glance(self) -> Glance | None:
        """The same at a glance; None of a single cell."""
        return glance(self.analysis)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Of the sentences those that are not in sight at a glance."""
        shown = self.glance
        in_sight = headlines(self.analysis)[: len(shown.verdicts)] if shown else ()
        if shown and len(self.analysis.contenders) == 1:
            in_sight = tuple(map(self.analysis.metric.said, alone_sentences(self.analysis)))
        return tuple(text for text in self.answer if text not in in_sight)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Those that are told one by one, in words: all or those that tell most, if the answer does not say it all."""
        if sum(1 for _ in self.analysis.comparisons) <= len(self.answer):
            return ()
        return telling_cells(
            self.analysis, max(1, _MOST_SAID // max(1, len(self.analysis.pairings)))
        )

    @property
    def said(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Titles and statements of these cells."""
        return tuple(
            (cell.title, self._statements(cell)) for cell in self.cells if cell.comparisons
        )

    @property
    def said_remark(self) -> str:
        """Which cells these are, if not all."""
        count, all_of_them = len(self.cells), len(self.analysis.cells)
        if count in (0, all_of_them):
            return ""
        return f"The {count} of {all_of_them} cells with the largest differences. comparisons.csv has all, in words too."

    def _statements(self, cell: Cell) -> tuple[str, ...]:
        metric = self.analysis.metric
        return tuple(
            as_start(statement(cell, comparison, metric)) for comparison in cell.comparisons
        )


@dataclass(frozen=True)
class RunGroup:
    """Chosen runs beside each other.

    Attributes:
        title: what is compared, where, and by which luck.
        suffix: of the names of its figures; none of the first group.
        evidence: what the runs left.
    """

    title: str
    suffix: str
    evidence: RunEvidence


@dataclass(frozen=True)
class GroupPart:
    """What a section says of a group of chosen runs; see `SectionPart`."""

    title: str
    pictures: tuple[Picture, ...]
    tables: tuple[ShownTable, ...]


@dataclass(frozen=True)
class SectionPart:
    """A section of an experiment.

    Attributes:
        section: which.
        of: the experiment.
    """

    section: Section
    of: ExperimentPart

    @cached_property
    def said(self) -> tuple[str, ...]:
        """Sentences that stand first."""
        return tables.said(self.of.matter, self.section)

    @property
    def notes(self) -> tuple[str, ...]:
        """How to read the sentences."""
        return tables.notes(self.of.matter, self.section) if self.said else ()

    @cached_property
    def pictures(self) -> tuple[Picture, ...]:
        """Figures of all runs."""
        subjects = self.of.subjects
        drawn = (
            figures.pictures(subject, self.section, subject is subjects[0]) for subject in subjects
        )
        return tuple(picture for pictures in drawn for picture in pictures)

    @cached_property
    def tables(self) -> tuple[ShownTable, ...]:
        """Tables of all runs."""
        return tables.tables(self.of.matter, self.section)

    @cached_property
    def grouped(self) -> tuple[tuple[Picture, ...], ...]:
        """Figures of each group of chosen runs."""
        return tuple(self._drawn(group) for group in self.of.groups)

    @cached_property
    def groups(self) -> tuple[GroupPart, ...]:
        """What there is of groups of chosen runs."""
        group_parts = (
            GroupPart(
                group.title,
                drawn,
                tables.tables(matter, self.section, of_runs=True),
            )
            for group, drawn in zip(self.of.groups, self.grouped, strict=True)
            for matter in [self.of.matter.of_runs(group.evidence)]
        )
        return tuple(
            group_part for group_part in group_parts if group_part.pictures or group_part.tables
        )

    @property
    def facts(self) -> tuple[tuple[str, tuple[setting.Fact, ...]], ...]:
        """The setting, under headings."""
        if self.section is not Section.SETTING:
            return ()
        first = self.of.matter.first
        shared = setting.shared_facts(self.of.matter.results, first)
        words = ("The same for all contenders", shared), ("Conditions", setting.path_facts(first))
        return tuple(pair for pair in words if pair[1])

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the chosen runs, below what their course explains."""
        names = (name for group in self.of.groups for name in group.evidence.runs)
        return tuple(dict.fromkeys(names)) if self.section is Section.WHY else ()

    def __bool__(self) -> bool:
        there = self.said, self.pictures, self.groups, self.facts, self.runs, self.tables
        return any(there)

    def _drawn(self, group: RunGroup) -> tuple[Picture, ...]:
        subject = replace(self.of.subjects[0], evidence=group.evidence)
        drawn = figures.pictures(subject, self.section, of_runs=True)
        return tuple(replace(p, name=f"{p.name}{group.suffix}", of=group.title) for p in drawn)


@dataclass(frozen=True)
class ExperimentPart:
    """What the page says of an experiment.

    Attributes:
        matter: the experiment.
        styles: how contenders are drawn.
        groups: runs that are shown over time.
    """

    matter: Matter
    styles: Mapping[str, Style]
    groups: tuple[RunGroup, ...] = ()

    @property
    def experiment(self) -> ArchivedExperiment:
        return self.matter.first.experiment

    @property
    def anchor(self) -> str:
        """What its parts' ids on the page begin with."""
        return self.experiment.name or "experiment"

    @cached_property
    def subjects(self) -> tuple[Subject, ...]:
        """Its metrics, as they are drawn."""
        return tuple(
            Subject(metric, self.styles, nearby=self.matter.nearby)
            for metric in self.matter.metrics
        )

    @cached_property
    def metrics(self) -> tuple[MetricPart, ...]:
        """Its metrics, the most important first."""
        first = self.subjects[0]
        return tuple(
            MetricPart(subject, figures.pictures(subject, Section.RESULTS, subject is first))
            for subject in self.subjects
        )

    @property
    def across(self) -> Across | None:
        """Levels of an axis that are compared; None if none are."""
        return next(iter(self.matter.across), None)

    @cached_property
    def levels(self) -> tuple[MetricPart, ...]:
        """Their metrics."""
        return level_parts(self.across) if self.across else ()

    def differences(self, metric: MetricPart) -> tuple[ShownTable, ...]:
        """The tables of how levels differ by a metric."""
        assert self.across
        return tables.differences(self.matter.of_metric(metric.analysis, self.across.name))

    @cached_property
    def sections(self) -> tuple[SectionPart, ...]:
        """Its sections, also such as have nothing to show."""
        return tuple(SectionPart(section, self) for section in Section if not section.of_study)

    @property
    def headlines(self) -> tuple[str, ...]:
        """Its answer in short: over sites, how far published values agree, who got how much, its first metric's, how far it holds."""
        sites, shares = (
            tables.said(self.matter, section) for section in (Section.POPULATION, Section.SHARES)
        )
        return (
            *sites,
            *self.judged,
            *shares,
            *(joint_verdict.sentence for joint_verdict in joint_verdicts(self.matter.metrics)),
            *self.metrics[0].answer,
            *filter(None, [self.nearby]),
        )

    @cached_property
    def joint(self) -> tuple[ShownVerdict, ...]:
        """What all its metrics say together."""
        return joint_glance(self.matter.metrics)

    @property
    def nearby(self) -> str:
        """How far its answer holds, in a sentence; empty if nobody has tried it and the study does not ask for it."""
        asked = self.matter.results.manifest.study.nearby is not None
        if asked and self.matter.nearby is None:
            return "The study asks how far its answer holds, which was not tried yet: `headway nearby` does."
        return nearby_sentence(self.matter.nearby, self.experiment.name)

    @property
    def family(self) -> str:
        """What its verdicts are adjusted for, in a sentence."""
        sizes = {
            comparison.test.family
            for _, comparison in self.matter.first.comparisons
            if comparison.test
        }
        return family_sentence(self.matter.results, self.experiment, max(sizes, default=0))

    @property
    def judged(self) -> tuple[str, ...]:
        """How far published values agree, and how many claims hold."""
        metrics = self.matter.metrics
        beside = agreement_sentence(metrics), ledger_sentence(judged(metrics))
        return tuple(filter(None, beside))

    @cached_property
    def pictures(self) -> tuple[Picture, ...]:
        """All its figures, in the order of the page."""
        return tuple(self._pictures())

    @property
    def tables(self) -> tuple[ShownTable, ...]:
        """All its tables, in the order of the page."""
        levels = (self.differences(metric) for metric in self.levels)
        groups = (group.tables for section in self.sections for group in section.groups)
        own = (section.tables for section in self.sections)
        return tuple(table for level in (*own, *levels, *groups) for table in level)

    def _pictures(self) -> Iterator[Picture]:
        of_metrics = {Section.RESULTS: self.metrics, Section.ACROSS: self.levels}
        for section in self.sections:
            for metric in of_metrics.get(section.section, ()):
                yield from metric.pictures
            if section.section not in of_metrics:
                yield from section.pictures
            for drawn in section.grouped:
                yield from drawn


def level_parts(across: Across) -> tuple[MetricPart, ...]:
    """The metrics of levels that are compared, with the figures of differences alone: the runs are drawn already."""
    styles = study_styles(across.analyses[:1])
    subjects = [Subject(analysis, styles) for analysis in across.analyses]
    return tuple(MetricPart(subject, figures.differences(subject)) for subject in subjects)


def experiment_part(
    directory: Path, matter: Matter, styles: Mapping[str, Style], runs: Sequence[str] = ()
) -> ExperimentPart:
    """What the page says of an experiment, with these runs over time or typical ones.

    Args:
        directory: the study's results.
        matter: the experiment.
        styles: how contenders are drawn.
        runs: names of runs; others are chosen if there are none.
    """
    groups: list[RunGroup] = []
    for group in chosen_groups(matter.results, matter.first, runs):
        evidence = evidence_of(directory, group.runs)
        if evidence.runs:
            suffix = f"-{len(groups) + 1}" if groups else ""
            groups.append(RunGroup(group.title, suffix, evidence))
    return ExperimentPart(matter, styles, tuple(groups))
