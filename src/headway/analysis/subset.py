"""An analysis of chosen cells and contenders alone.

What is left stays as it was in the whole study: the tests are adjusted for all comparisons that the study makes,
whatever of them is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell
from headway.errors import WrongInputError, nearest

_ALL_KNOWN = 12
"""Up to so many cells are named to those who asked for another."""


def restricted(
    analysis: Analysis, cells: Sequence[str] = (), contenders: Sequence[str] = ()
) -> Analysis:
    """The analysis with these cells and contenders.

    Args:
        analysis: all of it.
        cells: names or titles of cells, or parts of titles, of which each names all cells that have it:
            ``RTT 20 ms, loss 2 %``; all cells if there are none.
        contenders: names; all contenders if there are none.

    Raises:
        WrongInputError: no cell is called like that, or no contender.
    """
    names = _contenders(analysis, contenders)
    there = set(names)
    places = [place for place, name in enumerate(analysis.contenders) if name in there]
    return replace(
        analysis,
        contenders=names,
        baseline=analysis.baseline if analysis.baseline in there else names[0],
        traits=tuple(
            replace(trait, values=tuple(trait.values[place] for place in places))
            for trait in analysis.traits
        ),
        pairings=tuple(
            pairing
            for pairing in analysis.pairings
            if {pairing.contender, pairing.against} <= there
        ),
        cells=tuple(_cell(cell, there) for cell in _cells(analysis, cells)),
    )


def _contenders(analysis: Analysis, asked: Sequence[str]) -> tuple[str, ...]:
    for name in asked:
        if name not in analysis.contenders:
            known = ", ".join(analysis.contenders)
            raise WrongInputError(f"there is no contender {name!r}; there are {known}")
    return tuple(name for name in analysis.contenders if not asked or name in asked)


def _cells(analysis: Analysis, asked: Sequence[str]) -> tuple[Cell, ...]:
    if not asked:
        return analysis.cells
    texts: set[str] = set()
    for text in asked:
        named = {cell.name for cell in analysis.cells if _is_called(cell, text)}
        if not named:
            raise WrongInputError(f"there is no cell {text!r}{_known(analysis, text)}")
        texts |= named
    return tuple(cell for cell in analysis.cells if cell.name in texts)


def _is_called(cell: Cell, text: str) -> bool:
    return text == cell.name or set(_parts(text)) <= set(_parts(cell.title))


def _parts(title: str) -> list[str]:
    return [part.strip() for part in title.split(",")]


def _known(analysis: Analysis, text: str) -> str:
    titles = [cell.title or cell.name for cell in analysis.cells]
    if len(titles) == 1:
        return "; there is a single cell: leave it out"
    if len(titles) <= _ALL_KNOWN:
        return f"; there are {'; '.join(titles)}"
    levels = sorted({part for title in titles for part in _parts(title)})
    return nearest(text, [*titles, *levels]) or f"; cells are called like {titles[0]!r}"


def _cell(cell: Cell, there: set[str]) -> Cell:
    return replace(
        cell,
        sides=tuple(side for side in cell.sides if side.contender in there),
        comparisons=tuple(
            comparison
            for comparison in cell.comparisons
            if {comparison.contender, comparison.against} <= there
        ),
        leaders=tuple(name for name in cell.leaders if name in there),
    )
