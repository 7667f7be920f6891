"""The table of neighbours: what becomes of each sentence of the answer at each of them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from headway.nearby.document import TriedSentence, rows
from headway.nearby.words import difference_words, fate_words, sentence_words
from headway.report.section import Section
from headway.report.tables.kind import Matter, TableKind
from headway.report.tables.table import Table

FILE = "neighbours.csv"
_MOST_REASON = 140


def sentences_of(matter: Matter) -> tuple[TriedSentence, ...]:
    """The sentences of an experiment that were tried at a neighbour at least."""
    if matter.nearby is None:
        return ()
    names = {analysis.experiment.name for analysis in matter.firsts}
    return tuple(
        sentence
        for sentence in matter.nearby.sentences
        if sentence.experiment in names and sentence.neighbours
    )


def _said(matter: Matter) -> Sequence[str]:
    return [sentence_words(sentence) for sentence in sentences_of(matter)]


def _table(matter: Matter) -> Table:
    groups = tuple(
        tuple(
            (
                sentence.text.partition(": ")[0],
                sentence.title,
                neighbour.label,
                fate_words(neighbour),
                difference_words(neighbour.difference),
                str(neighbour.difference.pairs),
            )
            for neighbour in sentence.neighbours
        )
        for sentence in sentences_of(matter)
    )
    headings = ("sentence on", "around", "neighbour", "the sentence", "difference", "pairs")
    return Table(headings, tuple(group for group in groups if group), 4, "")


def _frame(matter: Matter) -> pl.DataFrame:
    return pl.DataFrame(
        list(rows(matter.nearby)) if matter.nearby else [], infer_schema_length=None
    )


def _remark(matter: Matter) -> str:
    assert matter.nearby is not None
    looks = ", ".join(map(str, matter.nearby.looks))
    return (
        f"One thing is varied at a time, with seeds that the study has not used; each neighbour is looked at after {looks} "
        "repetitions. Intervals are of each neighbour by itself. A change is said at a level for all of a sentence's "
        f"neighbours together. Spent: {matter.nearby.spent}, of {matter.nearby.budget}. {FILE} has every "
        "number."
    )


KIND = TableKind(
    place=10,
    section=Section.NEARBY,
    caption="What becomes of the answer nearby",
    remark=_remark,
    table=_table,
    said=_said,
    file=FILE,
    frame=_frame,
    most=24,
)


def _untried(matter: Matter) -> Table:
    if matter.nearby is None:
        return Table((), (), 0, "")
    cells = {sentence.cell: sentence.title for sentence in sentences_of(matter)}
    reasons: dict[tuple[str, str], list[str]] = {}
    for neighbour in matter.nearby.left_out:
        if neighbour.cell in cells:
            reasons.setdefault((neighbour.label, neighbour.reason[:_MOST_REASON]), []).append(
                cells[neighbour.cell]
            )
    groups = tuple(
        ((label, ", ".join(titles) if len(titles) < len(cells) else "all", reason),)
        for (label, reason), titles in reasons.items()
    )
    return Table(("neighbour", "around", "why it was not tried"), groups, 3, "")


UNTRIED = TableKind(
    place=20,
    section=Section.NEARBY,
    name="untried",
    caption="Neighbours that were not tried",
    remark="What programs cannot do, what this machine lacks, and what was beyond the budget.",
    table=_untried,
    looks="prose",
    most=8,
)
