"""Waterfalls of page loads: when each resource was asked for and when it came."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from headway.analysis.numbers import significant
from headway.instruments.waterfalls.beside import mark_beside
from headway.instruments.waterfalls.drawing import KINDS, Row, kind_of, waterfall_rows
from headway.instruments.waterfalls.loads import load_names, loads_said, loads_title
from headway.instruments.waterfalls.words import (
    NARROW_COLUMNS,
    TEXT,
    WIDE_COLUMNS,
    WordColumns,
    heads,
    row_words,
)
from headway.pages.critical import blocks_rendering, critical_path, last_before_load
from headway.pages.load import PageLoad, Resource
from headway.report.evidence import PageStory
from headway.report.figures.data import resources_data, told
from headway.report.figures.kind import Kind, Picture, Subject, is_narrow, picture_name
from headway.report.legend import colour_legend, legend_height
from headway.report.plots import Frame, x_axis
from headway.report.scale import Scale, written
from headway.report.section import Section
from headway.report.sheet import Point, Sheet, text_width
from headway.report.theme import INK, MUTED, RED, RULE, YELLOW, Colour, Marker

_ROW = 15.0
_BAR = 9.0
_HEAD = 40.0
_LANE = 14.0
_FOOT = 44.0
_MOST_ROWS, _FEWER_ROWS = 160, 80
"""All loads together; fewer in narrow drawings."""
_LEAST_ROWS = 12
"""Each load has so many."""
_BUCKET = 1.5
"""Chunks of data less than so many pixels apart are one."""
_WAITING, _RECEIVING = 0.3, 0.55
"""Opacities of phases; data are opaque."""
_CONNECTING = YELLOW
_MOST_APART = 6.0
"""Loads whose lengths differ by more than this factor have time axes of their own."""

_Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class _Milestone:
    """A moment of a load, by the short name that it has on the plot."""

    name: str
    at_ms: float


def _draw(subject: Subject) -> Picture | None:
    stories = [story for story in subject.evidence.pages if story.load.resources]
    if not stories:
        return None
    return Picture(
        name=picture_name(subject.analysis, "waterfall"),
        title=loads_title("Waterfall", stories),
        caption=_caption(stories),
        drawing=partial(_sheet, stories),
        data=lambda: resources_data(stories),
        said=told(
            f"{name}: {_told(page_story)}"
            for name, page_story in zip(load_names(stories), stories, strict=True)
        ),
    )


KIND = Kind(place=56, section=Section.PAGES, draw=_draw, every_metric=False, of_runs=True)


def _caption(stories: Sequence[PageStory]) -> str:
    text = (
        "A row for each resource: a thin line while the browser holds the request back, faint while "
        "it waits for the first byte, then receiving, solid where data came. Beside the name, where there is room: "
        "version of HTTP, number of the connection (conn.) in the order of their use, time of the browser's request, "
        "and bytes of content. Bold names are on the critical path to the load event; a red square marks what "
        "blocks rendering. Shaded: from the request to the last byte of what came last of these, with the bytes that came "
        "meanwhile of others."
    )
    most = _most_rows(stories, _FEWER_ROWS)
    if any(len(story.load.resources) > most for story in stories):
        text += (
            " Rows that begin with + stand for several neighbours: what blocks the page, failed, "
            "is large or came last has a row of its own."
        )
    words = "" if _shared(stories) else " The loads have time axes of their own."
    return f"{text}{words} {loads_said(stories)}"


def _most_rows(stories: Sequence[PageStory], most: int) -> int:
    return max(_LEAST_ROWS, most // len(stories))


def _end_ms(load: PageLoad) -> float:
    """The last moment worth showing."""
    ends = [
        resource.ended_ms or resource.response_start_ms or resource.started_ms
        for resource in load.resources
    ]
    return max([*ends, *(milestone.at_ms for milestone in _milestones(load))])


def _shared(stories: Sequence[PageStory]) -> bool:
    ends = [_end_ms(story.load) for story in stories]
    return max(ends) <= _MOST_APART * min(ends)


def _milestones(load: PageLoad) -> list[_Milestone]:
    """What happened to the page, the earliest first."""
    values = {
        "response": load.response_start_ms,
        "FCP": load.fcp_ms,
        "LCP": load.lcp_ms,
        "DCL": load.dcl_ms,
        "onLoad": load.onload_ms,
    }
    milestones = [_Milestone(name, at_ms) for name, at_ms in values.items() if at_ms is not None]
    return sorted(milestones, key=lambda milestone: milestone.at_ms)


def _sheet(stories: Sequence[PageStory], width: float) -> Sheet:
    most = _most_rows(stories, _FEWER_ROWS if is_narrow(width) else _MOST_ROWS)
    rows_of = [waterfall_rows(story.load, most) for story in stories]
    colours = _colours(stories)
    legend = legend_height(tuple(colours), width) + 8
    heights = [_height(story, rows) for story, rows in zip(stories, rows_of, strict=True)]
    sheet = Sheet(width, legend + math.fsum(heights))
    colour_legend(sheet, colours, 0, 0)
    longest = max(_end_ms(story.load) for story in stories) if _shared(stories) else None
    columns = NARROW_COLUMNS if is_narrow(width) else WIDE_COLUMNS
    room = text_width("onLoad", TEXT) + 8
    top = legend
    for story, rows, name, height in zip(
        stories, rows_of, load_names(stories), heights, strict=True
    ):
        high = longest or _end_ms(story.load)
        across = Scale(0, high, columns.plot, width - room)
        _load(sheet, story, name, rows, columns, across, top)
        top += height
    return sheet


def _critical(load: PageLoad) -> list[Resource]:
    """The resources on the way to the load event."""
    last = last_before_load(load)
    return [step.resource for step in critical_path(load, last)] if last else []


def _colours(stories: Sequence[PageStory]) -> dict[str, Colour]:
    """Kinds that occur, and what else has a colour."""
    resources = [resource for story in stories for resource in story.load.resources]
    there = {kind_of(resource) for resource in resources}
    colours = {kind: colour for kind, colour in KINDS.items() if kind in there}
    if any(resource.timing.connect for resource in resources):
        colours["connecting"] = _CONNECTING
    return colours


def _height(story: PageStory, rows: Sequence[Row]) -> float:
    return _above(story.load) + _ROW * len(rows) + _FOOT


def _above(load: PageLoad) -> float:
    """Room for the names of load, columns and milestones."""
    return _HEAD + _LANE * max(1, len(_milestones(load)))


def _load(
    sheet: Sheet,
    story: PageStory,
    name: str,
    rows: Sequence[Row],
    columns: WordColumns,
    across: Scale,
    top: float,
) -> None:
    sheet.label(0, top + 10, name, sheet.width, size=14, bold=True)
    sheet.label(0, top + 28, _told(story), sheet.width, MUTED, size=TEXT)
    milestones = _milestones(story.load)
    first = top + _above(story.load)
    bottom = first + _ROW * len(rows)
    frame = Frame(across.start, first, across.end - across.start, bottom - first)
    ticks = across.ticks(max(2, int(frame.width / 70)))
    sheet.lines([((across(t), first), (across(t), bottom)) for t in ticks], colour=RULE)
    mark_beside(sheet, story.load, rows, across, first, _ROW)
    _bars(sheet, rows, across, first)
    critical = _critical(story.load)
    heads(sheet, columns, first - _LANE / 2)
    for place, row in enumerate(rows):
        row_words(sheet, row, columns, first + (place + 0.5) * _ROW, row.resources[0] in critical)
    blocking = [
        (across(resource.started_ms) - 5, first + (place + 0.5) * _ROW)
        for place, row in enumerate(rows)
        for resource in row.resources
        if blocks_rendering(resource)
    ]
    sheet.dots(blocking, RED, Marker.SQUARE, size=6)
    _mark(sheet, milestones, across, top + _HEAD, bottom)
    x_axis(sheet, frame, [across(t) for t in ticks], [written(t / 1e3) for t in ticks], "seconds")


def _told(story: PageStory) -> str:
    """The load's outcome and the times of its milestones."""
    load, error = story.load, story.load.error
    times = [
        f"{milestone.name} {significant(milestone.at_ms / 1e3)} s"
        for milestone in _milestones(load)
    ]
    count = f"{len(load.resources)} resources" if len(load.resources) > 1 else "1 resource"
    return ", ".join([*([f"failed: {error}"] if error else []), count, *times])


