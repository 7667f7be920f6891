"""Time lost by the longer transfers of one of two contenders, by the sender's states."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell
from headway.analysis.contest import Pairing
from headway.columns import Status
from headway.instruments.states.columns import TIME_COLUMNS


@dataclass(frozen=True)
class LostTime:
    """Where the contender of a pair whose transfers were longer spent the time by which they were longer.

    Attributes:
        cell: where.
        slower: which contender, by the time to the last byte.
        faster: than which.
        longer_s: by how much its transfers were longer; a mean over runs.
        differences: seconds more of the slower in each state, the most first; means over runs and connections.
    """

    cell: Cell
    slower: str
    faster: str
    longer_s: float
    differences: tuple[tuple[str, float], ...]

    @property
    def state(self) -> str:
        """The state in which it lost most."""
        return self.differences[0][0]


@dataclass(frozen=True)
class _Spent:
    """A contender's mean times in a cell: of its transfers, and in each state."""

    total_s: float
    states: Mapping[str, float]


def lost_times(analysis: Analysis) -> Iterator[LostTime]:
    """Of every comparison whose contenders' states are known, and of which one took longer than the other."""
    spent = _spent(analysis.runs)
    for cell in analysis.cells:
        for comparison in cell.comparisons:
            if lost_time := _lost(cell, comparison.pairing, spent):
                yield lost_time


def _spent(runs: pl.DataFrame) -> dict[tuple[str, str], _Spent]:
    """Means by cell and contender, of runs whose states are known, and whose transfer ends when all has come.

    Bulk flows without a size, of which a series is known, end when the study has them end.
    """
    known = runs.filter(
        (pl.col("status") == Status.OK.value)
        & pl.col("state_steps").is_not_null()
        & pl.col("total_s").is_not_null()
        & (pl.col("received_bytes").is_null() | pl.col("size_bytes").is_not_null())
    )
    means = known.group_by("cell", "contender", maintain_order=True).agg(
        pl.col("total_s").mean(),
        *(pl.col(name).fill_null(0.0).mean().alias(state) for state, name in TIME_COLUMNS.items()),
    )
    return {
        (row["cell"], row["contender"]): _Spent(
            row["total_s"], {state: row[state] for state in TIME_COLUMNS if row[state]}
        )
        for row in means.iter_rows(named=True)
    }


def _lost(cell: Cell, pairing: Pairing, spent: Mapping[tuple[str, str], _Spent]) -> LostTime | None:
    """None where states do not explain it: those of several connections are means, so their sum may be the smaller."""
    known = [
        (name, result)
        for name in (pairing.contender, pairing.against)
        if (result := spent.get((cell.name, name)))
    ]
    if len(known) < 2:
        return None
    (faster, less), (slower, more) = sorted(known, key=lambda pair: pair[1].total_s)
    differences = [
        (state, more.states.get(state, 0.0) - less.states.get(state, 0.0))
        for state in dict.fromkeys((*more.states, *less.states))
    ]
    longer_s = more.total_s - less.total_s
    if longer_s <= 0 or math.fsum(seconds for _, seconds in differences) <= 0:
        return None
    differences.sort(key=lambda difference: -difference[1])
    return LostTime(cell, slower, faster, longer_s, tuple(differences))
