"""Chosen runs of flows that competed, side by side: goodput, windows, round-trip times, and the queue."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

import polars as pl

from headway.analysis import Analysis
from headway.analysis.numbers import significant
from headway.report.chosen import runs_said
from headway.report.evidence import SharedStory
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, is_narrow, picture_name
from headway.report.flowcolours import flow_colours
from headway.report.legend import colour_legend, legend_height
from headway.report.plots import Frame, lines_over_time, named_frame, x_axis
from headway.report.scale import Scale, written
from headway.report.section import Section
from headway.report.sheet import Point, Reading, Sheet
from headway.report.theme import INK, MUTED, Colour

_GAP, _LEFT, _EDGE = 26.0, 46.0, 10.0
_HEAD, _BETWEEN, _FOOT = 44.0, 26.0, 40.0
_STACK, _ROW = 120.0, 84.0
_MOST_COLUMNS = 4


def _draw(subject: Subject) -> Picture | None:
    stories = subject.evidence.shared
    if not stories:
        return None
    cells = dict.fromkeys(story.run.cell for story in stories)
    where = f": {next(iter(cells))}" if len(cells) == 1 and any(cells) else ""
    return Picture(
        name=picture_name(subject.analysis, "sharing"),
        title=f"Flows over time{where}",
        caption=(
            "Uppermost, the goodput of all flows, each on top of those before it; below, the same as lines, then "
            "what is known of congestion windows, smoothed round-trip times, and how long the queue before the "
            f"narrowest link took to send. {runs_said([story.run for story in stories])}"
        ),
        drawing=partial(_sheet, subject.analysis, stories),
        data=lambda: _data(stories),
        said=_said(stories),
    )


KIND = Kind(place=3, section=Section.FLOWS, draw=_draw, every_metric=False, of_runs=True)


def _said(stories: Sequence[SharedStory]) -> str:
    return " ".join(
        told(
            (f"{flow.name} {significant(_mean(flow.goodput_mbit))} Mbit/s" for flow in story.flows),
            start=f"{story.run.contender} ({story.run.repetition}), means: ",
        )
        for story in stories
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _data(stories: Sequence[SharedStory]) -> pl.DataFrame:
    rows = [
        {
            "run_id": story.run.run_id,
            "contender": story.run.contender,
            "flow": flow.name,
            "from_s": place * story.span_s,
            "to_s": (place + 1) * story.span_s,
            "goodput_mbit": mbit,
        }
        for story in stories
        for flow in story.flows
        for place, mbit in enumerate(flow.goodput_mbit)
    ]
    return pl.DataFrame(rows)


_Line = tuple[Sequence[float], Sequence[float | None]]
"""Times, and values at them."""


@dataclass(frozen=True)
class _Panel:
    """A panel below the areas: its heading, and its lines by the name of their flow; without a name of all."""

    heading: str
    lines: Callable[[SharedStory], Mapping[str, _Line]]

    def has_values(self, story: SharedStory) -> bool:
        """Whether a run has any; a panel that no run has values for is left out."""
        return any(v is not None for _, values in self.lines(story).values() for v in values)


def _goodput(story: SharedStory) -> Mapping[str, _Line]:
    return {
        flow.name: (
            [(at + 0.5) * story.span_s for at in range(len(flow.goodput_mbit))],
            flow.goodput_mbit,
        )
        for flow in story.flows
    }


def _windows(story: SharedStory) -> Mapping[str, _Line]:
    return {
        flow.name: (
            flow.sender.at_s,
            [None if v is None else v / 1e3 for v in flow.sender.cwnd_bytes],
        )
        for flow in story.flows
    }


def _round_trips(story: SharedStory) -> Mapping[str, _Line]:
    return {flow.name: (flow.sender.at_s, flow.sender.srtt_ms) for flow in story.flows}


def _queue(story: SharedStory) -> Mapping[str, _Line]:
    queued = story.queue_delay_ms
    return {"": ([at_s for at_s, _ in queued], [delay_ms for _, delay_ms in queued])}


_PANELS = (
    _Panel("goodput [Mbit/s]", _goodput),
    _Panel("congestion window [kB]", _windows),
    _Panel("smoothed RTT [ms]", _round_trips),
    _Panel("queueing delay [ms]", _queue),
)


def _sheet(analysis: Analysis, stories: Sequence[SharedStory], width: float) -> Sheet:
    columns = 1 if is_narrow(width) else min(len(stories), _MOST_COLUMNS)
    colours = flow_colours(analysis, stories)
    legend = legend_height(tuple(colours), width) + 10
    panels = [panel for panel in _PANELS if any(map(panel.has_values, stories))]
    tall = _HEAD + _STACK + len(panels) * _ROW + (len(panels) + 1) * _BETWEEN + _FOOT
    sheet = Sheet(width, legend + tall * -(-len(stories) // columns))
    colour_legend(sheet, colours, 0, 0)
    pitch = (width - _EDGE + _GAP) / columns
    longest = max(story.end_s for story in stories)
    for place, story in enumerate(stories):
        x, y = place % columns * pitch + _LEFT, legend + place // columns * tall
        across = Scale(0, longest, x, x + pitch - _GAP - _LEFT)
        _story(sheet, story, across, y, colours, panels)
    return sheet


def _story(
    sheet: Sheet,
    story: SharedStory,
    across: Scale,
    top: float,
    colours: Mapping[str, Colour],
    panels: Sequence[_Panel],
) -> None:
    width = across.end - across.start
    sheet.label(across.start, top + 11, story.run.contender, width, size=14, bold=True)
    sheet.label(across.start, top + 29, story.run.repetition, width, MUTED)
    frame = Frame(across.start, top + _HEAD + _BETWEEN - 6, width, _STACK)
    _stack(sheet, story, across, frame, colours)
    for panel in panels:
        frame = Frame(across.start, frame.bottom + _BETWEEN, width, _ROW)
        _lines(sheet, panel.heading, panel.lines(story), across, frame, {"": INK, **colours})
    ticks = across.ticks(max(2, int(width / 55)))
    texts = [written(tick) for tick in ticks]
    x_axis(sheet, frame, [across(tick) for tick in ticks], texts, "seconds")


def _stack(
    sheet: Sheet,
    story: SharedStory,
    across: Scale,
    frame: Frame,
    colours: Mapping[str, Colour],
) -> None:
    """Every flow's goodput as an area on top of those before it."""
    tops = list(zip(*(accumulate(values) for values in _by_span(story)), strict=True))
    most = max(max(line) for line in tops) or 1.0
    up = Scale(0, most * 1.06, frame.bottom, frame.top)
    named_frame(sheet, "goodput of all [Mbit/s]", frame, up)
    below: list[Point] = [(across(0), frame.bottom), (across(story.end_s), frame.bottom)]
    for flow, line in zip(story.flows, tops, strict=True):
        edge = [
            (across(at * story.span_s), up(value))
            for place, value in enumerate(line)
            for at in (place, place + 1)
        ]
        sheet.areas([[*edge, *reversed(below)]], fill=colours[flow.name], opacity=0.8)
        below = edge


def _by_span(story: SharedStory) -> list[tuple[float, ...]]:
    """What all flows got in each span, in their order."""
    return list(zip(*(flow.goodput_mbit for flow in story.flows), strict=True))


def _lines(
    sheet: Sheet,
    heading: str,
    lines: Mapping[str, tuple[Sequence[float], Sequence[float | None]]],
    across: Scale,
    frame: Frame,
    colours: Mapping[str, Colour],
) -> None:
    known = [
        value
        for times, values in lines.values()
        for at, value in zip(times, values, strict=True)
        if value is not None and at <= across.high
    ]
    up = Scale(0, (max(known, default=0.0) or 1.0) * 1.06, frame.bottom, frame.top)
    named_frame(sheet, heading, frame, up)
    for name, (times, values) in lines.items():
        pairs = lines_over_time(times, values, across, up)
        reading = Reading(f"{heading} {name}".strip(), across, up)
        sheet.lines(pairs, colours[name], 1.3, reading=reading)
