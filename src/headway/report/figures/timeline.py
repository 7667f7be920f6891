"""Chosen runs over time, side by side: window, round-trip time, queue, rate, and what limited them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from headway.analysis.numbers import significant
from headway.report.chosen import runs_said
from headway.report.evidence import Story
from headway.report.figures.data import series_data, told
from headway.report.figures.holdups import COLOURS
from headway.report.figures.kind import Kind, Picture, Subject, is_narrow, picture_name
from headway.report.legend import colour_legend, legend_height
from headway.report.plots import Frame, lines_over_time, named_frame, x_axis
from headway.report.scale import Scale, written
from headway.report.section import Section
from headway.report.sheet import Reading, Sheet, shortened, text_width
from headway.report.theme import BLUE, CYAN, INK, MUTED, PAPER, RED, RULE, Colour

if TYPE_CHECKING:
    from headway.diagnosis.series import SegmentSeries

_WINDOW, _FLIGHT, _LINE, _DROPS = INK, CYAN, BLUE, RED
_GAP = 26.0
_EDGE = 10.0
"""Room at the right for labels that stick out."""
_HEAD = 44.0
_STRIP = 13.0
_BETWEEN = 26.0
_FOOT = 40.0
_RATE_BUCKET = 6.0
_COUNTERS = "counters"
"""The evidence of a segment whose sender tells nothing."""
_MOST_APART = 6.0
"""Runs whose lengths differ by more than this factor have time axes of their own."""


@dataclass(frozen=True)
class _PlotRow:
    """A row of plots: what it shows, its height, and the values over time, None where unknown."""

    name: str
    height: float
    values: Callable[[SegmentSeries], Sequence[float | None]]
    colour: Colour


_WINDOWS = _PlotRow(
    "congestion window, in flight [kB]",
    110,
    lambda segment: [None if v is None else v / 1e3 for v in segment.cwnd_bytes],
    _WINDOW,
)
_QUEUE = _PlotRow(
    "queue at the bottleneck [kB]",
    76,
    lambda segment: [v / 1e3 for v in segment.queue_bytes],
    _LINE,
)
_ROWS = (
    _WINDOWS,
    _PlotRow("smoothed RTT [ms]", 76, lambda segment: segment.srtt_ms, _LINE),
    _QUEUE,
)
_RATE = _PlotRow("rate at the bottleneck [Mbit/s]", 76, lambda segment: segment.sent_bytes, _LINE)


def _draw(subject: Subject) -> Picture | None:
    stories = [story for story in subject.evidence.stories if story.series.segments and _end(story)]
    if not stories:
        return None
    return Picture(
        name=picture_name(subject.analysis, "timeline"),
        title=_title(stories),
        caption=_caption(stories),
        drawing=partial(_sheet, stories),
        data=lambda: series_data(stories),
        said=_said(stories),
    )


KIND = Kind(place=60, section=Section.WHY, draw=_draw, every_metric=False, of_runs=True)


def _title(stories: Sequence[Story]) -> str:
    cells = dict.fromkeys(story.run.cell for story in stories)
    return f"Over time: {next(iter(cells))}" if len(cells) == 1 and any(cells) else "Over time"


def _caption(stories: Sequence[Story]) -> str:
    text = (
        "Uppermost, the line is the congestion window and the area bytes in flight. Red ticks are "
        "packets dropped on the path. The strip is coloured by what held the transfer back"
    )
    if any(len(story.series.segments) > 1 for story in stories):
        text += (
            "; where programs split connections there is one for each section, the client's first, "
            "in which a sender that waits for the one behind it is limited by its application, and "
            "the plots are of the section that held the transfer back for the longest time"
        )
    if any(_is_inferred(segment) for story in stories for segment in story.series.segments):
        text += "; hatched where that is inferred from what the bottleneck carried and dropped"
    words = "" if _shared(stories) else " The runs have time axes of their own."
    return f"{text}.{words} {runs_said([story.run for story in stories])}"


def _said(stories: Sequence[Story]) -> str:
    """How the runs ended, and for how long what held each back."""
    return " ".join(
        told(_seconds_by_cause(story), start=f"{story.run.contender} ({_outcome(story)}): ")
        for story in stories
    )


def _seconds_by_cause(story: Story) -> list[str]:
    segment = _shown(story)
    seconds: dict[str, float] = defaultdict(float)
    for (begin, end), limit in zip(pairwise((0.0, *segment.at_s)), segment.limit, strict=True):
        if limit and begin < _end(story):
            seconds[str(limit)] += min(end, _end(story)) - begin
    ranked = sorted(seconds.items(), key=lambda pair: -pair[1])
    return [f"{name} {significant(length)} s" for name, length in ranked]


def _end(story: Story) -> float:
    """The last moment worth showing, in seconds."""
    last = max((segment.at_s[-1] for segment in story.series.segments if segment.at_s), default=0.0)
    return min(last, story.series.end_s) if story.series.end_s else last


def _shown(story: Story) -> SegmentSeries:
    """The section of the chain whose plots are drawn."""
    return story.series.segments[story.series.limiting]


def _outcome(story: Story) -> str:
    """What became of the run, of several sections which one is drawn, and the path it met."""
    segment = _shown(story)
    section = f"; {segment.sender} > {segment.receiver}" if len(story.series.segments) > 1 else ""
    return f"{story.run.outcome}{section}; {story.run.repetition}"


def _shared(stories: Sequence[Story]) -> bool:
    ends = [_end(story) for story in stories]
    return max(ends) <= _MOST_APART * min(ends)


def _sheet(stories: Sequence[Story], width: float) -> Sheet:
    columns = 1 if is_narrow(width) else min(len(stories), 4)
    causes = {
        str(limit)
        for story in stories
        for segment in story.series.segments
        for limit in segment.limit
        if limit
    }
    colours = {name: colour for name, colour in COLOURS.items() if name in causes}
    legend = legend_height(tuple(colours), width) + 10
    strips = max(len(story.series.segments) for story in stories)
    rows = _rows(stories)
    tall = (
        _HEAD + math.fsum(row.height + _BETWEEN for row in (*rows, _RATE)) + strips * (_STRIP + 4)
    )
    tall += _FOOT
    sheet = Sheet(width, legend + tall * -(-len(stories) // columns))
    colour_legend(sheet, colours, 0, 0)
    left = 46.0
    pitch = (width - _EDGE + _GAP) / columns
    longest = max(map(_end, stories)) if _shared(stories) else None
    tops = {row: _greatest(stories, row.values) for row in rows}
    for place, story in enumerate(stories):
        x, y = place % columns * pitch + left, legend + place // columns * tall
        across = Scale(0, longest or _end(story), x, x + pitch - _GAP - left)
        _story(sheet, story, across, y, tops, _greatest_rate(stories, across))
    return sheet


def _rows(stories: Sequence[Story]) -> list[_PlotRow]:
    """The rows of which at least one run tells something."""
    segments = [_shown(story) for story in stories]
    return [
        row
        for row in _ROWS
        if any(value is not None for segment in segments for value in row.values(segment))
    ]


def _greatest(
    stories: Sequence[Story], values: Callable[[SegmentSeries], Sequence[float | None]]
) -> float:
    result = [
        value
        for story in stories
        for at, value in zip(_shown(story).at_s, values(_shown(story)), strict=True)
        if value is not None and at <= _end(story)
    ]
    return max(result, default=0.0) or 1.0


def _greatest_rate(stories: Sequence[Story], across: Scale) -> float:
    rates = [rate for story in stories for _, _, rate in _rates(_shown(story), across)]
    return max(rates, default=0.0) or 1.0


def _story(
    sheet: Sheet,
    story: Story,
    across: Scale,
    top: float,
    tops: Mapping[_PlotRow, float],
    fastest: float,
) -> None:
    segment, width = _shown(story), across.end - across.start
    sheet.label(across.start, top + 11, story.run.contender, width, size=14, bold=True)
    sheet.label(across.start, top + 29, _outcome(story), width, MUTED)
    y = top + _HEAD
    for row, most in tops.items():
        frame = Frame(across.start, y + _BETWEEN - 6, width, row.height)
        _plot(sheet, row, segment, frame, across, Scale(0, most * 1.06, frame.bottom, frame.top))
        y += row.height + _BETWEEN
    frame = Frame(across.start, y + _BETWEEN - 6, width, _RATE.height)
    _plot_rate(sheet, segment, frame, across, Scale(0, fastest * 1.06, frame.bottom, frame.top))
    y += _RATE.height + _BETWEEN + 4
    for segment_series in story.series.segments:
        _strip(sheet, segment_series, across, y, INK if segment_series is segment else MUTED)
        y += _STRIP + 4
    ticks = across.ticks(max(2, int(width / 55)))
    edge = Frame(across.start, y, width, 0)
    texts = [written(tick) for tick in ticks]
    x_axis(sheet, edge, [across(tick) for tick in ticks], texts, "seconds")


def _plot(
    sheet: Sheet, row: _PlotRow, segment: SegmentSeries, frame: Frame, across: Scale, up: Scale
) -> None:
    named_frame(sheet, row.name, frame, up)
    values = row.values(segment)
    if all(value is None for value in values):
        text, y = (
            shortened("the sender does not report it", frame.width, 11),
            frame.top + frame.height / 2,
        )
        sheet.box(frame.left + 4, y - 8, text_width(text, 11) + 8, 16, fill=PAPER)
        sheet.text(frame.left + 8, y, text, MUTED, size=11)
        return
    if row is _WINDOWS:
        flight = [None if v is None else v / 1e3 for v in segment.in_flight_bytes]
        for run in lines_over_time(segment.at_s, flight, across, up):
            ground = [(run[-1][0], frame.bottom), (run[0][0], frame.bottom)]
            sheet.areas([[*run, *ground]], fill=_FLIGHT, opacity=0.55)
    if row is _QUEUE:
        _drops(sheet, segment, frame, across)
    reading = Reading(row.name, across, up)
    sheet.lines(lines_over_time(segment.at_s, values, across, up), row.colour, 1.3, reading=reading)


def _drops(sheet: Sheet, segment: SegmentSeries, frame: Frame, across: Scale) -> None:
    """Ticks at the top of the plot where packets were dropped, one for each pixel at most."""
    places = {
        round(across(at))
        for at, (before, after) in zip(segment.at_s[1:], pairwise(segment.drops), strict=True)
        if after > before and at <= across.high
    }
    ticks = [((x, frame.top), (x, frame.top + 5)) for x in sorted(places)]
    sheet.lines(ticks, colour=_DROPS, width=1)


def _plot_rate(
    sheet: Sheet, segment: SegmentSeries, frame: Frame, across: Scale, up: Scale
) -> None:
    named_frame(sheet, _RATE.name, frame, up)
    line = [
        point
        for begin, end, rate in _rates(segment, across)
        for point in ((across(begin), up(rate)), (across(end), up(rate)))
    ]
    reading = Reading(_RATE.name, across, up)
    sheet.lines([line] if line else [], _LINE, 1.3, reading=reading)


def _rates(segment: SegmentSeries, across: Scale) -> Iterator[tuple[float, float, float]]:
    """Mean rates, Mbit/s, over spans of some pixels: begin, end, rate."""
    least = (across.high - across.low) * _RATE_BUCKET / (across.end - across.start)
    begin, sent = (segment.at_s[0], segment.sent_bytes[0]) if segment.at_s else (0.0, 0)
    for at, now in zip(segment.at_s, segment.sent_bytes, strict=True):
        if at > across.high:
            break
        if at - begin >= least:
            yield begin, at, (now - sent) * 8e-6 / (at - begin)
            begin, sent = at, now


def _is_inferred(segment: SegmentSeries) -> bool:
    return segment.evidence == _COUNTERS


def _strip(sheet: Sheet, segment: SegmentSeries, across: Scale, top: float, ink: Colour) -> None:
    """What limited the segment, equal neighbours as one box."""
    boxes: dict[Colour, list[tuple[float, float, float, float]]] = {}
    spans = zip(pairwise((0.0, *segment.at_s)), segment.limit, strict=True)
    for limit, group in groupby(spans, key=lambda span: span[1]):
        pairs = list(group)
        begin, end = pairs[0][0][0], min(pairs[-1][0][1], across.high)
        if limit and end > begin:
            left = across(begin)
            place = (left, top, max(0.3, across(end) - left), _STRIP)
            boxes.setdefault(COLOURS[str(limit)], []).append(place)
    width = across.end - across.start
    sheet.box(across.start, top, width, _STRIP, fill=RULE, opacity=0.5)
    for colour, places in boxes.items():
        sheet.boxes(places, fill=colour)
    if _is_inferred(segment):
        ends = [place[0] + place[2] for places in boxes.values() for place in places]
        sheet.hatch(across.start, top, max(ends, default=across.start) - across.start, _STRIP)
    label = segment.sender
    if across.start > text_width(label, 10):
        sheet.text(across.start - 5, top + _STRIP / 2, label, ink, size=10, anchor="end")
