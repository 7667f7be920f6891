"""Comparisons in plain language, one sentence each."""

from __future__ import annotations

import math

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell, ContenderRuns
from headway.analysis.compare import Comparison, Pairs
from headway.analysis.estimate_text import signed, sized
from headway.analysis.metric import Metric
from headway.analysis.numbers import distinguished, listed, percent, significant
from headway.analysis.significance import fewest_runs
from headway.analysis.verdict import Basis, SpreadVerdict, Verdict
from headway.errors import counted
from headway.statistics.pairs import fewest_pairs

_SMALL = ("no", "too", "one")
"""How statements begin that do not begin with a contender."""


def sentence(cell: Cell, comparison: Comparison, metric: Metric) -> str:
    """One comparison as a sentence, with its cell's title and the failures on either side."""
    text = statement(cell, comparison, metric)
    if cell.title:
        return f"{cell.title}: {text}"
    return as_start(text)


def statement(cell: Cell, comparison: Comparison, metric: Metric) -> str:
    """The sentence without its cell's title."""
    text = f"{_said(cell, comparison, metric)}{_spread(comparison, metric)}"
    return metric.said(f"{text}.{_failures(cell, comparison)}")


def as_start(sentence: str) -> str:
    """A statement as the start of a sentence; names of contenders stay small."""
    small = next((word for word in _SMALL if sentence.startswith(f"{word} ")), "")
    return f"{small.capitalize()}{sentence.removeprefix(small)}"


def sentences(analysis: Analysis) -> tuple[str, ...]:
    """All comparisons of an experiment as sentences, cell by cell."""
    return tuple(
        sentence(cell, comparison, analysis.metric) for cell, comparison in analysis.comparisons
    )


def _said(cell: Cell, comparison: Comparison, metric: Metric) -> str:
    if comparison.verdict is Verdict.INCOMPARABLE:
        return _incomparable(cell, comparison, metric)
    if comparison.basis is Basis.IDENTICAL:
        return _identical(comparison, metric)
    if comparison.basis is Basis.EVERY_RUN:
        return _in_every_run(comparison, metric)
    if comparison.basis is Basis.TOO_FEW:
        return _of_too_few(comparison, metric)
    if comparison.verdict is Verdict.UNDECIDED:
        return _undecided(comparison, metric)
    if comparison.basis is Basis.EQUIVALENCE:
        return _equivalent(comparison, metric)
    head = f"{_within(comparison)}{_direction(comparison, 'is')}"
    inside = (
        *_sure(comparison),
        *_medians(comparison, metric),
        *_pairs(comparison.pairs),
        *(["exact path: n = 1"] if comparison.on_one_path else []),
    )
    return f"{head} ({'; '.join(inside)})"


def _direction(comparison: Comparison, verb: str) -> str:
    """``h3 is faster than h2 by 34 %``; whatever the verdict, the medians' direction."""
    first, other = comparison.contender, comparison.against
    if comparison.leaning is Verdict.EQUAL:
        return f"{first} and {other} took the same in the typical pair"
    size = "" if comparison.relative is None else f" by {sized(comparison.difference).size}"
    varied = comparison.basis is not Basis.EVERY_RUN and comparison.pairs.n > 1
    of = " in the typical pair" if size and varied else ""
    return f"{first} {verb} {comparison.leaning} than {other}{size}{of}"


def _sure(comparison: Comparison) -> tuple[str, ...]:
    """How sure the size of a difference is, in the direction of the words around it."""
    return () if comparison.relative is None else sized(comparison.difference).sure


def _within(comparison: Comparison) -> str:
    if not comparison.negligible:
        return ""
    return f"{comparison.contender} and {comparison.against} are within 1 %: "


