"""The guess at a sender's congestion control by the shape of what it keeps in flight: the nearest of known ones, or none."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from headway.diagnosis.flight import Series
from headway.errors import WrongInputError
from headway.instruments.controllers.flightshape import FEATURES, FlightShape
from headway.tables import table

UNKNOWN = "unknown"
TABLE = "shapes.csv"
_SPREADS = (0.05, 0.5)
"""How far a number is taken to spread within a controller, at least and at most: runs of two programs lie apart."""
_REACH = 1.55
"""How far from the nearest known run a run may be, in units of how far numbers spread within controllers."""

_FEWEST = 3
"""Controllers of a table: without the one that is asked about, two have to be left."""


@dataclass(frozen=True)
class Guess:
    """What a sender's controller is held to be.

    Attributes:
        controller: the nearest one that is known, or ``unknown``.
        nearest: the nearest one, however far it is.
        distance: to its nearest run, over the largest that still counts: more than 1 is unknown.
        second: the nearest other controller.
        second_distance: the same of it.
    """

    controller: str
    nearest: str
    distance: float
    second: str
    second_distance: float


@dataclass(frozen=True)
class KnownShapes:
    """Shapes of runs whose controllers are known.

    Attributes:
        names: the controller of each.
        shapes: a row of numbers for each.
    """

    names: tuple[str, ...]
    shapes: Series

    def guess(self, shape: FlightShape) -> Guess:
        """The controller whose known run is nearest, in units of how far numbers spread within controllers."""
        nearest = {
            name: self._away(name, shape.numbers) / _REACH for name in sorted(set(self.names))
        }
        (first, distance), (second, further), *_ = sorted(nearest.items(), key=lambda pair: pair[1])
        return Guess(first if distance <= 1 else UNKNOWN, first, distance, second, further)

    def without(self, controller: str) -> KnownShapes:
        """The same as if a controller had never been seen."""
        kept = [place for place, name in enumerate(self.names) if name != controller]
        return KnownShapes(tuple(self.names[place] for place in kept), self.shapes[kept])

    def _of(self, name: str) -> list[int]:
        return [place for place, text in enumerate(self.names) if text == name]

    def _away(self, name: str, numbers: Series) -> float:
        """How far the nearest run of a controller is."""
        part = self.shapes[self._of(name)]
        return float(np.sqrt((((part - numbers) / self._spreads[name]) ** 2).mean(axis=1)).min())

    @cached_property
    def _spreads(self) -> dict[str, Series]:
        """How far each number is from its controller's median, in the mean over its runs."""
        parts = {name: self.shapes[self._of(name)] for name in set(self.names)}
        return {
            name: np.clip(np.abs(part - np.median(part, axis=0)).mean(axis=0), *_SPREADS)
            for name, part in parts.items()
        }


@lru_cache(maxsize=1)
def known_shapes() -> KnownShapes:
    """Those that come with Headway; docs/controllers.md says of which runs."""
    return _of_rows(table("headway.instruments.controllers", TABLE))


def read_shapes(file: Path) -> KnownShapes:
    """Those of a table of the user's own, as `written_shapes` writes it.

    Raises:
        WrongInputError: it is no such table.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise WrongInputError(f"cannot be read: {reason}", where=str(file)) from None
    rows = [*csv.DictReader(line for line in lines if not line.startswith("#"))]
    try:
        shapes = _of_rows(rows)
    except (KeyError, TypeError, ValueError):
        shapes = None
    if shapes is None or len(set(shapes.names)) < _FEWEST:
        raise WrongInputError(
            "is no table of three controllers or more; `headway controllers RESULTS --learn FILE` writes one",
            where=str(file),
        )
    return shapes


def _of_rows(rows: Iterable[Mapping[str, str]]) -> KnownShapes:
    kept = list(rows)
    numbers = [[float(row[name]) for name in FEATURES] for row in kept]
    return KnownShapes(tuple(row["controller"] for row in kept), np.array(numbers))
