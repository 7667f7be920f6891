"""Neighbours as they are kept beside results: for the report, for tables, and for other programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from headway.errors import WrongInputError
from headway.nearby.fate import SentenceFate
from headway.records.store import NEARBY

FILE, TABLE, PARAGRAPH = "nearby.json", "nearby.csv", "depends-on.md"
VERSION = 1


class _KeptPart(BaseModel):
    model_config = ConfigDict(frozen=True, ser_json_inf_nan="strings")


class KeptDifference(_KeptPart):
    """A relative difference, contender over the other less 1, and its 95 % interval.

    Attributes:
        relative: the difference; None if it is not finite.
        low: lower end; None without an interval.
        high: upper end.
        pairs: of how many pairs of runs.
        exact: whether these are all equal, and so count as one.
        scatter: standard deviation of the logarithms of the pairs' ratios; None of fewer than two, or where runs timed out.
    """

    relative: float | None
    low: float | None
    high: float | None
    pairs: int
    exact: bool = False
    scatter: float | None = None


class TriedNeighbour(_KeptPart):
    """A sentence at a neighbour.

    Attributes:
        axis: what was varied.
        label: the neighbour, in a sentence.
        number: its place on the axis, in the axis' unit; None without numbers.
        between: whether it was tried because the sentence changes on its axis.
        experiment: its experiment among the runs.
        fate: what becomes of the sentence.
        leans: what would if this neighbour were the only one.
        difference: of the contenders.
    """

    axis: str
    label: str
    number: float | None
    between: bool
    experiment: str
    fate: SentenceFate
    leans: SentenceFate
    difference: KeptDifference

    @property
    def is_unconfirmed(self) -> bool:
        """Whether it looks as if the sentence were another one, and that is not shown among all neighbours."""
        return self.fate is SentenceFate.UNDECIDED and self.leans.is_change

    @property
    def is_again(self) -> bool:
        """Whether it is the cell itself, with other seeds."""
        return self.axis == "seeds"


class TurningPoint(_KeptPart):
    """Where on an axis a sentence changes.

    Attributes:
        axis: the axis.
        fate: what becomes of the sentence beyond.
        near: label of the neighbour nearest to the cell at which it does not hold any more.
        holds: label of the farthest one at which it holds; the cell's own place if empty.
        numbers: both places, the one at which it holds first.
        decided: whether both are; else what was measured between them leans this way.
    """

    axis: str
    fate: SentenceFate
    near: str
    holds: str
    numbers: tuple[float, float]
    decided: bool


class TriedSentence(_KeptPart):
    """A sentence of the answer, and what becomes of it nearby.

    Attributes:
        experiment: its experiment.
        metric: column that is compared.
        label: the metric, in words.
        contender: who is compared.
        against: with whom.
        text: the sentence.
        cell: the cell around which it was tried.
        title: what varies in the study, there.
        difference: at that cell, in the study.
        neighbours: the neighbours, those first at which the sentence is another one.
        turning: where it changes, of axes of numbers.
        planned: how many neighbours there are.
        claim: what the claim says that it is of; empty of the answer's.
    """

    experiment: str
    metric: str
    label: str
    contender: str
    against: str
    text: str
    cell: str
    title: str
    difference: KeptDifference
    neighbours: tuple[TriedNeighbour, ...]
    turning: tuple[TurningPoint, ...]
    planned: int
    claim: str = ""

    @property
    def counted(self) -> tuple[TriedNeighbour, ...]:
        """The neighbours, without those between two of them and without the cell itself."""
        return tuple(
            neighbour
            for neighbour in self.neighbours
            if not neighbour.between and not neighbour.is_again
        )

    @property
    def again(self) -> TriedNeighbour | None:
        """The cell itself, with other seeds."""
        return next((neighbour for neighbour in self.neighbours if neighbour.is_again), None)

    def with_fate(self, *fates: SentenceFate) -> tuple[TriedNeighbour, ...]:
        """The neighbours at which this becomes of it."""
        return tuple(neighbour for neighbour in self.counted if neighbour.fate in fates)


class LeftOut(_KeptPart):
    """A neighbour that was not tried.

    Attributes:
        cell: around which it would have been.
        axis: what it would have varied.
        label: the neighbour.
        reason: why not.
    """

    cell: str
    axis: str
    label: str
    reason: str


class NearbyAnswer(_KeptPart):
    """What becomes of an answer nearby.

    Attributes:
        version: of this document.
        study: name of the study.
        looks: after how many repetitions a neighbour was looked at.
        budget: what might be spent, in words.
        spent: what was, in words.
        axes: those that were chosen; all if empty.
        without: those that were left out.
        sentences: the sentences, in the answer's order.
        left_out: neighbours that programs cannot do, or for which the budget did not suffice.
    """

    version: int = VERSION
    study: str
    looks: tuple[int, ...]
    budget: str
    spent: str
    axes: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    sentences: tuple[TriedSentence, ...]
    left_out: tuple[LeftOut, ...]

    def of(self, experiment: str, metric: str) -> tuple[TriedSentence, ...]:
        """The sentences of a metric of an experiment."""
        return tuple(
            sentence
            for sentence in self.sentences
            if (sentence.experiment, sentence.metric) == (experiment, metric)
        )


def read_nearby(results: Path) -> NearbyAnswer | None:
    """What was found around results; None if nothing was tried.

    Raises:
        WrongInputError: the document is damaged, or of another version.
    """
    file = results / NEARBY / FILE
    try:
        return NearbyAnswer.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        reason = error.errors()[0]["msg"]
        raise WrongInputError(
            f"is damaged: {reason}; `headway nearby {results}` writes it again", where=str(file)
        ) from None


def rows(answer: NearbyAnswer) -> Iterator[dict[str, object]]:
    """The rows of the table: one for every sentence at every neighbour, and one for its own cell."""
    for number, sentence in enumerate(answer.sentences, start=1):
        own: dict[str, object] = {
            "sentence": number,
            "experiment": sentence.experiment,
            "metric": sentence.metric,
            "contender": sentence.contender,
            "against": sentence.against,
            "cell": sentence.cell,
        }
        yield own | _row("", "the study", None, "", sentence.difference)
        for neighbour in sentence.neighbours:
            yield own | _row(
                neighbour.axis,
                neighbour.label,
                neighbour.number,
                neighbour.fate.value,
                neighbour.difference,
            )


def _row(
    axis: str, label: str, number: float | None, fate: str, difference: KeptDifference
) -> dict[str, object]:
    return {
        "axis": axis,
        "neighbour": label,
        "number": number,
        "fate": fate,
        "relative": difference.relative,
        "low": difference.low,
        "high": difference.high,
        "pairs": difference.pairs,
        "exact": difference.exact,
        "scatter": difference.scatter,
    }
