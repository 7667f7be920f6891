"""Studies with real labs: killed and resumed, and on a cluster of worker processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
from distributed import Client, LocalCluster
from polars.testing import assert_frame_equal

from headway.cache import cache_directory
from headway.columns import OF_THE_MACHINE
from headway.image import find
from headway.records.store import read_records
from tests.waiting import wait_until

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("machine")]

HEADWAY = str(Path(sys.executable).with_name("headway"))
RUN = "import json, sys, headway; headway.run(*sys.argv[1:3], **json.loads(sys.argv[3]))"
STUDY = """
name = "campaign"
question = "Is it the same?"
repetitions = 2
[axes]
protocol = ["h1", "h2", "h3"]
[workload]
size = "200 kB"
[path]
rate = "10 Mbit/s"
rtt = "20 ms"
loss = "1 %"
"""
RUNS = 6


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("study") / "study.toml"
    file.write_text(STUDY)
    return str(file)


@pytest.fixture(scope="module")
def rows(study: str, tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """What a study gives that nothing disturbs."""
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    carry_out(study, out)
    return table(out)


def table(out: Path) -> pl.DataFrame:
    return pl.read_parquet(out / "runs.parquet").drop(OF_THE_MACHINE)


def begin(study: str, out: Path, **options: object) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", RUN, study, str(out), json.dumps(options)]
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True)


def carry_out(study: str, out: Path, **options: object) -> str:
    """Carry out a study; returns what it said on standard error."""
    process = begin(study, out, **options)
    _, said = process.communicate()
    assert process.returncode == 0, said
    return said


@pytest.mark.parametrize("finished", [0, 2])
def test_a_killed_study_goes_on_where_it_was(
    study: str, rows: pl.DataFrame, tmp_path: Path, finished: int
) -> None:
    out = tmp_path / "out"
    process = begin(study, out)
    wait_until(
        lambda: len(read_records(out)) >= finished and list(out.glob("artifacts/cell-*")), process
    )
    process.kill()
    process.communicate()
    before = {record.run_id: record for record in read_records(out)}
    carry_out(study, out)
    assert_frame_equal(table(out), rows)
    kept = [record for record in read_records(out) if record.run_id in before]
    assert kept == list(before.values())  # wall time, too: they were not carried out again


@contextmanager
def cluster(tmp_path: Path, cache: Path) -> Iterator[tuple[str, Client]]:
    """A cluster of two workers with this cache; its address."""
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            local_directory=str(tmp_path),
            env={"HEADWAY_CACHE": str(cache)},
        ) as started,
        Client(started) as client,
    ):
        yield started.scheduler_address, client


def test_a_local_cluster_gives_the_same_rows(
    study: str, rows: pl.DataFrame, tmp_path: Path
) -> None:
    said = carry_out(study, tmp_path / "out", cluster="local", jobs=1)
    assert "1 workers on" in said
    assert "sending" not in said
    assert_frame_equal(table(tmp_path / "out"), rows)
    assert len(list(tmp_path.glob("out/artifacts/cell-*/outcome.json"))) == RUNS
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["self_test"] and all(check["passed"] for check in manifest["self_test"])
    assert len(manifest["machines"]) == 1


def test_workers_without_an_image_receive_it(
    study: str, rows: pl.DataFrame, tmp_path: Path
) -> None:
    image = find()
    assert image
    with cluster(tmp_path / "scratch", tmp_path / "cache") as (address, _):
        said = carry_out(study, tmp_path / "out", cluster=address)
        assert f"sending {image.kernel.parent.name} to" in said
        assert f"sending {image.root.parent.name} to" in said
        assert f"sending {image.native.parent.name} to" in said
        assert "sending" not in carry_out(study, tmp_path / "again", cluster=address)
    assert_frame_equal(table(tmp_path / "out"), rows)
    assert_frame_equal(table(tmp_path / "again"), rows)


EXPERIMENTS = """
[experiments.loss]
axes.path.loss = ["0 %", "1 %"]
[experiments.rate]
path.loss = "1 %"
axes.path.rate = ["10 Mbit/s", "20 Mbit/s"]
"""


@pytest.mark.parametrize("options", [{}, {"cluster": "local"}])
def test_a_run_stands_for_those_of_other_experiments_that_are_the_same(
    tmp_path: Path, options: dict[str, object]
) -> None:
    """What they are told is what they would have had in labs of their own."""
    head = STUDY.replace('loss = "1 %"\n', "")
    both, alone = tmp_path / "both.toml", tmp_path / "alone.toml"
    both.write_text(head + EXPERIMENTS)
    alone.write_text(head + EXPERIMENTS[EXPERIMENTS.index("[experiments.rate]") :])
    carry_out(str(both), tmp_path / "both", **options)
    carry_out(str(alone), tmp_path / "alone", **options)
    rows = table(tmp_path / "both")
    assert rows["same_as"].count() == RUNS
    assert_frame_equal(
        rows.filter(pl.col("experiment") == "rate").drop("same_as"),
        table(tmp_path / "alone").drop("same_as"),
    )
    for run_id, same in rows.drop_nulls("same_as").select("run_id", "same_as").iter_rows():
        one, other = (tmp_path / "both" / "artifacts" / name for name in (run_id, same))
        files = [file.relative_to(one) for file in one.rglob("*") if file.is_file()]
        assert files
        assert all((one / file).read_bytes() == (other / file).read_bytes() for file in files)


FLOWS = """
name = "flows"
workload = { kind = "bulk", duration = "1 s" }
client.program = "headway-perf"
server.program = "headway-perf"
contenders.both = { flows.one = { protocol = "tcp" }, flows.other = { protocol = "quic" } }
[path]
rate = "5 Mbit/s"
[experiments.near]
axes.path.rtt = ["20 ms", "40 ms"]
[experiments.far]
axes.path.rtt = ["40 ms", "80 ms"]
"""


def test_flows_that_another_run_stands_for_are_of_their_own_run(tmp_path: Path) -> None:
    (tmp_path / "flows.toml").write_text(FLOWS)
    carry_out(str(tmp_path / "flows.toml"), tmp_path / "out")
    rows = pl.read_parquet(tmp_path / "out" / "runs.parquet")
    (served,) = rows.drop_nulls("same_as").to_dicts()
    flows = {
        run_id: json.loads((tmp_path / "out" / "artifacts" / run_id / "flows.json").read_text())
        for run_id in (served["run_id"], served["same_as"])
    }
    for run_id, told in flows.items():
        same = served["same_as"] if run_id == served["run_id"] else None
        assert {(one["run_id"], one["same_as"]) for one in told["flows"]} == {(run_id, same)}


def labs_of(worker: int) -> list[int]:
    """Labs that a process started."""
    children = Path(f"/proc/{worker}/task").glob("*/children")
    pids = [int(pid) for file in children for pid in file.read_text().split()]
    return [pid for pid in pids if b"rootfstype=hostfs" in command(pid)]


def command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize("killed", [1, 2])
def test_a_killed_worker_costs_only_its_run(
    study: str, rows: pl.DataFrame, tmp_path: Path, killed: int
) -> None:
    """One of two workers, or both: what was finished stays as it is, the rest is carried out by those that come."""
    out = tmp_path / "out"
    with cluster(tmp_path / "scratch", cache_directory()) as (address, client):
        process = begin(study, out, cluster=address)
        workers = list(client.run(os.getpid).values())
        # Runs, not the self-test that comes before them: one is kept already.
        seen: list[list[int]] = []

        def has_labs() -> bool:
            seen.append(labs_of(workers[0]))
            return bool(seen[-1])

        wait_until(lambda: read_records(out) and has_labs(), process)
        labs = seen[-1]
        before = {record.run_id: record for record in read_records(out)}
        for worker in workers[:killed]:
            os.kill(worker, signal.SIGKILL)
        _, said = process.communicate()
        assert process.returncode == 0, said
        assert not any(command(lab) for lab in labs)
    assert_frame_equal(table(out), rows)
    assert rows["status"].to_list() == ["ok"] * RUNS
    kept = [record for record in read_records(out) if record.run_id in before]
    assert kept == list(before.values())  # wall time, too: they were not carried out again
    for record in read_records(out):
        assert (out / "artifacts" / record.run_id / "outcome.json").is_file()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_an_interrupt_of_a_local_cluster_is_quiet(
    study: str, tmp_path: Path, number: signal.Signals
) -> None:
    out = tmp_path / "out"
    words = [HEADWAY, "run", study, "--out", str(out), "--cluster", "local"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_until(lambda: read_records(out), process)
    # As a terminal does it: to the command and all its workers.
    os.killpg(process.pid, number)
    _, said = process.communicate()
    assert process.returncode == 128 + number
    assert "Traceback" not in said
    assert said.splitlines()[-1].endswith(f"--out {out} --cluster local --resume` goes on")


SEQUENTIAL = """
name = "sequential"
repetitions = { until = "1 %", most = 12 }
contenders.h1.protocol = "h1"
contenders.h2.protocol = "h2"
server.program = "headway-server"
[axes]
path.loss = ["0 %", "5 %"]
[workload]
size = "20 kB"
[path]
rate = "10 Mbit/s"
rtt = "20 ms"
"""


def test_a_study_that_stops_is_the_first_part_of_one_that_does_not_here_and_on_a_cluster(
    tmp_path: Path,
) -> None:
    file, whole = tmp_path / "study.toml", tmp_path / "whole.toml"
    file.write_text(SEQUENTIAL)
    whole.write_text(SEQUENTIAL.replace('{ until = "1 %", most = 12 }', "12"))
    for name, study, options in (
        ("here", file, {}),
        ("there", file, {"cluster": "local"}),
        ("whole", whole, {}),
    ):
        carry_out(str(study), tmp_path / name, **options)
    here, there, fixed = (table(tmp_path / name) for name in ("here", "there", "whole"))
    assert_frame_equal(here, there)
    assert_frame_equal(here, fixed.filter(pl.col("run_id").is_in(here["run_id"].to_list())))
    taken = dict(here.group_by("cell").agg(pl.col("rep").max()).iter_rows())
    # Without losses HTTP/1.1 and HTTP/2 differ by the same in every repetition, up to a trifle.
    assert taken["loss_0pct"] < taken["loss_5pct"] == 12
