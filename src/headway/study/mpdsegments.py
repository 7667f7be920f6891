"""The segments of a Representation: their files, and what each plays within its period (ISO/IEC 23009-1, 5.3.9)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple
from xml.etree.ElementTree import Element

from headway.foreign.shown import quoted
from headway.study.mpdscope import MpdScope, file_name, filled, whole_attribute
from headway.study.mpdtimes import UnreadableMpdError

_MOST_SEGMENTS = 100_000
_REPEATS = re.compile(r"-?[0-9]{1,18}")


class MpdSegment(NamedTuple):
    """A segment: its file, relative to the MPD, and what it plays."""

    name: str
    length_s: Fraction


class _Cut(NamedTuple):
    """Where a segment is: its place from the first of the period on, its number, and times in ticks.

    ``start`` is as the MPD has it, and ``length`` what of the segment lies in the period.
    """

    place: int
    number: int
    start: int
    length: Fraction


def segments_of(scope: MpdScope, length_s: Fraction | None) -> tuple[MpdSegment, ...]:
    """The segments of a Representation.

    What lies outside of the period is no part of the presentation.

    Args:
        scope: its own.
        length_s: of the period; None if the MPD does not say.

    Raises:
        UnreadableMpdError: they cannot be told.
    """
    name = scope.said.get("id")
    if not scope.by:
        raise UnreadableMpdError(f"Representation {name!r} has no SegmentTemplate or SegmentList")
    if scope.by == "SegmentTemplate" and not scope.cut.get("media"):
        raise UnreadableMpdError(f"the SegmentTemplate of {name!r} needs the attribute media")
    timescale = whole_attribute(scope.cut, "timescale", 1)
    if not timescale:
        raise UnreadableMpdError(f"the timescale of {name!r} is 0")
    cuts = _cuts(scope, None if length_s is None else length_s * timescale)
    return tuple(
        MpdSegment(file_name(scope, url), Fraction(cut.length) / timescale)
        for cut, url in _named(scope, cuts)
    )


def _cuts(scope: MpdScope, period: Fraction | None) -> list[_Cut]:
    """Where the segments are of a period that is so many ticks long, up to the last number."""
    first = whole_attribute(scope.cut, "startNumber", 1)
    last = scope.cut.get("endNumber")
    until = None if last is None else whole_attribute(scope.cut, "endNumber", 0)
    if scope.timeline:
        cuts = _by_timeline(scope, first, period)
    else:
        cuts = _by_duration(scope, first, until, period)
    kept: list[_Cut] = []
    for cut in cuts:
        if until is None or cut.number <= until:
            kept.append(cut)
        if len(kept) > _MOST_SEGMENTS:
            raise UnreadableMpdError(f"has more than {_MOST_SEGMENTS:,} segments")
    return kept


def _named(scope: MpdScope, cuts: Sequence[_Cut]) -> Iterator[tuple[_Cut, str]]:
    """Segments and their URLs."""
    if scope.by == "SegmentTemplate":
        for cut in cuts:
            yield cut, filled(scope, scope.cut["media"], cut.number, cut.start)
        return
    listed = scope.listed
    missing = [cut for cut in cuts if cut.place >= len(listed)]
    # A period that was rounded up may have begun a segment that nobody made.
    if missing and sum(cut.length for cut in missing) * 2 > max(cut.length for cut in cuts):
        reason = f"{len(cuts)} segments, and SegmentList names {len(listed)}"
        raise UnreadableMpdError(f"by its times {scope.said.get('id')!r} has {reason}")
    for cut in cuts:
        if cut.place < len(listed):
            yield cut, listed[cut.place]


def _by_duration(
    scope: MpdScope, first: int, last: int | None, period: Fraction | None
) -> Iterator[_Cut]:
    """Segments that all play the same, but for the last."""
    name = scope.said.get("id")
    ticks = whole_attribute(scope.cut, "duration", 0)
    counts = [] if last is None else [last - first + 1]
    if scope.by == "SegmentList":
        counts.append(len(scope.listed))
    if not ticks and scope.listed[1:] == () and counts and period is not None:
        yield _Cut(0, first, 0, period)
        return
    if not ticks:
        raise UnreadableMpdError(
            f"segments of {name!r} have neither a duration nor a SegmentTimeline"
        )
    if period is not None:
        counts = [math.ceil(period / ticks)]
    if not counts:
        raise UnreadableMpdError("needs mediaPresentationDuration: how many segments are there?")
    for place in range(min(counts)):
        left = Fraction(ticks) if period is None else period - place * ticks
        yield _Cut(place, first + place, place * ticks, min(Fraction(ticks), left))


def _by_timeline(scope: MpdScope, first: int, period: Fraction | None) -> Iterator[_Cut]:
    """Segments whose starts and lengths a SegmentTimeline says, as far as they are in the period."""
    begin = whole_attribute(scope.cut, "presentationTimeOffset", 0)
    end = None if period is None else period + begin
    at, place, number = 0, 0, first
    timeline = scope.timeline
    for element, after in zip(timeline, [*timeline[1:], None], strict=True):
        start, length = (
            whole_attribute(element.attrib, "t", at),
            whole_attribute(element.attrib, "d", 0),
        )
        if not length:
            raise UnreadableMpdError("a segment in SegmentTimeline plays for no time (d)")
        if element.get("k", "1") != "1":
            raise UnreadableMpdError(
                "SegmentTimeline has sequences of segments (k), which are not played"
            )
        number = whole_attribute(element.attrib, "n", number)
        count = _repeats(element, after, start, length, end) + 1
        hidden = max((begin - start) // length, 0)
        shown = count if end is None else min(count, math.ceil((end - start) / length))
        for step in range(min(hidden, count), shown):
            time = start + step * length
            until = Fraction(time + length)
            visible = (until if end is None else min(end, until)) - max(time, begin)
            if visible > 0:
                yield _Cut(place + step, number + step, time, visible)
        at, place, number = start + count * length, place + count, number + count


def _repeats(
    element: Element, after: Element | None, start: int, length: int, end: Fraction | None
) -> int:
    """How often a segment of a timeline follows itself."""
    text = element.get("r", "0")
    if not _REPEATS.fullmatch(text):
        raise UnreadableMpdError(
            f"r of a SegmentTimeline is {quoted(text)}, and not a whole number"
        )
    if (repeats := int(text)) >= 0:
        return repeats
    # To the next element that says when it begins, or to the period's end.
    until = end if after is None else Fraction(whole_attribute(after.attrib, "t", 0))
    if not until:
        raise UnreadableMpdError("SegmentTimeline repeats without an end (r)")
    return max(math.ceil((until - start) / length) - 1, 0)
