"""A check: one property of the emulation, what it should be, and what was measured."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Check:
    """One measured property of one path.

    Attributes:
        name: the property and the direction, as ``loss down``.
        path: the path in short.
        expected: what the path states.
        measured: what the probes saw; None if they saw nothing to judge by.
        low: least value that passes.
        high: greatest value that passes.
        unit: of all four numbers.
        note: how the bounds came about.
    """

    name: str
    path: str
    expected: float
    measured: float | None
    low: float
    high: float
    unit: str
    note: str

    @property
    def passed(self) -> bool:
        """Whether the measured value lies within the bounds."""
        # The bounds are often the exact expectation, and measured values are quotients.
        slack = 1e-9 * max(abs(self.low), abs(self.high))
        return self.measured is not None and bool(
            self.low - slack <= self.measured <= self.high + slack
        )

    @property
    def excess(self) -> float:
        """How far the measured value lies beyond the nearer bound; 0 if the check passed."""
        if self.passed or self.measured is None:
            return 0.0
        return max(self.low - self.measured, self.measured - self.high)

    def as_json(self) -> dict[str, Any]:
        """The check as plain values, for a manifest or a machine."""
        values = dataclasses.asdict(self) | {"passed": self.passed}
        # Measured values are often numpy's, which are no JSON.
        return {
            name: value.item() if hasattr(value, "item") else value
            for name, value in values.items()
        }

    def __str__(self) -> str:
        verdict = "as expected" if self.passed else f"not within {self.bounds()}"
        return f"{self.name} of {self.path}: {number(self.measured)} {self.unit}, {verdict}"

    def bounds(self) -> str:
        """The accepted interval in words."""
        if self.low == self.high:
            return f"exactly {number(self.low)}"
        return f"{number(self.low)} to {number(self.high)}"


def number(value: float | None) -> str:
    """A number with at most six significant digits; a dash for none."""
    if value is None or math.isnan(value):
        return "-"
    if value == int(value) and abs(value) < 1e9:
        return str(int(value))
    return f"{value:.6g}"
