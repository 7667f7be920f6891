"""The senders' states in a study's runs: a machine for each contender in each cell, from what runs left behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from headway.analysis.statemachine import StateMachine
from headway.columns import Status
from headway.diagnosis.statepath import StatePath
from headway.diagnosis.statesources import run_state_paths
from headway.diagnosis.transfer import Transfer
from headway.planning.deployment import FLOWS_DIRECTORY
from headway.records.flowfile import FLOW_RECORDS
from headway.records.store import ARTIFACTS

Machines = Mapping[str, StateMachine]
"""By contender, or by contender and flow where flows compete."""


def machines_by_cell(directory: Path, runs: pl.DataFrame) -> dict[str, Machines]:
    """The machines of contenders in each cell, of all runs that ended well.

    Args:
        directory: of the results.
        runs: the rows that are wanted.
    """
    good = runs.filter(pl.col("status") == Status.OK.value)
    paths: dict[str, dict[str, list[StatePath]]] = {}
    for run_id, cell, contender in good.select("run_id", "cell", "contender").iter_rows():
        for name, found in _paths(directory / ARTIFACTS / run_id, contender):
            paths.setdefault(cell, {}).setdefault(name, []).extend(found)
    return {
        cell: {name: StateMachine.of(found) for name, found in of_cell.items() if found}
        for cell, of_cell in paths.items()
        if any(of_cell.values())
    }


def _paths(directory: Path, contender: str) -> Iterator[tuple[str, list[StatePath]]]:
    """Of a run, or of each of its flows; nothing if what it left is not there."""
    try:
        flows = FLOW_RECORDS.load(directory).flows
        named = {
            f"{contender}: {one.flow}": directory / FLOWS_DIRECTORY / one.flow for one in flows
        }
    except FileNotFoundError:
        named = {contender: directory}
    for name, where in named.items():
        try:
            yield name, run_state_paths(where, Transfer.load(where))
        except FileNotFoundError:
            continue
