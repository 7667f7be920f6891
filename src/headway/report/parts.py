"""What the page says of an experiment: words, figures and tables, from its analyses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headway.analysis import Analysis, Cell, StudyResults, answer
from headway.analysis.acrosslevels import Across
from headway.analysis.advice import advice
from headway.analysis.answer import headlines
from headway.analysis.ledger import judged, ledger_sentence
from headway.analysis.published import agreement_sentence
from headway.analysis.sentences import as_start, statement
from headway.analysis.sharewords import share_sentences
from headway.records.manifest import ToldExperiment
from headway.report import setting
from headway.report.figures import Picture, Section, Subject, differences, pictures
from headway.report.glance import Glance, glance
from headway.report.shown import Shown
from headway.report.styles import study_styles
from headway.report.tables.claims import claims_table
from headway.report.tables.comparisons import comparisons_table
from headway.report.tables.critical import critical_means
from headway.report.tables.faults import faults_table, sweeps_table
from headway.report.tables.flows import flows_table
from headway.report.tables.holdups import holdups_table
from headway.report.tables.pages import pages_table
from headway.report.tables.published import orders_table, published_by_cell, published_table
from headway.report.tables.repetitions import repetitions_table
from headway.report.tables.samples import samples_table
from headway.report.tables.shares import shares_table
from headway.report.tables.table import Table
from headway.report.telling import telling_cells
from headway.report.theme import Style

_MOST_SAID = 60
"""More statements than this, cell by cell, are left to the table of comparisons."""


@dataclass(frozen=True)
class MetricPart:
    """What the page says of one metric of an experiment.

    Attributes:
        analysis: the analysis.
        answer: sentences that answer the question.
        glance: the same at a glance; None of a single cell.
        remarks: of the sentences those that it does not say.
        pictures: figures.
        said: for cells their title and statements, if the answer does not say all of them.
        said_remark: which cells these are, if not all.
        samples: table of samples.
        comparisons: table of comparisons.
    """

    analysis: Analysis
    answer: tuple[str, ...]
    glance: Glance | None
    remarks: tuple[str, ...]
    pictures: tuple[Picture, ...]
    said: tuple[tuple[str, tuple[str, ...]], ...]
    said_remark: str
    samples: Table
    comparisons: Table


@dataclass(frozen=True)
class AcrossPart:
    """What the page says of the levels of an axis, compared as contenders are.

    Attributes:
        across: the analyses.
        anchor: the id of its heading.
        metrics: each metric.
    """

    across: Across
    anchor: str
    metrics: tuple[MetricPart, ...]


@dataclass(frozen=True)
class SharesPart:
    """What the page says of who got how much; empty if no flows competed.

    Attributes:
        answer: sentences.
        pictures: figures.
        table: what each flow got.
    """

    answer: tuple[str, ...]
    pictures: tuple[Picture, ...]
    table: Table


@dataclass(frozen=True)
class ExperimentPart:
    """What the page says of an experiment.

    Attributes:
        experiment: the experiment.
        anchor: what its parts' ids on the page begin with.
        shares: who got how much, where flows competed.
        metrics: its metrics, the most important first.
        across: levels of an axis that are compared; None if none are.
        contenders: what tells the contenders apart.
        shared: what they have in common.
        conditions: what varied between cells and what did not.
        advice: what to do, of experiments over sites.
        advised: figures of the same.
        page_metrics: table of the metrics of page loads.
        critical: table of what their critical paths consisted of.
        published: figures and tables of published values beside ours.
        claims: table of claims, judged by our runs.
        limits: figures of what limited the runs.
        holdups: table of the same.
        flows: table of flows that competed.
        sweeps: table of what single faults cost each contender.
        faults: table of the packets that cost most.
        repetitions: table of how many repetitions each cell took, where that was not fixed.
        shown: pairs of runs that are shown over time.
    """

    experiment: ToldExperiment
    anchor: str
    shares: SharesPart
    metrics: tuple[MetricPart, ...]
    across: AcrossPart | None
    contenders: Table
    shared: tuple[setting.Fact, ...]
    conditions: tuple[setting.Fact, ...]
    advice: tuple[str, ...]
    advised: tuple[Picture, ...]
    page_metrics: Table
    critical: Table
    published: tuple[Picture, ...]
    published_values: Table
    published_by_cell: Table
    published_orders: Table
    claims: Table
    limits: tuple[Picture, ...]
    holdups: Table
    flows: Table
    sweeps: Table
    faults: Table
    repetitions: Table
    shown: tuple[Shown, ...]

    @property
    def first(self) -> MetricPart:
        """What it says of its most important metric."""
        return self.metrics[0]

    @property
    def headlines(self) -> tuple[str, ...]:
        """Its answer in short: how far published values agree, who got how much, and what its first metric says."""
        return (*self.judged, *self.shares.answer, *self.first.answer)

    @property
    def judged(self) -> tuple[str, ...]:
        """How far published values agree, and how many claims hold."""
        beside = agreement_sentence(self.analyses), ledger_sentence(judged(self.analyses))
        return tuple(filter(None, beside))

    @property
    def analyses(self) -> tuple[Analysis, ...]:
        return tuple(part.analysis for part in self.metrics)

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """All its figures."""
        own = [picture for part in self.metrics for picture in part.pictures]
        pages = [picture for one in self.shown for picture in one.pages]
        why = [picture for one in self.shown for picture in one.why]
        across = self.across.metrics if self.across else ()
        own += [picture for part in across for picture in part.pictures]
        over_time = [picture for one in self.shown for picture in one.flows]
        return (
            *self.shares.pictures,
            *over_time,
            *own,
            *self.advised,
            *pages,
            *self.published,
            *self.limits,
            *why,
        )

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs that are shown over time."""
        return tuple(dict.fromkeys(run for one in self.shown for run in one.runs))


