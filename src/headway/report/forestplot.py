"""A forest plot: differences with their intervals, a row for each, in blocks with a title."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from headway.analysis.estimate_text import signed
from headway.analysis.metric import Metric
from headway.report.figures.kind import NARROW
from headway.report.plots import Frame, x_axis
from headway.report.scale import Scale, ratio_text, ratio_ticks
from headway.report.sheet import LINE, Sheet, broken, text_width
from headway.report.theme import FASTER, INK, MUTED, RULE, SLOWER, Colour, Marker
from headway.statistics.interval import Interval

_ROW = 20.0
_LINE = 14.0
"""A line of words above a row."""
_HEAD = 40.0
_FOOT = 46.0
_APART = 8.0
"""Between a row that stands for all and the others."""
_FARTHEST = math.log(20)
"""Differences beyond a factor of this stand at the edge."""
_TEXT = 11.0
_LABEL = 56.0
"""Room for a label of the axis."""


@dataclass(frozen=True)
class ForestRow:
    """A difference.

    Attributes:
        name: of what.
        relative: the difference.
        interval: its confidence interval; None if there is none.
        colour: of its mark.
        hollow: whether the mark is.
        pairs: how many pairs it rests on, as text.
        whole: whether it stands for all others.
    """

    name: str
    relative: float
    interval: Interval | None
    colour: Colour
    hollow: bool
    pairs: str
    whole: bool = False

    @property
    def said(self) -> str:
        """The difference and its interval, or range: ``−12 % (−15 to −9 %)``."""
        texts = signed(self)
        if not self.interval:
            return texts.size
        kind = "" if self.interval.reaches_level else "range "
        return f"{texts.size} ({kind}{texts.interval})"


@dataclass(frozen=True)
class ForestBlock:
    """Rows below a title.

    Attributes:
        title: of the block.
        compared: what the differences are between.
        rows: the differences.
    """

    title: str
    compared: str
    rows: tuple[ForestRow, ...]


@dataclass(frozen=True)
class _Layout:
    """Where rows stand: names and numbers beside what is drawn, or, where room lacks, above it.

    Attributes:
        width: of the figure.
        left: room at the left of the axis.
        right: room at the right.
        stacked: whether names stand above.
    """

    width: float
    left: float
    right: float
    stacked: bool

    @property
    def middle(self) -> float:
        """The middle of the axis."""
        return (self.left + self.width - self.right) / 2

    def words(self, row: ForestRow) -> tuple[str, ...]:
        """The lines above a row's mark: its name, in the last one or below it its numbers."""
        if not self.stacked:
            return ()
        lines = broken(row.name, self.width, _TEXT, row.whole)
        room = self.width - text_width(row.said, _TEXT, row.whole) - _APART
        return lines if text_width(lines[-1], _TEXT, row.whole) <= room else (*lines, "")

    def row(self, row: ForestRow) -> float:
        """How high a row is."""
        words = self.words(row)
        return _ROW + len(words) * _LINE + 2 * bool(words)

    def height(self, rows: Sequence[ForestRow]) -> float:
        """How high a block of rows is."""
        return math.fsum(map(self.row, rows)) + _APART

    def title(self, block: ForestBlock) -> tuple[str, ...]:
        """The title of a block, in lines."""
        return broken(block.title, self.width - (0 if self.stacked else 60), 14, bold=True)

    def axis(self, metric: Metric, block: ForestBlock) -> tuple[str, ...]:
        """What the axis is of, in lines."""
        room = 2 * min(self.middle, self.width - self.middle)
        return broken(f"{_compared(metric)}: {block.compared}", room, _TEXT)

    def extra(self, metric: Metric, block: ForestBlock) -> tuple[float, float]:
        """What more lines than one take of title and axis."""
        title, axis = len(self.title(block)) - 1, len(self.axis(metric, block)) - 1
        return title * 14 * LINE, axis * _TEXT * LINE


def _layout(rows: Sequence[ForestRow], width: float) -> _Layout:
    left = max(text_width(row.name, _TEXT, bold=row.whole) for row in rows) + 14
    if width <= NARROW or left > 0.45 * width:
        return _Layout(width, _LABEL / 2, _LABEL / 2, stacked=True)
    numbers = max(text_width(row.said, _TEXT, bold=row.whole) for row in rows)
    pairs = max(text_width(row.pairs, _TEXT) for row in rows)
    return _Layout(width, left, numbers + pairs + 28, stacked=False)


def forest_sheet(
    metric: Metric, blocks: Sequence[ForestBlock], width: float, *, one_scale: bool = True
) -> Sheet:
    """Draw blocks of differences below each other.

    Args:
        metric: what differs.
        blocks: the blocks.
        width: of the sheet, pixels.
        one_scale: whether all blocks have the same.
    """
    every = [row for block in blocks for row in block.rows]
    layout = _layout(every, width)
    extra = [layout.extra(metric, block) for block in blocks]
    heights = (_HEAD + layout.height(block.rows) + _FOOT for block in blocks)
    sheet = Sheet(width, math.fsum(heights) + math.fsum(map(sum, extra)))
    top = 0.0
    for block, (above, below) in zip(blocks, extra, strict=True):
        across = width - layout.left - layout.right
        frame = Frame(layout.left, top + above + _HEAD, across, layout.height(block.rows))
        sheet.paragraph(0, top + 14, layout.title(block), size=14, bold=True)
        if not layout.stacked:
            sheet.text(width, top + 14, "pairs", MUTED, size=_TEXT, anchor="end")
        scale = _scale(every if one_scale else block.rows, frame)
        _ways(sheet, metric, scale, frame.top - 6)
        _block(sheet, block.rows, scale, frame, layout)
        axis = layout.axis(metric, block)
        sheet.paragraph(layout.middle, frame.bottom + 26, axis, MUTED, size=_TEXT, anchor="middle")
        top = frame.bottom + below + _FOOT
    return sheet


