"""The summary that a terminal shows: for each experiment a table of cells, then the answer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway.analysis import (
    Analysis,
    Cell,
    Comparison,
    StudyResults,
    Verdict,
    answer,
    sentences,
)
from headway.analysis.acrosslevels import Across
from headway.analysis.estimate_text import reach
from headway.analysis.jointly import joint_verdicts
from headway.analysis.metric import Metric
from headway.analysis.numbers import MINUS, signed_percent, significant
from headway.analysis.overview import ComparisonOutcome, overviews
from headway.analysis.published import agreement_sentence
from headway.analysis.stopping import stopping_sentence
from headway.errors import counted
from headway.report.reproducing import showing_packets
from headway.report.setting import study_name
from headway.report.tables import answers, on_terminal
from headway.report.tables.kind import Matter, ShownTable
from headway.report.terminal_claims import claims_shown
from headway.report.terminal_shares import shares_shown

_MOST_FACTORS = 4
"""More factors than this share one column."""
_MOST_ROWS = 40
"""More cells than this are counted, not listed."""
_FEW_CELLS = 4
_SCREEN = 45
"""Lines of a terminal: a paper's claims, and what stands around them, take no more if that can be."""
_BELOW = 5
"""Of these, what is printed after them: how much the whole is, and where the page."""
_FEW_CLAIMS = 3
"""These stand below the answer of an experiment; more are shown instead of it."""
_MOST_ANSWERS = 8
_MOST_SENTENCES = 12
"""More sentences than these are left to the report."""
_TALLY_LEGEND = (
    "Conditions in which the first was faster or slower by at least 1 %, or equal; unclear: not "
    "significant, not tested or not comparable."
)


def print_analyses(
    console: Console,
    results: StudyResults,
    analyses: Sequence[Sequence[Analysis]],
    across: Sequence[Across | None] = (),
) -> None:
    """Print every experiment's table and answer; legible without colour at 80 columns.

    Args:
        console: where to print.
        results: the study's results.
        analyses: of each experiment, its metrics.
        across: of each experiment, the levels of an axis that are compared, if any are.
    """
    head = [*_head(results)]
    notes = results.manifest.notes
    claims_only = _are_claims_enough(analyses)
    if claims_only and notes:
        head.append(Text(f"The report has {counted(len(notes), 'note')} on what was planned."))
    above = sum(len(console.render_lines(part, pad=False)) for part in head)
    lines = _SCREEN - _BELOW - above if claims_only else math.inf
    claims = [*claims_shown(console, analyses, lines)]
    for text in head:
        console.print(text)
    if claims_only:
        analyses, across = (), ()
    else:
        for note in results.manifest.alarms:
            console.print(Text(f"Note: {note}."))
        if short := results.manifest.of_short_form:
            sentence = counted(len(short), "note")
            console.print(
                Text(f"This is the study's short form; the report has {sentence} on that.")
            )
    for metrics, levels in zip_longest(analyses, across):
        _print_experiment(console, results, metrics)
        if levels:
            console.print()
            console.print(Text(f"Across {levels.name}: {levels.said}", style="bold"))
            for analysis in levels.analyses:
                _print_metric(console, results, analysis)
    for part in claims:
        console.print(part)
    if not claims_only and (shown := showing_packets(results)):
        console.print()
        console.print(Text(shown))


def _head(results: StudyResults) -> Iterator[Text]:
    """What the study is, and what its reader must know first."""
    question, warning = results.manifest.study.question, results.manifest.warning
    heading = (study_name(results), "bold"), (question, ""), (results.part, "bold")
    for text, style in (*heading, (warning, "bold red")):
        if text:
            yield Text(text, style=style)


def _are_claims_enough(analyses: Sequence[Sequence[Analysis]]) -> bool:
    """Whether claims are what is shown: of several experiments, or so many that a table beside them is too much."""
    count = sum(len(analysis[0].experiment.claims) for analysis in analyses)
    return count > (0 if len(analyses) > 1 else _FEW_CLAIMS)


def _print_experiment(console: Console, results: StudyResults, metrics: Sequence[Analysis]) -> None:
    experiment, question = metrics[0].experiment, results.manifest.study.question
    if experiment.name:
        console.print()
        console.print(Text(experiment.name, style="bold underline"))
        if experiment.question and experiment.question != question:
            console.print(Text(experiment.question))
    for shown in shares_shown(console, metrics[0]):
        console.print(shown)
    for lines in answers(Matter(results, (tuple(metrics),))):
        _print_list(console, "Answer", lines)
    _print_list(
        console, "Answer", [joint_verdict.sentence for joint_verdict in joint_verdicts(metrics)]
    )
    for analysis in metrics:
        _print_metric(console, results, analysis)
    # What is said of claims says it of published values, too.
    values = "" if metrics[0].experiment.claims else agreement_sentence(metrics)
    for sentence in (values, stopping_sentence(metrics[0])):
        if sentence:
            console.print()
            console.print(Text(sentence))


def _print_metric(console: Console, results: StudyResults, analysis: Analysis) -> None:
    constants = analysis.conditions.notable_constants
    console.print()
    label = analysis.metric.headed(analysis.metric.label)
    console.print(Text(f"{label}; {', '.join(constants)}" if constants else label, style="bold"))
    table = _table_of_cells(console, analysis) or _table_of_contenders(console, analysis)
    console.print(table or _table_of_comparisons(analysis))
    console.print(
        Text(_legend(analysis) if table else analysis.metric.said(_TALLY_LEGEND), style="dim")
    )
    for shown in on_terminal(Matter(results, ((analysis,),))):
        _print_table(console, shown)
    texts = answer(analysis)
    _print_list(console, "Answer", texts[:_MOST_ANSWERS])
    count = sum(1 for _ in analysis.comparisons)
    rest = (
        [sentence for sentence in sentences(analysis) if sentence not in texts]
        if count <= _MOST_SENTENCES
        else []
    )
    _print_list(console, "One by one", rest)
    left = len(texts[_MOST_ANSWERS:]) + (count if count > _MOST_SENTENCES else 0)
    if left:
        console.print(Text(f"The report says {counted(left, 'more sentence')}."))


