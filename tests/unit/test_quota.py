"""What programs leave in a run's directory, and what they print: bounded in all, whatever it consists of."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from headway.lab.quota import MOST_BYTES, MOST_PRINTED_BYTES, Quota

MIB = 2**20
QUOTA = Quota(writers="server-own", printers=("server-own", "curl"))


def put(file: Path, size_bytes: int) -> None:
    """A file that takes no place on the disk."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    os.truncate(file, size_bytes)


def write(file: Path, size_bytes: int) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(bytes(size_bytes))


def many(directory: Path) -> None:
    for number in range(300):
        put(directory / f"{number // 100}/{number}", 2 * MIB)


def nameless(directory: Path) -> None:
    put(directory / "\n\x1b[31m", MOST_BYTES + 1)


HOLES = "(0 MiB of them written and the rest holes, which count)"
CASES: dict[str, tuple[Callable[[Path], None], str]] = {
    "one": (lambda directory: put(directory / "deep" / "er" / "dump", 2**30), "deep/er/dump"),
    "sparse": (
        lambda directory: put(directory / "dump", 2**40),
        f"1,048,576 MiB in the run's directory {HOLES}, of which dump has 1,048,576 MiB",
    ),
    "many": (many, f"600 MiB in the run's directory {HOLES}"),
    "odd": (nameless, "\ufffd\ufffd[31m"),
}


def size_of(directory: Path) -> int:
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())


@pytest.mark.parametrize("case", CASES)
def test_too_much_is_named_and_little_of_it_stays(tmp_path: Path, case: str) -> None:
    make, named = CASES[case]
    put(tmp_path / "outcome.json", 1000)
    make(tmp_path)
    excess = QUOTA.excess(tmp_path)
    assert excess is not None and excess.startswith("server-own made files of") and named in excess
    QUOTA.cut(tmp_path)
    assert QUOTA.excess(tmp_path) is None
    assert size_of(tmp_path) <= 64 * MIB
    assert (tmp_path / "outcome.json").exists()


def test_what_was_written_is_told_without_holes(tmp_path: Path) -> None:
    write(tmp_path / "log", 3 * MIB)
    put(tmp_path / "empty", 2 * MIB)
    excess = Quota(2 * MIB, "client-own").excess(tmp_path)
    wrote = "client-own wrote 3 MiB into the run's directory, of which log has 3 MiB"
    assert excess == f"{wrote}: a run keeps 2 MiB"


def test_too_much_that_was_printed_is_told_of_its_program_and_its_beginning_stays(
    tmp_path: Path,
) -> None:
    """Whichever it is, wherever its file is; what others printed stays, and what nobody printed."""
    write(tmp_path / "server" / "server-own.err", MOST_PRINTED_BYTES)
    write(tmp_path / "curl.out", 1000)
    put(tmp_path / "other.out", MOST_PRINTED_BYTES)
    assert QUOTA.excess(tmp_path) == (
        "server-own printed 64 MiB: a run keeps 64 MiB of what its programs print"
    )
    QUOTA.cut(tmp_path)
    sizes = {file.name: file.stat().st_size for file in tmp_path.rglob("*.*")}
    assert sizes == {"server-own.err": MIB, "curl.out": 1000, "other.out": MOST_PRINTED_BYTES}


def test_who_makes_its_output_longer_did_not_print_that(tmp_path: Path) -> None:
    put(tmp_path / "curl.out", 2**40)
    assert QUOTA.excess(tmp_path) == (
        "curl printed 0 MiB and made curl.out 1,048,576 MiB long: "
        "a run keeps 64 MiB of what its programs print"
    )
    QUOTA.cut(tmp_path)
    assert size_of(tmp_path) == MIB


def test_what_is_within_it_or_asked_for_stays(tmp_path: Path) -> None:
    put(tmp_path / "server" / "log", MOST_BYTES - 10_000)
    put(tmp_path / "curl.out", MOST_PRINTED_BYTES)
    (tmp_path / "elsewhere").symlink_to("/proc")
    assert QUOTA.excess(tmp_path) is None
    QUOTA.cut(tmp_path)
    assert (tmp_path / "curl.out").stat().st_size == MOST_PRINTED_BYTES
    put(tmp_path / "server.pcap", MOST_BYTES)
    put(tmp_path / "one" / "qlog" / "client" / "0.sqlog", MOST_BYTES)
    assert Quota(printers=("curl",), uncounted=(".pcap", "qlog")).excess(tmp_path) is None
    assert Quota(uncounted=(".pcap",)).excess(tmp_path) is not None


def test_small_files_count_for_what_they_take(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / str(number)).touch()
    assert Quota(most_bytes=100 * 4096).excess(tmp_path) is None
    assert Quota(most_bytes=99 * 4096).excess(tmp_path) is not None
