"""The waterfall of a difference: from one contender to the other, a bar for each part."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import polars as pl

from headway.instruments.ablation.document import DifferencePart, WhyAnswer, table_rows
from headway.report.figures.kind import Picture
from headway.report.plots import Frame, x_axis
from headway.report.scale import Scale, ratio_text, ratio_ticks
from headway.report.sheet import Sheet, broken, text_width
from headway.report.theme import FASTER, INK, MUTED, RULE, SLOWER

_ROW, _BAR, _HEAD, _FOOT, _TEXT = 26.0, 14.0, 14.0, 46.0, 11.0
_LABEL = 56.0
_LINE = 14.0


def waterfall(answer: WhyAnswer) -> Picture:
    """The figure of a difference."""
    return Picture(
        name="why",
        title=f"Why {answer.contender} and {answer.against} differ: {answer.label}",
        caption="Each bar begins where the one above ends, and is what goes with a cause: its Shapley value over sets of "
        "causes, with its 95 % interval. Together they are the whole, nearly: each is that of a typical seed. Ratios that are equal have bars of equal length.",
        drawing=partial(_sheet, answer),
        data=lambda: _data(answer),
        said=answer.sentence,
    )


def _data(answer: WhyAnswer) -> pl.DataFrame:
    columns = ("part", "log", "low", "high", "switched_first", "switched_last")
    return pl.DataFrame(
        table_rows((answer.whole, *answer.ordered)), schema=list(columns), orient="row"
    )


def _sheet(answer: WhyAnswer, width: float) -> Sheet:
    parts = answer.ordered
    names = [*(part.name for part in parts), "the whole"]
    left = min(0.38 * width, max(text_width(name, _TEXT, bold=True) for name in names) + 14)
    right = max(text_width(part.size, _TEXT, bold=True) for part in (*parts, answer.whole)) + 14
    lines = [broken(name, left - 8, _TEXT) for name in names]
    heights = [max(_ROW, len(words) * _LINE + 8) for words in lines]
    frame = Frame(left, _HEAD, width - left - right, math.fsum(heights))
    sheet = Sheet(width, frame.bottom + _FOOT)
    scale = _scale(answer, frame)
    ticks = ratio_ticks(scale, _LABEL)
    places = [scale(tick) for tick in ticks]
    sheet.lines([((x, frame.top), (x, frame.bottom)) for x in places], colour=RULE)
    zero = scale(1.0)
    sheet.line((zero, frame.top), (zero, frame.bottom), colour=MUTED)
    x_axis(sheet, frame, places, list(map(ratio_text, ticks)))
    axis = f"{answer.label}: {answer.contender} against {answer.against}"
    middle = (frame.left + frame.right) / 2
    below = broken(axis, width, _TEXT)
    sheet.paragraph(middle, frame.bottom + 28, below, MUTED, size=_TEXT, anchor="middle")
    top, start = frame.top, 0.0
    for part, words, height in zip(parts, lines, heights, strict=False):
        _bar(sheet, answer, part, start, scale, top + height / 2)
        _words(sheet, part.size, words, frame, top + height / 2, bold=False)
        start += part.log
        top += height
    y = top + heights[-1] / 2
    _bar(sheet, answer, answer.whole, 0.0, scale, y, whole=True)
    _words(sheet, answer.whole.size, lines[-1], frame, y, bold=True)
    return sheet


def _words(
    sheet: Sheet, size: str, words: Sequence[str], frame: Frame, y: float, *, bold: bool
) -> None:
    top = y - (len(words) - 1) * _LINE / 2
    for place, line in enumerate(words):
        sheet.text(
            frame.left - 8, top + place * _LINE, line, INK, size=_TEXT, bold=bold, anchor="end"
        )
    sheet.text(frame.right + 10, y, size, INK, size=_TEXT, bold=bold)


def _bar(
    sheet: Sheet,
    answer: WhyAnswer,
    part: DifferencePart,
    start: float,
    scale: Scale,
    y: float,
    *,
    whole: bool = False,
) -> None:
    from_x, to_x = scale(math.exp(start)), scale(math.exp(start + part.log))
    better = (part.log < 0) == answer.less_is_better
    colour = (
        (INK if whole else (FASTER if better else SLOWER)[-1]) if part.is_shown or whole else MUTED
    )
    least = max(abs(to_x - from_x), 1.0)
    sheet.box(min(from_x, to_x), y - _BAR / 2, least, _BAR, fill=colour)
    if part.low is not None and part.high is not None:
        ends = [(scale(math.exp(start + end)), y) for end in (part.low, part.high)]
        sheet.line(*ends, colour=INK, width=1.2)


def _scale(answer: WhyAnswer, frame: Frame) -> Scale:
    places, start = [0.0], 0.0
    for part in answer.ordered:
        places += [start + end for end in (part.low, part.high, part.log) if end is not None]
        start += part.log
    whole = answer.whole
    places += [end for end in (whole.low, whole.high, whole.log) if end is not None]
    low, high = min(places), max(places)
    margin = 0.05 * (high - low) or 0.01
    return Scale(math.exp(low - margin), math.exp(high + margin), frame.left, frame.right, log=True)