def _print_table(console: Console, shown: ShownTable) -> None:
    """A table of the report, with its own remark."""
    console.print()
    console.print(Text(shown.caption, style="bold"))
    table = _new_table(1)
    for place, heading in enumerate(shown.table.headings):
        table.add_column(
            heading,
            justify="left" if place < shown.table.labels else "right",
            overflow="fold",
            min_width=len(heading) if place < shown.table.labels else None,
        )
    for row in (row for group in shown.table.rows for row in group):
        table.add_row(*row)
    console.print(table)
    console.print(Text(shown.table.remark, style="dim"))


def _print_list(console: Console, heading: str, items: Sequence[str]) -> None:
    if not items:
        return
    console.print()
    console.print(Text(heading, style="bold"))
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for sentence in items:
        grid.add_row("-", Text(sentence))
    console.print(grid)


def _table_of_cells(console: Console, analysis: Analysis) -> Table | None:
    """The airiest table that fits, with the spread below the median if need be; None if none does."""
    if len(analysis.cells) > _MOST_ROWS:
        return None
    tables = (_table(analysis, *how) for how in ((1, " "), (0, " "), (0, "\n")))
    return next((table for table in tables if _fits(console, table)), None)


def _table_of_contenders(console: Console, analysis: Analysis) -> Table | None:
    """A row for each contender, for many of them in few cells; None if it does not fit."""
    table = _new_table(1)
    table.add_column("contender")
    for cell in analysis.cells[:_FEW_CELLS]:
        table.add_column(cell.title or analysis.metric.label, justify="right")
        table.add_column("[%]", justify="right")
    for contender in analysis.contenders:
        row = [Text(contender)]
        for cell in analysis.cells[:_FEW_CELLS]:
            own = [
                comparison for comparison in cell.comparisons if comparison.contender == contender
            ]
            row += [
                _median(analysis.metric, cell, contender, " "),
                _relative(own[0]) if len(own) == 1 else Text(""),
            ]
        table.add_row(*row)
    return table if len(analysis.cells) <= _FEW_CELLS and _fits(console, table) else None


def _fits(console: Console, table: Table) -> bool:
    unlimited = console.options.update(width=10_000)
    return console.measure(table, options=unlimited).maximum <= console.width


def _new_table(gap: int) -> Table:
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, gap, 0, 0), show_edge=False)


def _table_of_comparisons(analysis: Analysis) -> Table:
    """A row for each comparison: in how many cells it came out how, and by how much."""
    table = _new_table(1)
    better, worse = analysis.metric.words
    for heading in ("compared", better, "by [%]", worse, "by [%]", "equal", "unclear"):
        table.add_column(heading, justify="left" if heading == "compared" else "right")
    for overview in overviews(analysis):
        faster, slower, equal = (
            overview.tally.count(outcome)
            for outcome in (
                ComparisonOutcome.FASTER,
                ComparisonOutcome.SLOWER,
                ComparisonOutcome.EQUAL,
            )
        )
        equal += overview.tally.count(ComparisonOutcome.IDENTICAL)
        table.add_row(
            f"{overview.contender} vs {overview.against}",
            Text(str(faster), style="green"),
            _range(overview.faster_by),
            Text(str(slower), style="magenta"),
            _range(overview.slower_by),
            str(equal),
            str(overview.tally.total - faster - slower - equal),
        )
    return table


def _range(span: tuple[float, float] | None) -> str:
    if span is None:
        return ""
    least, most = (signed_percent(value) for value in span)
    return least if least == most else f"{least} to {most}"


def _table(analysis: Analysis, gap: int, before_spread: str) -> Table:
    table = _new_table(gap)
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
    row = [
        _median(analysis.metric, cell, contender, before_spread)
        for contender in analysis.contenders
    ]
    if len(analysis.contenders) > 1:
        row.append(_winner(cell))
    return row + [_relative(cell.comparison(pairing)) for pairing in analysis.pairings]


def _median(metric: Metric, cell: Cell, contender: str, before_spread: str) -> Text:
    """Median with half-width of its interval; failures on a line of their own."""
    side = cell.side(contender)
    if side is None:
        return Text("")
    lines = []
    if sample := cell.matched.get(contender):
        median = significant(sample.median)
        lines.append(Text(median, style="bold" if contender == cell.winner else ""))
        if reaching := reach(sample, median):
            lines[0].append(f"{before_spread}{reaching}")
        lines[0].append(metric.distance(side.measured))
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
    if comparison.identical:
        return Text("= ", style="dim")
    text = signed_percent(comparison.relative)
    if not comparison.matters:
        return Text(f"({text})", style="dim")
    return Text(f"{text} ", style="green" if comparison.verdict is Verdict.FASTER else "magenta")


def _legend(analysis: Analysis) -> str:
    """What the table's entries mean."""
    medians = (
        "Medians; ± to the farther end of the median's interval (+ where ± would reach beyond 0), none if that is "
        "below the last digit."
    )
    if not analysis.pairings:
        return medians
    if any(side.failures for cell in analysis.cells for side in cell.sides):
        medians += " Where runs failed, they are of the repetitions that all finished."
    better = f"{MINUS if analysis.metric.less_is_better else '+'} is {analysis.metric.words[0]}"
    text = f"{medians} {better}; in brackets: not significant, or within 1 %; =: identical."
    return f"{text} {analysis.metric.legend}".rstrip()
