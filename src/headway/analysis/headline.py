"""A comparison in a sentence: by the conditions that matter, with the range of the differences in each part."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell, ContenderRuns
from headway.analysis.condition_phrases import cell_words, words
from headway.analysis.contest import Pairing
from headway.analysis.difference import Difference
from headway.analysis.estimate_text import signed, sized
from headway.analysis.failures import failed_runs
from headway.analysis.means import Case, log_of
from headway.analysis.metric import Metric
from headway.analysis.numbers import listed, percent, significant
from headway.analysis.overall_effect import Whole, wholes
from headway.analysis.partition import AnswerPart, Leaning, parts
from headway.analysis.verdict import Verdict
from headway.errors import counted

_MOST_EXCEPTIONS = 2
"""More are counted and not named."""
_RESERVE = "too few runs to be sure"
_UNTESTED = (Leaning.BETTER_UNTESTED, Leaning.WORSE_UNTESTED, Leaning.BOTH_UNTESTED)


def headline(analysis: Analysis, pairing: Pairing) -> str:
    """``h3 against h2: without loss 12 to 15 % sooner for 100 kB and ...; with 2 % loss ...``; empty if never run."""
    answer_parts = parts(analysis, pairing)
    if not answer_parts:
        return ""
    clauses = [_clause(analysis, pairing, group) for group in _by_outer_condition(answer_parts)]
    means = (f"{where}, {text}" for where, text in _mean(analysis, pairing, answer_parts))
    sentence = _reserved_once("; ".join([*clauses, *means]), answer_parts)
    exact = exact_paths([case for part in answer_parts for case in part.cases])
    return f"{pairing}: {sentence}{f' ({exact})' if exact else ''}."


def exact_paths(cases: Sequence[Case]) -> str:
    """How many of some cells have an exact path, whose repetitions count as one run; empty if none has."""
    exact = sum(comparison.on_one_path for _, comparison in cases)
    if not exact:
        return ""
    if exact == len(cases):
        return "exact path: n = 1" if exact == 1 else "exact paths: n = 1 in each"
    are = "is exact: n = 1" if exact == 1 else "are exact: n = 1 in each"
    return f"{exact} of {len(cases)} paths {are}"


@dataclass(frozen=True)
class HeadlinePart:
    """A part of a comparison, to be shown by itself.

    Attributes:
        where: its conditions; empty if it is everything.
        said: how the contender compares there.
        counts: how many of its cells came out how.
        exact: how many of them have an exact path, in words; empty if none has.
    """

    where: str
    said: str
    counts: Mapping[Leaning, int]
    exact: str = ""


def told_failures(analysis: Analysis, pairing: Pairing) -> tuple[str, ...]:
    """Who of both failed, of the runs that the headline counts: ``with 2 % loss 6 of 60 runs of h3 failed``.

    Where the comparison has no parts, of all its runs: the headline leaves that to a sentence of its own.
    """
    groups = _by_outer_condition(parts(analysis, pairing))
    texts = [
        ", ".join([*map(words, group[0].where[:1]), failed])
        for group in groups
        for failed in _failed(analysis, pairing, group)
    ]
    if any(group[0].where for group in groups):
        return tuple(texts)
    return tuple(_failed_in(analysis, pairing, analysis.cells))


def headline_parts(analysis: Analysis, pairing: Pairing) -> tuple[HeadlinePart, ...]:
    """The parts of the headline, each by itself, in the metric's words."""
    answer_parts = parts(analysis, pairing)
    own_parts = [
        HeadlinePart(
            where=", ".join(map(words, part.where)),
            said=analysis.metric.said(_predicate(analysis, part)),
            counts={kind: len(cases) for kind in Leaning if (cases := part.of(kind))},
            exact=exact_paths(part.cases),
        )
        for part in answer_parts
    ]
    means = (
        replace(own_parts[0], where=where, said=text)
        for where, text in _mean(analysis, pairing, answer_parts)
    )
    return (*own_parts, *means)


def _clause(analysis: Analysis, pairing: Pairing, group: Sequence[AnswerPart]) -> str:
    """The parts that have the outer condition in common."""
    inner = [" ".join([_predicate(analysis, part), *map(words, part.where[1:])]) for part in group]
    text = listed(inner) if len(inner) < 3 else "; ".join(inner).replace("; ", ", ")
    where = group[0].where[:1]
    failed = _failed(analysis, pairing, group)
    return ", and ".join([" ".join([*map(words, where), text]), *failed])


def _by_outer_condition(answer_parts: Sequence[AnswerPart]) -> list[list[AnswerPart]]:
    return [
        list(group) for _, group in itertools.groupby(answer_parts, key=lambda part: part.where[:1])
    ]