def _mark(
    sheet: Sheet, milestones: Sequence[_Milestone], across: Scale, top: float, bottom: float
) -> None:
    """Lines with names, each a step lower than the one before, so that no line crosses a name."""
    for place, milestone in enumerate(milestones):
        x, y = across(milestone.at_ms), top + (place + 0.5) * _LANE
        sheet.line((x, y - 5), (x, bottom), colour=INK, width=1.2, opacity=0.75, dash=(3, 2))
        sheet.text(x + 4, y, milestone.name, size=TEXT)


def _bars(sheet: Sheet, rows: Sequence[Row], across: Scale, top: float) -> None:
    """The phases of all resources, those of one colour at a time."""
    pairs: list[tuple[Point, Point]] = []
    connecting: list[_Box] = []
    for place, row in enumerate(rows):
        y = top + (place + 0.5) * _ROW
        for resource in row.resources:
            begun, ready = _held_until(resource)
            pairs.append(((across(resource.started_ms), y), (across(begun), y)))
            if ready > begun:
                connecting.append((across(begun), y - 3, across(ready) - across(begun), 6))
    sheet.lines([run for run in pairs if run[1][0] - run[0][0] > 0.5], colour=MUTED, opacity=0.6)
    sheet.boxes(connecting, fill=_CONNECTING)
    for kind, colour in KINDS.items():
        placed = [
            (resource, top + (place + 0.5) * _ROW)
            for place, row in enumerate(rows)
            for resource in row.resources
            if kind_of(resource) == kind
        ]
        sheet.boxes(_merged(_waiting(placed, across)), fill=colour, opacity=_WAITING)
        sheet.boxes(_merged(_receiving(placed, across)), fill=colour, opacity=_RECEIVING)
        sheet.lines(_data(placed, across), colour=colour, width=_BAR)


