"""A report where nothing may be written, or with little memory: a sentence says so, and what was finished stays."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from headway.cli.memory import is_of_memory
from tests.unit import made_results as made

WRITE = 0o222
_HEADWAY = (sys.executable, "-m", "headway")
_WITHOUT_PRIVILEGES = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--")
"""Even root may then write only to what has the bit for it."""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return made.saved(tmp_path / "results", made.grid())


def kept(directory: Path) -> dict[str, bytes]:
    files = (file for file in sorted(directory.rglob("*")) if file.is_file())
    return {str(file.relative_to(directory)): file.read_bytes() for file in files}


def ended_with(
    results: Path, *before: str, memory_kib: str = "unlimited"
) -> subprocess.CompletedProcess[str]:
    """How `headway report` ends, below a limit of its memory."""
    words = (*before, *_HEADWAY, "report", str(results))
    limited = ("sh", "-c", f'ulimit -v {memory_kib}; exec "$@"', "sh")
    return subprocess.run([*limited, *words], capture_output=True, text=True, check=False)


def without_the_bit(directory: Path) -> tuple[str, ...]:
    for place in (directory, *directory.rglob("*")):
        place.chmod(place.stat().st_mode & ~WRITE)
    return _WITHOUT_PRIVILEGES if os.geteuid() == 0 else ()


def mounted(directory: Path) -> tuple[str, ...]:
    """What starts a command that sees the directory on a read-only file system (user_namespaces(7))."""
    root = () if os.geteuid() == 0 else ("--map-root-user",)
    remount = 'mount -o bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
    words = ("unshare", "--mount", *root, "sh", "-c", remount, str(directory))
    if subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mount namespace can be made here")
    return words


@pytest.mark.parametrize(
    ("protect", "why"),
    [(without_the_bit, "Permission denied"), (mounted, "Read-only file system")],
)
def test_it_says_where_it_cannot_write(
    results: Path, protect: Callable[[Path], tuple[str, ...]], why: str
) -> None:
    if not shutil.which("setpriv") or not shutil.which("unshare"):
        pytest.skip("util-linux is not here")
    before = kept(results)
    ended = ended_with(results, *protect(results))
    assert ended.returncode == 1
    assert ended.stderr == f"headway: {results}/report: {why}\n"
    assert "Answer" in ended.stdout
    assert kept(results) == before


@pytest.mark.parametrize("memory_mib", [200, 900, 1500, 2000])
def test_too_little_memory_is_said(results: Path, memory_mib: int) -> None:
    before = kept(results)
    ended = ended_with(results, memory_kib=str(memory_mib * 1024))
    assert ended.returncode == 1
    said = (
        f"headway: a limit (ulimit -v) leaves {memory_mib:,} MiB of address space: headway report"
    )
    assert ended.stderr.startswith(said)
    assert ended.stderr.count("\n") == 1
    assert kept(results) == before


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory", "a"),
        ImportError("x.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
        RuntimeError("could not spawn threads: Resource temporarily unavailable"),
    ],
)
def test_errors_of_too_little_memory_are_known(error: Exception) -> None:
    assert is_of_memory(error)


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device", "a"), ValueError("a"), KeyError()]
)
def test_other_errors_are_not_of_memory(error: Exception) -> None:
    assert not is_of_memory(error)


def test_whatever_is_raised_near_the_limit_is_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (2**20, 2**20))
    assert is_of_memory(OSError("unknown file format"))
    assert not is_of_memory(OSError(errno.ENOSPC, "No space left on device", "a"))
