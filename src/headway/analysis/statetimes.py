"""Which of the sender's states took the time that the slower of two contenders lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell
from headway.analysis.compare import Pairing
from headway.columns import Status
from headway.columns.states import TIME_COLUMNS


@dataclass(frozen=True)
class LostTime:
    """Where the slower contender of a pair spent the time by which it was slower.

    Attributes:
        cell: where.
        slower: which contender.
        faster: than which.
        differences: seconds more of the slower in each state, the most first; means over runs.
    """

    cell: Cell
    slower: str
    faster: str
    differences: tuple[tuple[str, float], ...]

    @property
    def lost_s(self) -> float:
        """By how much the slower one's transfers were longer, as far as states are known."""
        return sum(seconds for _, seconds in self.differences)

    @property
    def state(self) -> str:
        """The state in which it lost most."""
        return self.differences[0][0]

    @property
    def taken(self) -> float:
        """What that state took of the loss; more than 1 if others gave some back."""
        return self.differences[0][1] / self.lost_s


def state_seconds(runs: pl.DataFrame) -> dict[tuple[str, str], Mapping[str, float]]:
    """Mean seconds in each state, by cell and contender, of runs whose sender's states are known."""
    known = runs.filter((pl.col("status") == Status.OK.value) & pl.col("state_steps").is_not_null())
    means = known.group_by("cell", "contender", maintain_order=True).agg(
        pl.col(column).fill_null(0.0).mean().alias(state) for state, column in TIME_COLUMNS.items()
    )
    return {
        (row["cell"], row["contender"]): {state: row[state] for state in TIME_COLUMNS if row[state]}
        for row in means.iter_rows(named=True)
    }


def lost_times(analysis: Analysis) -> Iterator[LostTime]:
    """Of every comparison whose contenders' states are known, and of which one spent more time than the other."""
    seconds = state_seconds(analysis.runs)
    for cell in analysis.cells:
        for comparison in cell.comparisons:
            if found := _lost(cell, comparison.pairing, seconds):
                yield found


def _lost(
    cell: Cell, pairing: Pairing, seconds: Mapping[tuple[str, str], Mapping[str, float]]
) -> LostTime | None:
    names = (pairing.contender, pairing.against)
    spent = {name: seconds.get((cell.name, name)) for name in names}
    if None in spent.values():
        return None
    known = {name: found for name, found in spent.items() if found}
    totals = {name: sum(found.values()) for name, found in known.items()}
    if len(totals) < 2 or totals[names[0]] == totals[names[1]]:
        return None
    slower, faster = sorted(names, key=lambda name: -totals[name])
    states = dict.fromkeys((*known[slower], *known[faster]))
    differences = (
        (state, known[slower].get(state, 0.0) - known[faster].get(state, 0.0)) for state in states
    )
    return LostTime(cell, slower, faster, tuple(sorted(differences, key=lambda one: -one[1])))
