"""The verdict on a sender in a case, with the numbers it rests on, and what a picture of it shows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum


class NotApplicableError(Exception):
    """A case does not apply to a sender, or cannot be judged by what is known of it; the text says why."""


class ConformanceResult(StrEnum):
    """Of a sender in a case."""

    PASSED = "pass"
    FAILED = "fail"
    NOT_APPLICABLE = "not applicable"

    @property
    def symbol(self) -> str:
        """In tables."""
        return {"pass": "✓", "fail": "✕", "not applicable": "–"}[self.value]


@dataclass(frozen=True)
class CheckedNumber:
    """A number, and the range that it has to be in.

    Attributes:
        name: what it is.
        value: not a number if it could not be seen, which fails.
        low: the least that passes.
        high: the most that passes.
        unit: of all three; empty of ratios.
    """

    name: str
    value: float
    low: float = -math.inf
    high: float = math.inf
    unit: str = ""

    @property
    def passes(self) -> bool:
        """Whether it is in its range."""
        return self.low <= self.value <= self.high

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        if math.isinf(self.low) and math.isinf(self.high):
            limits = ""
        elif math.isinf(self.low):
            limits = f" (at most {self.high:.4g})"
        elif math.isinf(self.high):
            limits = f" (at least {self.low:.4g})"
        else:
            limits = f" ({self.low:.4g} to {self.high:.4g})"
        return f"{self.name} {self.value:.4g}{unit}{limits}"


@dataclass(frozen=True)
class DrawnBound:
    """A line in a picture that says where the window should be: points of seconds and bytes."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Mark:
    """A moment in a picture."""

    at_s: float
    name: str


@dataclass
class Examination:
    """What a check measures, and draws into the picture."""

    numbers: list[CheckedNumber] = field(default_factory=list)
    bounds: list[DrawnBound] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    span_s: tuple[float, float] | None = None
    """The part of the time that the picture shows; all of it if None."""

    def measure(
        self,
        name: str,
        value: float,
        low: float = -math.inf,
        high: float = math.inf,
        unit: str = "",
    ) -> None:
        """Add a number with its range."""
        self.numbers.append(CheckedNumber(name, value, low, high, unit))

    def level(self, name: str, begin_s: float, end_s: float, window_bytes: float) -> None:
        """Draw a window that should be there from a time until another."""
        self.bounds.append(DrawnBound(name, ((begin_s, window_bytes), (end_s, window_bytes))))


@dataclass(frozen=True)
class ConformanceVerdict:
    """The result of a sender in a case.

    Attributes:
        case: name of the case.
        sender: title of the sender.
        result: of it.
        reason: why it is that, in a sentence.
        numbers: that it rests on.
        evidence: where the sender's course is known from; empty if it is not.
        picture: file of the picture, relative to the results; empty without one.
    """

    case: str
    sender: str
    result: ConformanceResult
    reason: str
    numbers: tuple[CheckedNumber, ...] = ()
    evidence: str = ""
    picture: str = ""


def concluded(examination: Examination) -> tuple[ConformanceResult, str]:
    """Result and reason of what a check measured; a check that measured nothing fails."""
    failed = [number for number in examination.numbers if not number.passes]
    if failed:
        return ConformanceResult.FAILED, "; ".join(map(str, failed))
    if not examination.numbers:
        return ConformanceResult.FAILED, "the check measured nothing"
    return ConformanceResult.PASSED, "; ".join(map(str, examination.numbers))
