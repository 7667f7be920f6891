"""What an experiment says, in a few sentences."""

from __future__ import annotations

from headway.analysis.analysis import Analysis
from headway.analysis.numbers import counted, listed, p_value
from headway.analysis.overview import Dependence, Outcome, Overview, Tally, overviews
from headway.analysis.paired import fewest_pairs
from headway.analysis.sentences import by, sentences, signed, sure
from headway.analysis.significance import PAIRED_ALPHA
from headway.analysis.verdict import Verdict
from headway.analysis.whole import Whole, wholes

_FEW = 4
"""Up to this many comparisons are told one by one."""


def answer(analysis: Analysis) -> tuple[str, ...]:
    """What the experiment says, most important first.

    First of every comparison in all cells together; then an experiment of few comparisons is answered
    by their sentences, a larger one by overviews.
    """
    if len(analysis.comparisons) <= _FEW:
        found = sentences(analysis)
    else:
        found = tuple(_overview(overview) for overview in overviews(analysis))
    first = map(whole_sentence, wholes(analysis))
    return (*first, *found, *_not_compared(analysis), *_all_failures(analysis))


def whole_sentence(whole: Whole) -> str:
    """``h3 is faster than h2 by 12 % in the mean over 12 cells (95 % interval 9 to 15 %; ...)``."""
    one, other = whole.pairing.contender, whole.pairing.against
    over = f"in the mean over {whole.cells} cells"
    fewest, most = whole.pairs
    pairs = counted(most, "pair") if fewest == most else f"{fewest} to {most} pairs"
    proof = (f"{pairs} in each", *_proof(whole))
    if whole.verdict in (Verdict.FASTER, Verdict.SLOWER):
        size = by(whole.difference.relative)
        inside = (*(() if whole.certain else sure(whole.difference)), *proof)
        return (
            f"{one} is {whole.verdict} than {other}{size} {over} ({'; '.join(inside)})"
            f"{_where(whole)}."
        )
    if whole.verdict is Verdict.EQUAL:
        inside = (*signed(whole.difference, whole.difference.narrower), f"{pairs} in each")
        return f"{one} and {other} are within 1 % {over} ({'; '.join(inside)})."
    inside = (*signed(whole.difference), *proof)
    if whole.test is None or not whole.test.can_decide:
        inside = (*sure(whole.difference), *proof)
        few = f"{len(whole.difference.logs)} repetitions cannot be significant"
        return (
            f"{one} was {whole.leaning} than {other}{by(whole.difference.relative)} {over} "
            f"({'; '.join(inside)}), but {few}: it takes {fewest_pairs(PAIRED_ALPHA)} at least."
        )
    return f"No significant difference between {one} and {other} {over} ({'; '.join(inside)})."


def _proof(whole: Whole) -> tuple[str, ...]:
    if whole.certain:
        return ("the same in every run",)
    if whole.test is None or not whole.test.can_decide:
        return ()
    return (f"{whole.test.name} {p_value(whole.test.adjusted)}",)


def _where(whole: Whole) -> str:
    """Where the difference is largest, and where there is none or the opposite."""
    told = []
    if whole.levels:
        sign = -1 if (whole.difference.relative or 0) < 0 else 1
        most = max(whole.levels, key=lambda level: sign * level.relative)
        told.append(f"most at {most.title} ({by(most.relative).strip()})")
        none = [level.title for level in whole.levels if not level.alike]
        if none and len(none) < len(whole.levels):
            told.append(f"not at {listed(none, 'or')}")
    if whole.opposite:
        opposite = Verdict.SLOWER if whole.verdict is Verdict.FASTER else Verdict.FASTER
        told.append(f"but {opposite} in {counted(whole.opposite, 'cell')}")
    return f", {', '.join(told)}" if told else ""


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