def _failed(analysis: Analysis, pairing: Pairing, group: Sequence[AnswerPart]) -> list[str]:
    """Who failed where the parts' outer condition holds; nothing if they have none."""
    has_condition = bool(group[0].where)
    cells = [cell for part in group for cell, _ in part.cases] if has_condition else []
    return _failed_in(analysis, pairing, cells)


def _failed_in(analysis: Analysis, pairing: Pairing, cells: Sequence[Cell]) -> list[str]:
    sides = (pairing.contender, pairing.against)
    return [text for name in sides if (text := failed_runs(analysis, cells, name))]


def _predicate(analysis: Analysis, part: AnswerPart) -> str:
    """What is said of a part: of cells that are alike at once, of others with their number or by their names."""
    metric = analysis.metric
    if len(part.cases) == 1:
        return _alone(analysis, part)
    kinds = [kind for kind in Leaning if part.of(kind)]
    if len(kinds) == 1:
        return _alike(analysis, part, kinds[0])
    if set(kinds) <= {Leaning.BETTER, Leaning.SAME} or set(kinds) <= {Leaning.WORSE, Leaning.SAME}:
        moved, same = part.of(Leaning.BETTER, Leaning.WORSE), part.of(Leaning.SAME)
        open_ones = [case for case in same if not case[1].negligible]
        if len(moved) >= len(open_ones):
            least = [0.0] if len(open_ones) < len(same) else []
            text = _sized(metric, moved, least)
            return text + (f" (not shown {_named(analysis, part, open_ones)})" if open_ones else "")
        return f"{_same(same)}, {_sized(metric, moved)} {_named(analysis, part, moved)}"
    count = len(part.cases)
    texts = [
        f"{_alike(analysis, AnswerPart(part.where, part.of(kind)), kind)} in {len(part.of(kind))}"
        for kind in kinds
    ]
    texts[0] += f" of {count} conditions"
    return listed(texts)


def _alone(analysis: Analysis, part: AnswerPart) -> str:
    """A single cell, with its interval."""
    ((_, comparison),) = part.cases
    (kind,) = (kind for kind in Leaning if part.of(kind))
    interval = comparison.difference.interval
    if (
        comparison.relative is None
        or interval is None
        or interval.low == interval.high
        or comparison.identical
    ):
        return _alike(analysis, part, kind)
    if kind in (Leaning.BETTER, Leaning.WORSE):
        return _with_interval(analysis.metric, comparison.difference, comparison.leaning)
    text = _alike(analysis, part, kind)
    return f"{text} ({signed(comparison.difference).told})" if kind is Leaning.SAME else text


def _with_interval(metric: Metric, difference: Difference, way: Verdict | None) -> str:
    """``12 % sooner (95 % interval 11 to 13 %)``."""
    word, written = metric.comparative[0 if way is Verdict.FASTER else 1], sized(difference)
    text = f"{word} by {written.size}" if written.factor else f"{written.size} {word}"
    return f"{text} ({'; '.join(written.sure)})"


def _alike(analysis: Analysis, part: AnswerPart, kind: Leaning) -> str:
    """Cells that came out alike."""
    match kind:
        case Leaning.BETTER | Leaning.WORSE:
            return _sized(analysis.metric, part.cases)
        case Leaning.SAME:
            return _same(part.cases)
        case Leaning.BETTER_UNTESTED | Leaning.WORSE_UNTESTED:
            shown = f"{_sized(analysis.metric, part.cases)}{_in_pairs(part.cases)}"
            return f"{_too_few(part.cases)}: {shown}"
        case Leaning.BOTH_UNTESTED:
            better, worse = analysis.metric.comparative
            return f"{_too_few(part.cases)}: now {better}, now {worse}"
        case Leaning.INCOMPARABLE:
            why = _why_not(part)
            return f"not comparable{f' ({why})' if why else ''}"


def _too_few(cases: Sequence[Case]) -> str:
    needed = sorted({comparison.needed for _, comparison in cases})
    return f"{_RESERVE} (it takes {_span(str(needed[0]), str(needed[-1]))})"


def _in_pairs(cases: Sequence[Case]) -> str:
    """`` in 6 of 6 pairs``: how many point the one way that all of them do."""
    counts = {max(comparison.pairs.faster, comparison.pairs.slower) for _, comparison in cases}
    pairs = {comparison.pairs.n for _, comparison in cases}
    if len(counts) > 1 or len(pairs) > 1 or pairs == {0}:
        return " in every pair" if pairs != {0} and counts == pairs else ""
    (count,), (n,) = counts, pairs
    return f" in {count} of {counted(n, 'pair')}"


