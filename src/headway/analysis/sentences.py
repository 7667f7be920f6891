"""Comparisons in plain language, one sentence each; and the study's answer."""

from __future__ import annotations

from headway.analysis.cells import Analysis, Cell, Side
from headway.analysis.compare import Basis, Comparison, Pairs, Verdict
from headway.analysis.metric import Metric
from headway.analysis.numbers import counted, listed, p_value, percent, significant
from headway.analysis.overview import Dependence, Outcome, Overview, Tally, overviews


def sentence(cell: Cell, comparison: Comparison, metric: Metric) -> str:
    """One comparison as a sentence, with its cell's title and the failures on either side."""
    said = statement(cell, comparison, metric)
    if cell.title:
        return f"{cell.title}: {said}"
    return as_start(said)


def statement(cell: Cell, comparison: Comparison, metric: Metric) -> str:
    """The sentence without its cell's title."""
    return f"{_said(cell, comparison, metric)}.{_failures(cell, comparison)}"


def as_start(said: str) -> str:
    """A statement as the start of a sentence; names of contenders stay small."""
    return said.replace("no ", "No ", 1) if said.startswith("no ") else said


def sentences(analysis: Analysis) -> tuple[str, ...]:
    """All comparisons of a study as sentences, cell by cell."""
    return tuple(
        sentence(cell, comparison, analysis.metric)
        for cell in analysis.cells
        for comparison in cell.comparisons
    )


def answer(analysis: Analysis) -> tuple[str, ...]:
    """What the study says, most important first.

    A study of few comparisons is answered by their sentences, a larger one by overviews.
    """
    if sum(len(cell.comparisons) for cell in analysis.cells) <= 4:
        found = sentences(analysis)
    else:
        found = tuple(_overview(overview) for overview in overviews(analysis))
    return (*(found or (_nothing_to_compare(analysis),)), *_all_failures(analysis))


def _said(cell: Cell, comparison: Comparison, metric: Metric) -> str:
    if comparison.verdict is Verdict.INCOMPARABLE:
        return _incomparable(cell, comparison, metric)
    if comparison.basis is Basis.EVERY_RUN:
        return _in_every_run(comparison, metric)
    if comparison.basis is Basis.TOO_FEW:
        return _of_too_few(comparison, metric)
    if comparison.verdict is Verdict.UNDECIDED:
        return _undecided(comparison, metric)
    head = f"{_within(comparison)}{_direction(comparison, 'is')}"
    return f"{head} ({'; '.join((_medians(comparison, metric), *_evidence(comparison)))})"


def _direction(comparison: Comparison, verb: str) -> str:
    """``h3 is faster than h2 by 34 %``; whatever the verdict, the medians' direction."""
    one, other = comparison.contender, comparison.against
    if comparison.leaning is Verdict.EQUAL:
        return f"{one} and {other} have equal medians"
    return f"{one} {verb} {comparison.leaning} than {other}{_by(comparison.relative)}"


def _by(relative: float | None) -> str:
    if relative is None:
        return ""
    if relative >= 1:
        return f" by a factor of {significant(1 + relative, 2)}"
    return f" by {percent(relative)}"


def _within(comparison: Comparison) -> str:
    if not comparison.negligible:
        return ""
    return f"{comparison.contender} and {comparison.against} are within 1 %: "


def _medians(comparison: Comparison, metric: Metric) -> str:
    assert comparison.sample and comparison.against_sample
    one, other = _against(comparison, metric)
    counts = (comparison.sample.n, comparison.against_sample.n)
    of = str(counts[0]) if counts[0] == counts[1] else f"{counts[0]} and {counts[1]}"
    return f"{one} against {other}, medians of {of}"


def _against(comparison: Comparison, metric: Metric) -> list[str]:
    assert comparison.sample and comparison.against_sample
    return metric.texts([comparison.sample.median, comparison.against_sample.median])


def _evidence(comparison: Comparison) -> tuple[str, ...]:
    pairs = _pairs(comparison.pairs)
    return (*((pairs,) if pairs else ()), _tests(comparison))


def _pairs(pairs: Pairs) -> str:
    if not pairs.n:
        return ""
    if pairs.faster == pairs.slower == 0:
        return f"equal in {pairs.n} of {counted(pairs.n, 'pair')}"
    way, count = (
        ("slower", pairs.slower) if pairs.slower > pairs.faster else ("faster", pairs.faster)
    )
    return f"{way} in {count} of {counted(pairs.n, 'pair')}"


def _tests(comparison: Comparison) -> str:
    """The tests that can decide; the others say nothing with so few runs."""
    told = [test for test in comparison.tests if test.can_decide]
    return ", ".join(f"{test.name} {p_value(test.p)}" for test in told) or "too few runs for a test"


