"""An estimate and its interval as they are written: one number of digits for both, so that neither denies the other.

The estimate stands within the ends that are printed, and an interval that leaves out "no difference" shows on which
side of it it lies.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from headway.analysis.numbers import MINUS, percent, signed_percent, significant
from headway.analysis.sample import SampleSummary
from headway.statistics.interval import LEVEL, Interval

_MOST_DECIMALS = 4
"""Of percent: beyond them an end beside "no difference" is said in words."""
_USUAL_DECIMALS = 2
"""Of percent, however close the ends are."""
_MOST_DIGITS = 6
_MUCH = 9.995
"""Differences of this and more (1000 % when rounded) are written as factors."""


class Estimated(Protocol):
    """A relative difference: a value over another, less 1, and its interval."""

    @property
    def relative(self) -> float | None: ...
    @property
    def interval(self) -> Interval | None: ...


@dataclass(frozen=True)
class Written:
    """A difference with its interval.

    Attributes:
        value: the estimate, without its unit.
        low: the lower end, likewise; empty if there is no interval.
        high: the upper end, likewise.
        unit: ``%``, or nothing of factors.
        factor: whether they are factors, of values over others.
        kind: what the ends are: ``95 % interval`` or ``range of pairs``.
    """

    value: str
    low: str
    high: str
    unit: str
    factor: bool
    kind: str

    @property
    def size(self) -> str:
        """The estimate: ``18.7 %``, ``a factor of 2.4``; with its sign ``−18.7 %``, ``×12``."""
        if self.factor and not self.value.startswith("×"):
            return f"a factor of {self.value}"
        return f"{self.value} {self.unit}".rstrip()

    @property
    def ends(self) -> str:
        """The interval without its unit: ``18.5 to 18.8``; empty without one."""
        return f"{self.low} to {self.high}" if self.low else ""

    @property
    def interval(self) -> str:
        """The interval: ``18.5 to 18.8 %``; empty without one."""
        return f"{self.ends} {self.unit}".rstrip() if self.low else ""

    @property
    def told(self) -> str:
        """``difference +0.2 %, 95 % interval −0.6 to +0.9 %``."""
        return ", ".join((f"difference {self.size}", *self.sure))

    @property
    def sure(self) -> tuple[str, ...]:
        """``95 % interval 18.5 to 18.8 %``; nothing without an interval."""
        return (f"{self.kind} {self.interval}",) if self.low else ()


def sized(difference: Estimated) -> Written:
    """A difference for words that tell its direction: without a sign, above 0 in that direction.

    A contender that takes 2.4 times as much does so "by a factor of 2.4".
    """
    relative = difference.relative or 0.0
    interval = difference.interval
    if relative >= 1 or (interval and interval.high >= _MUCH and relative > 0):
        return _factors(relative, interval, "")
    if interval is None or interval.low == interval.high:
        return _alone(percent(relative).removesuffix(" %"), interval)
    sign = -1 if relative < 0 else 1
    ends = sorted((sign * interval.low, sign * interval.high))
    value, low, high, decimals = _in_percent(sign * relative, *ends)
    if not value.strip("0."):
        value = f"less than {_decimal(10.0**-decimals, decimals)}"
    return Written(value, low, high, "%", False, kind(interval))


def signed(difference: Estimated) -> Written:
    """A difference with its sign, which tells the direction; beyond 1000 % all of it as factors."""
    relative, interval = difference.relative or 0.0, difference.interval
    ends = (interval.low, interval.high) if interval else ()
    if any(end >= _MUCH for end in (relative, *ends) if math.isfinite(end)):
        return _factors(relative, interval, "×")
    if interval is None or interval.low == interval.high:
        return _alone(signed_percent(relative), interval)
    value, low, high, _ = _in_percent(relative, interval.low, interval.high)
    value, low, high = map(_with_sign, (value, low, high))
    return Written(value, low, high, "%", False, kind(interval))


def kind(interval: Interval) -> str:
    """What an interval is called; so few pairs that none has the level leave their range."""
    return f"{LEVEL * 100:.0f} % interval" if interval.reaches_level else "range of pairs"


def measured(value: float, interval: Interval | None, digits: int = 3) -> tuple[str, str]:
    """A value in the metric's unit and its interval, ``18.7`` and ``18.5 to 18.8``; empty without one."""
    if interval is None:
        return significant(value, digits), ""
    ends = (interval.low, interval.high)
    largest = max((abs(end) for end in ends if math.isfinite(end)), default=0.0)
    texts = [
        beside if abs(end) < 1e-6 * largest and beside else significant(end, digits)
        for end, beside in zip(ends, _beside(ends, 0.0), strict=True)
    ]
    return significant(value, digits), " to ".join(texts)


