"""Two users of one machine, one cache and one directory of temporary files: neither sees that the other has labs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from headway.cache import cache_directory
from headway.columns import OF_THE_MACHINE
from headway.records.store import read_records
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.lab,
    pytest.mark.usefixtures("machine"),
    pytest.mark.skipif(os.geteuid() != 0, reason="to become another user needs root"),
]

HEADWAY = str(Path(sys.executable).with_name("headway"))
USER = 1234
AS_USER = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups")
HERE = Path(__file__).parent / "outside"
STUDY = """
name = "shared"
repetitions = {repetitions}
protocol = "h1"
server.program = "own-python"
path.loss = "2 %"
path.rate = "10 Mbit/s"
path.rtt = "40 ms"
workload.size = "100 kB"
"""
PROGRAMS = """
[server.own-python]
argv = ["./server.py", "{address}", "{port}", "{certificate}", "{key}", "{root}"]
protocols = ["h1"]
"""
MANY, FEW = 120, 6


@pytest.fixture
def shared() -> Iterator[Path]:
    """A cache that root has filled and everybody may read; and temporary files of both.

    It is not below pytest's directory, which nobody else may enter.
    """
    if subprocess.run([*AS_USER, HEADWAY, "--version"], capture_output=True).returncode:
        pytest.skip("other users may not read this Headway, or its Python")
    with tempfile.TemporaryDirectory(prefix="headway-users-") as made:
        directory = Path(made)
        directory.chmod(0o755)
        cache, own = directory / "cache", cache_directory() / "image"
        for entry in own.iterdir():
            if entry.is_dir() and entry.name != "cargo":
                shutil.copytree(
                    entry, cache / "image" / entry.name, symlinks=True, copy_function=linked
                )
        (directory / "tmp").mkdir()
        (directory / "tmp").chmod(0o1777)
        yield directory


def linked(source: str, target: str, *, follow_symlinks: bool = True) -> None:
    """The same file, where both are on one file system."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=follow_symlinks)


def place(shared: Path, name: str, repetitions: int) -> Path:
    directory = shared / name
    directory.mkdir()
    (directory / "study.toml").write_text(STUDY.format(repetitions=repetitions))
    (directory / "programs.toml").write_text(PROGRAMS)
    shutil.copy(HERE / "server.py", directory)
    return directory


def begin(shared: Path, directory: Path, *words: str, user: bool = False) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "HEADWAY_CACHE": str(shared / "cache"),
        "TMPDIR": str(shared / "tmp"),
        "HOME": str(directory),
    }
    return subprocess.Popen(
        [*(AS_USER if user else ()), HEADWAY, *words],
        cwd=directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def table(directory: Path) -> pl.DataFrame:
    return pl.read_parquet(directory / "runs.parquet").drop(OF_THE_MACHINE)


def ended(process: subprocess.Popen[str]) -> str:
    out, said = process.communicate()
    assert process.returncode == 0, said + out
    return out


def test_run_and_check_beside_another_users_labs(shared: Path) -> None:
    mine, theirs = place(shared, "mine", FEW), place(shared, "theirs", MANY)
    ended(begin(shared, mine, "run", "study.toml", "--out", "alone"))
    os.chown(theirs, USER, USER)
    other = begin(shared, theirs, "run", "study.toml", "--out", "out", user=True)
    wait_until(lambda: read_records(theirs / "out"), other)
    ended(begin(shared, mine, "run", "study.toml", "--out", "beside"))
    words = ("check", "study.toml", "--base=server.py", "--head=server.py", "--out", "checked")
    said = ended(begin(shared, mine, *words))
    assert other.poll() is None, "the other user's labs ended too early to be beside these"
    ended(other)
    assert "1 identical; 0 of 6 pairs of runs differ in a packet" in " ".join(said.split())
    assert_frame_equal(table(mine / "beside"), table(mine / "alone"))
    rows = table(theirs / "out")
    assert rows["status"].to_list() == ["ok"] * MANY
    first = rows.filter(pl.col("rep") <= FEW)
    assert_frame_equal(first, table(mine / "alone"))
    for file in (theirs / "out").rglob("*"):
        assert file.stat().st_uid == USER
