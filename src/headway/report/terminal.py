"""The summary that a terminal shows: a table of cells, then the answer and the sentences."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway.analysis import Analysis, Cell, Comparison, Results, Side, analyse, answer, sentences
from headway.analysis.compare import Verdict
from headway.analysis.numbers import MINUS, signed_percent, significant

_MOST_FACTORS = 4
"""More factors than this share one column."""


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
    return [*lines, Text(manifest.question)] if manifest.question else lines


def _print_metric(console: Console, analysis: Analysis) -> None:
    constants = analysis.conditions.notable_constants
    console.print()
    label = f"{analysis.metric.label} [{analysis.metric.unit}]"
    console.print(Text(f"{label}; {', '.join(constants)}" if constants else label, style="bold"))
    console.print(_table(analysis))
    console.print(Text(_legend(analysis), style="dim"))
    told = answer(analysis)
    _print_list(console, "Answer", told)
    rest = [one for one in sentences(analysis) if one not in told]
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


def _table(analysis: Analysis) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    names = _factor_names(analysis)
    for name in names:
        table.add_column(name, overflow="fold")
    for protocol in analysis.protocols:
        table.add_column(protocol, justify="right")
    if len(analysis.protocols) > 1:
        table.add_column("winner")
    for protocol in analysis.challengers:
        table.add_column(f"{protocol}\nvs {analysis.baseline}", justify="right")
    before: tuple[str, ...] = ()
    for cell in analysis.cells:
        levels = _levels(analysis, cell)
        table.add_row(*_unrepeated(levels, before), *_results(analysis, cell))
        before = levels
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


def _unrepeated(levels: tuple[str, ...], before: tuple[str, ...]) -> list[str]:
    """Levels with those left out that the row above has too, from the left."""
    same = 0
    while same < len(levels) - 1 and levels[: same + 1] == before[: same + 1]:
        same += 1
    return ["" if place < same else level for place, level in enumerate(levels)]


def _results(analysis: Analysis, cell: Cell) -> list[Text]:
    sides = [cell.side(protocol) for protocol in analysis.protocols]
    row = [_median(side, side is not None and side.protocol == cell.winner) for side in sides]
    if len(analysis.protocols) > 1:
        row.append(_winner(cell))
    return row + [_relative(cell.comparison(protocol)) for protocol in analysis.challengers]


def _median(side: Side | None, wins: bool) -> Text:
    """Median with half-width of its interval; failures on a line of their own."""
    if side is None:
        return Text("")
    lines = []
    if side.sample:
        lines.append(Text(significant(side.sample.median), style="bold" if wins else ""))
        if not side.sample.constant and side.sample.interval:
            interval, median = side.sample.interval, side.sample.median
            spread = max(interval.high - median, median - interval.low)
            lines[0].append(f" ±{significant(spread, 2)}")
    if side.failures:
        lines.append(Text(f"{side.failures}/{side.runs} failed", style="red"))
    return Text("\n").join(lines) if lines else Text("-")


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
    return Text(text, style="green" if comparison.verdict is Verdict.FASTER else "magenta")


def _legend(analysis: Analysis) -> str:
    """What the table's entries mean."""
    spread = "Medians; ± to the farther end of the median's interval, none if all runs are equal."
    if not analysis.challengers:
        return spread
    better = f"{MINUS} is faster" if analysis.metric.less_is_better else "+ is faster"
    return f"{spread} {better}; in brackets: not significant, or within 1 %."
