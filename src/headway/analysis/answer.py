"""What an experiment says, in a few sentences."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from headway.analysis.analysis import Analysis
from headway.analysis.difference import NEGLIGIBLE
from headway.analysis.faultsentences import fault_sentences
from headway.analysis.interactions import Interaction, Level
from headway.analysis.numbers import listed
from headway.analysis.overview import (
    ComparisonOutcome,
    Dependence,
    OutcomeTally,
    Overview,
    overviews,
)
from headway.analysis.paired import fewest_pairs
from headway.analysis.sentences import as_start, by, sentences, signed, sure
from headway.analysis.significance import PAIRED_ALPHA
from headway.analysis.verdict import Verdict
from headway.analysis.whole import Whole, wholes
from headway.errors import counted

_FEW = 4
"""Up to this many comparisons are told one by one."""
_MOST_CLAUSES = 6
"""In a sentence; more comparisons over all cells are left to the pictures and tables."""
_MOST_LEVELS = 5
"""If a factor has more levels, the first and the last are told."""


def answer(analysis: Analysis) -> tuple[str, ...]:
    """What the experiment says, most important first.

    First, in one sentence, of every comparison in all cells together; then what each depends on; then an
    experiment of few comparisons is answered by their sentences, a larger one by overviews.
    """
    over_all = wholes(analysis)
    if len(analysis.comparisons) <= _FEW:
        found = sentences(analysis)
    else:
        told = {(one.pairing.contender, one.pairing.against) for one in over_all}
        found = tuple(
            _overview(one, depends=(one.contender, one.against) not in told)
            for one in overviews(analysis)
        )
    first = filter(None, (headline(over_all), *interaction_sentences(over_all)))
    every = (
        *fault_sentences(analysis),
        *first,
        *found,
        *_not_compared(analysis),
        *_all_failures(analysis),
    )
    return tuple(map(analysis.metric.said, every))


def headline(over_all: Sequence[Whole]) -> str:
    """All comparisons over all cells as one sentence; empty if there are none."""
    if not over_all:
        return ""
    if len(over_all) == 1:
        return whole_sentence(over_all[0])
    one = over_all[0]
    alike = len({other.cells for other in over_all}) == 1
    paired = alike and len({other.pairs for other in over_all}) == 1
    pairs = f" ({_pairs(one)} in each)" if paired else ""
    head = f"In the mean over {one.cells} cells{pairs}" if alike else "Over all cells"
    shown = sorted(over_all, key=_how_telling, reverse=True)[:_MOST_CLAUSES]
    clauses = [_clause(one, "" if alike else _over(one), paired) for one in shown]
    if left := len(over_all) - len(clauses):
        clauses.append(f"and so on for {counted(left, 'more comparison')}")
    few = [one for one in over_all if one.test and not one.test.can_decide]
    doubt = f"; but {_too_few(few[0])}" if paired and few else ""
    return f"{head}: {'; '.join(clauses)}{doubt}."


def _how_telling(whole: Whole) -> float:
    """How far the contenders are apart, if that is shown; the study's order stays where it is not."""
    shown = whole.verdict in (Verdict.FASTER, Verdict.SLOWER)
    return abs(math.log1p(whole.difference.relative or 0.0)) if shown else -1.0


def whole_sentence(whole: Whole) -> str:
    """``h3 is faster than h2 by 12 % in the mean over 12 cells (95 % interval 9 to 15 %; ...)``."""
    said = _clause(whole, _over(whole))
    where = _where(whole) if whole.verdict in (Verdict.FASTER, Verdict.SLOWER) else ""
    return f"{as_start(said)}{where}."


def _over(whole: Whole) -> str:
    return f" in the mean over {whole.cells} cells"


def _pairs(whole: Whole) -> str:
    fewest, most = whole.pairs
    return counted(most, "pair") if fewest == most else f"{fewest} to {most} pairs"


