"""A report where nothing may be written, or with little memory: a sentence says so, and what was finished stays."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

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


# With less than a GiB libraries are loaded in vain, and with more figures are drawn in vain, some or all.
@pytest.mark.parametrize("memory_mib", [200, 900, 1300, 1700])
def test_too_little_memory_is_said(results: Path, memory_mib: int) -> None:
    before = kept(results)
    ended = ended_with(results, memory_kib=str(memory_mib * 1024))
    lines = ended.stderr.splitlines()
    assert "Traceback" not in ended.stderr
    if ended.returncode != 0:
        assert ended.returncode == 1
        assert "too little memory" in lines[-1] or "of address space" in lines[-1], lines
    assert before.items() <= kept(results).items()
