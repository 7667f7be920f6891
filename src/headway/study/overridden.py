"""Changes of a study that would change nothing: an axis, or every contender, has the last word on their keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headway.errors import WrongInputError
from headway.study.experiment import Experiment

_SHOWN_LEVELS = 4


def check_matter(changes: Mapping[str, Any], experiments: Sequence[Experiment], where: str) -> None:
    """Refuse changes of keys that axes or contenders set in every cell of all experiments.

    Raises:
        WrongInputError: names the key, what sets it, and how to change that.
    """
    for key in _keys(changes):
        setters = [_what_sets(key, experiment) for experiment in experiments]
        if setters and all(setters):
            raise WrongInputError(f"another {key} would change nothing: {setters[0]}", where=where)


def _keys(changes: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in changes.items():
        if isinstance(value, Mapping):
            yield from _keys(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def _what_sets(key: str, experiment: Experiment) -> str:
    """What has the last word on a key, and how to change that; empty if nothing has in some cell."""
    if key in experiment.axes:
        levels = experiment.levels(key)
        more = ", ..." if len(levels) > _SHOWN_LEVELS else ""
        shown = ", ".join(levels[:_SHOWN_LEVELS]) + more
        return f"it is an axis ({shown}); set axes.{key}=[...] to change its values"
    if all(_has(contender, key) for contender in experiment.contenders.values()):
        name = next(iter(experiment.contenders))
        return f"every contender sets it; set contenders.{name}.{key}=... to change one of them"
    return ""


def _has(table: Mapping[str, Any], key: str) -> bool:
    value: Any = table
    for part in key.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return False
        value = value[part]
    return True
