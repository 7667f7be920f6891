"""Changes of a study by `--set`: the experiment each belongs to, and those that an axis or every contender overrides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headway.errors import WrongInputError
from headway.study.experiment import Experiment, Study

_SHOWN_LEVELS = 4


def of_experiments(
    changes: Mapping[str, Any],
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Changes of all experiments, and those of one by its name: ``experiments.NAME.KEY``.

    Raises:
        WrongInputError: ``experiments`` is no such table.
    """
    of_one = changes.get("experiments", {})
    if not isinstance(of_one, dict) or not all(isinstance(own, dict) for own in of_one.values()):
        raise WrongInputError("write experiments.NAME.KEY=VALUE", where="--set")
    return {key: value for key, value in changes.items() if key != "experiments"}, of_one


def named_experiment(name: str, study: Study, where: str) -> Experiment:
    """The experiment that a change is for.

    Raises:
        WrongInputError: the study, or its form that is asked for, has none of this name.
    """
    known = {experiment.name: experiment for experiment in study.experiments if experiment.name}
    if name not in known:
        there = f"there are {', '.join(known)}" if known else "it has none by name"
        raise WrongInputError(f"there is no experiment {name!r} to change; {there}", where=where)
    return known[name]


def check_matter(
    changes: Mapping[str, Any], experiments: Sequence[Experiment], where: str, prefix: str = ""
) -> None:
    """Refuse changes of keys that axes or contenders set in every cell of all experiments.

    Args:
        changes: the tables.
        experiments: those that are changed.
        where: the study's file.
        prefix: what stands before the keys in the option.

    Raises:
        WrongInputError: names the key, what sets it, and how to change that.
    """
    for key in _keys(changes):
        setters = [_what_sets(key, experiment, prefix) for experiment in experiments]
        if setters and all(setters):
            raise WrongInputError(f"another {key} would change nothing: {setters[0]}", where=where)


def _keys(changes: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in changes.items():
        if isinstance(value, Mapping):
            yield from _keys(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def _what_sets(key: str, experiment: Experiment, prefix: str) -> str:
    """What has the last word on a key, and how to change that; empty if nothing has in some cell."""
    if key in experiment.axes:
        levels = experiment.levels(key)
        more = ", ..." if len(levels) > _SHOWN_LEVELS else ""
        shown = ", ".join(levels[:_SHOWN_LEVELS]) + more
        return f"it is an axis ({shown}); set {prefix}axes.{key}=[...] to change its values"
    if all(_has(contender, key) for contender in experiment.contenders.values()):
        name = next(iter(experiment.contenders))
        return f"every contender sets it; set {prefix}contenders.{name}.{key}=... to change one of them"
    return ""


def _has(table: Mapping[str, Any], key: str) -> bool:
    value: Any = table
    for part in key.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return False
        value = value[part]
    return True
