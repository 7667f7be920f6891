"""The difference at the cell that a sentence rests on, and at each neighbour, sorted."""

from __future__ import annotations

import math
from functools import partial

import polars as pl

from headway.nearby.document import KeptDifference, NearbyAnswer, TriedSentence, rows
from headway.nearby.fate import SentenceFate
from headway.nearby.words import sentence_words
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.forestplot import ForestBlock, ForestRow, forest_sheet
from headway.report.section import Section
from headway.report.theme import FASTER, INK, MUTED, SLOWER, Colour
from headway.statistics.interval import LEVEL, Interval

_MOST_SENTENCES = 6
_COLOURS: dict[SentenceFate, Colour] = {
    SentenceFate.HOLDS: FASTER[-1],
    SentenceFate.TURNS: SLOWER[-1],
    SentenceFate.GONE: SLOWER[-1],
    SentenceFate.DIFFERS: SLOWER[-1],
}


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    if subject.nearby is None:
        return None
    own = subject.nearby.of(analysis.experiment.name, analysis.metric.column)
    sentences = [sentence for sentence in own if sentence.neighbours][:_MOST_SENTENCES]
    blocks = [_block(sentence) for sentence in sentences]
    if not blocks:
        return None
    less = f" Shown are {len(blocks)} of {len(own)} sentences." if len(blocks) < len(own) else ""
    return Picture(
        name=picture_name(analysis, "neighbours"),
        title=f"How far it holds: {analysis.metric.label}",
        caption="The diamond is the cell that a sentence rests on, as the study has it; below it are its neighbours, of "
        "which each varies one thing, with 95 % intervals. Green: the sentence holds; purple: it changes; grey and "
        f"hollow: undecided.{less}",
        drawing=partial(forest_sheet, analysis.metric, blocks, one_scale=False),
        data=partial(_data, subject.nearby),
        said=" ".join(map(sentence_words, sentences)),
    )


KIND = Kind(place=9, section=Section.NEARBY, draw=_draw)


def _data(answer: NearbyAnswer) -> pl.DataFrame:
    return pl.DataFrame(list(rows(answer)), infer_schema_length=None)


def _block(sentence: TriedSentence) -> ForestBlock:
    pairing = f"{sentence.contender} against {sentence.against}"
    where = f" around {sentence.title}" if sentence.title else ""
    own = _row("the study", sentence.difference, INK, hollow=False, whole=True)
    near = [
        _row(
            neighbour.label,
            neighbour.difference,
            _COLOURS.get(neighbour.fate, MUTED),
            hollow=neighbour.fate not in _COLOURS,
        )
        for neighbour in sentence.neighbours
    ]
    shown = sorted((row for row in near if row), key=lambda row: row.relative)
    return ForestBlock(f"{pairing}{where}", pairing, tuple(row for row in (own, *shown) if row))


def _row(
    name: str, difference: KeptDifference, colour: Colour, *, hollow: bool, whole: bool = False
) -> ForestRow | None:
    """The row of a difference; None of one that is not finite."""
    if difference.relative is None or difference.relative <= -1:
        return None
    interval = None
    if difference.low is not None:
        high = math.inf if difference.high is None else difference.high
        interval = Interval(difference.low, high, LEVEL, "signed ranks")
    return ForestRow(
        name, difference.relative, interval, colour, hollow, str(difference.pairs), whole
    )