def _held_until(resource: Resource) -> tuple[float, float]:
    """When the browser began to work on a request, and when it had a connection for it."""
    timing, end_ms = resource.timing, resource.response_start_ms or resource.ended_ms
    sent_ms = timing.send.start_ms if timing.send else end_ms or resource.started_ms
    first = timing.dns or timing.connect
    if first is None or timing.connect is None:
        return sent_ms, sent_ms
    return first.start_ms, timing.connect.end_ms


def _waiting(placed: Iterable[tuple[Resource, float]], across: Scale) -> Iterator[_Box]:
    for resource, y in placed:
        send, until = resource.timing.send, resource.response_start_ms or resource.ended_ms
        if send and until:
            yield _box(across(send.start_ms), across(until), y)


def _receiving(placed: Iterable[tuple[Resource, float]], across: Scale) -> Iterator[_Box]:
    for resource, y in placed:
        if resource.response_start_ms is not None and resource.ended_ms is not None:
            yield _box(across(resource.response_start_ms), across(resource.ended_ms), y)


def _box(left: float, right: float, y: float) -> _Box:
    return (left, y - _BAR / 2, max(0.8, right - left), _BAR)


def _merged(boxes: Iterable[_Box]) -> list[_Box]:
    """Boxes of a row that overlap as one, since their opacities would add up."""
    result: list[_Box] = []
    for left, top, width, height in sorted(boxes, key=lambda box: (box[1], box[0])):
        if result and result[-1][1] == top and left <= result[-1][0] + result[-1][2]:
            begun = result[-1][0]
            width = max(result[-1][2], left + width - begun)
            left = begun
            result.pop()
        result.append((left, top, width, height))
    return result


def _data(placed: Iterable[tuple[Resource, float]], across: Scale) -> list[tuple[Point, Point]]:
    """Lines as thick as a bar where data came; what is close together is one line."""
    spots = sorted((y, across(chunk.at_ms)) for resource, y in placed for chunk in resource.chunks)
    lines: list[tuple[Point, Point]] = []
    for y, x in spots:
        begin = x - _BUCKET
        if lines and lines[-1][1][1] == y and begin <= lines[-1][1][0]:
            begin = lines.pop()[0][0]
        lines.append(((begin, y), (x, y)))
    return lines
