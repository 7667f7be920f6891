"""Standard files that are closed or full, a terminal without a width, results and caches that cannot be written."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from headway.campaign import costs
from headway.campaign.executor import explained
from headway.errors import HeadwayError, naming, of_system
from headway.records.journal import Journal

HEADWAY = (sys.executable, "-m", "headway")


def headway(*words: str, shell: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """A command of Headway, with the shell's redirections."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {shell}', "sh", *HEADWAY, *words],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.mark.parametrize("words", [("list", "studies"), ("validate", "quickstart"), ("--version",)])
def test_an_output_that_is_full_is_said(words: tuple[str, ...]) -> None:
    ended = headway(*words, shell="> /dev/full")
    assert ended.returncode == 1
    assert ended.stderr == ("headway: standard output cannot be written: No space left on device\n")


def test_full_notes_and_closed_files_end_no_command() -> None:
    assert headway("validate", "quickstart", shell="2> /dev/full").returncode == 0
    assert headway("validate", "quickstart", shell="<&- >&- 2>&-").returncode == 0


def test_a_reader_that_has_gone_is_no_fault() -> None:
    ended = headway("list", "studies", shell="| true")
    assert ended.stderr == ""


@pytest.mark.parametrize("columns", ["0", "1", "00", "²", "9" * 30])
def test_an_answer_is_printed_whatever_the_width_is_said_to_be(columns: str) -> None:
    usual = headway("list", "studies", COLUMNS="80")
    assert headway("list", "studies", COLUMNS=columns).stdout == usual.stdout != ""


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.EROFS, "Read-only file system", "a/b"), "a/b: Read-only file system"),
        (OSError(errno.EXDEV, "Invalid link", "a", None, "b"), "a -> b: Invalid link"),
        (OSError(errno.EIO, "Input/output error"), "the system refuses: Input/output error"),
        (TimeoutError("timed out"), "the system refuses: timed out"),
    ],
)
def test_errors_of_the_system_have_words(error: OSError, words: str) -> None:
    assert of_system(error) == words
    assert str(explained(error)) == words


def test_a_file_that_is_open_has_its_name_in_errors() -> None:
    with (
        pytest.raises(OSError, match=r"No space left on device: 'runs\.parquet'"),
        naming("runs.parquet"),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")


def moved(directory: Path) -> None:
    directory.rename(directory.with_name("elsewhere"))


def replaced(directory: Path) -> None:
    moved(directory)
    directory.mkdir()
    (directory / "records.jsonl").touch()


@pytest.mark.parametrize("change", [moved, replaced])
def test_records_go_nowhere_when_results_were_moved(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    results = tmp_path / "results"
    results.mkdir()
    journal = Journal(results / "records.jsonl")
    journal.add([b"one"])
    change(results)
    with pytest.raises(HeadwayError, match="is gone: it was removed or moved"):
        journal.add([b"two"])
    journal.close()
    assert (tmp_path / "elsewhere" / "records.jsonl").read_bytes() == b"one\n"


def test_costs_need_no_cache_that_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "file"))
    taken: Mapping[str, float | None] = {}
    costs.learn([], taken)
    assert costs.read_own() == {}
