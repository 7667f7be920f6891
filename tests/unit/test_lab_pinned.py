"""On which core a lab is started."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from headway.lab.cores import available_cores
from headway.lab.machine import pinned

CORE = available_cores()[-1]
TELLS = (sys.executable, "-c", "import os; print(*os.sched_getaffinity(0))")


def test_what_is_started_there_runs_on_the_core() -> None:
    before = os.sched_getaffinity(0)
    with pinned(CORE):
        told = subprocess.run(TELLS, capture_output=True, text=True, check=True).stdout
    assert told.split() == [str(CORE)]
    assert os.sched_getaffinity(0) == before


def test_without_a_core_it_runs_anywhere() -> None:
    with pinned(None):
        told = subprocess.run(TELLS, capture_output=True, text=True, check=True).stdout
    assert set(map(int, told.split())) == os.sched_getaffinity(0)


def test_the_thread_has_its_cores_back_when_nothing_could_be_started() -> None:
    before = os.sched_getaffinity(0)
    with pytest.raises(OSError, match="nonexistent"), pinned(CORE):
        subprocess.run(["/nonexistent"], check=False)
    assert os.sched_getaffinity(0) == before
