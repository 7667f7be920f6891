"""Reports of a check for machines and people: Markdown, JUnit's XML, and JSON of benchmarks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from headway.analysis.estimate_text import signed
from headway.analysis.numbers import percent
from headway.errors import counted
from headway.instruments.check.faultcheck import CheckedFault
from headway.instruments.check.verdict import CheckedCell, CheckOutcome, FailedAlike
from headway.report.junit import Case, junit

_COLUMNS = ("", "what", "base", "head", "difference [%]", "interval [%]", "first packet")
_MOST_KINDS = 8
"""How many kinds of failures of a contender in a cell a report lists."""
HOW_TO_READ = (
    "Difference: the typical ratio of head to base in runs with the same seed, less 1, with its 95 % interval; "
    "base and head are the pair of runs that is nearest to it."
)


@dataclass(frozen=True)
class CheckReport:
    """All that a check found, and by how much the head may be slower.

    Attributes:
        study: name of the study.
        judged: contenders in their cells.
        tolerance: a share.
        faults: what single packets cost both, if the study tries them.
    """

    study: str
    judged: Sequence[CheckedCell]
    tolerance: float
    faults: Sequence[CheckedFault] = ()

    @property
    def failing(self) -> list[CheckedCell]:
        """Those that may not pass."""
        return [checked_cell for checked_cell in self.judged if checked_cell.fails(self.tolerance)]

    @property
    def worse(self) -> list[CheckedFault]:
        """The faults that cost the head too much more than the base."""
        return [fault for fault in self.faults if fault.fails]

    @property
    def passes(self) -> bool:
        """Whether the head may pass."""
        return not self.failing and not self.worse

    @property
    def differing(self) -> int:
        """How many runs differ from those of the base in a packet."""
        return sum(len(checked_cell.differing) for checked_cell in self.judged)

    @property
    def failures(self) -> list[tuple[CheckedCell, FailedAlike]]:
        """The pairs of runs that did not both end well, each kind once; of each contender in a cell a few."""
        return [
            (checked_cell, alike)
            for checked_cell in self.judged
            for alike in checked_cell.failed_alike[:_MOST_KINDS]
        ]

    @property
    def headline(self) -> str:
        """All of it in a sentence."""
        runs = sum(checked_cell.runs for checked_cell in self.judged)
        tally = [
            f"{count} {outcome}"
            for outcome in CheckOutcome
            if (count := sum(checked_cell.outcome is outcome for checked_cell in self.judged))
        ]
        packets = (
            f"{self.differing} of {counted(runs, 'pair')} of runs differ in a packet"
            if runs
            else "no captures on both sides"
        )
        if broken := sum(len(checked_cell.failures) for checked_cell in self.judged):
            packets += f"; {counted(broken, 'pair')} with a failed run"
        if self.faults:
            tally.append(f"{len(self.worse)} of {counted(len(self.faults), 'fault')} worse")
        return f"{self.study}: head against base: {', '.join(tally)}; {packets}"

    @property
    def limit(self) -> str:
        """What fails."""
        return f"Slower by more than {percent(self.tolerance)} fails."

    def markdown(self) -> str:
        """A comment on a change: what it does, and where its first packet differs."""
        passed = "✅" if self.passes else "❌"
        limit = f"{HOW_TO_READ} {self.limit}"
        rows = (f"| {' | '.join(row)} |" for row in self._rows())
        heading = [f"| {' | '.join(_COLUMNS)} |", "|" + "---|" * len(_COLUMNS)]
        worse = [f"- ❌ {fault_sentence(fault)}" for fault in self.worse]
        failed = [
            f"- {'❌ ' if alike.is_new else ''}{_escaped(f'{checked_cell.name}: {alike}')}"
            for checked_cell, alike in self.failures
        ]
        lists = [[*lines, ""] for lines in (failed, worse) if lines]
        texts = [f"{passed} **{self.headline}**", "", *heading, *rows, "", limit, ""]
        return "\n".join([*texts, *chain.from_iterable(lists)])

    def _rows(self) -> Iterator[list[str]]:
        for checked_cell in self.judged:
            yield [
                f"{checked_cell.outcome}{' ❌' if checked_cell.fails(self.tolerance) else ''}",
                _escaped(checked_cell.name),
                *middle(checked_cell),
                difference(checked_cell),
                interval(checked_cell),
                _escaped("; ".join([*first_flight(checked_cell), first_packet(checked_cell)])),
            ]

    def junit(self) -> str:
        """A test case for each contender in each cell."""
        return junit(f"headway check {self.study}", self.study, self.cases)

    @property
    def cases(self) -> list[Case]:
        """A verdict for each contender in each cell, and for each fault."""
        cells = [
            Case(
                f"{checked_cell.cell} {checked_cell.contender}",
                not checked_cell.fails(self.tolerance),
                sentence(checked_cell),
                "; ".join([*first_flight(checked_cell), first_packet(checked_cell)]),
                checked_cell.took_s,
            )
            for checked_cell in self.judged
        ]
        faults = [
            Case(
                f"{fault.cell} {fault.contender} {fault.head.fault}",
                not fault.fails,
                fault.sentence,
                str(fault.first_packet or ""),
            )
            for fault in self.faults
        ]
        return [*cells, *faults]

    def benchmark(self) -> str:
        """The head's medians, as ``customSmallerIsBetter`` of github-action-benchmark has them.

        Metrics of which more is better, or a value in between, have no place there.
        """
        entries = [
            {
                "name": f"{self.study}: {checked_cell.name}: {checked_cell.metric.column}",
                "unit": checked_cell.metric.unit,
                "value": sample.median,
                "range": f"{sample.low} to {sample.high}",
                "extra": sentence(checked_cell),
            }
            for checked_cell in self.judged
            if checked_cell.metric.less_is_better
            and checked_cell.metric.best is None
            and (sample := checked_cell.comparison.sample)
        ]
        return json.dumps(entries, indent=1) + "\n"


def fault_sentence(checked_fault: CheckedFault) -> str:
    """What was found of a fault, and where the two runs with it begin to differ."""
    packet = checked_fault.first_packet
    return f"{checked_fault.sentence}; {packet}" if packet else checked_fault.sentence


def sentence(checked_cell: CheckedCell) -> str:
    """What was found of a contender in a cell, in a line."""
    result = f"{checked_cell.name}: {checked_cell.outcome}"
    if checked_cell.reason:
        new = [len(alike.pairs) for alike in checked_cell.failed_alike if alike.is_new]
        others = f", and {counted(sum(new[1:]), 'other pair')}" if new[1:] else ""
        return f"{result}: {checked_cell.reason}{others}"
    if checked_cell.outcome in (CheckOutcome.IDENTICAL, CheckOutcome.UNMEASURED):
        return result
    base, head = middle(checked_cell)
    pairs = counted(checked_cell.comparison.pairs.n, "pair")
    apart = signed(checked_cell.comparison.difference)
    text = f"{result}: {checked_cell.metric.label} {head} against {base} in the typical pair, {apart.size}"
    why = "; ".join(
        [
            *first_flight(checked_cell),
            first_packet(checked_cell),
            *map(str, checked_cell.failed_alike[:_MOST_KINDS]),
        ]
    )
    return f"{text} ({', '.join([*apart.sure, pairs])}); {why}"


def middle(checked_cell: CheckedCell) -> tuple[str, str]:
    """Base and head in the typical pair of runs; medians where nothing pairs them, or all pairs are equal."""
    if checked_cell.middle and checked_cell.outcome not in (
        CheckOutcome.IDENTICAL,
        CheckOutcome.SAME,
    ):
        base, head = checked_cell.metric.texts(checked_cell.middle)
        return base, head
    samples = (checked_cell.comparison.against_sample, checked_cell.comparison.sample)
    texts = iter(checked_cell.metric.texts([sample.median for sample in samples if sample]))
    base, head = (next(texts) if sample else "none" for sample in samples)
    return base, head


def first_flight(checked_cell: CheckedCell) -> tuple[str, ...]:
    """That the builds' first flights differ, if they do."""
    base, head = checked_cell.flights
    if base is None or head is None or not base.is_apart_from(head):
        return ()
    return (
        f"base sent {counted(base.packets, 'packet')} in the first flight, head {head.packets}",
    )


def difference(checked_cell: CheckedCell) -> str:
    """By how much the typical pair differs, in percent."""
    relative = checked_cell.comparison.relative
    return "" if relative is None else signed(checked_cell.comparison.difference).value


def interval(checked_cell: CheckedCell) -> str:
    """Its confidence interval, in percent, or the range that too few pairs leave."""
    result = checked_cell.comparison.relative_interval
    if result is None:
        return ""
    kind = "" if result.reaches_level else "range "
    return f"{kind}{signed(checked_cell.comparison.difference).ends}"


def first_packet(checked_cell: CheckedCell) -> str:
    """Where the first run that differs begins to."""
    if not checked_cell.runs:
        return "no captures of both"
    if not checked_cell.differing:
        return (
            "every packet of the other pairs the same"
            if checked_cell.failures
            else "every packet the same"
        )
    first = min(checked_cell.differing, key=lambda first_difference: first_difference.at_s)
    return f"{len(checked_cell.differing)} of {checked_cell.runs} differ; {first}"


def _escaped(text: str) -> str:
    return text.replace("|", "/")
