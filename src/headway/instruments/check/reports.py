"""Reports of a check for machines and people: Markdown, JUnit's XML, and JSON of benchmarks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from headway.analysis.numbers import percent
from headway.analysis.written import signed
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
        return [one for one in self.judged if one.fails(self.tolerance)]

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
        return sum(len(one.differing) for one in self.judged)

    @property
    def failures(self) -> list[tuple[CheckedCell, FailedAlike]]:
        """The pairs of runs that did not both end well, each kind once; of each contender in a cell a few."""
        return [(one, alike) for one in self.judged for alike in one.failed_alike[:_MOST_KINDS]]

    @property
    def headline(self) -> str:
        """All of it in a sentence."""
        runs = sum(one.runs for one in self.judged)
        tally = [
            f"{count} {outcome}"
            for outcome in CheckOutcome
            if (count := sum(one.outcome is outcome for one in self.judged))
        ]
        packets = (
            f"{self.differing} of {counted(runs, 'pair')} of runs differ in a packet"
            if runs
            else "no captures on both sides"
        )
        if broken := sum(len(one.failures) for one in self.judged):
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
        worse = [f"- ❌ {fault_sentence(one)}" for one in self.worse]
        failed = [
            f"- {'❌ ' if alike.is_new else ''}{_escaped(f'{one.name}: {alike}')}"
            for one, alike in self.failures
        ]
        lists = [[*lines, ""] for lines in (failed, worse) if lines]
        said = [f"{passed} **{self.headline}**", "", *heading, *rows, "", limit, ""]
        return "\n".join([*said, *chain.from_iterable(lists)])

    def _rows(self) -> Iterator[list[str]]:
        for one in self.judged:
            yield [
                f"{one.outcome}{' ❌' if one.fails(self.tolerance) else ''}",
                _escaped(one.name),
                *middle(one),
                difference(one),
                interval(one),
                _escaped("; ".join([*first_flight(one), first_packet(one)])),
            ]

    def junit(self) -> str:
        """A test case for each contender in each cell."""
        return junit(f"headway check {self.study}", self.study, self.cases)

    @property
    def cases(self) -> list[Case]:
        """A verdict for each contender in each cell, and for each fault."""
        cells = [
            Case(
                f"{one.cell} {one.contender}",
                not one.fails(self.tolerance),
                sentence(one),
                "; ".join([*first_flight(one), first_packet(one)]),
                one.took_s,
            )
            for one in self.judged
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
                "name": f"{self.study}: {one.name}: {one.metric.column}",
                "unit": one.metric.unit,
                "value": sample.median,
                "range": f"{sample.low} to {sample.high}",
                "extra": sentence(one),
            }
            for one in self.judged
            if one.metric.less_is_better
            and one.metric.best is None
            and (sample := one.comparison.sample)
        ]
        return json.dumps(entries, indent=1) + "\n"


def fault_sentence(one: CheckedFault) -> str:
    """What was found of a fault, and where the two runs with it begin to differ."""
    packet = one.first_packet
    return f"{one.sentence}; {packet}" if packet else one.sentence


def sentence(one: CheckedCell) -> str:
    """What was found of a contender in a cell, in a line."""
    found = f"{one.name}: {one.outcome}"
    if one.reason:
        new = [len(alike.pairs) for alike in one.failed_alike if alike.is_new]
        others = f", and {counted(sum(new[1:]), 'other pair')}" if new[1:] else ""
        return f"{found}: {one.reason}{others}"
    if one.outcome in (CheckOutcome.IDENTICAL, CheckOutcome.UNMEASURED):
        return found
    base, head = middle(one)
    pairs = counted(one.comparison.pairs.n, "pair")
    apart = signed(one.comparison.difference)
    told = f"{found}: {one.metric.label} {head} against {base} in the typical pair, {apart.size}"
    why = "; ".join(
        [*first_flight(one), first_packet(one), *map(str, one.failed_alike[:_MOST_KINDS])]
    )
    return f"{told} ({', '.join([*apart.sure, pairs])}); {why}"


def middle(one: CheckedCell) -> tuple[str, str]:
    """Base and head in the typical pair of runs; medians where nothing pairs them, or all pairs are equal."""
    if one.middle and one.outcome not in (CheckOutcome.IDENTICAL, CheckOutcome.SAME):
        base, head = one.metric.texts(one.middle)
        return base, head
    samples = (one.comparison.against_sample, one.comparison.sample)
    texts = iter(one.metric.texts([sample.median for sample in samples if sample]))
    base, head = (next(texts) if sample else "none" for sample in samples)
    return base, head


def first_flight(one: CheckedCell) -> tuple[str, ...]:
    """That the builds' first flights differ, if they do."""
    base, head = one.flights
    if base is None or head is None or not base.is_apart_from(head):
        return ()
    return (
        f"base sent {counted(base.packets, 'packet')} in the first flight, head {head.packets}",
    )


def difference(one: CheckedCell) -> str:
    """By how much the typical pair differs, in percent."""
    relative = one.comparison.relative
    return "" if relative is None else signed(one.comparison.difference).value


def interval(one: CheckedCell) -> str:
    """Its confidence interval, in percent, or the range that too few pairs leave."""
    found = one.comparison.relative_interval
    if found is None:
        return ""
    kind = "" if found.reaches_level else "range "
    return f"{kind}{signed(one.comparison.difference).ends}"


def first_packet(one: CheckedCell) -> str:
    """Where the first run that differs begins to."""
    if not one.runs:
        return "no captures of both"
    if not one.differing:
        return (
            "every packet of the other pairs the same" if one.failures else "every packet the same"
        )
    first = min(one.differing, key=lambda found: found.at_s)
    return f"{len(one.differing)} of {one.runs} differ; {first}"


def _escaped(text: str) -> str:
    return text.replace("|", "/")
