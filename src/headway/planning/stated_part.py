"""Parts that a study states, and the remark about those of which nothing comes in any run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class StatedPart:
    """A part of a run's setting.

    Attributes:
        key: in the study file.
        acts: whether anything comes of it in this run.
        otherwise: why nothing does, and what to do.
    """

    key: str
    acts: bool
    otherwise: str


def without_effect(parts: Iterable[StatedPart]) -> Iterator[str]:
    """Remarks about the parts that act in no run, from those of all runs."""
    acting: dict[tuple[str, str], bool] = {}
    for part in parts:
        place = part.key, part.otherwise
        acting[place] = acting.get(place, False) or part.acts
    for (key, otherwise), acts in acting.items():
        if not acts:
            yield f"{key} is without effect: {otherwise}"
