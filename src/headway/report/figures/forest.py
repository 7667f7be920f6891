"""Forest plots: each comparison's difference in every cell, with its interval, and over all cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from headway.analysis import Analysis, Pairing
from headway.analysis.intervals import Interval
from headway.analysis.metric import Metric
from headway.analysis.verdict import Verdict
from headway.analysis.whole import wholes
from headway.analysis.written import signed
from headway.report.figures.data import differences_data, told
from headway.report.figures.kind import NARROW, Kind, Picture, Subject, picture_name
from headway.report.plots import Frame, x_axis
from headway.report.scale import Scale, ratio_text, ratio_ticks
from headway.report.section import Section
from headway.report.sheet import LINE, Sheet, broken, text_width
from headway.report.telling import representative_cells, telling_pairings
from headway.report.theme import FASTER, INK, MUTED, RULE, SLOWER, Colour, Marker

_ROW = 20.0
_LINE = 14.0
"""A line of words above a row."""
_HEAD = 40.0
_FOOT = 46.0
_APART = 8.0
"""Between the row of all cells and those of single ones."""
_MOST_CELLS = 48
_MOST_PAIRINGS = 6
_FARTHEST = math.log(20)
"""Differences beyond a factor of this stand at the edge."""
_TEXT = 11.0
_LABEL = 56.0
"""Room for a label of the axis."""
_SIDES = (Verdict.FASTER, Verdict.SLOWER)
_COLOURS = {Verdict.FASTER: FASTER[-1], Verdict.SLOWER: SLOWER[-1], Verdict.EQUAL: INK}


@dataclass(frozen=True)
class _ForestRow:
    """A difference: in a cell, or over all of them.

    Attributes:
        name: the cell's title.
        relative: the difference.
        interval: its confidence interval; None if there is none.
        verdict: what can be said.
        pairs: how many pairs it rests on, as text.
        whole: whether it is of all cells.
    """

    name: str
    relative: float
    interval: Interval | None
    verdict: Verdict
    pairs: str
    whole: bool = False

    @property
    def colour(self) -> Colour:
        return _COLOURS.get(self.verdict, MUTED)

    @property
    def said(self) -> str:
        """The difference and its interval, or range: ``−12 % (−15 to −9 %)``."""
        told = signed(self)
        if not self.interval:
            return told.size
        kind = "" if self.interval.reaches_level else "range "
        return f"{told.size} ({kind}{told.interval})"


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    blocks = _blocks(analysis)
    if not any(len(rows) > 1 for rows in blocks.values()):
        return None
    shown = max(sum(not row.whole for row in rows) for rows in blocks.values())
    less = f" Shown are {shown} of {len(analysis.cells)} conditions; comparisons.csv has all."
    means = any(row.whole for rows in blocks.values() for row in rows)
    mean = " The diamond is the mean of all, which are alike." if means else ""
    return Picture(
        name=picture_name(analysis, "forest"),
        title=f"Condition by condition: {analysis.metric.label}",
        caption=analysis.metric.said(
            "The first’s value against the second’s, with the 95 % interval for all of them together (or the "
            "range of too few pairs). Green: faster; purple: slower; hollow: practically equal, and where grey, not "
            "shown to differ." + mean + (less if shown < len(analysis.cells) else "")
        )
        + (f" {analysis.metric.remark}" if analysis.metric.remark else ""),
        drawing=partial(_sheet, analysis.metric, blocks),
        data=lambda: differences_data(analysis),
        said=_said(blocks),
    )


KIND = Kind(place=8, section=Section.RESULTS, draw=_draw, of_differences=True)


def _said(blocks: Mapping[Pairing, Sequence[_ForestRow]]) -> str:
    return " ".join(
        told((f"{row.name} {row.said}" for row in rows), start=f"{pairing}: ")
        for pairing, rows in blocks.items()
    )


def _blocks(analysis: Analysis) -> dict[Pairing, list[_ForestRow]]:
    kept = {cell.name for cell in representative_cells(analysis, _MOST_CELLS)}
    cells = [cell for cell in analysis.cells_as_studied if cell.name in kept]
    over_all = {one.pairing: one for one in wholes(analysis)}
    blocks: dict[Pairing, list[_ForestRow]] = {}
    for pairing in telling_pairings(analysis, _MOST_PAIRINGS):
        rows = []
        whole = over_all.get(pairing)
        if whole and whole.alike and whole.difference.relative is not None:
            least, most = whole.pairs
            pairs = f"{least}" if least == most else f"{least} to {most}"
            told, verdict = whole.difference, whole.verdict
            name = f"mean of all {whole.cells}"
            rows.append(_ForestRow(name, told.relative or 0.0, told.interval, verdict, pairs, True))
        for cell in cells:
            one = cell.comparison(pairing)
            if one and one.relative is not None and one.relative > -1:
                trifle = one.verdict in _SIDES and not one.matters
                verdict = Verdict.EQUAL if trifle else one.verdict
                interval, pairs = one.difference.interval, str(one.pairs.n)
                rows.append(_ForestRow(cell.title, one.relative, interval, verdict, pairs))
        if rows:
            blocks[pairing] = rows
    return blocks


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

    def words(self, row: _ForestRow) -> tuple[str, ...]:
        """The lines above a row's mark: its name, in the last one or below it its numbers."""
        if not self.stacked:
            return ()
        lines = broken(row.name, self.width, _TEXT, row.whole)
        room = self.width - text_width(row.said, _TEXT, row.whole) - _APART
        return lines if text_width(lines[-1], _TEXT, row.whole) <= room else (*lines, "")

    def row(self, row: _ForestRow) -> float:
        """How high a row is."""
        words = self.words(row)
        return _ROW + len(words) * _LINE + 2 * bool(words)

    def height(self, rows: Sequence[_ForestRow]) -> float:
        """How high a block of rows is."""
        return math.fsum(map(self.row, rows)) + _APART

    def title(self, pairing: Pairing) -> tuple[str, ...]:
        """What is compared, in lines."""
        return broken(str(pairing), self.width - (0 if self.stacked else 60), 14, bold=True)

    def axis(self, metric: Metric, pairing: Pairing) -> tuple[str, ...]:
        """What the axis is of, in lines."""
        room = 2 * min(self.middle, self.width - self.middle)
        return broken(f"{_compared(metric)}: {pairing}", room, _TEXT)

    def extra(self, metric: Metric, pairing: Pairing) -> tuple[float, float]:
        """What more lines than one take of title and axis."""
        title, axis = len(self.title(pairing)) - 1, len(self.axis(metric, pairing)) - 1
        return title * 14 * LINE, axis * _TEXT * LINE


