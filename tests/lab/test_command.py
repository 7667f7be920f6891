"""The command as a user runs it: a study, interrupted and killed; the host unchanged."""

from __future__ import annotations

import ctypes
import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from headway.cache import cache_directory
from headway.columns import OF_THE_MACHINE, Record, Status
from headway.lab.machine import Machine
from headway.records.store import read_records

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("machine")]

PR_SET_CHILD_SUBREAPER = 36
HEADWAY = str(Path(sys.executable).with_name("headway"))
STUDY = """
name = "small"
question = "Does it work?"
repetitions = 2
[axes]
protocol = ["h1", "h2", "h3"]
[workload]
size = "20 kB"
[path]
rate = "10 Mbit/s"
rtt = "20 ms"
loss = "1 %"
"""
LONG = STUDY.replace("repetitions = 2", "repetitions = 2000")


def write(directory: Path, text: str) -> str:
    file = directory / "study.toml"
    file.write_text(text)
    return str(file)


def labs(directory: Path) -> list[int]:
    """Processes of labs whose runs are below a directory."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
            place = str((process / "cwd").readlink())
            state = (process / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        is_lab = b"uml-userspace" in command or b"rootfstype=hostfs" in command
        if is_lab and state != "Z" and place.startswith(str(directory)):
            found.append(int(process.name))
    return found


def descendants(process: int) -> Iterator[int]:
    """Processes that one started, those that these did, and so on; a lab is over before all that there are were looked at."""
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        for child in map(int, file.read_text().split()):
            yield child
            yield from descendants(child)


def is_in_a_lab(study: int) -> bool:
    """Whether a study has a lab now."""
    try:
        return any(
            b"rootfstype=hostfs" in Path(f"/proc/{child}/cmdline").read_bytes()
            for child in descendants(study)
        )
    except OSError:
        return False


def test_a_study_leaves_rows_manifest_and_report(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = subprocess.run(
        [HEADWAY, "run", write(tmp_path, STUDY), "--out", str(out)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    table = pl.read_parquet(out / "runs.parquet")
    assert table.columns == list(Record.model_fields)
    assert table["status"].to_list() == ["ok"] * 6
    manifest = json.loads((out / "manifest.json").read_text())
    assert set(manifest["versions"]) == {"nginx", "curl"}
    assert manifest["seeds"] == [1, 2]
    assert manifest["self_test"] and all(check["passed"] for check in manifest["self_test"])
    assert "small" in (out / "report" / "index.html").read_text()
    assert len(list(out.glob("artifacts/cell-*/outcome.json"))) == 6
    assert "h3" in done.stdout


def test_the_same_study_gives_the_same_rows(tmp_path: Path) -> None:
    tables = []
    for name in ("first", "second"):
        subprocess.run(
            [HEADWAY, "run", write(tmp_path, STUDY), "--out", str(tmp_path / name)],
            check=True,
            capture_output=True,
        )
        tables.append(pl.read_parquet(tmp_path / name / "runs.parquet").drop(OF_THE_MACHINE))
    assert tables[0].equals(tables[1])


def started(tmp_path: Path) -> subprocess.Popen[str]:
    """A study in its course, with some runs done."""
    process = subprocess.Popen(
        [HEADWAY, "run", write(tmp_path, LONG), "--out", str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not read_records(tmp_path / "out") or not is_in_a_lab(process.pid):
        assert process.poll() is None, process.communicate()
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_study_that_is_asked_to_end_keeps_what_is_done(
    tmp_path: Path, number: signal.Signals
) -> None:
    process = started(tmp_path)
    process.send_signal(number)
    _, said = process.communicate()
    assert process.returncode == 128 + number
    assert "Traceback" not in said
    assert re.search(r"\d+ of 6000 runs are kept in .*; `headway run .* --resume` goes on", said)
    table = pl.read_parquet(tmp_path / "out" / "runs.parquet")
    assert len(table) == len(read_records(tmp_path / "out"))
    assert set(table["status"]) == {"ok"}
    assert not labs(tmp_path)


def test_a_killed_study_leaves_no_process_and_only_whole_records(tmp_path: Path) -> None:
    process = started(tmp_path)
    process.kill()
    process.communicate()
    while labs(tmp_path):
        os.sched_yield()
    assert {record.status for record in read_records(tmp_path / "out")} == {Status.OK}


UNPRIVILEGED = ["setpriv", "--no-new-privs"]
if os.geteuid() == 0:
    UNPRIVILEGED += ["--bounding-set=-all", "--inh-caps=-all"]


def test_a_study_leaves_the_host_as_it_was(tmp_path: Path) -> None:
    """It needs no privilege, so it makes no device, mount or namespace, and it leaves nothing else."""
    cache, home, scratch = cache_directory(), tmp_path / "home", tmp_path / "scratch"
    home.mkdir()
    scratch.mkdir()
    places = {"HEADWAY_CACHE": str(cache), "HOME": str(home), "TMPDIR": str(scratch)}
    command = [HEADWAY, "run", write(tmp_path, STUDY), "--out", str(tmp_path / "out")]
    with left_processes() as left:
        done = subprocess.run(
            [*UNPRIVILEGED, *command], env=os.environ | places, capture_output=True, text=True
        )
    assert done.returncode == 0, done.stderr
    assert not left
    assert not [*scratch.iterdir()]
    # Where programs keep such things; the one that does is a library.
    assert {entry.name for entry in home.iterdir()} <= {".cache", ".config"}
    assert {entry.name for entry in home.glob("*/*")} <= {"matplotlib"}


@contextmanager
def left_processes() -> Iterator[list[int]]:
    """Afterwards, the processes that were begun meanwhile and outlived whoever began them."""
    become_their_parent = ctypes.CDLL(None).prctl
    left: list[int] = []
    assert become_their_parent(PR_SET_CHILD_SUBREAPER, 1) == 0
    try:
        before = children()
        yield left
        left += sorted(children() - before)
    finally:
        become_their_parent(PR_SET_CHILD_SUBREAPER, 0)


def children() -> set[int]:
    """This process's children, by all of its threads."""
    files = Path("/proc/self/task").glob("*/children")
    return {int(pid) for file in files for pid in file.read_text().split()}


