"""Whether a study can be carried out: its programs exist, fit together, and are installed."""

from __future__ import annotations

from collections.abc import Iterable

from headway.errors import WrongInputError
from headway.lab.image import installed_extras
from headway.programs import adapters_of, check_programs, remarks
from headway.study.experiment import Study
from headway.study.plan import Run, plan
from headway.web.library import find_site


def checked_plan(study: Study, name: str) -> tuple[Run, ...]:
    """All runs of a study, whose programs exist and can do what is asked of them.

    Args:
        study: the study.
        name: what the user calls it, for messages.

    Raises:
        WrongInputError: a program does not exist, or cannot do it; names what would be right.
    """
    runs = plan(study)
    for run in first_repetition(runs):
        try:
            check_programs(run.setting)
            if run.setting.site:
                find_site(run.setting.site)
        except WrongInputError as error:
            raise WrongInputError(str(error), where=_place(run, name)) from None
    return runs


def first_repetition(runs: Iterable[Run]) -> list[Run]:
    """One run of every contender in every cell."""
    return [run for run in runs if run.rep == 1]


def check_installed(runs: Iterable[Run], name: str) -> None:
    """Check that programs which are no part of every image are there.

    Raises:
        WrongInputError: one is not; names the command that adds it.
    """
    installed = installed_extras()
    for run in first_repetition(runs):
        for adapter, _, _ in adapters_of(run.setting):
            if adapter.extra and adapter.extra not in installed:
                raise WrongInputError(
                    f"{adapter.name} is not installed; `{add_command(adapter.extra)}` adds it",
                    where=_place(run, name),
                )


def add_command(extra: str) -> str:
    """The command that adds an optional program."""
    return f"headway image add {extra}"


def all_remarks(runs: Iterable[Run]) -> list[str]:
    """What a reader of the results must know and might overlook, each remark once."""
    found = (text for run in first_repetition(runs) for text in remarks(run.setting))
    return list(dict.fromkeys(found))


def _place(run: Run, name: str) -> str:
    return f"{name}: {run.experiment}" if run.experiment else name
