"""The report's page: everything a reader needs to believe, question and repeat a study."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import jinja2
from markupsafe import Markup, escape
from matplotlib.figure import Figure

import headway
from headway.analysis import Analysis, Cell, Results, analyse, answer, load_results
from headway.analysis.sentences import as_start, statement
from headway.analysis.significance import MANN_WHITNEY_ALPHA, WELCH_ALPHA
from headway.report import setting, tables, theme
from headway.report.difference_figure import difference_figure
from headway.report.drawing import inline_svg, png, svg
from headway.report.runs_figure import FAILED, MOST_PANELS, runs_figure

_WIDE, _NARROW = 1040, 360
_KEPT_TOGETHER = re.compile(
    r"(?<=[\d)]) (?=(?:%|s|ms|[kMG]i?B|B|[kMG]?bit/s)(?:\W|$))"  # a number and its unit
    r"|(?<=\b[pn]) (?=[<=] )|(?<=\b[pn] [<=]) "  # p < 0.001, n = 5
)


@dataclass(frozen=True)
class Drawn:
    """A figure of the page: for wide and for narrow screens, and as files.

    Attributes:
        name: name of its files, without suffix.
        wide: SVG element for wide screens.
        narrow: SVG element for narrow screens.
        files: contents by name of file.
    """

    name: str
    wide: str
    narrow: str
    files: dict[str, bytes]


@dataclass(frozen=True)
class MetricPart:
    """What the page says of one metric.

    Attributes:
        analysis: the analysis.
        answer: sentences that answer the question.
        said: for every cell its title and statements, if the answer does not say all of them.
        runs: figure of all runs; None if nothing was measured.
        difference: figure of the differences; None if nothing can be compared.
        samples: table of samples.
        comparisons: table of comparisons.
    """

    analysis: Analysis
    answer: tuple[str, ...]
    said: tuple[tuple[str, tuple[str, ...]], ...]
    runs: Drawn | None
    difference: Drawn | None
    samples: tables.Table
    comparisons: tables.Table


def write_report(directory: Path) -> Path:
    """Write the report of a results directory into its ``report/``.

    The page ``index.html`` stands alone; beside it are its figures as SVG and PNG and its tables
    as CSV. Equal results give equal files.

    Returns:
        The page.

    Raises:
        WrongInputError: it is not a results directory, or lacks the study's metric.
    """
    results = load_results(directory)
    parts = tuple(_part(results, metric) for metric in results.manifest.metrics)
    target = directory / "report"
    target.mkdir(exist_ok=True)
    for part in parts:
        for drawn in (part.runs, part.difference):
            for name, content in (drawn.files if drawn else {}).items():
                (target / name).write_bytes(content)
    analyses = [part.analysis for part in parts]
    tables.samples_frame(analyses).write_csv(target / "cells.csv")
    tables.comparisons_frame(analyses).write_csv(target / "comparisons.csv")
    tables.failures_frame(results.runs).write_csv(target / "failures.csv")
    page = target / "index.html"
    page.write_text(render(results, parts), encoding="utf-8")
    return page


def render(results: Results, parts: tuple[MetricPart, ...]) -> str:
    """The page as HTML."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("headway.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["bound"] = bound
    first = parts[0].analysis
    return environment.get_template("page.html.j2").render(
        name=results.manifest.name or next(iter(results.runs["study"].drop_nulls()), "Results"),
        manifest=results.manifest,
        parts=parts,
        contenders=setting.contenders_table(results, first),
        path=setting.path_facts(first),
        settings=tables.settings_table(results),
        limits=tables.limits_table(first),
        failures=tables.failures_table(results, first),
        self_test=tables.self_test_table(results),
        provenance=setting.provenance_facts(results),
        light=Markup(theme.css_variables(dark=False)),
        dark=Markup(theme.css_variables(dark=True)),
        failed_mark=FAILED,
        most_panels=MOST_PANELS,
        welch_alpha=WELCH_ALPHA,
        mann_whitney_alpha=MANN_WHITNEY_ALPHA,
        version=headway.__version__,
    )


def bound(text: str) -> Markup:
    """Text for the page, with numbers kept on one line with their units."""
    return escape(_KEPT_TOGETHER.sub("\N{NO-BREAK SPACE}", text))


def _part(results: Results, metric: str) -> MetricPart:
    analysis = analyse(results, metric)
    comparisons = [one for cell in analysis.cells for one in cell.comparisons]
    told = answer(analysis)
    return MetricPart(
        analysis=analysis,
        answer=told,
        said=tuple(
            (cell.title, _statements(analysis, cell)) for cell in analysis.cells if cell.comparisons
        )
        if len(comparisons) > len(told)
        else (),
        runs=_runs(analysis),
        difference=_difference(analysis),
        samples=tables.samples_table(analysis),
        comparisons=tables.comparisons_table(analysis),
    )


def _statements(analysis: Analysis, cell: Cell) -> tuple[str, ...]:
    return tuple(as_start(statement(cell, one, analysis.metric)) for one in cell.comparisons)


def _runs(analysis: Analysis) -> Drawn | None:
    if not any(side.sample for cell in analysis.cells for side in cell.sides):
        return None
    return _drawn(
        f"{analysis.metric.column}-runs",
        runs_figure(analysis, _WIDE, 4),
        runs_figure(analysis, _NARROW, 2),
        f"{analysis.metric.label} of every run, by cell and contender; the table of samples has "
        "the same numbers",
    )


def _difference(analysis: Analysis) -> Drawn | None:
    comparisons = [one for cell in analysis.cells for one in cell.comparisons]
    if len(analysis.cells) < 2 or all(one.relative is None for one in comparisons):
        return None
    return _drawn(
        f"{analysis.metric.column}-difference",
        difference_figure(analysis, _WIDE),
        difference_figure(analysis, _NARROW),
        f"relative difference of the median {analysis.metric.label}, by comparison and "
        "cell; the table of comparisons has the same numbers",
    )


def _drawn(name: str, wide: Figure, narrow: Figure, description: str) -> Drawn:
    file = svg(wide)
    return Drawn(
        name=name,
        wide=Markup(inline_svg(file, f"{name}-wide", description)),
        narrow=Markup(inline_svg(svg(narrow), f"{name}-narrow", description)),
        files={f"{name}.svg": file.encode(), f"{name}.png": png(wide)},
    )
