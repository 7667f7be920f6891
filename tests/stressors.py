"""stress-ng's stressors and what is expected of each, from `tests/lab/stressors.csv`."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Stressor:
    """What is expected of a stressor.

    Attributes:
        name: its name.
        classes: those that stress-ng counts it to.
        account: ``root``, or ``user`` where it refuses to be root.
        outcome: ``passed``, ``skipped`` or ``failed``, as stress-ng says; ``passed or skipped`` where it is this machine's
            processor that decides.
        alike: whether two labs with one seed are equal.
        nightly: whether only the night tries it.
    """

    name: str
    classes: frozenset[str]
    account: str
    outcome: str
    alike: bool
    nightly: bool

    @property
    def outcomes(self) -> list[str]:
        """What may come of it."""
        return self.outcome.split(" or ")


def listed() -> list[Stressor]:
    """All of them."""
    place = Path(__file__).parent / "lab" / "stressors.csv"
    with place.open(encoding="utf-8", newline="") as file:
        return [
            Stressor(
                row["name"],
                frozenset(row["classes"].split()),
                row["as"],
                row["outcome"],
                row["alike"] == "yes",
                row["nightly"] == "yes",
            )
            for row in csv.DictReader(file)
        ]
