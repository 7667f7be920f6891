"""Heat map of differences: a block per comparison, cells white where nothing is significant."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from headway.analysis import Analysis, Cell, Comparison, Pairing, Verdict
from headway.analysis.numbers import signed_percent
from headway.report.figures.data import differences_said
from headway.report.figures.kind import FAILED, Kind, Picture, Subject, picture_name
from headway.report.layout import arranged, crossed
from headway.report.most_telling import left_out, representative_cells, telling_pairings
from headway.report.section import Section
from headway.report.sheet import Sheet, text_width
from headway.report.tables.comparisons import comparisons_frame
from headway.report.theme import FASTER, MUTED, ON_FILL, PAPER, RULE, SLOWER, Colour

_STEPS = (1.1, 1.5, 2.0)
"""Ratios at which the colour changes."""
_MOST_CELLS = 600
_MOST_ENTRIES = 1200
"""More numbers than this are left to the table."""
_MOST_TWICE = 160
"""More numbers than this are not drawn a second time for narrow screens."""
_MOST_COLUMNS = 14
_FEW_CELLS = 8
"""With so few cells, comparisons are rows of one block rather than blocks of their own."""
_FEW_BLOCKS = 4
_HEADING = 28
_HEADING_ROOM = 260.0
"""Least width for a block's heading."""
_HEADER = 19
_GAP = 30
_BELOW = 22
_WIDEST_CELL = 128.0
_NARROWEST_CELL = 46.0
_TITLE = 11.0
"""Size of the titles of columns."""
_LEGEND_HEIGHT = 52


@dataclass(frozen=True)
class _HeatCell:
    """A cell of a block: its row and column, and whose comparison it shows."""

    row: int
    column: int
    cell: Cell
    pairing: Pairing


@dataclass(frozen=True)
class _Block:
    """Rows and columns below a heading."""

    heading: str
    rows: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    entries: tuple[_HeatCell, ...]

    @property
    def depth(self) -> int:
        """Number of lines above the columns."""
        return max((len(titles) for titles in self.columns), default=0)

    @property
    def head(self) -> float:
        """Height of its heading and of the lines above the columns."""
        return (_HEADING if self.heading else 0) + _HEADER * self.depth


