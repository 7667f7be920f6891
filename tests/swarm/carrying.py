"""A drawn setting, carried out: here, and once more in other surroundings."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, replace
from pathlib import Path

from headway.campaign.feasibility import checked_plan
from headway.columns import Record
from headway.errors import WrongInputError
from headway.image import add_extra, find_extra
from headway.lab.machine import Machine
from headway.lab.run import carry_out
from headway.planning.runs import Run
from headway.records.record import make_record
from headway.study.load import study_from
from tests.surroundings import DiffersElsewhereError, booting_twice
from tests.swarm.drawing import Tables


class TwiceBooted(Machine):
    """A machine that boots every lab once more in other surroundings, and compares what both left."""

    boot = booting_twice(Machine.boot)


@dataclass(frozen=True)
class Trial:
    """What came of a setting.

    Attributes:
        run: that was planned; None if the setting was refused.
        refusal: why it was refused; empty if it was not.
        record: of the run; None if there was none.
        fault: an error of Headway itself, with where it arose; empty if there was none.
    """

    run: Run | None = None
    refusal: str = ""
    record: Record | None = None
    fault: str = ""


def carried(tables: Tables, machine: Machine, directory: Path, cpu: int | None) -> Trial:
    """Plan a study's tables and carry its run out.

    Args:
        tables: of a study with one run.
        machine: that boots labs.
        directory: for what the lab leaves.
        cpu: where the lab is booted.
    """
    try:
        study = study_from(tables, programs=())
        (run,) = checked_plan(study, study.name)
    except WrongInputError as error:
        return Trial(refusal=error.message)
    except Exception as error:
        return Trial(fault=f"planning: {_described(error)}")
    try:
        result = carry_out(run, _equipped(machine, run), directory, cpu=cpu)
        return Trial(run, record=make_record(run, result, directory))
    except (Exception, DiffersElsewhereError) as error:
        return Trial(run, fault=f"carrying out: {_described(error)}")


def _equipped(machine: Machine, run: Run) -> Machine:
    needed = {end.adapter.extra for end in run.deployment.programs if end.adapter.extra}
    added = {name: add_extra(find_extra(name)).directory for name in needed - machine.extras.keys()}
    return replace(machine, extras={**machine.extras, **added})


def _described(error: Exception) -> str:
    """An error with the place in Headway where it arose."""
    places = [at for at in traceback.extract_tb(error.__traceback__) if "/headway/" in at.filename]
    place = f" at {Path(places[-1].filename).name}:{places[-1].lineno}" if places else ""
    return f"{type(error).__name__}: {error}{place}"
