"""The picture of a sender in a case: its window and what it has in flight, and where the window should be."""

from __future__ import annotations

import numpy as np

from headway.instruments.conformance.course import SenderCourse, Series
from headway.instruments.conformance.verdict import Examination
from headway.report.plots import Frame, lines_over_time, named_frame, x_axis
from headway.report.scale import Scale, written
from headway.report.sheet import Point, Sheet
from headway.report.theme import FAMILIES, INK, MUTED, Colour

_WIDTH, _HEIGHT = 560.0, 300.0
_LEFT, _TOP, _EDGE, _BELOW = 52.0, 62.0, 14.0, 40.0
_KB = 1e3
_HEADROOM = 1.08
_WINDOW, _FLIGHT, _BOUND = FAMILIES["h2"][0], MUTED, FAMILIES["h3"][0]
_DASH = (5.0, 3.0)


def picture(course: SenderCourse, examination: Examination, title: str) -> Sheet:
    """Draw a course with the bounds that it was held against."""
    begin_s, end_s = examination.span_s or (float(course.at_s[0]), float(course.at_s[-1]))
    begin_s, end_s = max(begin_s, float(course.at_s[0])), min(end_s, float(course.at_s[-1]))
    if end_s <= begin_s:
        begin_s, end_s = float(course.at_s[0]), float(course.at_s[-1])
    here = course.between(begin_s, end_s)
    tops = [value for bound in examination.bounds for _, value in bound.points]
    tops += [
        float(np.nanmax(values))
        for values in (here.window_bytes, here.in_flight_bytes)
        if len(values)
    ]
    sheet = Sheet(_WIDTH, _HEIGHT)
    frame = Frame(_LEFT, _TOP, _WIDTH - _LEFT - _EDGE, _HEIGHT - _TOP - _BELOW)
    across = Scale(begin_s, end_s or 1.0, frame.left, frame.right)
    up = Scale(0.0, (max(tops, default=1.0) or 1.0) / _KB * _HEADROOM, frame.bottom, frame.top)
    sheet.label(0, 12, title, _WIDTH, size=13, bold=True)
    _legend(sheet, examination)
    named_frame(sheet, "kB", frame, up)
    ticks = across.ticks(6)
    x_axis(sheet, frame, [*map(across, ticks)], [written(tick) for tick in ticks], "time (s)")
    for mark in examination.marks:
        if begin_s <= mark.at_s <= end_s:
            x = across(mark.at_s)
            sheet.line((x, frame.top), (x, frame.bottom), colour=INK, dash=(1.0, 3.0))
            sheet.text(x + 3, frame.top + 7, mark.name, MUTED, size=9)
    _curve(sheet, here.at_s, here.in_flight_bytes, across, up, _FLIGHT)
    _curve(sheet, here.at_s, here.window_bytes, across, up, _WINDOW)
    for bound in examination.bounds:
        points: list[Point] = [
            (across(at_s), up(value / _KB))
            for at_s, value in bound.points
            if begin_s <= at_s <= end_s
        ]
        sheet.line(*points, colour=_BOUND, width=1.6, dash=_DASH)
    return sheet


def _curve(
    sheet: Sheet, at_s: Series, values: Series, across: Scale, up: Scale, colour: Colour
) -> None:
    known = [None if np.isnan(value) else value / _KB for value in values.tolist()]
    sheet.lines(lines_over_time(at_s.tolist(), known, across, up), colour=colour, width=1.4)


def _legend(sheet: Sheet, examination: Examination) -> None:
    x = 0.0
    names = "; ".join(dict.fromkeys(bound.name for bound in examination.bounds))
    entries: list[tuple[str, Colour, tuple[float, ...]]] = [
        ("window", _WINDOW, ()),
        ("in flight", _FLIGHT, ()),
    ]
    entries += [(f"asked for: {names}", _BOUND, _DASH)] if names else []
    for text, colour, dash in entries:
        sheet.line((x, 34), (x + 22, 34), colour=colour, width=1.8, dash=dash)
        room = _WIDTH - x - 28 if text.startswith("asked") else 90
        sheet.label(x + 28, 34, text, room, size=11)
        x += 36 + 7 * len(text)
