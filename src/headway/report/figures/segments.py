"""Chosen videos over time: segments by rung over the link's rate, and the buffer with stalls under them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

import polars as pl

from headway.analysis.numbers import significant
from headway.columns.videosegment import FetchedSegment
from headway.report.chosen import runs_said
from headway.report.evidence import VideoStory
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, is_narrow, picture_name
from headway.report.figures.livelevels import latencies, levels
from headway.report.figures.rungs import rung_fill
from headway.report.plots import Frame, named_frame, x_axis
from headway.report.scale import Scale, written
from headway.report.section import Section
from headway.report.sheet import Point, Reading, Sheet
from headway.report.theme import BLUE, GREY, INK, MUTED, RED, RULE

_RATES, _BUFFER = 150.0, 66.0
_HEAD, _BETWEEN, _FOOT = 44.0, 26.0, 40.0
_LEFT, _GAP, _EDGE = 46.0, 26.0, 10.0
_THICK = 5.0
_ABOVE = 1.15
"""How far the axis goes beyond the highest rung that was fetched: a link may be much faster than any."""
_MOST_COLUMNS = 3


def _draw(subject: Subject) -> Picture | None:
    stories = [story for story in subject.evidence.videos if story.playback.segments]
    if not stories:
        return None
    text = (
        "Each bar is a segment, from its request to its last byte, at the rate of its rung (purple the lowest, green the "
        "highest). The grey line is the rate of the narrowest link, dots are the throughput as the player saw it; both are "
        "cut off above the rungs that were fetched. Below: what was buffered (of live video the thin line is its latency); red where the picture stood still, grey until "
        "it appeared."
    )
    return Picture(
        name=picture_name(subject.analysis, "segments"),
        title="Segments over time",
        caption=f"{text} {runs_said([story.run for story in stories])}",
        drawing=partial(_sheet, stories),
        data=lambda: _data(stories),
        said=told(map(_outcome_said, stories)),
    )


KIND = Kind(place=58, section=Section.WHY, draw=_draw, every_metric=False, of_runs=True)


def _outcome_said(story: VideoStory) -> str:
    rates = [segment.rate_mbit for segment in story.playback.segments]
    stalled = math.fsum(stall.lasted_s for stall in story.playback.stalls)
    mean = significant(math.fsum(rates) / len(rates))
    return f"{story.title}: {len(rates)} segments of {mean} Mbit/s, stalled for {significant(stalled)} s"


def _data(stories: Sequence[VideoStory]) -> pl.DataFrame:
    rows = [
        {
            "run_id": story.run.run_id,
            "contender": story.run.contender,
            "flow": story.flow,
            # Columns of CSV have one value.
            **segment.model_dump(exclude={"chunks_s"}),
        }
        for story in stories
        for segment in story.playback.segments
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _sheet(stories: Sequence[VideoStory], width: float) -> Sheet:
    columns = 1 if is_narrow(width) else min(len(stories), _MOST_COLUMNS)
    tall = _HEAD + _RATES + _BETWEEN + _BUFFER + _FOOT
    sheet = Sheet(width, tall * -(-len(stories) // columns))
    pitch = (width - _EDGE + _GAP) / columns
    end_s = max(story.playback.end_s for story in stories)
    most_mbit = _ABOVE * max(
        segment.rate_mbit for story in stories for segment in story.playback.segments
    )
    most_s = max(
        *(segment.buffer_after_s for story in stories for segment in story.playback.segments),
        *(latency_s for story in stories for _, latency_s in latencies(story.playback)),
        0.0,
    )
    for place, story in enumerate(stories):
        left, top = place % columns * pitch + _LEFT, place // columns * tall
        rates = Frame(left, top + _HEAD, pitch - _GAP - _LEFT, _RATES)
        buffer = Frame(left, rates.bottom + _BETWEEN, rates.width, _BUFFER)
        across = Scale(0.0, end_s, rates.left, rates.right)
        sheet.label(left, top + 12, story.title, rates.width, bold=True)
        _plot_rates(sheet, story, rates, across, Scale(0.0, most_mbit, rates.bottom, rates.top))
        up = Scale(0.0, 1.1 * most_s, buffer.bottom, buffer.top)
        _plot_buffer(sheet, story, buffer, across, up)
    return sheet


def _plot_rates(sheet: Sheet, story: VideoStory, frame: Frame, across: Scale, up: Scale) -> None:
    playback = story.playback
    named_frame(sheet, "segments, link [Mbit/s]", frame, up)
    link = [
        (across(min(at_s, across.high)), up(min(mbit, up.high)))
        for at_s, mbit in _corners(playback.rates, playback.end_s)
    ]
    sheet.lines([link] if len(link) > 1 else [], GREY, 1.6)
    count = len(playback.ladder_mbit)
    for rung in sorted({segment.rung for segment in playback.segments}):
        fill, _ = rung_fill(rung, count)
        boxes = [_bar(segment, across, up) for segment in playback.segments if segment.rung == rung]
        sheet.boxes(boxes, fill=fill, edge=MUTED)
    seen = [
        (
            across((segment.asked_s + segment.last_byte_s) / 2),
            up(min(segment.throughput_mbit, up.high)),
        )
        for segment in playback.segments
    ]
    for point in seen:
        sheet.box(point[0] - 1, point[1] - 1, 2, 2, fill=INK)
    x_axis(sheet, frame, [across(tick) for tick in across.ticks(6)], ["" for _ in across.ticks(6)])


def _bar(
    fetched_segment: FetchedSegment, across: Scale, up: Scale
) -> tuple[float, float, float, float]:
    left = across(fetched_segment.asked_s)
    return (
        left,
        up(fetched_segment.rate_mbit) - _THICK / 2,
        max(1.0, across(fetched_segment.last_byte_s) - left),
        _THICK,
    )


def _corners(steps: Sequence[tuple[float, float]], end_s: float) -> Iterator[tuple[float, float]]:
    """The line of a rate that stands until the next one."""
    for (at_s, mbit), until_s in zip(steps, [*(at for at, _ in steps[1:]), end_s], strict=True):
        yield at_s, mbit
        yield until_s, mbit


def _plot_buffer(sheet: Sheet, story: VideoStory, frame: Frame, across: Scale, up: Scale) -> None:
    playback = story.playback
    started_s = playback.end_s if playback.start_s is None else playback.start_s
    waits = [(0.0, started_s, RULE)]
    waits += [(stall.at_s, stall.at_s + stall.lasted_s, RED) for stall in playback.stalls]
    for begin_s, end_s, colour in waits:
        left = across(begin_s)
        wide = max(1.0, across(end_s) - left)
        sheet.box(left, frame.top, wide, frame.height, fill=colour, opacity=0.7)
    late = [(across(at_s), up(latency_s)) for at_s, latency_s in latencies(playback)]
    named_frame(sheet, "buffer, latency [s]" if late else "buffer [s]", frame, up)
    sheet.lines([late] if late else [], INK, 1.0)
    if late:
        line = [(across(at_s), up(level_s)) for at_s, level_s in levels(playback)]
    else:
        line = list(_levels(story, across, up))
    reading = Reading("buffer [s]", across, up)
    sheet.lines([line] if len(line) > 1 else [], BLUE, 1.3, reading=reading)
    ticks = across.ticks(6)
    x_axis(sheet, frame, [*map(across, ticks)], [*map(written, ticks)], "time [s]")


def _levels(story: VideoStory, across: Scale, up: Scale) -> Iterator[Point]:
    """The buffer falls while a segment comes, and jumps when it has come."""
    playback = story.playback
    for segment in playback.segments:
        yield across(segment.asked_s), up(segment.buffer_before_s)
        empty_s = max(segment.asked_s, playback.start_s or 0.0) + segment.buffer_before_s
        if segment.buffer_before_s and empty_s < segment.last_byte_s:
            yield across(empty_s), up(0.0)
        gained_s = 0.0 if segment.repeated else segment.plays_s or playback.segment_s
        yield across(segment.last_byte_s), up(max(0.0, segment.buffer_after_s - gained_s))
        yield across(segment.last_byte_s), up(segment.buffer_after_s)
    last = playback.segments[-1]
    empty_s = last.last_byte_s + last.buffer_after_s
    if empty_s < playback.end_s:
        yield across(empty_s), up(0.0)
    yield across(playback.end_s), up(max(0.0, empty_s - playback.end_s))
