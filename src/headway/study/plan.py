"""From a study to its runs: cells, repetitions and seeds, in the order of execution."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Any

from headway.study.load import TRACE_KEY, combinations
from headway.study.model import Setting, Study


@dataclass(frozen=True)
class Run:
    """One repetition of one cell by one protocol."""

    run_id: str
    study: str
    cell: str
    rep: int
    seed: int
    setting: Setting


def plan(study: Study) -> tuple[Run, ...]:
    """All runs of a study.

    Runs of a cell share a repetition's seed, so all protocols meet the same losses. The order is
    shuffled by the study's seed within each repetition: protocols are interleaved, and a study
    that is cut short has whole repetitions.
    """
    runs: list[Run] = []
    shuffler = random.Random(study.seed)
    for rep in range(1, study.repetitions + 1):
        batch = [_run(study, coordinates, rep) for coordinates in combinations(study)]
        shuffler.shuffle(batch)
        runs += batch
    return tuple(runs)


def _run(study: Study, coordinates: dict[str, Any], rep: int) -> Run:
    setting = study.setting(coordinates)
    cell = cell_name({axis: v for axis, v in coordinates.items() if axis != "protocol"})
    return Run(
        run_id=f"{cell}-{setting.protocol}-{rep:03d}",
        study=study.name,
        cell=cell,
        rep=rep,
        seed=study.seed + rep - 1,
        setting=setting,
    )


def cell_name(coordinates: dict[str, Any]) -> str:
    """A short name, fit for a directory, that tells the cell's coordinates."""
    if not coordinates:
        return "cell"
    return "-".join(f"{axis.split('.')[-1]}_{_slug(value)}" for axis, value in coordinates.items())


def _slug(value: Any) -> str:
    if isinstance(value, dict):
        return ".".join(f"{key}{_slug(item)}" for key, item in value.items() if key != TRACE_KEY)
    if isinstance(value, list):
        return ".".join(_slug(item) for item in value)
    return re.sub(r"[^A-Za-z0-9.]+", "", str(value).replace("%", "pct"))
