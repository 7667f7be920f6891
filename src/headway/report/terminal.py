"""The summary that a terminal shows: a table of cells, then the answer and the sentences."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway.analysis import Analysis, Cell, Comparison, Results, analyse, answer, sentences
from headway.analysis.compare import Verdict
from headway.analysis.numbers import MINUS, signed_percent, significant, spread
from headway.analysis.sample import Sample

_MOST_FACTORS = 4
"""More factors than this share one column."""
_MOST_SENTENCES = 40
"""More sentences than this are left to the report."""


def print_summary(console: Console, results: Results) -> None:
    """Print the study's table, answer and sentences; legible without colour at 80 columns."""
    for line in _heading(results):
        console.print(line)
    for metric in results.manifest.metrics:
        _print_metric(console, analyse(results, metric))


def _heading(results: Results) -> list[Text]:
    manifest = results.manifest
    name = manifest.name or next(iter(results.runs["study"].drop_nulls()), "")
    lines = [Text(name, style="bold")] if name else []
    lines += [Text(manifest.question)] if manifest.question else []
    return lines + ([Text(manifest.warning, style="bold red")] if manifest.warning else [])


def _print_metric(console: Console, analysis: Analysis) -> None:
    constants = analysis.conditions.notable_constants
    console.print()
    label = f"{analysis.metric.label} [{analysis.metric.unit}]"
    console.print(Text(f"{label}; {', '.join(constants)}" if constants else label, style="bold"))
    console.print(_fitting_table(console, analysis))
    console.print(Text(_legend(analysis), style="dim"))
    told = answer(analysis)
    _print_list(console, "Answer", told)
    rest = [one for one in sentences(analysis) if one not in told]
    if len(rest) > _MOST_SENTENCES:
        console.print(Text(f"The report says {len(rest)} more sentences, cell by cell."))
    else:
        _print_list(console, "Cell by cell", rest)


def _print_list(console: Console, heading: str, items: Sequence[str]) -> None:
    if not items:
        return
    console.print()
    console.print(Text(heading, style="bold"))
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for item in items:
        grid.add_row("-", Text(item))
    console.print(grid)


def _fitting_table(console: Console, analysis: Analysis) -> Table:
    """The airiest table that fits; where nothing does, the spread goes below the median."""
    for gap in (1, 0):
        table = _table(analysis, gap, " ")
        if console.measure(table).maximum <= console.width:
            return table
    return _table(analysis, 0, "\n")


def _table(analysis: Analysis, gap: int, before_spread: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, gap, 0, 0), show_edge=False)
    for name in _factor_names(analysis):
        table.add_column(name, overflow="fold")
    for contender in analysis.contenders:
        table.add_column(contender, justify="right", min_width=6)
    if len(analysis.contenders) > 1:
        table.add_column("best")
    for pairing in analysis.pairings:
        table.add_column(f"{pairing.contender} vs\n{pairing.against} [%]", justify="right")
    above: tuple[str, ...] = ()
    for cell in analysis.cells:
        levels = _levels(analysis, cell)
        table.add_row(*_unrepeated(levels, above), *_results(analysis, cell, before_spread))
        above = levels
    return table


def _factor_names(analysis: Analysis) -> tuple[str, ...]:
    factors = analysis.conditions.factors
    if len(factors) > _MOST_FACTORS:
        return ("cell",)
    return tuple(factor.name for factor in factors)


def _levels(analysis: Analysis, cell: Cell) -> tuple[str, ...]:
    factors = analysis.conditions.factors
    if len(factors) > _MOST_FACTORS:
        return (cell.title,)
    return tuple(factor.levels[level] for factor, level in zip(factors, cell.levels, strict=True))


def _unrepeated(levels: tuple[str, ...], above: tuple[str, ...]) -> list[str]:
    """Levels with those left out that the row above has too, from the left."""
    same = 0
    while same < len(levels) - 1 and levels[: same + 1] == above[: same + 1]:
        same += 1
    return ["" if place < same else level for place, level in enumerate(levels)]


def _results(analysis: Analysis, cell: Cell, before_spread: str) -> list[Text]:
    row = [_median(cell, contender, before_spread) for contender in analysis.contenders]
    if len(analysis.contenders) > 1:
        row.append(_winner(cell))
    return row + [_relative(cell.comparison(pairing)) for pairing in analysis.pairings]


def _median(cell: Cell, contender: str, before_spread: str) -> Text:
    """Median with half-width of its interval; failures on a line of their own."""
    side = cell.side(contender)
    if side is None:
        return Text("")
    lines = []
    if side.sample:
        median = significant(side.sample.median)
        lines.append(Text(median, style="bold" if contender == cell.winner else ""))
        lines[0].append(_spread(side.sample, median, before_spread))
    if side.failures:
        lines.append(Text(f"{side.failures}/{side.runs} failed", style="red"))
    return Text("\n").join(lines) if lines else Text("-")


def _spread(sample: Sample, median: str, before: str) -> str:
    if sample.constant or sample.interval is None:
        return ""
    width = max(sample.interval.high - sample.median, sample.median - sample.interval.low)
    text = spread(width, median)
    return f"{before}±{text}" if text else ""


def _winner(cell: Cell) -> Text:
    """The winner; those that share the lead, unless that is everybody."""
    if cell.winner:
        return Text(cell.winner, style="bold")
    finished = sum(side.sample is not None for side in cell.sides)
    return Text("/".join(cell.leaders) if len(cell.leaders) < finished else "-")


def _relative(comparison: Comparison | None) -> Text:
    if comparison is None or comparison.relative is None:
        return Text("-")
    text = signed_percent(comparison.relative)
    if not comparison.matters:
        return Text(f"({text})", style="dim")
    return Text(f"{text} ", style="green" if comparison.verdict is Verdict.FASTER else "magenta")


def _legend(analysis: Analysis) -> str:
    """What the table's entries mean."""
    medians = "Medians; ± to the farther end of the median's interval, none if it is below the last digit."
    if not analysis.pairings:
        return medians
    better = f"{MINUS} is faster" if analysis.metric.less_is_better else "+ is faster"
    return f"{medians} {better}; in brackets: not significant, or within 1 %."