def _medians(comparison: Comparison, metric: Metric) -> tuple[str, ...]:
    if comparison.sample is None or comparison.against_sample is None:
        return ()
    first, other = _against(comparison, metric)
    counts = (comparison.sample.n, comparison.against_sample.n)
    if set(counts) == {comparison.pairs.n} or not comparison.is_paired:
        of = str(counts[0]) if counts[0] == counts[1] else f"{counts[0]} and {counts[1]}"
        return (f"medians of {of}: {first} against {other}",)
    # Runs without a partner are no part of the difference, and could contradict it.
    medians = comparison.pairs.medians
    if medians is None or not all(map(math.isfinite, medians)):
        return ()
    first, other = metric.texts(medians)
    return (f"medians of these pairs: {first} against {other}",)


def _against(comparison: Comparison, metric: Metric) -> list[str]:
    assert comparison.sample and comparison.against_sample
    texts = metric.texts([comparison.sample.median, comparison.against_sample.median])
    if comparison.compared is None or metric.best is None:
        return texts
    away = distinguished(comparison.compared)
    beside = zip(texts, away, strict=True)
    return [f"{text} (×{times} from {metric.best:g})" for text, times in beside]


def _pairs(pairs: Pairs) -> tuple[str, ...]:
    if not pairs.n:
        return ()
    if pairs.faster == pairs.slower == 0:
        return (f"equal in {pairs.n} of {counted(pairs.n, 'pair')}",)
    way, count = (
        ("slower", pairs.slower) if pairs.slower > pairs.faster else ("faster", pairs.faster)
    )
    return (f"{way} in {count} of {counted(pairs.n, 'pair')}",)


def _in_every_run(comparison: Comparison, metric: Metric) -> str:
    assert comparison.sample and comparison.against_sample
    first, other = _against(comparison, metric)
    counts = sorted({comparison.sample.n, comparison.against_sample.n})
    equal = f"all {' and '.join(map(str, counts))} runs of each the same, so n = 1"
    if comparison.verdict is Verdict.EQUAL and metric.best is not None and first != other:
        alike = f"{comparison.contender} and {comparison.against} are as far from {metric.best:g}"
        return f"{alike} in every run ({first} against {other}; {equal})"
    if comparison.verdict is Verdict.EQUAL:
        return (
            f"no difference between {comparison.contender} and {comparison.against} "
            f"({first} in every run; {equal})"
        )
    direction = _direction(comparison, "is")
    return f"{_within(comparison)}{direction} in every run ({first} against {other}; {equal})"


def _identical(comparison: Comparison, metric: Metric) -> str:
    return (
        f"{comparison.contender} and {comparison.against} are identical: equal run for run "
        f"(median {_against(comparison, metric)[0]}; all {comparison.pairs.n} pairs)"
    )


def _of_too_few(comparison: Comparison, metric: Metric) -> str:
    direction = _direction(comparison, "was")
    first, other = comparison.sample, comparison.against_sample
    if first and other and first.n == other.n == 1:
        inside = " against ".join(_against(comparison, metric))
        return f"one run of each, and without repetition on both sides no test applies: {direction} ({inside})"
    beside = (*_medians(comparison, metric), *_pairs(comparison.pairs))
    if not comparison.is_one_way:
        text = "; ".join((*_signed(comparison), *beside))
        who = f"{comparison.contender} was now faster, now slower than {comparison.against}"
        return f"{_too_few(comparison)}: {who} ({text})"
    text = "; ".join((*_sure(comparison), *beside))
    return f"{_too_few(comparison)}: {direction} ({text})"


def _too_few(comparison: Comparison) -> str:
    """``too few runs to be sure (6 pairs; it takes 8 among so many comparisons)``."""
    first, other = comparison.sample, comparison.against_sample
    if comparison.is_paired:
        there = counted(comparison.pairs.n, "pair")
    else:
        there = f"{first.n if first else 0} and {other.n if other else 0} without pairs"
    alone = fewest_pairs() if comparison.is_paired else fewest_runs()
    among = " among so many comparisons" if comparison.needed > alone else ""
    return f"too few runs to be sure ({there}; it takes {comparison.needed}{among})"


