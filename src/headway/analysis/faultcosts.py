"""Costs of a single fault by the packet that meets it: each run with one beside the run of its seed without."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from headway.analysis.analysis import Analysis
from headway.analysis.fault_runs import cells_without
from headway.columns import Status
from headway.columns.packets import DIGEST_DIGITS
from headway.errors import kinds_of
from headway.study.fault import Fault, FaultKind
from headway.study.path import Way


@dataclass(frozen=True)
class FaultCost:
    """What a fault costs a contender in a cell.

    Attributes:
        fault: the fault.
        seeds: of the runs with it.
        costs: of those that ended well, how much more than without it, in the metric's unit.
        failed_seeds: of the runs that did not end well.
        reason: why most of them did not.
        carried: what the packet carried.
        at: when it came, seconds from the workload's beginning; None if none did.
        size_bytes: of the packet.
        run_id: one of the runs, whose packets show what happened.
    """

    fault: Fault
    seeds: tuple[int, ...]
    costs: tuple[float, ...]
    failed_seeds: tuple[int, ...]
    reason: str
    carried: str
    at: float | None
    size_bytes: int | None
    run_id: str

    @property
    def failed(self) -> int:
        """How many runs did not end well."""
        return len(self.failed_seeds)

    @property
    def median(self) -> float:
        """Of runs that did not end well, infinite."""
        return statistics.median([*self.costs, *(math.inf for _ in range(self.failed))])

    @property
    def met(self) -> bool:
        """Whether it happened to a packet."""
        return self.at is not None


@dataclass(frozen=True)
class Sweep:
    """What each packet costs a contender in a cell.

    Attributes:
        cell: the cell without a fault.
        title: its title; empty if nothing varies.
        contender: the contender.
        without: the metric without a fault, median.
        packets: of a transfer without a fault, in each direction.
        costs: of the faults that took place, in the study's order.
        unmet: how many others did not: a packet that carries nothing is not corrupted, one whose sender cannot ECN
            not marked.
        strayed: faults of which a run was another than that without before they took place: the program does not do
            the same each time, and their numbers name other packets.
    """

    cell: str
    title: str
    contender: str
    without: float
    packets: Mapping[Way, int]
    costs: tuple[FaultCost, ...]
    unmet: int = 0
    strayed: int = 0

    @property
    def fatal(self) -> tuple[FaultCost, ...]:
        """The faults of which a run did not end well."""
        return tuple(cost for cost in self.costs if cost.failed)

    @property
    def survived(self) -> tuple[FaultCost, ...]:
        """The others."""
        return tuple(cost for cost in self.costs if not cost.failed)

    @property
    def worst(self) -> FaultCost | None:
        """The one that costs most of those that a run survives."""
        return max(self.survived, key=lambda fault_cost: fault_cost.median, default=None)

    @property
    def mean(self) -> float | None:
        """Of those that a run survives."""
        values = [fault_cost.median for fault_cost in self.survived]
        return statistics.fmean(values) if values else None

    def expected(self, loss: float) -> float | None:
        """What independent losses of this share of packets cost in the mean, where one is lost at most.

        Each of the packets that were tried is lost alone with probability p (1 - p)^(n - 1); those of which the run
        would not end well are left out, and so is what two losses cost beyond each alone. None of other faults.
        """
        if any(cost.fault.kind is not FaultKind.LOSE for cost in self.costs) or not self.costs:
            return None
        if any(len(cost.fault.packets) > 1 for cost in self.costs):
            return None
        alone = loss * (1 - loss) ** (len(self.costs) - 1)
        return alone * math.fsum(fault_cost.median for fault_cost in self.survived)


def sweeps(analysis: Analysis) -> tuple[Sweep, ...]:
    """What faults cost each contender in each cell; empty if the experiment has none."""
    if analysis.swept.is_empty():
        return ()
    column = analysis.metric.column
    without = {
        (row["cell"], row["contender"], row["seed"]): row[column]
        for row in analysis.runs.iter_rows(named=True)
        if row["status"] == Status.OK and row[column] is not None
    }
    place = cells_without(analysis.experiment)
    groups = defaultdict[tuple[str, str], dict[str, list[dict[str, Any]]]](
        lambda: defaultdict(list)
    )
    for row in analysis.swept.iter_rows(named=True):
        groups[place[row["cell"]], row["contender"]][row["fault"]].append(row)
    return tuple(
        _sweep(analysis, cell.name, cell.title, contender, groups[cell.name, contender], without)
        for cell in analysis.cells
        for contender in analysis.contenders
        if groups[cell.name, contender]
    )


def _sweep(
    analysis: Analysis,
    cell: str,
    title: str,
    contender: str,
    by_fault: Mapping[str, Sequence[Mapping[str, Any]]],
    without: Mapping[tuple[str, str, int], float],
) -> Sweep:
    own = analysis.runs.filter(cell=cell, contender=contender)
    column = analysis.metric.column

    def before(seed: int) -> float | None:
        return without.get((cell, contender, seed))

    values = [
        value for (place, name, _), value in without.items() if (place, name) == (cell, contender)
    ]
    digests = dict(own.select("seed", "packet_digests").iter_rows())
    strays = [
        any(_strays(row, digests.get(row["seed"])) for row in rows) for rows in by_fault.values()
    ]
    every = [_cost(column, rows, before) for rows in by_fault.values()]
    costs = [fault_cost for fault_cost in every if fault_cost.met]
    return Sweep(
        unmet=len(every) - len(costs),
        strayed=sum(strays),
        cell=cell,
        title=title,
        contender=contender,
        without=statistics.median(values) if values else math.nan,
        packets={way: _most(own[f"packets_{way}"]) for way in Way},
        costs=tuple(sorted(costs, key=lambda cost: _order(cost.fault))),
    )


def _strays(row: Mapping[str, Any], without: str | None) -> bool:
    """Whether a run with a fault was another before it than that without; unknown is no."""
    number: int | None = row["packets_before"]
    text: str | None = row["packet_digests"]
    if not number or without is None or text is None:
        return False
    end = number * DIGEST_DIGITS
    return len(without) >= end and without[end - DIGEST_DIGITS : end] != text


def _most(counts: pl.Series) -> int:
    return max(counts.drop_nulls().to_list(), default=0)


def _order(fault: Fault) -> tuple[bool, tuple[int, ...]]:
    return fault.direction is Way.DOWN, fault.packets


def _cost(
    column: str, rows: Sequence[Mapping[str, Any]], without: Callable[[int], float | None]
) -> FaultCost:
    good = [row for row in rows if row["status"] == Status.OK and row[column] is not None]
    pairs = [(row[column], before) for row in good if (before := without(row["seed"])) is not None]
    reasons = [row["error"] for row in rows if row["error"]]
    first = next((row for row in rows if row["error"]), rows[0])
    return FaultCost(
        fault=Fault.model_validate(first["fault"]),
        seeds=tuple(row["seed"] for row in rows),
        costs=tuple(now - before for now, before in pairs),
        failed_seeds=tuple(row["seed"] for row in rows if row not in good),
        reason=kinds_of(reasons)[0][0] if reasons else "",
        carried=first["fault_carried"] or "",
        at=first["fault_at_s"],
        size_bytes=first["fault_bytes"],
        run_id=first["run_id"],
    )
