"""Operating points of flows that competed: goodput against queueing delay, with an envelope around what is usual.

After the performance envelope of Mishra, Lim and Leong ("Understanding Speciation in QUIC Congestion Control", IMC
2022): here of one run, without clusters, and with the queue's delay, which all flows of a link share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from math import ceil, hypot
from statistics import fmean, median

import polars as pl

from headway.analysis import Analysis
from headway.analysis.numbers import significant
from headway.report.chosen import runs_said
from headway.report.evidence import FlowCourse, SharedStory
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.flowcolours import flow_colours
from headway.report.legend import colour_legend, legend_height
from headway.report.plots import Frame, Tiles, x_axis, y_axis
from headway.report.scale import Scale, written
from headway.report.section import Section
from headway.report.sheet import Point, Sheet
from headway.report.theme import Colour

_LEAST_SPAN_S = 0.5
_LEAST_POINTS = 10
_KEPT = 0.9
"""Share of the points that the envelope is around."""
_HEIGHT, _GAP, _LEFT = 210.0, 24.0, 42.0

Working = tuple[Point, ...]
"""Queueing delay in ms and goodput in Mbit/s, of one span after the other."""


def _draw(subject: Subject) -> Picture | None:
    stories = [story for story in subject.evidence.shared if any(_points(story).values())]
    if not stories:
        return None
    return Picture(
        name=picture_name(subject.analysis, "envelope"),
        title="Where flows worked: goodput and queueing delay",
        caption=(
            f"A dot is a span of {_LEAST_SPAN_S} s or more: what the flow got, and how long the queue before the "
            "narrowest link then took to send. The outline is around the nine tenths that are nearest to the "
            f"median. {runs_said([story.run for story in stories])}"
        ),
        drawing=partial(_sheet, subject.analysis, stories),
        data=lambda: _data(stories),
        said=told(
            f"{story.run.contender}, {name}: {_centre(points)}"
            for story in stories
            for name, points in _points(story).items()
        ),
    )


KIND = Kind(place=61, section=Section.WHY, draw=_draw, every_metric=False, of_runs=True)


def _points(story: SharedStory) -> dict[str, Working]:
    """Of every flow that was there for long enough."""
    pairs = {flow.name: _working(story, flow) for flow in story.flows}
    return {name: points for name, points in pairs.items() if len(points) >= _LEAST_POINTS}


def _working(story: SharedStory, flow: FlowCourse) -> Working:
    """From the flow's first byte to its last."""
    there = [place for place, mbit in enumerate(flow.goodput_mbit) if mbit]
    if not there:
        return ()
    together = ceil(_LEAST_SPAN_S / story.span_s)
    edges = range(there[0], there[-1] + 2, together)
    points = []
    for begin, end in pairwise(edges):
        delays = [
            delay_ms
            for at_s, delay_ms in story.queue_delay_ms
            if begin * story.span_s <= at_s < end * story.span_s
        ]
        if delays:
            points.append((fmean(delays), fmean(flow.goodput_mbit[begin:end])))
    return tuple(points)


def usual(points: Sequence[Point]) -> list[Point]:
    """The nine tenths of points that are nearest to the median of both values, each by its own spread."""
    middle = [median(values) for values in zip(*points, strict=True)]
    spread = [
        median(abs(value - centre) for value in values) or 1.0
        for values, centre in zip(zip(*points, strict=True), middle, strict=True)
    ]

    def away(point: Point) -> float:
        return hypot((point[0] - middle[0]) / spread[0], (point[1] - middle[1]) / spread[1])

    return sorted(points, key=away)[: ceil(_KEPT * len(points))]


def hull(points: Sequence[Point]) -> list[Point]:
    """The corners of the convex hull of points, one after the other (Andrew's monotone chain)."""
    ordered = sorted(set(points))
    if len(ordered) < 3:
        return ordered
    lower, upper = _chain(ordered), _chain(ordered[::-1])
    return [*lower[:-1], *upper[:-1]]


def _chain(points: Sequence[Point]) -> list[Point]:
    kept: list[Point] = []
    for point in points:
        while len(kept) > 1 and _turn(kept[-2], kept[-1], point) <= 0:
            kept.pop()
        kept.append(point)
    return kept


def _turn(a: Point, b: Point, c: Point) -> float:
    """Above zero if the way over these points turns left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _centre(points: Working) -> str:
    delay_ms, mbit = (median(values) for values in zip(*points, strict=True))
    return f"{significant(mbit)} Mbit/s at {significant(delay_ms)} ms"


def _data(stories: Sequence[SharedStory]) -> pl.DataFrame:
    rows = [
        {
            "run_id": story.run.run_id,
            "contender": story.run.contender,
            "flow": name,
            "queue_delay_ms": delay_ms,
            "goodput_mbit": mbit,
        }
        for story in stories
        for name, points in _points(story).items()
        for delay_ms, mbit in points
    ]
    return pl.DataFrame(rows)


def _sheet(analysis: Analysis, stories: Sequence[SharedStory], width: float) -> Sheet:
    shown = {name for story in stories for name in _points(story)}
    colours = {
        name: flow_colour
        for name, flow_colour in flow_colours(analysis, stories).items()
        if name in shown
    }
    tiles = Tiles.fitting(len(stories), 300, width, left=_LEFT, height=_HEIGHT, gap=_GAP)
    head = legend_height(tuple(colours), width) + 8
    sheet = Sheet(width, head + tiles.total_height)
    colour_legend(sheet, colours, 0, 0)
    draw = partial(_panel, colours)
    panels = ((story.run.contender, partial(draw, _points(story))) for story in stories)
    tiles.fill(sheet, panels, head)
    return sheet


def _panel(
    colours: Mapping[str, Colour], flows: Mapping[str, Working], sheet: Sheet, frame: Frame
) -> None:
    every = [point for points in flows.values() for point in points]
    delays, rates = zip(*every, strict=True)
    across = Scale(0, 1.05 * max(delays) or 1.0, frame.left, frame.right)
    up = Scale(0, 1.05 * max(rates) or 1.0, frame.bottom, frame.top)
    rows, ticks = up.ticks(5), across.ticks(5)
    y_axis(sheet, frame, up, rows, [written(tick) for tick in rows])
    texts = [written(tick) for tick in ticks]
    x_axis(sheet, frame, [across(tick) for tick in ticks], texts, "queueing delay [ms]")
    sheet.text(frame.left + 6, frame.top + 8, "Mbit/s", size=11)
    for name, points in flows.items():
        outline = [(across(delay), up(mbit)) for delay, mbit in hull(usual(points))]
        sheet.areas([outline], fill=colours[name], opacity=0.18)
        sheet.line(*outline, outline[0], colour=colours[name], width=1.2)
        sheet.dots([(across(delay), up(mbit)) for delay, mbit in points], colours[name], size=3.5)