def reach(sample: SampleSummary, median: str) -> str:
    """How far the interval of a median reaches, beside it: ``±0.03``, to the farther end.

    Where that would be beyond 0, the end is the upper one, and is written ``+0.53``. Empty if it is below the last
    digit of the median.
    """
    if sample.constant or sample.interval is None:
        return ""
    low, high = sample.interval.low, sample.interval.high
    width = max(high - sample.median, sample.median - low)
    decimals = len(median.partition(".")[2])
    text = f"{width:.{decimals}f}"
    if not float(text) > 0:
        return ""
    return f"{'+' if width >= sample.median else '±'}{text}"


def _alone(value: str, interval: Interval | None) -> Written:
    """Without an interval, or with one that has no width."""
    end = value if interval else ""
    return Written(value, end, end, "%", False, kind(interval) if interval else "")


def _in_percent(value: float, low: float, high: float) -> tuple[str, str, str, int]:
    """Shares in percent with as many decimals as half of the interval's width has, and as many as its sign needs."""
    ends = (100 * low, 100 * high)
    width = ends[1] - ends[0]
    wanted = -math.floor(math.log10(width / 2)) if 0 < width / 2 < math.inf else 0
    decimals = min(_USUAL_DECIMALS, max(0, wanted))
    counts = range(decimals, _MOST_DECIMALS + 1)
    texts, count = _ends(ends, 0.0, _beside((low, high), 0.0), counts, _decimal)
    return _decimal(100 * value, count), *texts, count


def _factors(relative: float, interval: Interval | None, mark: str) -> Written:
    """Values over others."""
    if interval is None:
        return Written(mark + significant(1 + relative, 2), "", "", "", True, "")
    ends = (1 + interval.low, 1 + interval.high)
    first = next(
        (
            digits
            for digits in range(2, _MOST_DIGITS)
            if significant(ends[0], digits) != significant(ends[1], digits)
        ),
        2,
    )
    beside = _beside((interval.low, interval.high), 1.0)
    texts, count = _ends(ends, 1.0, beside, range(first, _MOST_DIGITS + 1), significant)
    low, high = (text if text.startswith(("above", "below")) else mark + text for text in texts)
    return Written(mark + significant(1 + relative, count), low, high, "", True, kind(interval))


def _ends(
    ends: tuple[float, float],
    nothing: float,
    beside: tuple[str, str],
    counts: range,
    write: Callable[[float, int], str],
) -> tuple[tuple[str, str], int]:
    """Both ends with the fewest digits that tell them from "no difference" if the interval leaves it out.

    An end that no digits tell is said in words, or if it is the farther one rounded away.
    """

    def hidden(end: float, count: int) -> bool:
        return math.isfinite(end) and float(write(end, count).replace(MINUS, "-")) == nothing

    most = counts[-1]
    able = [end for end in ends if any(beside) and not hidden(end, most)]
    count = next(number for number in counts if not any(hidden(end, number) for end in able))
    if any(beside) and not able:
        count = most
    step = 10.0**-most
    low = beside[0] if beside[0] and hidden(ends[0], count) else write(ends[0], count)
    high = beside[1] if beside[1] and hidden(ends[1], count) else write(ends[1], count)
    if beside[0] and hidden(ends[1], count):
        high = write(nothing + step, most)
    if beside[1] and hidden(ends[0], count):
        low = write(nothing - step, most)
    return (low, high), count


def _beside(ends: tuple[float, float], nothing: float) -> tuple[str, str]:
    """What an end is called that is too close to "no difference" for its digits to tell; nothing of one that may be it."""
    low, high = ends
    return f"above {nothing:g}" if low > 0 else "", f"below {nothing:g}" if high < 0 else ""


def _decimal(number: float, decimals: int) -> str:
    if not math.isfinite(number):
        return significant(number)
    return f"{round(number, decimals) + 0.0:.{decimals}f}".replace("-", MINUS)


def _with_sign(text: str) -> str:
    plus = (text[0].isdigit() and text.strip("0.")) or text == "∞"
    return f"+{text}" if plus else text
