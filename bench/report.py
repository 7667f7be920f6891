"""What a report costs over a hundred thousand runs, whatever the shape of the study.

Run by `make bench`; `python -m bench.report` prints these rows alone.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from bench.rows import Row, print_rows
from headway.columns import Record, Status, polars_schema
from headway.lab.cores import available_cores
from headway.records.manifest import MANIFEST_FILE
from headway.records.store import RUNS_FILE

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
    axes = np.indices((shape.cells, shape.contenders, shape.repetitions))
    cell, contender, rep = (axis.ravel() for axis in axes)
    rng = np.random.default_rng(1)
    chance = rng.gamma(4, 0.25, len(cell))
    rtt_ms, loss_pct = 10.0 * (1 + cell % 25), 0.5 * (cell // 25)
    total_s = (1 + rtt_ms / 100 + loss_pct * chance) * (1 + 0.05 * (contender % 5)) + chance / 50
    status = np.where(rng.random(len(cell)) < 0.01, Status.FAILED.value, Status.OK.value)
    columns = {
        "run_id": [f"run-{place}" for place in range(len(cell))],
        "cell": [f"cell-{place:03d}" for place in cell],
        "contender": [f"contender-{place:02d}" for place in contender],
        "rep": rep + 1,
        "seed": rep + 1,
        "rtt_ms": rtt_ms,
        "loss_pct": loss_pct,
        "loss_up_pct": loss_pct,
        "status": status,
        "total_s": np.where(status == Status.OK.value, total_s, np.nan),
        **{name: share * total_s for name, share in SHARES.items()},
    }
    row = {name: [value] for name, value in one.model_dump(mode="json").items()}
    frame = pl.DataFrame(row, schema=polars_schema())
    return frame.select(pl.all().repeat_by(len(cell)).explode()).with_columns(
        pl.Series(name, values, dtype=frame.schema[name], nan_to_null=True)
        for name, values in columns.items()
    )


def save(shape: Shape, directory: Path) -> None:
    """A results directory of made runs."""
    made_runs(shape).write_parquet(directory / RUNS_FILE)
    experiment = {"name": "", "baseline": "contender-00", "metrics": ["total_s"]}
    manifest = {"study": {"name": "made", "experiments": [experiment]}}
    (directory / MANIFEST_FILE).write_text(json.dumps(manifest))


def report(shape: Shape) -> Row:
    """`headway report` over made runs, on one core."""
    with tempfile.TemporaryDirectory() as directory:
        save(shape, Path(directory))
        command = ["taskset", "-c", str(CORE), str(HEADWAY), "report", directory]
        began, spent_s = time.perf_counter(), _children_s()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        wall_s, cpu_s = time.perf_counter() - began, _children_s() - spent_s
    return Row(
        f"report over 100,000 runs: {shape}", f"{wall_s:.1f} s ({cpu_s:.1f} s of CPU time)", "30 s"
    )


def _children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def reports() -> list[Row]:
    """A row for every shape."""
    return [report(shape) for shape in SHAPES]


if __name__ == "__main__":
    print_rows(reports())
