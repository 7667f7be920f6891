"""The recipes of `examples/slurm`, on a SLURM of this machine: the rows are those of a study that needs none."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from headway.columns import OF_THE_MACHINE
from headway.records.store import read_records
from tests.doc_examples import ROOT
from tests.slurm import Slurm, lacking, loopback_slurm
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.lab,
    pytest.mark.usefixtures("machine"),
    pytest.mark.skipif(
        bool(lacking()), reason="there is no SLURM; `apt-get install slurm-wlm` brings it"
    ),
]

RECIPES = ROOT / "examples" / "slurm"
BIN = Path(sys.executable).parent
RUNS = 40
STUDY = f"""
name = "slurm"
repetitions = {RUNS // 2}
axes.protocol = ["h2", "h3"]
path = {{ rate = "10 Mbit/s", rtt = "20 ms", loss = "1 %" }}
workload = {{ size = "100 kB" }}
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("study") / "study.toml"
    file.write_text(STUDY)
    return file


@pytest.fixture(scope="module")
def rows(study: Path, tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """What the study gives without SLURM."""
    out = tmp_path_factory.mktemp("here") / "out"
    subprocess.run([BIN / "headway", "run", study, "--out", out], check=True, capture_output=True)
    return table(out)


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    with loopback_slurm(tmp_path_factory.mktemp("slurm")) as started:
        environment = {**started.environment, "PATH": f"{BIN}:{started.environment['PATH']}"}
        yield Slurm(environment)


def table(out: Path) -> pl.DataFrame:
    return pl.read_parquet(out / "runs.parquet").drop(OF_THE_MACHINE)


def test_an_allocation_whose_time_is_up_is_gone_on_with(
    slurm: Slurm, study: Path, rows: pl.DataFrame, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    words = ("--ntasks=2", str(RECIPES / "headway.sbatch"), str(study), str(out))
    job = slurm.submit(*words, directory=tmp_path)
    assert slurm.wait(job, lambda: len(read_records(out)) >= 2) == "RUNNING"
    # What `--signal` of the script makes SLURM do a minute before the end.
    slurm.call("scancel", "--batch", "--signal=TERM", job)
    assert slurm.wait(job) == "FAILED"
    before = {record.run_id: record for record in read_records(out)}
    assert 2 <= len(before) < RUNS
    job = slurm.submit(*words, directory=tmp_path)
    assert slurm.wait(job) == "COMPLETED", (tmp_path / f"slurm-{job}.out").read_text()
    assert_frame_equal(table(out), rows)
    kept = [record for record in read_records(out) if record.run_id in before]
    assert kept == list(before.values())  # wall time, too: they were not carried out again


def test_jobs_come_and_go(slurm: Slurm, study: Path, rows: pl.DataFrame, tmp_path: Path) -> None:
    out = tmp_path / "out"
    # How long Dask waits for a lost worker to come back before it asks for another job.
    soon = {"DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT": "1s"}
    words = [sys.executable, RECIPES / "jobs.py", study, out, "2"]
    process = subprocess.Popen(
        words,
        env={**slurm.environment, **soon},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    wait_until(lambda: len(read_records(out)) >= 2, process)
    slurm.call("scancel", slurm.jobs()[0])
    said, _ = process.communicate()
    assert process.returncode == 0, said
    assert_frame_equal(table(out), rows)
