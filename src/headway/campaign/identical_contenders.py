"""Contenders that are one: the lab would be ordered to do the same for both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from headway.contract.text import dump
from headway.lab.assemble import orders_for
from headway.planning.deploy import deploy
from headway.planning.deployment import Role
from headway.planning.runs import Run
from headway.study.experiment import Experiment, Study
from headway.study.setting import Setting
from headway.study.units import Duration

_DONE_BY_THE_HOST = ("protocol", "tls", "clock", "limits", "capture", "workload")
"""Parts of a setting that are not in the orders alone."""
_SHORT = Duration(10**9)
"""A path's changes are planned up to the end of a run, which takes long for satellites."""
_Archived = tuple[str, str, str]


def twins(study: Study, runs: Iterable[Run]) -> list[str]:
    """A warning for every contender that is another one by a second name.

    An experiment's first and last cell are looked at; contenders that are the same in both are
    taken to be the same in all.
    """
    first = [run for run in runs if run.rep == 1]
    return [
        warning
        for experiment in study.experiments
        for warning in _twins_of(
            experiment, [run for run in first if run.experiment == experiment.name]
        )
    ]


def _twins_of(experiment: Experiment, runs: Sequence[Run]) -> list[str]:
    settings = {(run.cell, run.contender): run.setting for run in runs}
    cells = list(dict.fromkeys(run.cell for run in runs))
    known: dict[_Archived, str] = {}
    texts = []
    for contender in experiment.contenders:
        setting = settings.get((cells[0], contender))
        if setting is None:
            continue
        other = known.setdefault(_told(setting), contender)
        last = [settings.get((cells[-1], name)) for name in (other, contender)]
        if (
            other != contender
            and all(last)
            and len({_told(repetition) for repetition in last if repetition}) == 1
        ):
            texts.append(_warning(experiment, other, contender, setting))
    return texts


def _told(setting: Setting) -> _Archived:
    """All that the lab and its host would be told; of the paths, how they change, as their dump."""
    shared = setting.model_dump_json(include=set(_DONE_BY_THE_HOST))
    paths = "".join(path.model_dump_json() for path in setting.network.crossed)
    limits = setting.limits.model_copy(update={"virtual": _SHORT})
    # Flows that last for longer than that have no setting of their own with such a limit.
    deployment = deploy(setting, seed=1)
    brief = replace(deployment, setting=setting.model_copy(update={"limits": limits}))
    return shared, paths, dump(orders_for(brief))


def _warning(experiment: Experiment, text: str, other: str, setting: Setting) -> str:
    place = f"{experiment.name}: " if experiment.name else ""
    return (
        f"{place}contenders {text!r} and {other!r} are the same: the lab's orders would be equal for "
        f"both ({_in_words(setting)})"
    )


def _in_words(setting: Setting) -> str:
    """What both are, in a line."""
    words = []
    for flow in deploy(setting).flows:
        words.append(f"{flow.setting.workload} over {flow.setting.protocol}")
        for end in flow.endpoints:
            how = "" if end.role is Role.CLIENT else f" with {end.congestion_control}"
            words.append(f"{end.role.label} {end.adapter.name}{how}")
    return ", ".join(dict.fromkeys(words))