def _undecided(comparison: Comparison, metric: Metric) -> str:
    inside = (*_signed(comparison), *_medians(comparison, metric), *_pairs(comparison.pairs))
    return (
        f"no significant difference between {comparison.contender} and {comparison.against} "
        f"({'; '.join(inside)}){_unseen(comparison)}"
    )


def _unseen(comparison: Comparison) -> str:
    """What the runs say nothing about: differences that they would hardly have shown."""
    least = comparison.difference.detectable
    if least is None:
        return "; so few runs, or such scattered ones, would show none"
    size = f"a factor of {significant(1 + least, 2)}" if least >= 1 else percent(least)
    return f"; one below {size} would probably not have shown"


def _equivalent(comparison: Comparison, metric: Metric) -> str:
    inside = (*_signed(comparison), *_medians(comparison, metric))
    return (
        f"{comparison.contender} and {comparison.against} are within 1 % "
        f"({'; '.join((*inside, *_pairs(comparison.pairs)))})"
    )


def _signed(comparison: Comparison) -> tuple[str, ...]:
    """A relative difference with its sign, where nothing says in which direction it is."""
    if comparison.relative is None:
        return ()
    return (signed(comparison.difference).told,)


def _spread(comparison: Comparison, metric: Metric) -> str:
    """What the distributions differ in where their places do not."""
    test = comparison.kolmogorov_smirnov
    if comparison.spread is None or test is None:
        return ""
    assert comparison.sample and comparison.against_sample
    if comparison.spread is SpreadVerdict.SHAPE:
        return "; their distributions differ in shape"
    first, other = metric.texts([comparison.sample.iqr, comparison.against_sample.iqr])
    ranges = f"interquartile range {first} against {other}"
    return f"; {comparison.contender} is {comparison.spread} ({ranges})"


def _incomparable(cell: Cell, comparison: Comparison, metric: Metric) -> str:
    pair = f"{comparison.contender} and {comparison.against}"
    text = listed([_finished(side, metric) for side in _sides(cell, comparison)])
    return f"{pair} cannot be compared: {text}"


def _sides(cell: Cell, comparison: Comparison) -> list[ContenderRuns]:
    sides = (cell.side(comparison.contender), cell.side(comparison.against))
    return [side for side in sides if side]


def _finished(side: ContenderRuns, metric: Metric) -> str:
    name = side.contender
    why = f": {side.reason}" if side.reason else ""
    failed = f" ({_kinds(side)}{why})" if side.failures else ""
    if side.failures == side.runs:
        return f"{name} finished none of {counted(side.runs, 'run')}{failed}"
    if side.sample is None:
        return f"{name} has no {metric.label}{failed}"
    of = f"{side.runs - side.failures} of {counted(side.runs, 'run')}"
    return f"{name} finished {of}{failed}, median {metric.text(side.sample.median)}"


def _failures(cell: Cell, comparison: Comparison) -> str:
    sides = [side for side in _sides(cell, comparison) if side.failures]
    if not sides or comparison.verdict is Verdict.INCOMPARABLE:
        return ""
    how = []
    if any(side.timeouts for side in sides):
        how.append("a run that timed out is slower than any that finished")
    if any(side.failed for side in sides):
        how.append("failed runs are left out with their pairs")
    return f" Failures: {listed([failures_of(side) for side in sides])}; {listed(how)}."


def failures_of(side: ContenderRuns) -> str:
    """A side's failures: ``h2 in 2 of 5 runs (1 failed, 1 timed out)``."""
    return f"{side.contender} in {side.failures} of {counted(side.runs, 'run')} ({_kinds(side)})"


def _kinds(side: ContenderRuns) -> str:
    kinds = ((side.failed, "failed"), (side.timeouts, "timed out"))
    return ", ".join(f"{count} {kind}" for count, kind in kinds if count)
