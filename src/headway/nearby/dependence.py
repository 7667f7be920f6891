"""Dependence of an answer on its conditions, as a table of Markdown for a page about it."""

from __future__ import annotations

from collections.abc import Sequence

from headway.errors import counted
from headway.nearby.document import NearbyAnswer, TriedSentence
from headway.nearby.fate import SentenceFate
from headway.nearby.words import (
    changed,
    choice_words,
    exactly,
    not_known,
    place,
    shown_again,
    turning_words,
)

_FEW = 3
"""So many sentences have a row each, whatever becomes of them."""
_HEADINGS = ("sentence", "tried around", "holds at", "does not hold", "not known")
_ALWAYS = (0, 2, 3)
"""Columns that a table has even if they are empty."""


def depends_on(answer: NearbyAnswer) -> str:
    """On what the sentences depend.

    Those that change somewhere have a row each, the others one together. Below it stands every condition that was changed,
    because a sentence that holds at all of them is as good as these.
    """
    tried = [sentence for sentence in answer.sentences if sentence.counted]
    few = len(tried) <= _FEW
    alone = [sentence for sentence in tried if few or _has_row(sentence)]
    several = len({sentence.experiment for sentence in tried}) > 1
    rows = [_row(sentence, with_experiment=several) for sentence in alone]
    if steady := [sentence for sentence in tried if sentence not in alone]:
        rows.append(_together(steady, others=bool(alone)))
    head = (
        "**Depends on.** `headway nearby` changed one condition at a time. Each change makes a neighbour of the cell around "
        f"which a sentence was tried. It took {answer.spent}{choice_words(answer)}."
    )
    lines = [head, "", *(_table(rows) if rows else ["No sentence had a neighbour."]), ""]
    if labels := dict.fromkeys(near.label for sentence in tried for near in sentence.counted):
        lines += [f"What was changed: {'; '.join(labels)}.", ""]
    if untried := _untried(answer, tried):
        lines += [_without_neighbours(untried), ""]
    return "\n".join(lines)


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    columns = [
        number
        for number in range(len(_HEADINGS))
        if number in _ALWAYS or any(row[number] for row in rows)
    ]
    head, *body = (
        f"| {' | '.join(row[column].replace('|', '/') for column in columns)} |"
        for row in (_HEADINGS, *rows)
    )
    return [head, "|" + "---|" * len(columns), *body]


def _row(sentence: TriedSentence, *, with_experiment: bool) -> tuple[str, ...]:
    holding = len(sentence.with_fate(SentenceFate.HOLDS))
    holds = f"{holding} of {len(sentence.counted)}"
    return (
        f"`{sentence.experiment}`: {sentence.text}" if with_experiment else sentence.text,
        place(sentence),
        "; ".join(filter(None, [holds, exactly(sentence)])),
        ". ".join(
            filter(None, ["; ".join(changed(sentence)), *map(turning_words, sentence.turning)])
        ),
        "; ".join(filter(None, [shown_again(sentence), *not_known(sentence)])),
    )


def _has_row(sentence: TriedSentence) -> bool:
    again = sentence.again
    lost = again is not None and again.fate is not SentenceFate.HOLDS
    seems = any(near.is_unconfirmed for near in sentence.counted)
    changes = [fate for fate in SentenceFate if fate.is_change]
    return lost or seems or bool(sentence.with_fate(*changes, SentenceFate.FAILS))


def _together(sentences: Sequence[TriedSentence], *, others: bool) -> tuple[str, ...]:
    """Sentences that change nowhere."""
    holding = sum(len(sentence.with_fate(SentenceFate.HOLDS)) for sentence in sentences)
    every = sum(len(sentence.counted) for sentence in sentences)
    undecided = every - holding
    return (
        counted(len(sentences), "other sentence" if others else "sentence"),
        "",
        f"{holding} of {every}",
        "",
        f"undecided at {undecided}" if undecided else "",
    )


def _untried(answer: NearbyAnswer, tried: Sequence[TriedSentence]) -> list[str]:
    """Sentences that were tried around none of their cells."""
    known = {(sentence.experiment, sentence.text) for sentence in tried}
    return [
        text
        for experiment, text in dict.fromkeys(
            (each.experiment, each.text) for each in answer.sentences
        )
        if (experiment, text) not in known
    ]


def _without_neighbours(texts: Sequence[str]) -> str:
    """Sentences of which nothing is known nearby, so that nobody takes them for tried."""
    if len(texts) > _FEW:
        return f"The budget was too small for {len(texts)} more sentences."
    quoted = "; ".join(f"\u201c{text}\u201d" for text in texts)
    return f"The budget was too small for {counted(len(texts), 'more sentence')}: {quoted}."