def experiment_part(
    results: StudyResults,
    analyses: Sequence[Analysis],
    styles: Mapping[str, Style],
    shown: Sequence[Shown] = (),
    across: Across | None = None,
) -> ExperimentPart:
    """Draw the figures of an experiment and make its tables.

    Args:
        results: the study's results.
        analyses: its metrics, the most important first.
        styles: how contenders are drawn.
        shown: runs that are shown over time.
        across: levels of an axis that are compared.
    """
    first = analyses[0]
    subjects = [Subject(one, styles) for one in analyses]
    return ExperimentPart(
        experiment=first.experiment,
        anchor=first.experiment.name or "experiment",
        shares=SharesPart(
            share_sentences(first), pictures(subjects[0], Section.SHARES), shares_table(first)
        ),
        metrics=tuple(_metric_part(subject, subject is subjects[0]) for subject in subjects),
        across=_across(across),
        contenders=setting.contenders_table(results, first),
        shared=setting.shared_facts(results, first),
        conditions=setting.path_facts(first),
        advice=advice(first),
        advised=pictures(subjects[0], Section.ADVICE),
        page_metrics=pages_table(results, first),
        critical=critical_means(results, first),
        published=tuple(
            picture for subject in subjects for picture in pictures(subject, Section.PUBLISHED)
        ),
        published_values=published_table(analyses),
        published_by_cell=published_by_cell(analyses),
        published_orders=orders_table(analyses),
        claims=claims_table(analyses),
        limits=pictures(subjects[0], Section.LIMITS),
        holdups=holdups_table(first),
        flows=flows_table(results, first),
        sweeps=sweeps_table(first),
        faults=faults_table(first),
        repetitions=repetitions_table(first),
        shown=tuple(shown),
    )


def _across(across: Across | None) -> AcrossPart | None:
    """Of levels the figures of differences: their runs are drawn already."""
    if across is None:
        return None
    styles = study_styles(across.analyses[:1])
    subjects = [Subject(one, styles) for one in across.analyses]
    metrics = tuple(_metric(subject, differences(subject)) for subject in subjects)
    return AcrossPart(across, across.analyses[0].experiment.name, metrics)


def _metric_part(subject: Subject, first: bool) -> MetricPart:
    return _metric(subject, pictures(subject, Section.RESULTS, first))


def _metric(subject: Subject, drawn: tuple[Picture, ...]) -> MetricPart:
    analysis = subject.analysis
    told, shown = answer(analysis), glance(analysis)
    in_sight = headlines(analysis)[: len(shown.verdicts)] if shown else ()
    said, remark = _cell_by_cell(analysis, told)
    return MetricPart(
        analysis=analysis,
        answer=told,
        glance=shown,
        remarks=tuple(one for one in told if one not in in_sight),
        pictures=drawn,
        said=said,
        said_remark=remark,
        samples=samples_table(analysis),
        comparisons=comparisons_table(analysis),
    )


def _cell_by_cell(
    analysis: Analysis, told: Sequence[str]
) -> tuple[tuple[tuple[str, tuple[str, ...]], ...], str]:
    """The statements of every cell, or of those that tell most, and which these are."""
    count = sum(1 for _ in analysis.comparisons)
    if count <= len(told):
        return (), ""
    most = max(1, _MOST_SAID // max(1, len(analysis.pairings)))
    cells = telling_cells(analysis, most)
    said = tuple((cell.title, _statements(analysis, cell)) for cell in cells if cell.comparisons)
    if len(cells) == len(analysis.cells):
        return said, ""
    return said, f"The {len(cells)} of {len(analysis.cells)} cells with the largest differences."


def _statements(analysis: Analysis, cell: Cell) -> tuple[str, ...]:
    return tuple(as_start(statement(cell, one, analysis.metric)) for one in cell.comparisons)
