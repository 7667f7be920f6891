"""What lab tests share: carrying out one setting and getting its record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headway.lab.bodies import body_file
from headway.lab.machine import Machine
from headway.lab.run import carry_out
from headway.programs import CLIENTS
from headway.results.record import make_record
from headway.results.schema import Record
from headway.study.model import Setting
from headway.study.plan import Run

RunSetting = Callable[..., Record]


@pytest.fixture
def run_setting(machine: Machine, tmp_path: Path) -> RunSetting:
    """Carry out a setting, given as a study file would; artefacts are in tmp_path/NAME."""

    def carry(raw: dict[str, Any], *, seed: int = 1, name: str = "run") -> Record:
        setting = Setting.model_validate(raw)
        for size in setting.served_sizes:
            body_file(size)
        run = Run(name, "test", "", "cell", str(setting.protocol), 1, seed, setting)
        directory = tmp_path / name
        return make_record(run, carry_out(run, machine, directory), directory)

    return carry


def skip_without_extra(client: str, machine: Machine) -> None:
    """Skip a test of a client whose extra is not installed."""
    extra = CLIENTS[client].extra
    if extra and extra not in machine.extras:
        pytest.skip(f"needs `headway image add {extra}`")