def test_exec_passes_output_and_exit_status_through() -> None:
    command = ["exec", "--rtt", "100 ms", "--", "sh", "-c"]
    script = "curl -s -o /dev/null -w '%{http_code} %{time_connect}' https://server.test/1000.bin; exit 7"
    done = subprocess.run([HEADWAY, *command, script], capture_output=True, text=True)
    assert done.returncode == 7
    code, connect = done.stdout.split()
    assert code == "200"
    assert float(connect) == pytest.approx(0.1, abs=3e-5)


def test_exec_measures_the_same_in_a_lab_that_is_made_and_in_one_that_is_remembered(
    tmp_path: Path,
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    for entry in cache_directory().iterdir():
        if entry.name != "console":
            (cache / entry.name).symlink_to(entry)
    path = ["--rate", "5 Mbit/s", "--rtt", "40 ms", "--loss", "3 %", "--seed", "11"]
    script = "curl -s -o /dev/null -w '%{time_total} %{local_port}\n' https://server.test/100000.bin; od -N 64 -x /dev/urandom"
    said = []
    for known in (0, 1):
        assert len([*cache.glob("console/*")]) == known
        said.append(
            subprocess.run(
                [HEADWAY, "exec", *path, "--", "sh", "-c", script],
                env=os.environ | {"HEADWAY_CACHE": str(cache)},
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
    assert said[0].count("\n") > 4
    assert said[0] == said[1]


def test_exec_does_not_wait_while_nothing_happens() -> None:
    command = ["exec", "--", "sh", "-c", "sleep 36000 && date -u '+%F %H'"]
    done = subprocess.run([HEADWAY, *command], capture_output=True, text=True)
    assert done.stdout.strip() == "2026-01-01 10"


def test_exec_shows_a_directory(tmp_path: Path) -> None:
    (tmp_path / "told.txt").write_text("told\n")
    command = ["exec", "--mount", str(tmp_path), "--", "sh", "-c"]
    script = f"cat /lab/extras/{tmp_path.name}/told.txt; touch /lab/extras/{tmp_path.name}/new"
    done = subprocess.run([HEADWAY, *command, script], capture_output=True, text=True)
    assert done.stdout.startswith("told")
    assert done.returncode != 0
    assert [file.name for file in tmp_path.iterdir()] == ["told.txt"]


@pytest.mark.parametrize("allowed", [True, False])
def test_exec_makes_network_namespaces_only_if_allowed(allowed: bool) -> None:
    option = ["--capability", "net-namespaces"] if allowed else []
    command = ["exec", *option, "--", "sh", "-c"]
    script = (
        "ip netns add inner && ip netns exec inner ls /sys/class/net && unshare --net echo made"
    )
    done = subprocess.run([HEADWAY, *command, script], capture_output=True, text=True)
    # Of devices, the new one has its loopback only, and none of the client's.
    assert (done.stdout.split() == ["lo", "made"]) is allowed
    assert (done.returncode == 0) is allowed


def test_a_shell_is_interactive() -> None:
    def read(terminal: int) -> bytes:
        return os.read(terminal, 1024)

    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [HEADWAY, "shell", "--rate", "10 Mbit/s", "--rtt", "40 ms"],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    seen = b""
    while b"$ " not in seen:
        seen += read(leader)
    assert b"10 Mbit/s, RTT 40 ms" in seen
    os.write(leader, b"ping -c 1 -q server.test | tail -n 1; exit 3\n")
    try:
        while True:
            seen += read(leader)
    except OSError:  # the terminal is gone when the shell is
        os.close(leader)
    assert process.wait() == 3
    # In real time a busy host adds to it, but nothing makes it less.
    least_ms = re.search(rb"rtt min/avg/max/mdev = ([0-9.]+)/", seen)
    assert least_ms and float(least_ms[1]) >= 40


def test_failed_runs_are_rows_and_the_study_says_so(tmp_path: Path, machine: Machine) -> None:
    text = STUDY + '[server]\nprogram = "nginx"\nknobs = { ssl_buffer_size = "nonsense" }\n'
    done = subprocess.run(
        [HEADWAY, "run", write(tmp_path, text), "--out", str(tmp_path / "out"), "--keep-going"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "nginx ended early" in done.stderr
    table = pl.read_parquet(tmp_path / "out" / "runs.parquet")
    assert table["status"].to_list() == ["failed"] * 6
    assert machine.image.kernel.exists()
