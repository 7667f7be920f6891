"""The kind of a table of the report: where it stands, what it is made of, and what keeps it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest

import polars as pl

from headway.analysis import Analysis, StudyResults
from headway.analysis.acrosslevels import Across
from headway.analysis.validated import Validated
from headway.nearby.document import NearbyAnswer
from headway.report.evidence import NOTHING, RunEvidence
from headway.report.section import Section
from headway.report.tables.table import Table


@dataclass(frozen=True)
class Matter:
    """What tables are made of: a study, one of its experiments, or a metric of that.

    Attributes:
        results: the study's results.
        experiments: of each experiment its metrics, the most important first.
        across: of each experiment the levels of the axis that it compares.
        validated: what validates the runs.
        evidence: what chosen runs left, for tables of these.
        axis: the axis whose levels the metric compares; empty if it compares contenders.
        nearby: what becomes of the answer nearby; None if nothing was tried.
    """

    results: StudyResults
    experiments: tuple[tuple[Analysis, ...], ...]
    across: tuple[Across | None, ...] = ()
    validated: tuple[Validated, ...] = ()
    evidence: RunEvidence = NOTHING
    axis: str = ""
    nearby: NearbyAnswer | None = None

    @property
    def first(self) -> Analysis:
        """The first metric of the only experiment."""
        return self.experiments[0][0]

    @property
    def metrics(self) -> tuple[Analysis, ...]:
        """The metrics of all experiments."""
        return tuple(analysis for metrics in self.experiments for analysis in metrics)

    @property
    def firsts(self) -> tuple[Analysis, ...]:
        """Of each experiment the first metric."""
        return tuple(metrics[0] for metrics in self.experiments)

    @property
    def everything(self) -> tuple[Analysis, ...]:
        """The metrics of all experiments, then those of levels that are compared."""
        levels = (analysis for across in self.across if across for analysis in across.analyses)
        return (*self.metrics, *levels)

    @cached_property
    def titles(self) -> dict[str, str]:
        """Titles of all cells by their names, in the order of the page."""
        return {name: title for first in self.firsts for name, title in first.titles.items()}

    @property
    def each_experiment(self) -> tuple[Matter, ...]:
        """The same of each experiment."""
        return tuple(
            replace(self, experiments=(metrics,), across=(across,))
            for metrics, across in zip_longest(self.experiments, self.across)
        )

    def of_metric(self, analysis: Analysis, axis: str = "") -> Matter:
        """The same of one metric."""
        return replace(self, experiments=((analysis,),), axis=axis)

    def of_runs(self, evidence: RunEvidence) -> Matter:
        """The same of chosen runs."""
        return replace(self, evidence=evidence)


@dataclass(frozen=True)
class KeptFile:
    """What `headway claims` keeps of a table.

    Attributes:
        name: of its file, without suffix.
        says: what is in it.
        alone: whether only studies that ask for nothing else keep it.
    """

    name: str
    says: str
    alone: bool = False


Text = str | Callable[[Matter], str]


@dataclass(frozen=True)
class TableKind:
    """A kind of table.

    Attributes:
        place: kinds of a section stand in the order of their places.
        section: part of the page.
        name: what `headway figure` calls it, if it has no file of that name.
        caption: what it is.
        remark: how to read it; commands stand between backquotes, and files of tables are links.
        table: makes it, to be read; no rows if there is nothing to say. None if it is a file only.
        said: sentences that stand first in its section, before figures; those of a study's table, or of one of chosen
            runs, stand before it.
        heading: of the sentences before it.
        file: name of the file with every number; empty if there is none.
        frame: makes the file's rows, of all experiments.
        looks: how the page sets it: ``tight``, ``prose``, ``sentences`` or nothing.
        most: rows; a longer table is folded.
        every_metric: whether there is one for each metric of an experiment.
        of_differences: whether levels of an axis that are compared have it, too.
        of_runs: whether it is of chosen runs, which stand beside each other.
        on_terminal: whether the terminal shows it below a metric's numbers.
        kept: what `headway claims` keeps of it.
        answers: whether its sentences are an experiment's answer, which the terminal shows above the metrics.
    """

    place: int
    section: Section
    name: str = ""
    caption: Text = ""
    remark: Text = ""
    table: Callable[[Matter], Table] | None = None
    said: Callable[[Matter], Sequence[str]] = lambda _: ()
    heading: str = ""
    file: str = ""
    frame: Callable[[Matter], pl.DataFrame] | None = None
    looks: str = "tight"
    most: int = 16
    every_metric: bool = False
    of_differences: bool = False
    of_runs: bool = False
    on_terminal: bool = False
    kept: KeptFile | None = None
    answers: bool = False

    def shown(self, matter: Matter) -> ShownTable | None:
        """The table as it is shown; None if it has no rows."""
        table = self.table(matter) if self.table else None
        if table is None or not table.rows:
            return None
        caption = self.caption if isinstance(self.caption, str) else self.caption(matter)
        before = self.said(matter) if self.of_runs or self.section.of_study else ()
        heading = self.heading if before else ""
        remark = self.remark_of(matter)
        return ShownTable(
            self.called, heading, tuple(before), caption, table, remark, self.looks, self.most
        )

    @property
    def title(self) -> str:
        """What it is, whatever it is made of."""
        return self.caption if isinstance(self.caption, str) else self.called

    @property
    def called(self) -> str:
        """Its name."""
        return self.name or self.file.removesuffix(".csv")

    def remark_of(self, matter: Matter) -> str:
        """How to read it."""
        return self.remark if isinstance(self.remark, str) else self.remark(matter)


@dataclass(frozen=True)
class ShownTable:
    """A table with its words, ready to be set; see `TableKind`."""

    name: str
    heading: str
    said: tuple[str, ...]
    caption: str
    table: Table
    remark: str
    looks: str
    most: int