@dataclass(frozen=True)
class _Sizes:
    """Sizes of a figure's blocks, in pixels.

    Attributes:
        labels: width of the labels of rows.
        column: width of a column.
        row: height of a row.
        text: size of the numbers.
        beside: blocks beside each other.
        terse: whether numbers do without their percent signs.
    """

    labels: float
    column: float
    row: float
    text: float
    beside: int
    terse: bool


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    if all(comparison.relative is None for _, comparison in analysis.comparisons):
        return None
    cells = representative_cells(analysis, _MOST_CELLS)
    pairings = telling_pairings(analysis, max(1, _MOST_ENTRIES // len(cells)))
    if len(cells) * len(pairings) < 2:
        return None
    return Picture(
        name=picture_name(analysis, "differences"),
        title=f"Differences: {analysis.metric.label}",
        caption=_caption(analysis, len(cells), len(pairings)),
        drawing=partial(heatmap, analysis, cells, pairings),
        data=lambda: comparisons_frame([analysis], words=False),
        said=differences_said(pairings, cells),
        fits_narrow=len(cells) * len(pairings) <= _MOST_TWICE,
    )


KIND = Kind(place=10, section=Section.RESULTS, draw=_draw, of_differences=True)


def _caption(analysis: Analysis, cells: int, pairings: int) -> str:
    text = (
        f"Difference of the {analysis.metric.label} of a typical pair of runs, in percent of that of "
        "the other. Coloured where it is significant and at least 1 %; blank and in brackets "
        "where it is not; colours change at ratios of 1.1, 1.5 and 2, either way."
    )
    text += f" {analysis.metric.remark}" if analysis.metric.remark else ""
    if any(side.failures for cell in analysis.cells for side in cell.sides):
        text += f" {FAILED} Some runs of the two did not finish."
    if cells < len(analysis.cells):
        text += f" {cells} of {len(analysis.cells)} cells, evenly spread over the levels."
    return text + left_out(pairings, len(analysis.pairings), "comparisons")


def heatmap(
    analysis: Analysis, cells: Sequence[Cell], pairings: Sequence[Pairing], width: float
) -> Sheet:
    """Relative differences of medians: blocks of cells, or one block of comparisons by cells."""
    blocks = next(
        (blocks for blocks in _ways(analysis, cells, pairings) if _room(blocks[0], width) >= 0),
        _grids(analysis, cells, pairings, 1),
    )
    sizes = _sizes(blocks, width)
    tall = blocks[0].head + sizes.row * len(blocks[0].rows) + _BELOW
    stacks = -(-len(blocks) // sizes.beside)
    across = (width - sizes.labels + _GAP) / sizes.beside
    across = min(across, max(sizes.column * len(blocks[0].columns), _HEADING_ROOM) + _GAP)
    sheet = Sheet(width, tall * stacks + _LEGEND_HEIGHT)
    for place, block in enumerate(blocks):
        left = sizes.labels + (place % sizes.beside) * across
        top = (place // sizes.beside) * tall
        if place % sizes.beside == 0:
            _row_labels(sheet, block, sizes, top)
        _draw_block(sheet, block, sizes, left, top)
    _legend(sheet, analysis, tall * stacks)
    return sheet


def _ways(
    analysis: Analysis, cells: Sequence[Cell], pairings: Sequence[Pairing]
) -> Iterator[list[_Block]]:
    """Ways to arrange the comparisons, the best first."""
    if len(pairings) > 1 and len(cells) <= _FEW_CELLS:
        yield [_cells_across(analysis, cells, pairings)]
    if len(pairings) > 1 and (len(cells) <= _FEW_CELLS or len(analysis.conditions.factors) == 1):
        yield [_cells_down(analysis, cells, pairings)]
    for columns in range(_MOST_COLUMNS, 1, -1):
        yield _grids(analysis, cells, pairings, columns)


def _cells_across(analysis: Analysis, cells: Sequence[Cell], pairings: Sequence[Pairing]) -> _Block:
    """One block: a row for each comparison, a column for each cell."""
    grid = arranged(analysis, cells, (), range(len(analysis.conditions.factors)))
    entries = tuple(
        _HeatCell(row, column, cell, pairing)
        for row, pairing in enumerate(pairings)
        for _, column, cell in grid.places
    )
    return _Block("", tuple(map(str, pairings)), grid.columns, entries)


def _cells_down(analysis: Analysis, cells: Sequence[Cell], pairings: Sequence[Pairing]) -> _Block:
    """One block: a row for each cell, a column for each comparison."""
    columns = tuple((f"against {pairing.against}", pairing.contender) for pairing in pairings)
    entries = tuple(
        _HeatCell(row, column, cell, pairing)
        for row, cell in enumerate(cells)
        for column, pairing in enumerate(pairings)
    )
    return _Block("", tuple(cell.title for cell in cells), columns, entries)


def _grids(
    analysis: Analysis, cells: Sequence[Cell], pairings: Sequence[Pairing], columns: int
) -> list[_Block]:
    """A block for each comparison: factors crossed, with at most so many columns."""
    grid = crossed(analysis, cells, columns)
    return [
        _Block(
            heading=str(pairing),
            rows=grid.rows,
            columns=grid.columns,
            entries=tuple(_HeatCell(*place, pairing) for place in grid.places),
        )
        for pairing in pairings
    ]


def _room(block: _Block, width: float) -> float:
    """What the columns leave of the width; negative if they do not fit."""
    return width - _labels_width(block, width) - _least_column(block) * len(block.columns)


def _least_column(block: _Block) -> float:
    widest = max((text_width(titles[-1], _TITLE) for titles in block.columns if titles), default=0)
    return max(_NARROWEST_CELL, widest + 6)


def _labels_width(block: _Block, width: float) -> float:
    """Room for the labels of rows, all that they need if the columns can do without it."""
    if not any(block.rows):
        return 0.0
    needed = max(text_width(label) for label in block.rows) + 14
    return min(needed, width - 1.5 * _NARROWEST_CELL)


def _sizes(blocks: Sequence[_Block], width: float) -> _Sizes:
    """As many blocks side by side as fit; low rows and terse numbers where there are many."""
    block, many = blocks[0], len(blocks) > _FEW_BLOCKS or len(blocks[0].rows) > 12
    labels, count = _labels_width(block, width), len(block.columns)
    room = width - labels
    least = _least_column(block) if many else max(_least_column(block), 64)
    across = max(least * count, _HEADING_ROOM if block.heading else 0)
    beside = max(1, min(int((room + _GAP) / (across + _GAP)), len(blocks)))
    column = min((room - _GAP * (beside - 1)) / beside / count, _WIDEST_CELL)
    return _Sizes(
        labels=labels,
        column=column,
        row=22 if many else 30,
        text=11 if many or column < 56 else 12,
        beside=beside,
        terse=column < 60,
    )


def _row_labels(sheet: Sheet, block: _Block, sizes: _Sizes, top: float) -> None:
    top += block.head
    for row, label in enumerate(block.rows):
        y = top + (row + 0.5) * sizes.row
        sheet.label(sizes.labels - 10, y, label, sizes.labels - 12, anchor="end")


def _draw_block(sheet: Sheet, block: _Block, sizes: _Sizes, left: float, top: float) -> None:
    room = sizes.column * len(block.columns)
    wide = min(max(room, _HEADING_ROOM), sheet.width - left)
    sheet.label(left, top + 11, block.heading, wide, size=14, bold=True)
    _headers(sheet, block, sizes, left, top + block.head - _HEADER * block.depth)
    top += block.head
    _fills(sheet, block, sizes, left, top)
    for entry in block.entries:
        x, y = left + (entry.column + 0.5) * sizes.column, top + (entry.row + 0.5) * sizes.row
        _write_entry(sheet, entry, x, y, sizes)


def _headers(sheet: Sheet, block: _Block, sizes: _Sizes, left: float, top: float) -> None:
    """Titles of columns, outer factors above inner ones, equal neighbours merged."""
    for level in range(block.depth):
        start, y = 0, top + (level + 0.5) * _HEADER
        for _, group in itertools.groupby(block.columns, key=lambda titles: titles[: level + 1]):
            titles = list(group)
            room = len(titles) * sizes.column
            x = left + start * sizes.column
            text = titles[0][level]
            sheet.label(x + room / 2, y, text, room - 2, MUTED, size=_TITLE, anchor="middle")
            if level < block.depth - 1:
                sheet.line((x + 4, y + 9.5), (x + room - 4, y + 9.5), colour=RULE)
            start += len(titles)


def _fills(sheet: Sheet, block: _Block, sizes: _Sizes, left: float, top: float) -> None:
    """The boxes of a block, those of one colour at a time."""
    by_fill: dict[Colour, list[tuple[float, float, float, float]]] = {}
    for entry in block.entries:
        fill, _ = shade(entry.cell.comparison(entry.pairing))
        corner = (left + entry.column * sizes.column + 1.5, top + entry.row * sizes.row + 1.5)
        by_fill.setdefault(fill, []).append((*corner, sizes.column - 3, sizes.row - 3))
    for fill, places in by_fill.items():
        sheet.boxes(places, fill=fill, edge=RULE if fill is PAPER else None)


def _write_entry(sheet: Sheet, entry: _HeatCell, x: float, y: float, sizes: _Sizes) -> None:
    comparison = entry.cell.comparison(entry.pairing)
    sides = (entry.cell.side(entry.pairing.contender), entry.cell.side(entry.pairing.against))
    failed = any(side is not None and side.failures for side in sides)
    text = entry_text(comparison, sizes.terse) + (f" {FAILED}" if failed else "")
    bold = comparison is not None and comparison.matters
    sheet.text(x, y, text, shade(comparison)[1], size=sizes.text, bold=bold, anchor="middle")


def entry_text(comparison: Comparison | None, terse: bool = False) -> str:
    """What a cell of the figure says: in brackets what is chance or negligible, = what is identical."""
    if comparison is None:
        return "not run"
    if comparison.relative is None:
        return "no data" if comparison.verdict is Verdict.INCOMPARABLE else "–"
    if comparison.identical:
        return "="
    text = signed_percent(comparison.relative)
    text = text if terse or text.startswith("×") else f"{text} %"
    return text if comparison.matters else f"({text})"


def shade(comparison: Comparison | None) -> tuple[Colour, Colour]:
    """Fill and text colour of a comparison: white unless there is a difference that matters."""
    if comparison is None or not comparison.matters or comparison.relative is None:
        return PAPER, MUTED
    ratio = 1 + comparison.relative
    ratio = max(ratio, 1 / ratio) if ratio > 0 else _STEPS[-1]
    strength = sum(ratio >= step for step in _STEPS)
    colours = FASTER if comparison.verdict is Verdict.FASTER else SLOWER
    return colours[strength], ON_FILL[strength]


def _legend(sheet: Sheet, analysis: Analysis, top: float) -> None:
    """A scale from much faster to much slower, with the differences at which colours change."""
    fills = [*reversed(FASTER), PAPER, *SLOWER]
    box = min(72.0, (sheet.width - 4) / len(fills))
    for place, fill in enumerate(fills):
        edge = RULE if fill is PAPER else None
        sheet.box(place * box + 1, top + 18, box - 2, 14, fill=fill, edge=edge)
    less, more = [1 / step - 1 for step in _STEPS], [step - 1 for step in _STEPS]
    faster, slower = (less, more) if analysis.metric.less_is_better else (more, less)
    for place, share in zip((3, 2, 1, 6, 7, 8), [*faster, *slower], strict=True):
        text = signed_percent(share) + (" %" if box >= 44 else "")
        sheet.text(place * box, top + 41, text, MUTED, size=11, anchor="middle")
    better, worse = analysis.metric.words
    sheet.text(2, top + 8, better, size=11)
    sheet.text(len(fills) * box, top + 8, worse, size=11, anchor="end")
    sheet.text(4.5 * box, top + 8, "no difference", size=11, anchor="middle")