def _in_every_run(comparison: Comparison, metric: Metric) -> str:
    assert comparison.sample and comparison.against_sample
    one, other = _against(comparison, metric)
    counts = sorted({comparison.sample.n, comparison.against_sample.n})
    equal = f"all {' and '.join(map(str, counts))} runs of each the same"
    if comparison.verdict is Verdict.EQUAL:
        return (
            f"no difference between {comparison.contender} and {comparison.against} "
            f"({one} in every run; {equal})"
        )
    direction = _direction(comparison, "is")
    return f"{_within(comparison)}{direction} in every run ({one} against {other}; {equal})"


def _of_too_few(comparison: Comparison, metric: Metric) -> str:
    assert comparison.sample and comparison.against_sample
    one, other = _against(comparison, metric)
    counts = f"{comparison.sample.n} and {comparison.against_sample.n}"
    if comparison.sample.n == comparison.against_sample.n == 1:
        said = f"{_direction(comparison, 'was')} in one run of each ({one} against {other})"
    else:
        said = f"{_direction(comparison, 'was')} ({one} against {other}, medians of {counts})"
    return f"{said}; without repetition on both sides no test applies"


def _undecided(comparison: Comparison, metric: Metric) -> str:
    pair, medians = f"{comparison.contender} and {comparison.against}", _medians(comparison, metric)
    if comparison.pairs.unanimous is not None and comparison.pairs.unanimous is comparison.leaning:
        return (
            f"{comparison.contender} was {comparison.leaning} than {comparison.against} in all "
            f"{comparison.pairs.n} pairs, by {_paired_median(comparison.pairs, metric)} in the "
            f"median pair ({medians}), but this is not significant at the stated levels with "
            f"n = {_fewest(comparison)} ({_tests(comparison)})"
        )
    inside = "; ".join((medians, *_evidence(comparison)))
    if comparison.basis is Basis.CONFLICT:
        return f"no clear difference between {pair}: medians and means disagree ({inside})"
    return f"no significant difference between {pair} ({inside})"


def _paired_median(pairs: Pairs, metric: Metric) -> str:
    return metric.text(abs(pairs.median or 0))


def _fewest(comparison: Comparison) -> int:
    assert comparison.sample and comparison.against_sample
    return min(comparison.sample.n, comparison.against_sample.n)


def _incomparable(cell: Cell, comparison: Comparison, metric: Metric) -> str:
    sides = [cell.side(comparison.contender), cell.side(comparison.against)]
    pair = f"{comparison.contender} and {comparison.against}"
    names = (comparison.contender, comparison.against)
    told = listed([_finished(name, side, metric) for name, side in zip(names, sides, strict=True)])
    return f"{pair} cannot be compared: {told}"


def _finished(name: str, side: Side | None, metric: Metric) -> str:
    if side is None:
        return f"{name} was not run"
    failed = f" ({_kinds(side)})" if side.failures else ""
    if side.failures == side.runs:
        return f"{name} finished none of {counted(side.runs, 'run')}{failed}"
    if side.sample is None:
        return f"{name} has no {metric.label}{failed}"
    of = f"{side.runs - side.failures} of {counted(side.runs, 'run')}"
    return f"{name} finished {of}{failed}, median {metric.text(side.sample.median)}"


def _failures(cell: Cell, comparison: Comparison) -> str:
    sides = (cell.side(comparison.contender), cell.side(comparison.against))
    told = [failures_of(side) for side in sides if side and side.failures]
    if not told or comparison.verdict is Verdict.INCOMPARABLE:
        return ""
    return f" Failures: {listed(told)}; only finished runs are compared."


def failures_of(side: Side) -> str:
    """A side's failures: ``h2 in 2 of 5 runs (1 failed, 1 timed out)``."""
    return f"{side.contender} in {side.failures} of {counted(side.runs, 'run')} ({_kinds(side)})"


def _kinds(side: Side) -> str:
    kinds = ((side.failed, "failed"), (side.timeouts, "timed out"))
    return ", ".join(f"{count} {kind}" for count, kind in kinds if count)


_OUTCOME_WORDS = {
    Outcome.FASTER: "faster",
    Outcome.SLOWER: "slower",
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
        return f" (single runs; faster in {overview.untested_faster})"
    return _span({Outcome.FASTER: overview.faster_by, Outcome.SLOWER: overview.slower_by}.get(one))


def _span(span: tuple[float, float] | None) -> str:
    if span is None:
        return ""
    least, most = _by(span[0]), _by(span[1])
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


def _nothing_to_compare(analysis: Analysis) -> str:
    return f"Only {analysis.baseline} was run: there is nothing to compare it with."


def _all_failures(analysis: Analysis) -> tuple[str, ...]:
    sides = [side for cell in analysis.cells for side in cell.sides]
    failed = sum(side.failures for side in sides)
    if not failed:
        return ()
    runs = counted(sum(side.runs for side in sides), "run")
    return (f"{failed} of {runs} did not finish; every table counts them.",)
