"""A study's claims on the terminal: each on a line of its own, with its verdict, what it says and what came."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway.analysis import Analysis
from headway.analysis.claims import Judged
from headway.analysis.claimwords import judged, ledger_sentence
from headway.analysis.finding import Finding, Judgement
from headway.analysis.numbers import MINUS, significant
from headway.analysis.published import agreement_sentence
from headway.errors import counted
from headway.study.claim import Gap, Value

_WIDE = 110
"""Columns of a terminal that has room for intervals."""
_WORDS = {
    Judgement.HOLDS: "yes",
    Judgement.BROKEN: "no",
    Judgement.UNDECIDED: "open",
}
_STYLES = {
    Judgement.HOLDS: "green",
    Judgement.BROKEN: "magenta",
    Judgement.UNDECIDED: "dim",
}
_LEGEND = (
    "Open: undecided. Theirs: what was published, or what has to be. Ours: the estimate, or of several the lowest and the highest. The "
    "report has each with its intervals, its place and, where it does not hold, why."
)


def claims_shown(
    console: Console, everything: Sequence[Sequence[Analysis]]
) -> Iterator[Table | Text]:
    """How many claims hold, a line for each that was measured, and how many were not; nothing without claims.

    Args:
        console: where they will be printed.
        everything: of each experiment, the analyses of its metrics.
    """
    found = [(analyses[0].experiment.name, judged(analyses)) for analyses in everything]
    every = [one for _, claims in found for one in claims]
    if not every:
        return
    values = agreement_sentence([one for analyses in everything for one in analyses])
    yield Text("")
    yield Text(" ".join(filter(None, (ledger_sentence(every), values))), style="bold")
    measured = [
        (name, [one for one in claims if one.judgement is not Judgement.NOT_MEASURED])
        for name, claims in found
    ]
    if any(claims for _, claims in measured):
        yield _table(measured, intervals=console.width >= _WIDE)
        yield Text(_LEGEND, style="dim")
    if left := sum(one.judgement is Judgement.NOT_MEASURED for one in every):
        yield Text(f"Not measured, and not shown: {counted(left, 'claim')}.")


def _table(found: Sequence[tuple[str, Sequence[Judged]]], *, intervals: bool) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False, expand=True
    )
    table.add_column("holds", no_wrap=True)
    table.add_column("claim", ratio=1)
    for heading in ("theirs", "ours"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, claims in found:
        if name and claims:
            table.add_row("", Text(name, style="bold"), "", "")
        for one in claims:
            verdict = Text(_WORDS[one.judgement], style=_STYLES[one.judgement])
            table.add_row(verdict, Text(one.claim.says), _theirs(one), _ours(one, intervals))
    return table


def _theirs(one: Judged) -> str:
    """The published value; where there is none, the range in which ours have to be."""
    finding = one.findings[0]
    rule = one.claim.rule
    if isinstance(rule, Gap | Value) and rule.value is not None:
        return f"{_stated(rule.value)}{finding.said_unit}"
    low, high = finding.region.low, finding.region.high
    if math.isinf(low) or math.isinf(high):
        edge = f"> {_stated(low)}" if math.isinf(high) else f"< {_stated(high)}"
    else:
        edge = f"±{high:g}" if low == -high else f"{_stated(low)} to {_stated(high)}"
    return f"{edge}{finding.said_unit}"


def _stated(number: float) -> str:
    """As it stands in the study."""
    return f"{number:g}".replace("-", MINUS)


def _ours(one: Judged, intervals: bool) -> str:
    """The only estimate, or the range of several that are of one kind."""
    values = [finding for finding in one.findings if finding.value is not None]
    unit = values[0].said_unit
    if len(values) == 1:
        return f"{significant(values[0].value or 0.0)}{unit}{_ends(values[0]) if intervals else ''}"
    numbers = [finding.value or 0.0 for finding in values if finding.unit == values[0].unit]
    return f"{significant(min(numbers))} to {significant(max(numbers))}{unit}"


def _ends(finding: Finding) -> str:
    ends = (finding.interval.low, finding.interval.high) if finding.interval else ()
    if not ends or not all(map(math.isfinite, ends)):
        return ""
    return f" ({' to '.join(map(significant, ends))})"
