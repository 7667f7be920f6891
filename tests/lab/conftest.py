"""What lab tests share: carrying out one setting and getting its record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from headway.campaign.feasibility import add_command
from headway.columns import Record
from headway.contract.outcome import Spins
from headway.errors import HeadwayError
from headway.image import add_extra, find_extra
from headway.lab.cores import available_cores
from headway.lab.machine import Machine
from headway.lab.run import carry_out
from headway.planning.deploy import deploy
from headway.planning.runs import Run
from headway.records.record import make_record
from headway.study.setting import Setting

RunSetting = Callable[..., Record]


@pytest.fixture
def run_setting(machine: Machine, tmp_path: Path) -> RunSetting:
    """Carry out a setting, given as a study file would; artefacts are in tmp_path/NAME.

    The test is skipped if a program of the setting cannot be had on this machine. No program of
    Headway's may wait without sleeping.
    """

    def carry(raw: dict[str, Any] | Setting, *, seed: int = 1, name: str = "run") -> Record:
        setting = Setting.model_validate(raw)
        run = Run(name, "test", "", "cell", str(setting.protocol), 1, seed, setting)
        directory = tmp_path / name
        # As studies do: a lab on a core takes over the memory of the one before.
        core = available_cores()[0]
        result = carry_out(run, equipped(machine, setting), directory, cpu=core)
        assert setting.programs or result.outcome.spins in (None, Spins(0, 0))
        return make_record(run, result, directory)

    return carry


def equipped(machine: Machine, setting: Setting) -> Machine:
    """A machine with the optional programs of a setting; skips the test if one cannot be had."""
    needed = {end.adapter.extra for end in deploy(setting).programs if end.adapter.extra}
    added = {name: brought(name) for name in needed - machine.extras.keys()}
    for name, found in added.items():
        if isinstance(found, HeadwayError):
            pytest.skip(f"{found}; `{add_command(name)}` brings it where that can be had")
    return replace(machine, extras={**machine.extras, **added})


@cache
def brought(extra: str) -> Path | HeadwayError:
    """Where an optional program is, compiled first if this machine can; or why it cannot."""
    try:
        return add_extra(find_extra(extra)).directory
    except HeadwayError as error:
        return error
