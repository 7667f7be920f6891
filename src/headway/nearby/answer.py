"""From what neighbours measured to the document that tells it."""

from __future__ import annotations

import csv
import io
import math
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from headway.analysis.difference import Difference
from headway.durable import write_atomically
from headway.nearby.budget import Spending
from headway.nearby.dependence import depends_on
from headway.nearby.document import (
    FILE,
    PARAGRAPH,
    TABLE,
    KeptDifference,
    LeftOut,
    NearbyAnswer,
    TriedNeighbour,
    TriedSentence,
    TurningPoint,
    rows,
)
from headway.nearby.fate import SentenceFate, TriedFate
from headway.nearby.search import Due, NeighbourSearch
from headway.nearby.sentence import AnswerSentence
from headway.nearby.trial import AGAIN, BETWEEN, Trial, Unable
from headway.records.claimedneighbours import ClaimedNeighbours, write_claimed_neighbours
from headway.study.neighbourhood import Neighbourhood

_ORDER = (
    SentenceFate.TURNS,
    SentenceFate.GONE,
    SentenceFate.DIFFERS,
    SentenceFate.FAILS,
    SentenceFate.UNDECIDED,
    SentenceFate.HOLDS,
)


def answer_of(
    search: NeighbourSearch, unable: Sequence[Unable], spent: Spending, wanted: Neighbourhood
) -> NearbyAnswer:
    """What was found.

    Args:
        search: knows all runs.
        unable: neighbours that programs cannot do.
        spent: what the runs cost.
        wanted: the axes that were wanted.
    """
    return NearbyAnswer(
        study=search.study.name,
        looks=search.looks,
        budget=search.budget.source,
        spent=str(spent),
        axes=wanted.axes,
        without=wanted.without,
        sentences=tuple(
            tried
            for sentence in search.sentences
            for tried in [_sentence(search, sentence)]
            if tried.neighbours or not sentence.is_more
        ),
        left_out=tuple(_left_out(search, unable)),
    )


def write_answer(answer: NearbyAnswer, directory: Path) -> None:
    """Keep the document, its table, and a paragraph for a page about the study."""
    # Where nothing could be tried, no run has made it.
    directory.mkdir(parents=True, exist_ok=True)
    text = answer.model_dump_json(indent=1)
    write_atomically(directory / FILE, f"{text}\n".encode())
    write_atomically(directory / PARAGRAPH, depends_on(answer).encode())
    table = io.StringIO()
    lines = list(rows(answer))
    if lines:
        writer = csv.DictWriter(table, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    write_atomically(directory / TABLE, table.getvalue().encode())
    write_claimed_neighbours(_of_claims(answer), directory)


def _of_claims(answer: NearbyAnswer) -> Iterator[ClaimedNeighbours]:
    """What became of claims; of one that orders several contenders, all its pairs together."""
    claims: dict[tuple[str, str], list[TriedSentence]] = {}
    for sentence in answer.sentences:
        if sentence.claim:
            claims.setdefault((sentence.experiment, sentence.claim), []).append(sentence)
    for (experiment, says), own in claims.items():
        near = [(neighbour, neighbour.label) for sentence in own for neighbour in sentence.counted]
        changes = {label for neighbour, label in near if neighbour.fate.is_change}
        texts = {label for neighbour, label in near if neighbour.fate is SentenceFate.HOLDS}
        every = dict.fromkeys(label for _, label in near)
        undecided = [label for label in every if label not in changes and _is_open(near, label)]
        yield ClaimedNeighbours(
            experiment=experiment,
            says=says,
            holds=tuple(
                label
                for label in every
                if label in texts and label not in changes and label not in undecided
            ),
            changes=tuple(label for label in every if label in changes),
            undecided=tuple(undecided),
            untried=sum(sentence.planned - len(sentence.counted) for sentence in own),
        )


def _is_open(near: Sequence[tuple[TriedNeighbour, str]], label: str) -> bool:
    """Whether a neighbour leaves one of a claim's pairs open."""
    fates = [neighbour.fate for neighbour, own in near if own == label]
    return any(fate is not SentenceFate.HOLDS for fate in fates)


def _sentence(search: NeighbourSearch, sentence: AnswerSentence) -> TriedSentence:
    trials = search.neighbours(sentence)
    judged = [(trial, tried) for trial in trials if (tried := search.judge(sentence, trial))]
    ordered = sorted(judged, key=lambda entry: _ORDER.index(entry[1].fate))
    effect = sentence.effect.difference
    return TriedSentence(
        experiment=sentence.experiment,
        metric=sentence.metric.column,
        label=sentence.metric.label,
        contender=sentence.pairing.contender,
        against=sentence.pairing.against,
        text=sentence.metric.said(sentence.text),
        cell=sentence.cell,
        title=sentence.title,
        difference=_difference(effect, len(effect.logs), exact=sentence.effect.exact),
        neighbours=tuple(_neighbour(trial, tried) for trial, tried in ordered),
        turning=tuple(_turning(search, sentence)),
        claim=sentence.claim,
        planned=sum(trial.rank != BETWEEN and trial.axis is not AGAIN for trial in trials),
    )


def _neighbour(trial: Trial, tried: TriedFate) -> TriedNeighbour:
    return TriedNeighbour(
        axis=trial.axis.name,
        label=trial.level.label,
        number=trial.level.number,
        between=trial.rank == BETWEEN,
        experiment=trial.name,
        fate=tried.fate,
        leans=tried.leans,
        difference=_difference(tried.difference, tried.pairs, exact=tried.exact),
    )


def _difference(difference: Difference, pairs: int, *, exact: bool) -> KeptDifference:
    interval = difference.interval
    kept = interval if interval is not None and interval.reaches_level else None
    return KeptDifference(
        relative=difference.relative,
        low=_finite(kept.low) if kept else None,
        high=_finite(kept.high) if kept else None,
        pairs=pairs,
        exact=exact,
        scatter=_scatter(difference.logs),
    )


def _scatter(logs: Sequence[float]) -> float | None:
    return statistics.stdev(logs) if len(logs) > 1 and all(map(math.isfinite, logs)) else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _turning(search: NeighbourSearch, sentence: AnswerSentence) -> Iterator[TurningPoint]:
    for trial, span in search.turning(sentence):
        axis, setting = trial.axis, trial.origin.setting
        assert axis.at is not None, "only axes of numbers have spans"
        changes, holds = span.changes, span.holds
        yield TurningPoint(
            axis=axis.name,
            fate=changes.fate if changes.fate.is_change else changes.leans,
            near=axis.at(setting, changes.number).label,
            holds=axis.at(setting, holds.number).label,
            numbers=(holds.number, changes.number),
            decided=span.is_decided,
        )


def _left_out(search: NeighbourSearch, unable: Sequence[Unable]) -> Iterator[LeftOut]:
    for refused in unable:
        yield _as_left_out(refused.trial, refused.reason)
    middle = {
        (sentence.experiment, sentence.cell)
        for sentence in search.sentences
        if not sentence.is_more
    }
    for trial in search.trials:
        place = trial.origin.experiment.name, trial.origin.cell
        if trial.name not in search.begun and place in middle:
            cost = search.cost(Due(trial, search.looks[0]))
            yield _as_left_out(trial, f"beyond the budget: it takes {cost}")


def _as_left_out(trial: Trial, reason: str) -> LeftOut:
    return LeftOut(
        cell=trial.origin.cell, axis=trial.axis.name, label=trial.level.label, reason=reason
    )
