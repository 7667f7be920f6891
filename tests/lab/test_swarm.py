"""Drawn settings, each carried out twice and judged by what must hold of any; `make swarm` draws many more."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.lab.cores import available_cores
from headway.lab.machine import Machine
from tests.swarm.judging import Judge

pytestmark = pytest.mark.lab

BY_DAY = range(1, 61)
A_TEST = 10
"""Seeds of one test."""


@pytest.mark.parametrize("first", BY_DAY[::A_TEST])
def test_what_must_hold_of_any_setting(machine: Machine, tmp_path: Path, first: int) -> None:
    judge = Judge(machine, tmp_path, available_cores()[0])
    verdicts = [judge.of_seed(seed) for seed in range(first, first + A_TEST)]
    failing = {
        verdict.tables["name"]: verdict.violations for verdict in verdicts if verdict.violations
    }
    assert not failing, f"`python -m tests.swarm SEED` makes them small: {failing}"
    assert any(verdict.status == "ok" for verdict in verdicts)
