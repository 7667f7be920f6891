"""What an experiment says, in a few sentences."""

from __future__ import annotations

from headway.analysis.analysis import Analysis
from headway.analysis.numbers import counted
from headway.analysis.overview import Dependence, Outcome, Overview, Tally, overviews
from headway.analysis.sentences import by, sentences

_FEW = 4
"""Up to this many comparisons are told one by one."""


def answer(analysis: Analysis) -> tuple[str, ...]:
    """What the experiment says, most important first.

    An experiment of few comparisons is answered by their sentences, a larger one by overviews.
    """
    if len(analysis.comparisons) <= _FEW:
        found = sentences(analysis)
    else:
        found = tuple(_overview(overview) for overview in overviews(analysis))
    return (*found, *_not_compared(analysis), *_all_failures(analysis))


_OUTCOME_WORDS = {
    Outcome.FASTER: "faster",
    Outcome.SLOWER: "slower",
    Outcome.IDENTICAL: "identical",
    Outcome.EQUAL: "within 1 %",
    Outcome.UNDECIDED: "no significant difference",
    Outcome.UNTESTED: "not tested",
    Outcome.INCOMPARABLE: "not comparable",
}


def _overview(overview: Overview) -> str:
    told = [
        f"{_OUTCOME_WORDS[one]} in {count}{_remark(one, overview)}"
        for one, count in overview.tally.counts
    ]
    said = f"{overview.contender} against {overview.against}, "
    said += f"{counted(overview.tally.total, 'cell')}: {', '.join(told)}."
    return f"{said}{_dependence(overview.dependence)}"


def _remark(one: Outcome, overview: Overview) -> str:
    if one is Outcome.UNTESTED:
        return f" (too few runs; faster in {overview.untested_faster})"
    if one is Outcome.INCOMPARABLE and overview.why_not:
        return f" ({overview.why_not})"
    return _span({Outcome.FASTER: overview.faster_by, Outcome.SLOWER: overview.slower_by}.get(one))


def _span(span: tuple[float, float] | None) -> str:
    if span is None:
        return ""
    least, most = by(span[0]), by(span[1])
    if least == most:
        return f" ({least.strip()})"
    return f" ({least.strip()} to {most.strip().removeprefix('by ')})"


def _dependence(dependence: Dependence | None) -> str:
    if dependence is None:
        return ""
    levels = [f"at {title} {_tally(tally)}" for title, tally in dependence.by_level if tally.total]
    head = "By" if dependence.alone else "It depends most on"
    return f" {head} {dependence.factor}: {'; '.join(levels)}."


def _tally(tally: Tally) -> str:
    if tally.total == 1:
        return tally.counts[0][0].value
    (first, count), *rest = sorted(tally.counts, key=lambda item: -item[1])
    told = [f"{first.value} in {count} of {tally.total}"]
    return ", ".join(told + [f"{one.value} in {count}" for one, count in rest])


def _not_compared(analysis: Analysis) -> tuple[str, ...]:
    """What was to be compared and could not be, as a sentence; none if there is no such thing."""
    if len(analysis.contenders) == 1:
        return (f"Only {analysis.baseline} was run: there is nothing to compare it with.",)
    if not analysis.pairings:
        return ("Nothing that was to be compared was run.",)
    met = {comparison.pairing for _, comparison in analysis.comparisons}
    never = [str(pairing) for pairing in analysis.pairings if pairing not in met]
    return (f"Never run in the same cell: {', '.join(never)}.",) if never else ()


def _all_failures(analysis: Analysis) -> tuple[str, ...]:
    sides = [side for cell in analysis.cells for side in cell.sides]
    failed = sum(side.failures for side in sides)
    if not failed:
        return ()
    runs = counted(sum(side.runs for side in sides), "run")
    return (f"{failed} of {runs} did not finish; every table counts them.",)
