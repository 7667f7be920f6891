"""Blocking of the first paint of page loads, in words: what came last, and what the path carried meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.analysis.numbers import listed, significant
from headway.errors import counted
from headway.instruments.waterfalls.concurrent_resources import came_beside
from headway.instruments.waterfalls.drawing import resource_name, size_text
from headway.instruments.waterfalls.loads import load_names
from headway.pages.critical import blocks_rendering, last_before_paint
from headway.pages.load import PageLoad, Resource
from headway.report.evidence import PageStory

_NAMED = 0.2
"""Of what came meanwhile, a resource with such a share is named."""
_MOST_NAMED = 2
_LATE_MS = 100.0
"""A first paint so long after what blocked it waited for something else."""


def blocking_sentences(stories: Sequence[PageStory]) -> tuple[str, ...]:
    """What blocked the first paint of each load."""
    return tuple(
        f"{name}: {' '.join(texts)}"
        for name, story in zip(load_names(stories), stories, strict=True)
        if (texts := list(_sentences(story.load)))
    )


def _sentences(load: PageLoad) -> Iterator[str]:
    last = last_before_paint(load)
    if last is None or load.fcp_ms is None:
        return
    blocking = [resource for resource in load.resources if blocks_rendering(resource)]
    size, came = size_text(last.body_bytes), _seconds(last.ended_ms or 0.0)
    if blocking:
        names = ", ".join(resource_name(load, resource) for resource in blocking)
        yield f"{counted(len(blocking), 'resource')} blocked rendering ({names})."
        there = (
            f"The last to come was {resource_name(load, last)} ({size}), asked for after "
            f"{_seconds(last.started_ms)} and there after {came}"
        )
    else:
        yield "no resource but the page itself blocked rendering."
        there = f"The page ({size}) was there after {came}"
    yield f"{there}; {_meanwhile(load, last)}."
    yield f"First paint after {_seconds(load.fcp_ms)}{_what_else(load, last)}."


def _meanwhile(load: PageLoad, last: Resource) -> str:
    """What shared the path with a resource, the largest by name."""
    beside = came_beside(load, last)
    if not beside:
        return "nothing else came meanwhile"
    together = sum(content_beside.content_bytes for content_beside in beside)
    count = (
        sum(
            content_beside.content_bytes >= _NAMED * together
            for content_beside in beside[:_MOST_NAMED]
        )
        or 1
    )
    if len(beside) == count + 1:
        count += 1  # a single one is named rather than counted
    parts = [
        f"{size_text(content_beside.content_bytes)} of {resource_name(load, content_beside.resource)}"
        for content_beside in beside[:count]
    ]
    if others := beside[count:]:
        rest = sum(content_beside.content_bytes for content_beside in others)
        parts.append(f"{size_text(rest)} of {counted(len(others), 'other resource')}")
    return f"meanwhile {listed(parts)} came over the same path"


def _what_else(load: PageLoad, last: Resource) -> str:
    """What came last before a paint that is long after what blocks rendering; empty if there is none."""
    blocked_ms, painted_ms = last.ended_ms or 0.0, load.fcp_ms or 0.0
    came = [
        resource
        for resource in load.resources
        if resource.ended_ms and blocked_ms < resource.ended_ms <= painted_ms
    ]
    if not came or painted_ms - blocked_ms < _LATE_MS:
        return ""
    latest = max(came, key=lambda resource: resource.ended_ms or 0.0)
    later = _seconds(painted_ms - blocked_ms)
    return f", {later} after that: by then {resource_name(load, latest)} had come, too"


def _seconds(time_ms: float) -> str:
    return f"{significant(time_ms / 1e3)} s"
