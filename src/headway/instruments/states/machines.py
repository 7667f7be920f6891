"""The senders' states in a study's runs: paths from what runs left behind, machines from their records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from headway.columns import Status
from headway.diagnosis.transfer import Transfer
from headway.instruments.states.columns import TIME_COLUMNS
from headway.instruments.states.sources import run_state_paths
from headway.instruments.states.statemachine import StateMachine, Step
from headway.instruments.states.statepath import StatePath
from headway.planning.deployment import FLOWS_DIRECTORY
from headway.records.flowfile import FLOW_RECORDS
from headway.records.store import ARTIFACTS

Paths = Mapping[str, list[StatePath]]
"""By contender, or by contender and flow where flows compete."""


def paths_by_cell(directory: Path, runs: pl.DataFrame) -> dict[str, Paths]:
    """The paths of contenders' senders in each cell, of all runs that ended well.

    Args:
        directory: of the results.
        runs: the rows that are wanted.
    """
    good = runs.filter(pl.col("status") == Status.OK.value)
    paths: dict[str, dict[str, list[StatePath]]] = {}
    for run_id, cell, contender in good.select("run_id", "cell", "contender").iter_rows():
        for name, state_paths in _paths(directory / ARTIFACTS / run_id, contender):
            if state_paths:
                paths.setdefault(cell, {}).setdefault(name, []).extend(state_paths)
    return dict(paths)


def recorded_machine(runs: pl.DataFrame) -> StateMachine | None:
    """The machine that the records of some runs tell; None if they tell none.

    Times are means over a run's connections. States that only some program has are without time.
    """
    known = runs.filter((pl.col("status") == Status.OK.value) & pl.col("state_steps").is_not_null())
    if known.is_empty():
        return None
    seconds = {state: float(known[column].sum()) for state, column in TIME_COLUMNS.items()}
    counts: Counter[Step] = Counter()
    for steps, times in known.select("state_steps", "state_step_counts").iter_rows():
        for step, count in zip(steps, times, strict=True):
            before, _, after = step.partition(" > ")
            counts[before, after] += count
    return StateMachine({name: spent for name, spent in seconds.items() if spent}, dict(counts))


def _paths(directory: Path, contender: str) -> Iterator[tuple[str, list[StatePath]]]:
    """Of a run, or of each of its flows; nothing if what it left is not there."""
    try:
        flows = FLOW_RECORDS.load(directory).flows
        named = {
            f"{contender}: {flow.flow}": directory / FLOWS_DIRECTORY / flow.flow for flow in flows
        }
    except FileNotFoundError:
        named = {contender: directory}
    for name, where in named.items():
        try:
            yield name, run_state_paths(where, Transfer.load(where))
        except FileNotFoundError:
            continue
