"""The parts of a difference, as they are kept and told."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from headway.analysis.numbers import listed, signed_percent, significant
from headway.columns.column import FASTER_SLOWER
from headway.durable import write_atomically
from headway.errors import counted
from headway.instruments.ablation.game import Share

FILE, TABLE = "why.json", "why.csv"
VERSION = 1
_MOST_NAMED = 3


class DifferencePart(BaseModel):
    """What goes with a cause.

    Attributes:
        name: of the cause, or what is left.
        log: logarithm of the ratio that goes with it.
        low: lower end of its 95 % interval; None of a single seed.
        high: upper end.
        first: the same if it is switched before all other causes.
        last: if it is switched after all others.
        is_rest: whether it is what is left when all causes are switched.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    log: float
    low: float | None
    high: float | None
    first: float
    last: float
    is_rest: bool = False

    @classmethod
    def of(cls, share: Share, *, sign: int = 1, is_rest: bool = False) -> DifferencePart:
        """The part of a share; with the sign -1, of causes that are switched the other way round."""
        ends = (
            [sign * end for end in (share.interval.low, share.interval.high)]
            if share.interval
            else []
        )
        return cls(
            name=share.name,
            log=sign * share.log,
            low=min(ends, default=None),
            high=max(ends, default=None),
            first=sign * share.first,
            last=sign * share.last,
            is_rest=is_rest,
        )

    @property
    def is_shown(self) -> bool:
        """Whether it is more than chance, and than a trifle."""
        if self.low is None or self.high is None:
            return False
        return (self.low > 0 or self.high < 0) and abs(self.log) >= _TRIFLE

    @property
    def size(self) -> str:
        """As a difference, with its interval: ``−12 % (−15 to −9 %)``."""
        if self.low is None or self.high is None:
            return percent_of(self.log)
        low, high = percent_of(self.low), percent_of(self.high)
        low = low.removesuffix(" %") if high.endswith(" %") else low
        return f"{percent_of(self.log)} ({low} to {high})"


_TRIFLE = math.log1p(0.01)


def percent_of(log: float) -> str:
    """A logarithm of a ratio as a difference."""
    relative = math.expm1(log)
    return f"×{significant(1 + relative, 2)}" if relative >= 1 else f"{signed_percent(relative)} %"


class WhyAnswer(BaseModel):
    """A difference, and its parts.

    Attributes:
        version: of this document.
        study: name of the study.
        experiment: its experiment.
        cell: the cell.
        title: its coordinates, in words.
        metric: column that is compared.
        label: the metric, in words.
        words: what a contender with a better and a worse value is.
        less_is_better: whether smaller values are.
        contender: who is compared.
        against: with whom.
        whole: the difference.
        parts: what it is made of: causes, and what is left.
        seeds: of how many seeds.
        left_out: seeds of which a run failed.
        sets: how many sets of causes were tried.
        together: causes that do more, or less, together than each alone, with how much.
    """

    model_config = ConfigDict(frozen=True)

    version: int = VERSION
    study: str
    experiment: str
    cell: str
    title: str
    metric: str
    label: str
    words: tuple[str, str] = FASTER_SLOWER
    less_is_better: bool = True
    contender: str
    against: str
    whole: DifferencePart
    parts: tuple[DifferencePart, ...]
    seeds: int
    left_out: int
    sets: int
    together: tuple[tuple[str, str, float], ...] = ()

    @property
    def sum_of_parts(self) -> float:
        """What all parts make together, as a logarithm. Of every seed it is the whole; of the typical one, nearly."""
        return math.fsum(part.log for part in self.parts)

    @property
    def ordered(self) -> tuple[DifferencePart, ...]:
        """The parts, the largest first; what is left last."""
        return tuple(sorted(self.parts, key=lambda part: (part.is_rest, -abs(part.log))))

    @property
    def sentence(self) -> str:
        """What goes with what, in a sentence or two."""
        where = f" at {self.title}" if self.title else ""
        start = f"{self.contender} against {self.against}{where}, {self.label}: {self.whole.size}."
        shown = [
            part for part in sorted(self.parts, key=lambda part: -abs(part.log)) if part.is_shown
        ]
        if not shown:
            return f"{start} No part of that is shown to be more than chance."
        named = [f"{part.name} {part.size}" for part in shown[:_MOST_NAMED]]
        more = (
            f", and {counted(len(shown) - _MOST_NAMED, 'smaller part')}"
            if shown[_MOST_NAMED:]
            else ""
        )
        unseen = [part.name for part in self.parts if not part.is_shown]
        rest = f" Nothing is shown to go with {listed(unseen, 'or')}." if unseen else ""
        return f"{start} It is made of: {'; '.join(named)}{more}.{rest}"


def write_why(answer: WhyAnswer, directory: Path) -> None:
    """Keep the document and its table."""
    write_atomically(directory / FILE, f"{answer.model_dump_json(indent=1)}\n".encode())
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(("part", "log", "low", "high", "switched_first", "switched_last"))
    writer.writerows(table_rows((answer.whole, *answer.ordered)))
    write_atomically(directory / TABLE, table.getvalue().encode())


def table_rows(parts: Sequence[DifferencePart]) -> list[tuple[object, ...]]:
    """Rows of the table."""
    return [(part.name, part.log, part.low, part.high, part.first, part.last) for part in parts]
