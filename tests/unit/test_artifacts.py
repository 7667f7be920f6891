"""Files that a lab left are read in one way, and what is no file is no reason to hang or to fail otherwise."""

import ast
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from headway.contract import artifact
from headway.contract.artifact import SpoiltError, read_bytes, read_lines, read_text
from headway.contract.outcome import Outcome
from headway.contract.text import dump
from headway.lab.leftovers import keep_plain_files
from headway.lab.outcomes import outcome_of
from tests.imports import modules, tree

READERS = ("contract", "diagnosis", "gate", "lab", "pages", "programs")
"""Packages that read what a lab left."""
OTHERS = {
    "headway.contract.artifact": "is the one way",
    "headway.lab.bodies": "served bodies, of the cache",
    "headway.lab.certificate": "the image's",
    "headway.lab.cores": "the machine's cores",
    "headway.lab.links": "copies for studies of what the host wrote",
    "headway.lab.machine": "writes",
    "headway.lab.pcapng": "writes",
    "headway.lab.lab_options_cache": "the cache's",
    "headway.lab.sysctls": "the image's",
    "headway.lab.usage": "/proc of the host",
    "headway.programs.knobfile": "comes with Headway",
    "headway.diagnosis.departures": "writes",
    "headway.pages.visual": "pictures, by Pillow",
}
"""Modules of these packages that open other files, and which."""
OPENING = {"open", "read_text", "read_bytes"}


def link(file: Path) -> None:
    (file.parent / "elsewhere").write_text("text")
    file.symlink_to("elsewhere")


def huge(file: Path) -> None:
    file.touch()
    os.truncate(file, 2**40)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (os.mkdir, "is no file"),
        (os.mkfifo, "is no file"),
        (link, "cannot be read: Too many levels of symbolic links"),
        (huge, "has 1099.5 GB"),
    ],
    ids=["directory", "fifo", "link", "huge"],
)
def test_what_is_no_readable_file_is_said(
    tmp_path: Path, make: Callable[[Path], object], reason: str
) -> None:
    make(tmp_path / "own.out")
    for read in (read_bytes, read_text):
        with pytest.raises(SpoiltError, match=reason):
            read(tmp_path / "own.out")


def test_a_text_that_is_none(tmp_path: Path) -> None:
    file = tmp_path / "own.out"
    file.write_bytes(b"one\r\ntwo\xff")
    assert read_text(file, exact=False) == "one\ntwo\ufffd"
    with pytest.raises(SpoiltError, match="no UTF-8 from byte 8 on"):
        read_text(file)


def test_a_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifact, "MOST_LINE_BYTES", 4)
    file = tmp_path / "own.qlog"
    file.write_bytes(b"abc\n1234567\n")
    lines = read_lines(file)
    assert next(lines) == b"abc\n"
    with pytest.raises(SpoiltError, match="a line of more than"):
        next(lines)


def test_what_is_missing_is_missing(tmp_path: Path) -> None:
    for read in (read_bytes, read_text, lambda file: next(read_lines(file))):
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "nothing")


def test_names_that_a_program_chose_are_readable() -> None:
    assert str(SpoiltError("a\x1b[31m\udcff" + "b" * 100, "is odd")) == (
        f"a\ufffd[31m\ufffd{'b' * 53}... is odd"
    )


def test_directories_in_directories_are_removed_beyond_a_depth(tmp_path: Path) -> None:
    here = Path.cwd()
    run = tmp_path / "run"
    (run / "good").mkdir(parents=True)
    try:
        os.chdir(run)
        for _ in range(1_500):
            Path("deep").mkdir()
            os.chdir("deep")
        Path("leaf").touch()
    finally:
        os.chdir(here)
    with pytest.raises(SpoiltError, match="nested too deep"):
        keep_plain_files(run)
    assert sum(1 for _ in run.rglob("*")) < 50
    keep_plain_files(run)


def test_only_files_and_directories_stay(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked" / "own").touch()
    (tmp_path / "locked" / "own").chmod(0o4000)
    (tmp_path / "locked").chmod(0)
    (tmp_path / os.fsdecode(b"\xff\n")).touch()
    keep_plain_files(tmp_path)
    left = {str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*")}
    assert left == {"locked", "locked/own", "\udcff\n"}
    assert stat.S_IMODE((tmp_path / "locked" / "own").stat().st_mode) == 0o600


GOOD = Outcome("ok", None, 5, "7.2")


def answered(directory: Path, text: str) -> Outcome:
    (directory / "console.log").write_text("")
    (directory / "outcome.json").write_text(text)
    return outcome_of(directory / "outcome.json", directory / "console.log", 0, None)


def test_an_outcome_is_read(tmp_path: Path) -> None:
    assert answered(tmp_path, dump(GOOD)) == GOOD


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "[" * 100_000,
        dump(Outcome("well", None, 5, "7.2")),
        '{"status":"ok","reason":null,"duration_ns":"5","kernel":"7.2"}',
        '{"status":"ok","reason":null,"duration_ns":-5,"kernel":"7.2"}',
        f'{{"status":"ok","reason":null,"duration_ns":{10**30},"kernel":"7.2"}}',
        '{"status":"ok","reason":null,"duration_ns":5,"kernel":"7.2","ended":[5]}',
        '{"status":"ok","reason":null,"duration_ns":5,"kernel":"7.2","spins":{"charged_calls":"x"}}',
    ],
)
def test_what_is_no_outcome_fails_the_run(tmp_path: Path, text: str) -> None:
    outcome = answered(tmp_path, text)
    assert outcome.status == "failed"
    assert (outcome.reason or "").startswith("a program has spoilt the run's directory: outcome.js")


def opens_files(file: Path) -> bool:
    return any(
        isinstance(node, ast.Call)
        and (
            (isinstance(node.func, ast.Attribute) and node.func.attr in OPENING)
            or (isinstance(node.func, ast.Name) and node.func.id in {"open", "open_regular"})
        )
        for node in ast.walk(tree(file))
    )


def test_no_other_module_opens_what_a_lab_left() -> None:
    opening = {
        name
        for name, file in modules().items()
        if name.split(".")[1:2] and name.split(".")[1] in READERS and opens_files(file)
    }
    assert opening == OTHERS.keys()
