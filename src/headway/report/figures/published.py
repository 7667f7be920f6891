"""Published values and ours: a row for each, both on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from headway.analysis.published import Agreement, Beside, beside
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.plots import Frame, x_axis
from headway.report.scale import Scale, value_scale, written
from headway.report.section import Section
from headway.report.sheet import Sheet, shortened, text_width
from headway.report.tables.published import published_frame
from headway.report.tables.published import subject as whose
from headway.report.theme import GREEN, MUTED, ORANGE, RED, RULE, YELLOW, Colour, Marker

_ROW = 22.0
_HEAD = 26.0
_FOOT = 46.0
_LEGEND = 26.0
MOST_ROWS = 60
"""More values than these are dots of `published_scatter`."""
_COLOURS: dict[Agreement, Colour] = {
    Agreement.AGREES: GREEN,
    Agreement.DIRECTION: YELLOW,
    Agreement.DIFFERS: ORANGE,
    Agreement.DISAGREES: RED,
    Agreement.UNDECIDED: MUTED,
}


def _draw(subject: Subject) -> Picture | None:
    besides = [
        comparison for comparison in beside(subject.analysis) if comparison.value is not None
    ]
    if not 0 < len(besides) <= MOST_ROWS:
        return None
    groups = [
        [comparison for comparison in besides if comparison.published.unit == unit]
        for unit in dict.fromkeys(comparison.published.unit for comparison in besides)
    ]
    return Picture(
        name=picture_name(subject.analysis, "published"),
        title="Values: published and ours",
        caption="Hollow: published; filled: ours, coloured by how they agree, with its confidence "
        "interval.",
        drawing=partial(_sheet, groups),
        data=lambda: published_frame([subject.analysis]),
    )


KIND = Kind(place=5, section=Section.PUBLISHED, draw=_draw)


def _sheet(groups: Sequence[Sequence[Beside]], width: float) -> Sheet:
    rows = sum(map(len, groups))
    sheet = Sheet(width, _LEGEND + rows * _ROW + len(groups) * (_HEAD + _FOOT))
    _legend(sheet, [comparison for group in groups for comparison in group])
    labels = [_label(comparison) for group in groups for comparison in group]
    left = min(max(map(text_width, labels)) + 12, 0.55 * width)
    top = _LEGEND
    for group in groups:
        frame = Frame(left, top + _HEAD, width - left - 16, len(group) * _ROW)
        _group(sheet, group, frame)
        top = frame.bottom + _FOOT
    return sheet


def _legend(sheet: Sheet, besides: Sequence[Beside]) -> None:
    x = 8.0
    sheet.dots([(x, 10)], MUTED, size=8, hollow=True)
    sheet.text(x + 10, 10, "published")
    x += 24 + text_width("published")
    for agreement, colour in _COLOURS.items():
        if any(comparison.agreement is agreement for comparison in besides):
            text = agreement.value
            if x + text_width(text) > sheet.width - 20:
                text = shortened(text, sheet.width - 20 - x)
            sheet.dots([(x + 6, 10)], colour, Marker.DIAMOND, size=9)
            sheet.text(x + 16, 10, text)
            x += 30 + text_width(text)


def _label(comparison: Beside) -> str:
    return f"{whose(comparison)}, {comparison.title}" if comparison.title else whose(comparison)


def _group(sheet: Sheet, group: Sequence[Beside], frame: Frame) -> None:
    """Values of one unit."""
    scale = _scale(group, frame)
    ticks = scale.ticks(max(2, int(frame.width / 70)))
    sheet.lines([((scale(t), frame.top), (scale(t), frame.bottom)) for t in ticks], colour=RULE)
    unit = group[0].published.unit
    x_axis(sheet, frame, [scale(tick) for tick in ticks], [written(tick, unit) for tick in ticks])
    for row, comparison in enumerate(group):
        y = frame.top + (row + 0.5) * _ROW
        sheet.label(frame.left - 8, y, _label(comparison), frame.left - 8, anchor="end")
        _draw_row(sheet, comparison, scale, y)


def _scale(group: Sequence[Beside], frame: Frame) -> Scale:
    values = [comparison.published.value for comparison in group] + [
        comparison.value or 0.0 for comparison in group
    ]
    ends = [
        end
        for comparison in group
        if comparison.interval
        for end in (comparison.interval.low, comparison.interval.high)
    ]
    if min(*values, *ends) > 0:
        return value_scale([*values, *ends], frame.left, frame.right, wide=8.0)
    low, high = min(0.0, *values, *ends), max(0.0, *values, *ends)
    margin = 0.04 * (high - low) or 1.0
    return Scale(low - margin, high + margin, frame.left, frame.right)


def _draw_row(sheet: Sheet, comparison: Beside, scale: Scale, y: float) -> None:
    ours, theirs = scale(comparison.value or 0.0), scale(comparison.published.value)
    colour = _COLOURS.get(comparison.agreement, MUTED)
    sheet.line((min(ours, theirs), y), (max(ours, theirs), y), colour=MUTED, opacity=0.6)
    if comparison.interval and comparison.interval.high > comparison.interval.low:
        low, high = scale(comparison.interval.low), scale(comparison.interval.high)
        sheet.line((low, y), (high, y), colour=colour, width=5, opacity=0.35)
    sheet.dots([(theirs, y)], MUTED, size=8, hollow=True, halo=True)
    sheet.dots([(ours, y)], colour, Marker.DIAMOND, size=8, halo=True)
