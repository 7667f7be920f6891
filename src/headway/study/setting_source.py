"""The place in a study's file that made a setting: for messages about runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headway.study.experiment import Coordinates, Experiment
from headway.study.source import Source


def place_of(
    source: Source, experiment: Experiment, coordinates: Coordinates, contender: str, key: str
) -> str:
    """``file:line: key`` of what gave a contender's setting a key in a cell.

    Args:
        source: text of the study.
        experiment: the experiment.
        coordinates: the cell.
        contender: its name.
        key: the setting's key, dotted.
    """
    written = next(_statements(experiment, coordinates, contender, key), key)
    return source.where(written, experiment=experiment.name)


def _statements(
    experiment: Experiment, coordinates: Coordinates, contender: str, key: str
) -> Iterator[str]:
    """Where the key may have been given, what prevails first."""
    if experiment.contenders[contender] == {"protocol": contender} and key == "protocol":
        yield f"axes.{key}"
    if _has(experiment.contenders[contender], key.split(".")):
        yield f"contenders.{contender}.{key}"
    for axis in coordinates:
        if f"{axis}.".startswith(f"{key}.") or f"{key}.".startswith(f"{axis}."):
            yield f"{'axes' if axis in experiment.axes else 'cells'}.{axis}"


def _has(table: Any, keys: list[str]) -> bool:
    for key in keys:
        if not isinstance(table, Mapping) or key not in table:
            return False
        table = table[key]
    return True
