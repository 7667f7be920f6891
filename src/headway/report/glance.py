"""The answer at a glance: each comparison as a verdict in colour, and the values that it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headway.analysis import Analysis, Cell, Comparison
from headway.analysis.alone import OwnValue, own_values
from headway.analysis.headline import HeadlinePart, headline_parts, told_failures
from headway.analysis.jointly import joint_verdicts
from headway.analysis.metric import Metric
from headway.analysis.numbers import signed_percent, significant
from headway.analysis.partition import Leaning, leaning
from headway.analysis.sample import ONE_PATH
from headway.analysis.summary import by_telling
from headway.report.most_telling import left_out, telling_cells
from headway.report.tables.table import NONE, level_headings, levels

_MOST_ROWS = 16
_MOST_COLUMNS = 6
"""Of contenders, and of comparisons."""
_MOST_COMPARISONS = 8
_MOST_BESIDE = 9
"""Columns of a table that stands beside the verdicts and not below."""
_TONES = {
    Leaning.BETTER: "better",
    Leaning.WORSE: "worse",
    Leaning.BETTER_UNTESTED: "open",
    Leaning.WORSE_UNTESTED: "open",
    Leaning.BOTH_UNTESTED: "open",
    Leaning.INCOMPARABLE: "open",
    Leaning.SAME: "same",
}
FAILED = "†"
EXACT = "¹"


@dataclass(frozen=True)
class Entry:
    """A text, and what it means: ``better``, ``worse``, ``same``, ``mixed``, ``open``, or nothing."""

    text: str
    tone: str = ""


@dataclass(frozen=True)
class ShownVerdict:
    """A comparison in its parts: where, and how it came out there; and who of the two failed how often."""

    title: str
    parts: tuple[tuple[str, Entry], ...]
    failed: tuple[str, ...]


@dataclass(frozen=True)
class Glance:
    """What stands first on the page.

    Attributes:
        verdicts: of every comparison, or of those that are farthest apart.
        headings: of the table of values; empty if there is none.
        rows: of the same, a row for each cell.
        labels: number of columns from the left that are words.
        remark: what the table's marks mean, and what it leaves out.
    """

    verdicts: tuple[ShownVerdict, ...]
    headings: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    labels: int
    remark: str

    @property
    def beside(self) -> bool:
        """Whether the table has room beside the verdicts."""
        return 0 < len(self.headings) <= _MOST_BESIDE


def glance(analysis: Analysis) -> Glance | None:
    """The first screen of an experiment that compares in several cells, or has one contender; None of others."""
    if values := own_values(analysis):
        return Glance((_own(analysis, values),), (), (), 0, "")
    verdicts = tuple(_verdicts(analysis))
    if len(analysis.cells) < 2 or not verdicts:
        return None
    if max(len(analysis.contenders), len(analysis.pairings)) > _MOST_COLUMNS:
        return Glance(verdicts, (), (), 0, "")
    cells = telling_cells(analysis, _MOST_ROWS)
    label = analysis.metric.headed(f"median {analysis.metric.label}")
    headings = (
        *level_headings(analysis),
        *analysis.contenders,
        *(f"{pairing.contender} : {pairing.against} [%]" for pairing in analysis.pairings),
    )
    return Glance(
        verdicts,
        headings,
        tuple(_row(analysis, cell) for cell in cells),
        len(analysis.conditions.factors),
        f"{label[:1].upper()}{label[1:]}, and typical differences of pairs. {_remark(analysis, cells)}",
    )


def joint_glance(analyses: Sequence[Analysis]) -> tuple[ShownVerdict, ...]:
    """All metrics of an experiment in one place, a row each, below what they say together; nothing of a single one."""
    return tuple(
        ShownVerdict(
            str(verdict.pairing),
            (
                ("", Entry(verdict.clause, verdict.tone)),
                *(
                    (outcome.name, Entry(outcome.said, outcome.kind))
                    for outcome in verdict.outcomes
                ),
            ),
            (),
        )
        for verdict in joint_verdicts(analyses)[:_MOST_COMPARISONS]
    )


def _own(analysis: Analysis, values: Sequence[OwnValue]) -> ShownVerdict:
    """What the only contender measured, in the place of a verdict."""
    label = analysis.metric.label
    shown = [(own_value.where or label, Entry(own_value.said)) for own_value in values[:_MOST_ROWS]]
    if left := len(values) - len(shown):
        shown.append(("", Entry(f"and {left} more conditions, in the tables")))
    where = f", {label}" if values[0].where else ""
    return ShownVerdict(f"{analysis.baseline}{where}", tuple(shown), ())


def _verdicts(analysis: Analysis) -> list[ShownVerdict]:
    shown_verdicts = []
    for pairing in by_telling(analysis)[:_MOST_COMPARISONS]:
        words = headline_parts(analysis, pairing)
        parts = tuple(
            (told_part.where, Entry(_shown(told_part), _tone(told_part.counts)))
            for told_part in words
        )
        if parts:
            shown_verdicts.append(
                ShownVerdict(str(pairing), parts, told_failures(analysis, pairing))
            )
    return shown_verdicts


def _shown(part: HeadlinePart) -> str:
    return f"{part.said} ({part.exact})" if part.exact else part.said


def _tone(counts: Mapping[Leaning, int]) -> str:
    """The tone of a part: that of most of its cells, unless others contradict them."""
    by_tone: dict[str, int] = {}
    for kind, count in counts.items():
        by_tone[_TONES[kind]] = by_tone.get(_TONES[kind], 0) + count
    if {"better", "worse"} <= by_tone.keys():
        return "mixed"
    return max(by_tone, key=lambda tone: (by_tone[tone], tone))


def _row(analysis: Analysis, cell: Cell) -> tuple[Entry, ...]:
    return (
        *map(Entry, levels(analysis, cell)),
        *(_median(analysis.metric, cell, name) for name in analysis.contenders),
        *(_difference(cell.comparison(pairing)) for pairing in analysis.pairings),
    )


def _median(metric: Metric, cell: Cell, contender: str) -> Entry:
    side = cell.side(contender)
    if side is None:
        return Entry("")
    sample = cell.matched.get(contender)
    text = significant(sample.median) + metric.distance(side.measured) if sample else NONE
    failed = f" {FAILED}" if side.failures else ""
    return Entry(f"{text}{failed}", "first" if contender == cell.winner else "")


def _difference(comparison: Comparison | None) -> Entry:
    if comparison is None or comparison.relative is None:
        return Entry(NONE)
    text = "=" if comparison.identical else signed_percent(comparison.relative)
    return Entry(f"{text} {EXACT}" if comparison.on_one_path else text, _TONES[leaning(comparison)])


def _remark(analysis: Analysis, shown: Sequence[Cell]) -> str:
    better, worse = analysis.metric.words
    text = f"Green: {better}; purple: {worse}; grey: not shown to differ, or by less than 1 %. Bold: the best. {analysis.metric.legend}".rstrip()
    if any(comparison.on_one_path for cell in shown for comparison in cell.comparisons):
        text += f" {EXACT} An exact path: repetitions differ by less than {100 * ONE_PATH:g} %, so that they count as one, n = 1."
    if any(side.failures for cell in analysis.cells for side in cell.sides):
        text += (
            f" {FAILED} Some of its runs failed: medians are of the repetitions that all finished."
        )
    return text + left_out(len(shown), len(analysis.cells))
