"""What programs leave in a run's directory: bounded in all, whatever it consists of."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from headway.lab.quota import MOST_BYTES, Quota

MIB = 2**20


def put(file: Path, size_bytes: int) -> None:
    """A file that takes no place on the disk."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    os.truncate(file, size_bytes)


def many(directory: Path) -> None:
    for number in range(300):
        put(directory / f"{number // 100}/{number}", 2 * MIB)


def nameless(directory: Path) -> None:
    put(directory / "\n\x1b[31m", MOST_BYTES + 1)


CASES: dict[str, tuple[Callable[[Path], None], str]] = {
    "one": (lambda directory: put(directory / "deep" / "er" / "dump", 2**30), "deep/er/dump"),
    "sparse": (lambda directory: put(directory / "dump", 2**40), "dump has 1,048,576 MiB"),
    "many": (many, "600 MiB"),
    "odd": (nameless, "\ufffd\ufffd[31m"),
}


@pytest.mark.parametrize("case", CASES)
def test_too_much_is_named_and_little_of_it_stays(tmp_path: Path, case: str) -> None:
    write, named = CASES[case]
    put(tmp_path / "outcome.json", 1000)
    write(tmp_path)
    quota = Quota(writers="server-own")
    excess = quota.excess(tmp_path)
    assert excess is not None and excess.startswith("server-own wrote") and named in excess
    quota.cut(tmp_path)
    assert sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()) <= 64 * MIB
    assert (tmp_path / "outcome.json").exists()


def test_what_is_within_it_or_asked_for_stays(tmp_path: Path) -> None:
    put(tmp_path / "server" / "log", MOST_BYTES - 10_000)
    (tmp_path / "elsewhere").symlink_to("/proc")
    assert Quota().excess(tmp_path) is None
    put(tmp_path / "server.pcap", MOST_BYTES)
    put(tmp_path / "one" / "qlog" / "client" / "0.sqlog", MOST_BYTES)
    assert Quota(uncounted=(".pcap", "qlog")).excess(tmp_path) is None
    assert Quota(uncounted=(".pcap",)).excess(tmp_path) is not None


def test_small_files_count_for_what_they_take(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / str(number)).touch()
    assert Quota(most_bytes=100 * 4096).excess(tmp_path) is None
    assert Quota(most_bytes=99 * 4096).excess(tmp_path) is not None
