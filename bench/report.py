"""What a report costs over a hundred thousand runs, whatever the shape of the study.

Run by `make bench`; `python -m bench.report` prints these rows alone.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from bench.rows import Row, print_rows
from headway.campaign.cores import available_cores
from headway.results.schema import Record, Status, polars_schema
from headway.results.store import MANIFEST_FILE, RUNS_FILE

HEADWAY = Path(sys.executable).with_name("headway")
CORE = available_cores()[-1]
SHARES = {"path_s": 0.5, "growth_s": 0.2, "recovery_s": 0.3}
"""What held the made runs back."""


@dataclass(frozen=True)
class Shape:
    """How many runs there are of what."""

    cells: int
    contenders: int
    repetitions: int

    def __str__(self) -> str:
        return f"{self.cells} cells x {self.contenders} contenders x {self.repetitions} runs"


SHAPES = (Shape(500, 20, 10), Shape(500, 4, 50), Shape(100, 2, 500))


def made_runs(shape: Shape) -> pl.DataFrame:
    """Runs that differ by cell, contender and chance; one in a hundred failed."""
    one = Record(
        run_id="", study="made", cell="", contender="", protocol="h2", tls=True,
        client="curl", server="nginx", client_cc="cubic", server_cc="cubic",
        rate_mbit=10, rate_up_mbit=10, rtt_ms=0, loss_pct=0, loss_up_pct=0,
        workload="download 1 MB", size_bytes=10**6, rep=1, seed=1, clock="virtual",
        status=Status.OK, limited_by="path",
    )  # fmt: skip
    cell, contender, rep = (
        axis.ravel() for axis in np.indices((shape.cells, shape.contenders, shape.repetitions))
    )
    rtt_ms, loss_pct = 10.0 * (1 + cell % 25), 0.5 * (cell // 25)
    rng = np.random.default_rng(1)
    chance = rng.gamma(4, 0.25, len(cell))
    total_s = (1 + rtt_ms / 100 + loss_pct * chance) * (1 + 0.05 * (contender % 5)) + chance / 50
    failed = rng.random(len(cell)) < 0.01
    row = one.model_dump(mode="json")
    frame = pl.DataFrame({name: [value] for name, value in row.items()}, schema=polars_schema())
    return (
        frame.select(pl.all().repeat_by(len(cell)).explode())
        .with_columns(
            run_id=pl.Series([f"run-{place}" for place in range(len(cell))]),
            cell=pl.Series([f"cell-{place:03d}" for place in cell]),
            contender=pl.Series([f"contender-{place:02d}" for place in contender]),
            rep=pl.Series(rep + 1),
            seed=pl.Series(rep + 1),
            rtt_ms=pl.Series(rtt_ms),
            loss_pct=pl.Series(loss_pct),
            loss_up_pct=pl.Series(loss_pct),
            total_s=pl.Series(total_s),
            **{name: pl.Series(share * total_s) for name, share in SHARES.items()},
        )
        .with_columns(
            status=pl.Series(np.where(failed, "failed", "ok")),
        )
    )


def save(shape: Shape, directory: Path) -> None:
    """A results directory of made runs."""
    directory.mkdir(parents=True)
    made_runs(shape).write_parquet(directory / RUNS_FILE)
    experiment = {"name": "", "baseline": "contender-00", "metrics": ["total_s"]}
    manifest = {"study": {"name": "made", "experiments": [experiment]}}
    (directory / MANIFEST_FILE).write_text(json.dumps(manifest))
