"""A study's claims on the terminal: each with its verdict, what it says and what came, on one screen."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway.analysis import Analysis
from headway.analysis.claim_estimate import Judgement
from headway.analysis.claims import Judged
from headway.analysis.claimwords import judged, ledger_sentence
from headway.analysis.numbers import MINUS, significant
from headway.analysis.published import agreement_sentence
from headway.errors import counted
from headway.study.claim import Gap, Value

_WIDE = 110
"""Columns of a terminal that has room for intervals."""
_WORDS = {
    Judgement.HOLDS: "yes",
    Judgement.OTHER_REASON: "yes, but",
    Judgement.BROKEN: "no",
    Judgement.UNDECIDED: "open",
}
_STYLES = {
    Judgement.HOLDS: "green",
    Judgement.OTHER_REASON: "yellow",
    Judgement.BROKEN: "magenta",
    Judgement.UNDECIDED: "dim",
}
_MEANINGS = {
    Judgement.UNDECIDED: "Open: undecided. ",
    Judgement.OTHER_REASON: "Yes, but: for another reason than it names. ",
}
"""Of words that do not say it themselves."""
_LEGEND = (
    "{meanings}Theirs: published, or what has to be. Ours: the estimate, or the lowest and the highest of several.{more} The "
    "report has each with its intervals, its place and, where it does not hold, why."
)
_GATHERED = " Claims of one kind share a line, in the study's order."
_COUNTED = " Behind an experiment's name stands how many others it has."
_WIDEST = 5
"""The numbers of claims on one line have the width of the terminal over this, theirs as ours."""
_LEAST_WIDE = 20


@dataclass(frozen=True)
class _Closeness:
    """How closely claims stand.

    Attributes:
        gathered: verdicts of which claims of one kind share a line, with the numbers of each and as much text as fits.
        counted: verdicts of which an experiment has a number only.
        wraps: whether a claim may take several lines.
    """

    gathered: frozenset[Judgement] = frozenset()
    counted: frozenset[Judgement] = frozenset()
    wraps: bool = True


_HOLDS, _OPEN, _BROKEN = map(
    frozenset, ([Judgement.HOLDS], [Judgement.UNDECIDED], [Judgement.BROKEN])
)
_CLOSENESSES = (
    _Closeness(),
    _Closeness(gathered=_HOLDS),
    _Closeness(gathered=_HOLDS | _OPEN),
    _Closeness(gathered=_HOLDS | _OPEN, wraps=False),
    _Closeness(gathered=_HOLDS | _OPEN | _BROKEN),
    _Closeness(counted=_HOLDS, gathered=_OPEN),
    _Closeness(counted=_HOLDS | _OPEN),
    _Closeness(counted=_HOLDS | _OPEN, wraps=False),
    _Closeness(counted=_HOLDS | _OPEN, gathered=_BROKEN, wraps=False),
    _Closeness(counted=_HOLDS | _OPEN | _BROKEN),
)
"""The airiest first: what does not hold is shown longest."""


def claims_shown(
    console: Console, everything: Sequence[Sequence[Analysis]], lines: float = math.inf
) -> Iterator[Table | Text]:
    """How many claims hold, those that were measured with their numbers, and how many were not; nothing without claims.

    Args:
        console: where they will be printed.
        everything: of each experiment, the analyses of its metrics.
        lines: so many at most, if that can be. Claims that do not fit on a line each share some.
    """
    experiments = [(analyses[0].experiment.name, judged(analyses)) for analyses in everything]
    every = [claim for _, claims in experiments for claim in claims]
    if not every:
        return
    values = agreement_sentence([analysis for analyses in everything for analysis in analyses])
    yield Text("")
    tally = Text(" ".join(filter(None, (ledger_sentence(every), values))), style="bold")
    yield tally
    left = sum(judged_claim.judgement is Judgement.NOT_MEASURED for judged_claim in every)
    behind = [Text(f"Not measured, and not shown: {counted(left, 'claim')}.")] if left else []
    measured = [
        (name, [claim for claim in claims if claim.judgement is not Judgement.NOT_MEASURED])
        for name, claims in experiments
    ]
    if left < len(every):
        room = lines - 1 - _height(console, tally, *behind)
        yield from _airiest(console, [pair for pair in measured if pair[1]], room)
    yield from behind


_Experiments = Sequence[tuple[str, Sequence[Judged]]]
"""Names of experiments, and their claims."""


def _airiest(console: Console, experiments: _Experiments, lines: float) -> tuple[Table, Text]:
    """The airiest table that fits, with its legend; else the closest."""
    there = {claim.judgement for _, claims in experiments for claim in claims}
    meanings = "".join(text for judgement, text in _MEANINGS.items() if judgement in there)
    for close in _CLOSENESSES:
        more = (_GATHERED if close.gathered else "") + (_COUNTED if close.counted else "")
        legend = _LEGEND.format(meanings=meanings, more=more)
        shown = _table(console.width, experiments, close), Text(legend, style="dim")
        if _height(console, *shown) <= lines:
            break
    return shown


def _height(console: Console, *shown: Table | Text) -> int:
    return sum(len(console.render_lines(part, pad=False)) for part in shown)


def _table(width: int, experiments: _Experiments, close: _Closeness) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False, expand=True
    )
    how: dict[str, Any] = {} if close.wraps else {"no_wrap": True, "overflow": "ellipsis"}
    table.add_column("holds", no_wrap=True)
    table.add_column("claim", ratio=1, **how)
    for heading in ("theirs", "ours"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, claims in experiments:
        numbers = _counts(claims, close)
        if name or numbers:
            between = ": " if name and numbers else ""
            table.add_row("", Text.assemble((name, "bold"), between, numbers), "", "")
        shown = [claim for claim in claims if claim.judgement not in close.counted]
        for group in _groups(shown, close, max(_LEAST_WIDE, width // _WIDEST)):
            table.add_row(*_row(group, close, intervals=width >= _WIDE))
    return table


def _counts(claims: Sequence[Judged], close: _Closeness) -> str:
    """``12 hold, 1 is open``: of what is counted only."""
    counts = Counter(claim.judgement for claim in claims if claim.judgement in close.counted)
    verbs = {
        Judgement.HOLDS: ("holds", "hold"),
        Judgement.OTHER_REASON: ("holds for another reason", "hold for another reason"),
        Judgement.UNDECIDED: ("is open", "are open"),
        Judgement.BROKEN: ("does not hold", "do not hold"),
    }
    return ", ".join(
        f"{counts[judgement]} {words[0 if counts[judgement] == 1 else 1]}"
        for judgement, words in verbs.items()
        if counts[judgement]
    )


def _groups(claims: Sequence[Judged], close: _Closeness, width: int) -> list[list[Judged]]:
    """Claims that share a line: of one verdict, kind and unit, and as many as its columns hold."""
    groups: list[list[Judged]] = []
    last: dict[tuple[object, ...], list[Judged]] = {}
    for claim in claims:
        key = claim.judgement, claim.claim.rule.kind, _theirs(claim)[1], _ours(claim)[1]
        group = last.get(key) if claim.judgement in close.gathered else None
        if group and all(
            len(_numbers([*group, claim], side)) <= width for side in (_theirs, _ours)
        ):
            group.append(claim)
            continue
        last[key] = [claim]
        groups.append(last[key])
    return groups


def _row(
    group: Sequence[Judged], close: _Closeness, *, intervals: bool
) -> tuple[Text, Text, str, str]:
    first, *others = group
    verdict = f"{len(group)} {_WORDS[first.judgement]}" if others else _WORDS[first.judgement]
    says = Text("; ".join(judged_claim.claim.says for judged_claim in group))
    if first.judgement in close.gathered:
        says.no_wrap, says.overflow = True, "ellipsis"
    ends = "" if others or not intervals else _ends(first)
    return (
        Text(verdict, style=_STYLES[first.judgement]),
        says,
        _numbers(group, _theirs),
        f"{_numbers(group, _ours)}{ends}",
    )


def _numbers(group: Sequence[Judged], side: Callable[[Judged], tuple[str, str]]) -> str:
    """``9; 9; 15 s``; once if all are the same."""
    texts = [side(judged_claim)[0] for judged_claim in group]
    shown = texts[:1] if len({*texts}) == 1 else texts
    return f"{'; '.join(shown)}{side(group[0])[1]}"


def _theirs(judged_claim: Judged) -> tuple[str, str]:
    """The published value; where there is none, the range in which ours have to be. Behind it its unit."""
    finding = judged_claim.findings[0]
    rule = judged_claim.claim.rule
    if isinstance(rule, Gap | Value) and rule.value is not None:
        return _stated(rule.value), finding.said_unit
    low, high = finding.region.low, finding.region.high
    if math.isinf(low) or math.isinf(high):
        edge = f"> {_stated(low)}" if math.isinf(high) else f"< {_stated(high)}"
    else:
        edge = f"±{high:g}" if low == -high else f"{_stated(low)} to {_stated(high)}"
    return edge, finding.said_unit


def _stated(number: float) -> str:
    """As it stands in the study."""
    return f"{number:g}".replace("-", MINUS)


def _ours(judged_claim: Judged) -> tuple[str, str]:
    """The only estimate, or the range of several that are of one kind; behind it the unit."""
    values = [finding for finding in judged_claim.findings if finding.value is not None]
    numbers = [finding.value or 0.0 for finding in values if finding.unit == values[0].unit]
    ends = dict.fromkeys((significant(min(numbers)), significant(max(numbers))))
    return " to ".join(ends), values[0].said_unit


def _ends(judged_claim: Judged) -> str:
    """The interval of the only estimate."""
    values = [finding for finding in judged_claim.findings if finding.value is not None]
    interval = values[0].interval
    ends = (interval.low, interval.high) if interval and len(values) == 1 else ()
    if not ends or not all(map(math.isfinite, ends)):
        return ""
    return f" ({' to '.join(map(significant, ends))})"
