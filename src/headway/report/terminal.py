"""The summary that a terminal shows: for each experiment a table of cells, then the answer."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway.analysis import (
    Analysis,
    Cell,
    Comparison,
    Experiment,
    Results,
    Verdict,
    analyse,
    answer,
    sentences,
)
from headway.analysis.numbers import MINUS, counted, signed_percent, significant, spread
from headway.analysis.sample import Sample
from headway.report.telling import telling_cells

_MOST_FACTORS = 4
"""More factors than this share one column."""
_MOST_ROWS = 40
"""Of more cells than this the table has those that tell most."""
_MOST_SENTENCES = 12
"""More sentences than this are left to the report."""


def print_summary(console: Console, results: Results) -> None:
    """Print every experiment's table and answer; legible without colour at 80 columns."""
    for line in _heading(results):
        console.print(line)
    for experiment in results.experiments:
        _print_experiment(console, results, experiment)


def _heading(results: Results) -> list[Text]:
    manifest = results.manifest
    name = manifest.name or next(iter(results.runs["study"].drop_nulls()), "")
    lines = [Text(name, style="bold")] if name else []
    lines += [Text(manifest.question)] if manifest.question else []
    return lines + ([Text(manifest.warning, style="bold red")] if manifest.warning else [])


def _print_experiment(console: Console, results: Results, experiment: Experiment) -> None:
    if experiment.name:
        console.print()
        console.print(Text(experiment.name, style="bold underline"))
        if experiment.question and experiment.question != results.manifest.question:
            console.print(Text(experiment.question))
    for metric in experiment.metrics:
        _print_metric(console, analyse(results, experiment, metric))


def _print_metric(console: Console, analysis: Analysis) -> None:
    constants = analysis.conditions.notable_constants
    console.print()
    label = f"{analysis.metric.label} [{analysis.metric.unit}]"
    console.print(Text(f"{label}; {', '.join(constants)}" if constants else label, style="bold"))
    cells = telling_cells(analysis, _most_rows(analysis))
    for contenders in _contenders_that_fit(console, analysis, cells):
        console.print(_fitting_table(console, analysis, cells, contenders))
    console.print(Text(_legend(analysis, len(cells)), style="dim"))
    told = answer(analysis)
    _print_list(console, "Answer", told)
    rest = [one for one in sentences(analysis) if one not in told]
    if len(rest) > _MOST_SENTENCES:
        console.print(Text(f"The report says {len(rest)} more sentences, cell by cell."))
    else:
        _print_list(console, "Cell by cell", rest)


def _most_rows(analysis: Analysis) -> int:
    return _MOST_ROWS
