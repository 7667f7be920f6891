"""Values are the same with every Python: mypy reports each `sum` of floats (`tools/mypy_sums.py`)."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.imports import REPOSITORY

PLUGIN = "tools/mypy_sums.py"
SOURCE = """\
def wrong(floats: list[float], whole: list[int], named: dict[str, float]) -> float:
    a = sum(floats)
    b = sum(number / 2 for number in whole)
    return a + b + sum(named.values(), 0.0)

def right(floats: list[float], whole: list[int]) -> int:
    return sum(whole) + sum(one > 1 for one in floats) + sum(map(len, [whole]))
"""


def test_sums_of_floats_are_reported_and_others_are_not(tmp_path: Path) -> None:
    (tmp_path / "source.py").write_text(SOURCE)
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nplugins = {REPOSITORY / PLUGIN}\n")
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "source.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert re.findall(r"source.py:(\d+): error: .*math\.fsum", done.stdout) == ["2", "3", "4"]
    assert "Found 3 errors" in done.stdout


def test_all_of_headway_is_checked_so() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["mypy"]["plugins"] == [PLUGIN]
    assert project["tool"]["mypy"]["packages"] == ["headway"]
