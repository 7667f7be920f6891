"""Conditions of an experiment: what varies between its cells, and what does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headway.analysis.columns import ABSENT, UNSAID


@dataclass(frozen=True)
class Factor:
    """A condition that varies between cells.

    Attributes:
        name: what it is, in a word or two.
        levels: its values as text, in order, to stand below the name: ``100 ms``.
        titles: the same as parts of a title: ``RTT 100 ms``.
        values: the same as numbers in the unit of their column, for an axis; None if they are
            not numbers.
        unstated: indices of the levels of which the study says nothing, as a list of cells may; titles say nothing
            either.
    """

    name: str
    levels: tuple[str, ...]
    titles: tuple[str, ...]
    values: tuple[float, ...] | None = None
    unstated: frozenset[int] = frozenset()


_BACK = " up"


@dataclass(frozen=True)
class Constant:
    """A condition that is the same in all cells: its name, its value as text, and both as they stand in a list of others."""

    name: str
    value: str
    title: str


@dataclass(frozen=True)
class Conditions:
    """The conditions of a study's cells.

    Attributes:
        factors: what varies, in the order in which titles give it.
        levels: for each cell, in order, the index of its level of each factor.
        constants: what does not vary.
        dependents: what varies, but follows from the factors.
        drawn: what varies between the repetitions of a contender in a cell, with its range.
    """

    factors: tuple[Factor, ...]
    levels: Mapping[str, tuple[int, ...]]
    constants: tuple[Constant, ...]
    dependents: tuple[Factor, ...]
    drawn: tuple[Constant, ...]

    @property
    def notable(self) -> tuple[Constant, ...]:
        """The constants that a reader needs: not absences, nor the same way back.

        A way back that differs is never left out: nobody reads of one direction that the other has less.
        """
        stated = {constant.name: constant.value for constant in self.constants}
        return tuple(
            constant
            for constant in self.constants
            if constant.value not in UNSAID.get(constant.name, ())
            and not _is_same_back(constant, stated)
        )

    @property
    def notable_constants(self) -> tuple[str, ...]:
        """Their titles."""
        return tuple(constant.title for constant in self.notable)

    def title(self, cell: str) -> str:
        """The cell's title: its levels; empty if nothing varies."""
        return self.joined(self.levels[cell])

    def joined(self, levels: Sequence[int]) -> str:
        """The title of a cell with these levels of the first factors."""
        parts = list(zip(self.factors, levels, strict=False))
        stated = [(factor, level) for factor, level in parts if level not in factor.unstated]
        return ", ".join(factor.titles[level] for factor, level in stated or parts)


def _is_same_back(constant: Constant, stated: Mapping[str, str]) -> bool:
    """Whether it is of the direction towards the server, and the other direction has the same."""
    there = constant.name.removesuffix(_BACK)
    value = stated.get(there) if there != constant.name else None
    both = (value, constant.value)
    return value is not None and (
        value == constant.value or both == (ABSENT.get(there), ABSENT.get(constant.name))
    )