def _layout(rows: Sequence[_ForestRow], width: float) -> _Layout:
    left = max(text_width(row.name, _TEXT, bold=row.whole) for row in rows) + 14
    if width <= NARROW or left > 0.45 * width:
        return _Layout(width, _LABEL / 2, _LABEL / 2, stacked=True)
    numbers = max(text_width(row.said, _TEXT, bold=row.whole) for row in rows)
    pairs = max(text_width(row.pairs, _TEXT) for row in rows)
    return _Layout(width, left, numbers + pairs + 28, stacked=False)


def _sheet(metric: Metric, blocks: dict[Pairing, list[_ForestRow]], width: float) -> Sheet:
    every = [row for rows in blocks.values() for row in rows]
    layout = _layout(every, width)
    extra = {pairing: layout.extra(metric, pairing) for pairing in blocks}
    heights = (_HEAD + layout.height(rows) + _FOOT for rows in blocks.values())
    sheet = Sheet(width, math.fsum(heights) + math.fsum(map(sum, extra.values())))
    top = 0.0
    for pairing, rows in blocks.items():
        above, below = extra[pairing]
        across = width - layout.left - layout.right
        frame = Frame(layout.left, top + above + _HEAD, across, layout.height(rows))
        sheet.paragraph(0, top + 14, layout.title(pairing), size=14, bold=True)
        if not layout.stacked:
            sheet.text(width, top + 14, "pairs", MUTED, size=_TEXT, anchor="end")
        scale = _scale(every, frame)
        _ways(sheet, metric, scale, frame.top - 6)
        _block(sheet, rows, scale, frame, layout)
        told = layout.axis(metric, pairing)
        sheet.paragraph(layout.middle, frame.bottom + 26, told, MUTED, size=_TEXT, anchor="middle")
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


def _scale(rows: Sequence[_ForestRow], frame: Frame) -> Scale:
    """Equal ratios have equal lengths; the same for all blocks, and 1 is on it."""
    ends = [end for row in rows for end in _ends(row)]
    low, high = min(0.0, *ends), max(0.0, *ends)
    margin = 0.04 * (high - low) or 0.01
    low, high = math.exp(low - margin), math.exp(high + margin)
    return Scale(low, high, frame.left, frame.right, log=True)


def _ends(row: _ForestRow) -> tuple[float, ...]:
    """Logarithms of the ratio and of its interval's ends, none farther than the scale goes."""
    interval = (row.interval.low, row.interval.high) if row.interval else ()
    logs = (math.log1p(max(one, -0.999)) for one in (row.relative, *interval))
    return tuple(min(max(log, -_FARTHEST), _FARTHEST) for log in logs)


def _block(
    sheet: Sheet, rows: Sequence[_ForestRow], scale: Scale, frame: Frame, layout: _Layout
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
    rows: Sequence[_ForestRow], frame: Frame, layout: _Layout
) -> list[tuple[float, float]]:
    """Where rows have marks and no words, which no line is to cross."""
    spans, top = [], frame.top
    for row in rows:
        top += layout.row(row)
        spans.append((top - _ROW + 3, top - 1))
        top += _APART if row.whole else 0
    return [*spans[:-1], (spans[-1][0], frame.bottom)]


def _words_beside(sheet: Sheet, row: _ForestRow, frame: Frame, top: float) -> None:
    y = top + _ROW / 2
    sheet.text(frame.left - 8, y, row.name, INK, size=_TEXT, bold=row.whole, anchor="end")
    sheet.text(frame.right + 12, y, row.said, INK, size=_TEXT, bold=row.whole)
    sheet.text(sheet.width, y, row.pairs, MUTED, size=_TEXT, anchor="end")


def _words_above(sheet: Sheet, row: _ForestRow, layout: _Layout, top: float) -> None:
    lines = layout.words(row)
    for place, line in enumerate(lines):
        sheet.text(0, top + 9 + place * _LINE, line, INK, size=_TEXT, bold=row.whole)
    y = top + 9 + (len(lines) - 1) * _LINE
    sheet.text(sheet.width, y, row.said, MUTED, size=_TEXT, bold=row.whole, anchor="end")


def _mark(sheet: Sheet, row: _ForestRow, scale: Scale, y: float) -> None:
    middle, *ends = (scale(math.exp(log)) for log in _ends(row))
    if ends:
        sheet.line((ends[0], y), (ends[1], y), colour=row.colour, width=2.5 if row.whole else 1.6)
    marker, size = (Marker.DIAMOND, 11) if row.whole else (Marker.SQUARE, 7)
    hollow = row.verdict in (Verdict.EQUAL, Verdict.UNDECIDED)
    told = [f"{row.name}: {row.said}"]
    sheet.dots([(middle, y)], row.colour, marker, size=size, hollow=hollow, halo=True, said=told)