def _compared(metric: Metric) -> str:
    """Of what a difference is."""
    if metric.best is None:
        return f"difference in {metric.label}"
    return f"difference in distance of {metric.label} from {metric.best:g}"


def _ways(sheet: Sheet, metric: Metric, scale: Scale, y: float) -> None:
    """On which side of no difference the first is better, where there is room to say so."""
    better, worse = ((metric.words[0], FASTER[-1]), (metric.words[1], SLOWER[-1]))
    (left, left_colour), (right, right_colour) = (
        (better, worse) if metric.less_is_better else (worse, better)
    )
    left, right, middle = f"← {left}", f"{right} →", scale(1.0)
    if text_width(left, _TEXT) <= middle - 6:
        sheet.text(middle - 6, y, left, left_colour, size=_TEXT, anchor="end")
    if text_width(right, _TEXT) <= sheet.width - middle - 6:
        sheet.text(middle + 6, y, right, right_colour, size=_TEXT)


def _scale(rows: Sequence[ForestRow], frame: Frame) -> Scale:
    """Equal ratios have equal lengths; the same for all blocks, and 1 is on it."""
    ends = [end for row in rows for end in _ends(row)]
    low, high = min(0.0, *ends), max(0.0, *ends)
    margin = 0.04 * (high - low) or 0.01
    low, high = math.exp(low - margin), math.exp(high + margin)
    return Scale(low, high, frame.left, frame.right, log=True)


def _ends(row: ForestRow) -> tuple[float, ...]:
    """Logarithms of the ratio and of its interval's ends, none farther than the scale goes."""
    interval = (row.interval.low, row.interval.high) if row.interval else ()
    logs = (math.log1p(max(value, -0.999)) for value in (row.relative, *interval))
    return tuple(min(max(log, -_FARTHEST), _FARTHEST) for log in logs)


def _block(
    sheet: Sheet, rows: Sequence[ForestRow], scale: Scale, frame: Frame, layout: _Layout
) -> None:
    ticks = ratio_ticks(scale, _LABEL)
    places = [scale(tick) for tick in ticks]
    spans = _marks_alone(rows, frame, layout) if layout.stacked else [(frame.top, frame.bottom)]
    sheet.lines([((x, top), (x, end)) for x in places for top, end in spans], colour=RULE)
    sheet.lines([((scale(1.0), top), (scale(1.0), end)) for top, end in spans], colour=MUTED)
    texts = [ratio_text(tick) for tick in ticks]
    x_axis(sheet, frame, places, texts)
    top = frame.top
    for row in rows:
        if layout.stacked:
            _words_above(sheet, row, layout, top)
        else:
            _words_beside(sheet, row, frame, top)
        top += layout.row(row)
        _mark(sheet, row, scale, top - _ROW / 2)
        top += _APART if row.whole else 0


def _marks_alone(
    rows: Sequence[ForestRow], frame: Frame, layout: _Layout
) -> list[tuple[float, float]]:
    """Where rows have marks and no words, which no line is to cross."""
    spans, top = [], frame.top
    for row in rows:
        top += layout.row(row)
        spans.append((top - _ROW + 3, top - 1))
        top += _APART if row.whole else 0
    return [*spans[:-1], (spans[-1][0], frame.bottom)]


def _words_beside(sheet: Sheet, row: ForestRow, frame: Frame, top: float) -> None:
    y = top + _ROW / 2
    sheet.text(frame.left - 8, y, row.name, INK, size=_TEXT, bold=row.whole, anchor="end")
    sheet.text(frame.right + 12, y, row.said, INK, size=_TEXT, bold=row.whole)
    sheet.text(sheet.width, y, row.pairs, MUTED, size=_TEXT, anchor="end")


def _words_above(sheet: Sheet, row: ForestRow, layout: _Layout, top: float) -> None:
    lines = layout.words(row)
    for place, line in enumerate(lines):
        sheet.text(0, top + 9 + place * _LINE, line, INK, size=_TEXT, bold=row.whole)
    y = top + 9 + (len(lines) - 1) * _LINE
    sheet.text(sheet.width, y, row.said, MUTED, size=_TEXT, bold=row.whole, anchor="end")


def _mark(sheet: Sheet, row: ForestRow, scale: Scale, y: float) -> None:
    middle, *ends = (scale(math.exp(log)) for log in _ends(row))
    if ends:
        sheet.line((ends[0], y), (ends[1], y), colour=row.colour, width=2.5 if row.whole else 1.6)
    marker, size = (Marker.DIAMOND, 11) if row.whole else (Marker.SQUARE, 7)
    words = [f"{row.name}: {row.said}"]
    sheet.dots(
        [(middle, y)], row.colour, marker, size=size, hollow=row.hollow, halo=True, labels=words
    )