def _reserved_once(sentence: str, answer_parts: Sequence[AnswerPart]) -> str:
    """A sentence in which several parts have too few repetitions: how many it takes is said once, and first."""
    untested = [case for part in answer_parts for case in part.of(*_UNTESTED)]
    if sentence.count(_RESERVE) < 2:
        return sentence
    reserve = f"{_too_few(untested)}: "
    if all(len(part.of(*_UNTESTED)) == len(part.cases) for part in answer_parts):
        return f"{reserve}{sentence.replace(reserve, '')}"
    before, *after = sentence.split(reserve)
    return f"{before}{reserve}{f'{_RESERVE}: '.join(after)}"


def _same(cases: Sequence[Case]) -> str:
    every = [comparison for _, comparison in cases]
    if all(comparison.identical for comparison in every):
        return "the same run for run"
    equal = sum(comparison.negligible for comparison in every)
    if equal == len(every):
        return "within 1 %"
    if not equal:
        return "not shown to differ"
    return (
        f"within 1 % in {counted(equal, 'condition')}, not shown to differ in {len(every) - equal}"
    )


def _sized(metric: Metric, cases: Sequence[Case], least: Sequence[float] = ()) -> str:
    """``12 to 15 % sooner``, whichever way they are."""
    sizes = [comparison.relative for _, comparison in cases if comparison.relative is not None]
    better = cases[0][1].leaning is Verdict.FASTER
    word = metric.comparative[0 if better else 1]
    if not sizes:
        return word
    ordered = sorted({*map(abs, sizes), *least}) if max(sizes) < 1 else sorted({*sizes, *least})
    low, high = ordered[0], ordered[-1]
    if high >= 1:
        return f"{word} by {_span(_factor(low), _factor(high))}"
    return f"{_span(percent(low).removesuffix(' %'), percent(high).removesuffix(' %'))} % {word}"


def _factor(relative: float) -> str:
    return f"a factor of {significant(1 + relative, 2)}" if relative >= 1 else percent(relative)


def _span(low: str, high: str) -> str:
    return (
        high
        if low == high
        else f"{low} to {high.removeprefix('a factor of ') if 'factor' in low else high}"
    )


def _named(analysis: Analysis, part: AnswerPart, cases: Sequence[Case]) -> str:
    """Which cells of a part: by what they do not share with it, or how many they are."""
    if len(cases) > _MOST_EXCEPTIONS:
        return f"in {len(cases)} of {len(part.cases)} conditions"
    return " and ".join(cell_words(analysis.conditions, cell, part.where) for cell, _ in cases)


def _why_not(part: AnswerPart) -> str:
    """Who finished nothing in these cells, and why."""
    for cell, comparison in part.cases:
        for side in filter(None, (cell.side(comparison.contender), cell.side(comparison.against))):
            if side.sample is None:
                return _ended(side)
    return ""


def _ended(side: ContenderRuns) -> str:
    if not side.failures:
        return f"{side.contender} measured nothing"
    why = f": {side.reason}" if side.reason else ""
    return f"{side.contender} finished none of {counted(side.runs, 'run')}{why}"


def _mean(
    analysis: Analysis, pairing: Pairing, answer_parts: Sequence[AnswerPart]
) -> Iterator[tuple[str, str]]:
    """The mean over cells, which says something only where they are alike: of what, and what it says."""
    whole = next((effect for effect in wholes(analysis) if effect.pairing == pairing), None)
    if len(answer_parts) > 1 or whole is None or not whole.alike:
        return
    if whole.verdict in (Verdict.FASTER, Verdict.SLOWER):
        yield _of_mean(whole), _mean_size(analysis.metric, whole)
    elif whole.verdict is Verdict.EQUAL:
        yield _of_mean(whole), f"within 1 % ({signed(whole.difference).told})"


def _of_mean(whole: Whole) -> str:
    return f"in the mean over these {whole.cells} conditions, which are alike"


def _mean_size(metric: Metric, whole: Whole) -> str:
    if not whole.certain:
        return _with_interval(metric, whole.difference, whole.leaning)
    word = metric.comparative[0 if whole.leaning is Verdict.FASTER else 1]
    relative = whole.difference.relative or 0.0
    size = f"{word} by {_factor(relative)}" if relative >= 1 else f"{percent(relative)} {word}"
    return f"{size} (the same in every run)"


def telling(analysis: Analysis, pairing: Pairing) -> float:
    """How far two contenders are apart where that is shown: the sum over cells, as logarithms."""
    every = (
        result for cell in analysis.cells if (result := cell.comparison(pairing)) and result.matters
    )
    sizes = [
        abs(log_of(comparison))
        for comparison in every
        if comparison.relative is not None and comparison.relative > -1
    ]
    return math.fsum(sizes) / len(analysis.cells)
