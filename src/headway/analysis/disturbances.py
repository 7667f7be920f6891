"""Disturbances that paths name and that took place in no run, as sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from headway.analysis.numbers import listed
from headway.analysis.result_loading import StudyResults
from headway.diagnosis.disturbances import Disturbance, Named
from headway.errors import counted
from headway.records.manifest import ArchivedExperiment

_CERTAIN = (Disturbance.BLACKOUT, Disturbance.NAMED_DROPS, Disturbance.REBINDING)
"""They depend on no chance: where one of them did not take place, more runs would not help."""
_ENDS = {"down": "towards the client", "up": "towards the server"}
_FEW = "too few packets met it; transfer more"
_REMEDIES = {
    Disturbance.LOSS: _FEW,
    Disturbance.BLACKOUT: "nothing was sent in that time; let it begin earlier, or transfer more",
    Disturbance.NAMED_DROPS: "fewer packets came; name earlier ones, or transfer more",
    Disturbance.REORDERING: (
        "packets are reordered if they follow one another within the jitter, or the delay that "
        "some of them skip; transfer more"
    ),
    Disturbance.DUPLICATION: _FEW,
    Disturbance.CORRUPTION: _FEW,
    Disturbance.POLICER: "nothing came faster than its rate for as long as its burst lasts; transfer more",
    Disturbance.UDP: "no packet of UDP met it; let it begin earlier, or transfer more",
    Disturbance.ECN: "no packet had such an ECN field: its sender, or a queue before, has to write it",
    Disturbance.REBINDING: "nothing was sent from then on; let it happen earlier, or transfer more",
}

_Side = tuple[str, str]
"""A cell and a contender."""


@dataclass(frozen=True)
class Unmet:
    """A disturbance that no packet met.

    Attributes:
        experiment: the experiment; empty if the study is a single one.
        named: what its paths name.
        runs: in how many runs they did.
        sides: cells and contenders of these; it may have taken place in others.
        cells: how many of the experiment's cells these are, if not all of those that name it.
        contenders: their contenders, if not all of those for which it is named.
    """

    experiment: str
    named: Named
    runs: int
    sides: tuple[_Side, ...]
    cells: int | None = None
    contenders: tuple[str, ...] = ()

    def __str__(self) -> str:
        """A sentence: what did not take place, where, and what would make it."""
        where = f"{self.experiment}: " if self.experiment else ""
        whose = f" of {listed(self.contenders)}" if self.contenders else ""
        in_cells = f" in {counted(self.cells, 'cell')}" if self.cells else ""
        return (
            f"{where}{self.named.kind} {_ENDS[self.named.way]} ({self.named.value}) took place in "
            f"none of {counted(self.runs, 'run')}{whose}{in_cells}: {_REMEDIES[self.named.kind]}."
        )


def unmet(results: StudyResults) -> tuple[Unmet, ...]:
    """What the paths of each experiment name and no packet met.

    That is told of each value that was named, and of each contender. Of what depends on no chance
    it is told of each cell, too.
    """
    return tuple(
        disturbance
        for experiment in results.experiments
        for disturbance in _of_experiment(results, experiment)
    )


def _of_experiment(results: StudyResults, experiment: ArchivedExperiment) -> Iterator[Unmet]:
    for text, numbers in _by_disturbance(results.runs_of(experiment)).items():
        named = Named.parse(text)
        without = _without(numbers, certain=named.kind in _CERTAIN)
        if without:
            cells, contenders = ({side[place] for side in without} for place in (0, 1))
            of_cells, of_contenders = ({side[place] for side in numbers} for place in (0, 1))
            yield Unmet(
                experiment.name,
                named,
                runs=sum(len(numbers[side]) for side in without),
                sides=tuple(without),
                cells=len(cells) if cells != of_cells else None,
                contenders=tuple(sorted(contenders)) if contenders != of_contenders else (),
            )


def _by_disturbance(runs: pl.DataFrame) -> dict[str, dict[_Side, list[int]]]:
    """How many packets met each disturbance that is named, in each run that counted, by side."""
    numbers: dict[str, dict[_Side, list[int]]] = defaultdict(lambda: defaultdict(list))
    counting = runs.filter(pl.col("lost_down").is_not_null() & pl.col("disturbances").is_not_null())
    for row in counting.iter_rows(named=True):
        for text in row["disturbances"]:
            named = Named.parse(text)
            numbers[text][row["cell"], row["contender"]].append(_packets(named, row))
    return numbers


def _packets(named: Named, row: Mapping[str, Any]) -> int:
    """How many packets met a disturbance in a run; of one that takes place by either way, in both."""
    other = named.other_way
    met: int = row[named.column]
    return met + (row[other.column] if other and str(other) in row["disturbances"] else 0)


def _without(by_side: Mapping[_Side, Sequence[int]], *, certain: bool) -> list[_Side]:
    """The sides in which it did not take place, as far as that is to be told."""
    met = [side for side, counts in by_side.items() if any(counts)]
    if not met or certain:
        return [side for side in by_side if side not in met]
    lucky = {contender for _, contender in met}
    return [side for side in by_side if side[1] not in lucky]