def _clause(whole: Whole, over: str, pairs_told: bool = False) -> str:
    """The comparison in words.

    Args:
        whole: the comparison.
        over: over which cells, if nothing else says it.
        pairs_told: whether something else says how many pairs there are.
    """
    one, other = whole.pairing.contender, whole.pairing.against
    pairs = () if pairs_told else (f"{_pairs(whole)} in each",)
    proof = (*pairs, *_proof(whole))
    if whole.verdict in (Verdict.FASTER, Verdict.SLOWER):
        size = by(whole.difference.relative)
        inside = (*(() if whole.certain else sure(whole.difference)), *proof)
        return f"{one} is {whole.verdict} than {other}{size}{over} ({'; '.join(inside)})"
    if whole.verdict is Verdict.EQUAL:
        inside = (*signed(whole.difference), *pairs)
        return f"{one} and {other} are within 1 %{over} ({'; '.join(inside)})"
    if whole.test is None or not whole.test.can_decide:
        inside = (*sure(whole.difference), *proof)
        size = by(whole.difference.relative)
        few = "" if pairs_told else f", but {_too_few(whole)}"
        return f"{one} was {whole.leaning} than {other}{size}{over} ({'; '.join(inside)}){few}"
    inside = (*signed(whole.difference), *proof)
    return f"no significant difference between {one} and {other}{over} ({'; '.join(inside)})"


def _too_few(whole: Whole) -> str:
    family = whole.test.family if whole.test else 1
    among = f" among {family} comparisons" if family > 1 else ""
    few = f"{len(whole.difference.logs)} repetitions cannot be significant{among}"
    return f"{few}: it takes {fewest_pairs(PAIRED_ALPHA / family)} at least"


def interaction_sentences(over_all: Sequence[Whole]) -> tuple[str, ...]:
    """What the differences depend on, and how they are at the levels; then of which nothing is seen."""
    told, unseen = [], defaultdict[str, list[str]](list)
    for whole in over_all:
        between = f"between {whole.pairing.contender} and {whole.pairing.against}"
        shown = [one for one in whole.interactions if one.established]
        others = listed([one.factor for one in whole.interactions if not one.seen], "or")
        if shown:
            rest = f"; no sign that it depends on {others}" if others else ""
            told.append(f"The difference {between} depends {_factors(whole, shown)}{rest}.")
        elif others and any(one.test and one.test.can_decide for one in whole.interactions):
            unseen[others].append(between)
    none = [
        f"No sign that the difference {listed(pairs, 'or that')} depends on {others}."
        for others, pairs in unseen.items()
    ]
    return (*told, *none)


def _factors(whole: Whole, shown: Sequence[Interaction]) -> str:
    first, *more = (f"on {part.factor} ({_levels(part)})" for part in shown)
    most = "most " if len(whole.interactions) > 1 else ""
    return listed([f"{most}{first}", *more])


def _levels(part: Interaction) -> str:
    """``slower by 1.2 % at loss 0 %, faster by 21 % at loss 2 %; Wilcoxon p = 0.004``."""
    ends = (part.levels[0], part.levels[-1])
    levels = part.levels if len(part.levels) <= _MOST_LEVELS else ends
    said = ", ".join(f"{_leaning(level)} at {level.title}" for level in levels)
    return said


def _leaning(level: Level) -> str:
    if abs(level.relative) < NEGLIGIBLE:
        return "within 1 %"
    return f"{level.leaning}{by(level.relative)}"


def _proof(whole: Whole) -> tuple[str, ...]:
    if whole.certain:
        return ("the same in every run",)
    return ()


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
    ComparisonOutcome.FASTER: "faster",
    ComparisonOutcome.SLOWER: "slower",
    ComparisonOutcome.IDENTICAL: "identical",
    ComparisonOutcome.EQUAL: "within 1 %",
    ComparisonOutcome.UNDECIDED: "no significant difference",
    ComparisonOutcome.UNTESTED: "not tested",
    ComparisonOutcome.INCOMPARABLE: "not comparable",
}


def _overview(overview: Overview, depends: bool) -> str:
    told = [
        f"{_OUTCOME_WORDS[one]} in {count}{_remark(one, overview)}"
        for one, count in overview.tally.counts
    ]
    said = f"{overview.contender} against {overview.against}, "
    said += f"{counted(overview.tally.total, 'cell')}: {', '.join(told)}."
    return f"{said}{_dependence(overview.dependence) if depends else ''}"


def _remark(one: ComparisonOutcome, overview: Overview) -> str:
    if one is ComparisonOutcome.UNTESTED:
        return f" (too few runs; faster in {overview.untested_faster})"
    if one is ComparisonOutcome.INCOMPARABLE and overview.why_not:
        return f" ({overview.why_not})"
    return _span(
        {
            ComparisonOutcome.FASTER: overview.faster_by,
            ComparisonOutcome.SLOWER: overview.slower_by,
        }.get(one)
    )


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


def _tally(tally: OutcomeTally) -> str:
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
