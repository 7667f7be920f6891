"""Matplotlib keeps its list of fonts where it can, and nobody has to read of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

DRAW = "from headway.report.sheet import text_width; text_width('x', 12); import matplotlib"
WHERE = f"{DRAW}; import matplotlib.font_manager; print(matplotlib.get_cachedir())"
NOWHERE = "/proc/none"


def drawn(**environment: str) -> subprocess.CompletedProcess[str]:
    usual = {
        name: value
        for name, value in os.environ.items()
        if name not in ("MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
    }
    return subprocess.run(
        [sys.executable, "-c", WHERE],
        env={**usual, **environment},
        capture_output=True,
        text=True,
        check=True,
    )


def test_a_home_that_takes_no_files_is_no_matter(tmp_path: Path) -> None:
    done = drawn(HOME=NOWHERE, HEADWAY_CACHE=str(tmp_path))
    assert done.stdout == f"{tmp_path}/matplotlib\n"
    assert done.stderr == ""


def test_nor_is_a_cache_that_takes_none(tmp_path: Path) -> None:
    done = drawn(HOME=NOWHERE, HEADWAY_CACHE=NOWHERE, TMPDIR=str(tmp_path))
    assert done.stdout.startswith(f"{tmp_path}/headway-matplotlib-")
    assert done.stderr == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("named", [True, False], ids=["named", "usual"])
def test_a_place_that_there_is_stays(tmp_path: Path, named: bool) -> None:
    own = {"MPLCONFIGDIR": str(tmp_path / "own")} if named else {}
    (tmp_path / "own").mkdir()
    done = drawn(HOME=str(tmp_path), HEADWAY_CACHE=str(tmp_path / "cache"), **own)
    told = done.stdout.strip()
    assert told == str(tmp_path / ("own" if named else ".cache/matplotlib"))
