"""An axis of neighbours: what it varies, and the values beside a setting's own."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from headway.modules import modules_in
from headway.study.axisnames import AxisName
from headway.study.setting import Setting

Table = dict[str, Any]
"""The conditions of a contender, as a study file states them."""
Change = Callable[[Table, Setting], Table]
"""From a contender's conditions, and what they amount to, to those of the neighbour: what it leaves alone is the same."""
_AXES = "headway.nearby.axes"


@dataclass(frozen=True)
class NearbyLevel:
    """A neighbour.

    Attributes:
        label: in a sentence, as ``with BBR`` or ``at an RTT of 200 ms``.
        change: makes its conditions.
        number: its place on an axis of numbers, in the axis' unit; None on others.
    """

    label: str
    change: Change = field(compare=False)
    number: float | None = None


@dataclass(frozen=True)
class NearbyAxis:
    """What may be varied around a cell.

    Attributes:
        name: of the axis.
        varies: what it varies, for documentation.
        place: axes that take conclusions away more often come first.
        reads: what it varies of a setting: a study whose settings differ in it varies it itself.
        levels: the neighbours of a setting, the most telling first; none where it does not apply.
        number: the setting's own place on an axis of numbers; None if there is none.
        at: the neighbour at any place of such an axis.
        only_able: whether a neighbour that programs cannot do is no neighbour, and not one that is left out.
    """

    name: AxisName | Literal["seeds"]
    varies: str
    place: int
    reads: Callable[[Setting], Hashable]
    levels: Callable[[Setting], Iterable[NearbyLevel]]
    number: Callable[[Setting], float | None] = lambda _: None
    at: Callable[[Setting, float], NearbyLevel] | None = None
    only_able: bool = False


def scaled(
    name: AxisName,
    varies: str,
    place: int,
    number: Callable[[Setting], float | None],
    at: Callable[[Setting, float], NearbyLevel],
    factors: tuple[float, ...],
) -> NearbyAxis:
    """An axis of positive numbers, whose neighbours are some factors away."""

    def levels(setting: Setting) -> Iterable[NearbyLevel]:
        own = number(setting)
        return [at(setting, own * factor) for factor in factors] if own else ()

    return NearbyAxis(name, varies, place, number, levels, number, at)


@cache
def known_axes() -> tuple[NearbyAxis, ...]:
    """All axes, the most telling first: those that a module of ``headway.nearby.axes`` has in ``AXES``."""
    axes = [axis for module in modules_in(_AXES) for axis in module.AXES]
    return tuple(sorted(axes, key=lambda axis: axis.place))
