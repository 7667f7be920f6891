"""The critical path of a page, and what blocked its rendering.

Going back from a resource, the step before it is what the browser had to have before it asked for it: a
script or style sheet that the parser waited for, else what the browser names as the request's initiator
(`Network.Initiator` of the DevTools protocol). What blocks rendering is what the browser says does
(`renderBlockingBehavior`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headway.pages.load import PageLoad, Resource

PHASES = ("processing", "held back", "connecting", "waiting", "receiving")
"""Parts of a step: from what it depends on to the request; until the browser works on that; name and connection;
until the first byte; until the last, or until what depends on it was asked for."""
_BLOCKING = ("Blocking", "InBodyParserBlocking")
_PARSER = "parser"
_SAME_MS = 1.0
"""Moments closer than this are one: what the browser tells has this grain."""


@dataclass(frozen=True)
class Step:
    """A resource on a critical path.

    Attributes:
        resource: the resource.
        cause: what the browser needed before it asked for it; None of the first.
        waited: whether the parser waited for the cause, rather than found the request in it.
        from_ms: when the step began: the end of the one before.
        until_ms: its last byte, or when the request that depends on it was made.
        phases: milliseconds of each of ``PHASES``; together they are the step.
    """

    resource: Resource
    cause: Resource | None
    waited: bool
    from_ms: float
    until_ms: float
    phases: tuple[float, ...]


def blocks_rendering(resource: Resource) -> bool:
    """Whether nothing is painted before it has come, as the browser says."""
    return resource.render_blocking in _BLOCKING


def last_before_paint(load: PageLoad) -> Resource | None:
    """What came last of what had to come before the first paint; None if it is not known."""
    first = load.resources[0] if load.resources else None
    if load.fcp_ms is None or first is None:
        return None
    needed = [first, *filter(blocks_rendering, load.resources)]
    there = [
        resource
        for resource in needed
        if resource.ended_ms and resource.ended_ms <= load.fcp_ms + _SAME_MS
    ]
    return max(there, key=_end_ms, default=None)


def blocking_first_share(load: PageLoad) -> float | None:
    """Of the content that had come when nothing blocked rendering any more, the share that had blocked it."""
    last = last_before_paint(load)
    if last is None:
        return None
    end_ms = _end_ms(last) + _SAME_MS
    came = [
        (resource, sum(chunk.encoded_bytes for chunk in resource.chunks if chunk.at_ms <= end_ms))
        for resource in load.resources
    ]
    first = load.resources[0]
    needed = sum(
        count for resource, count in came if resource is first or blocks_rendering(resource)
    )
    together = sum(count for _, count in came)
    return needed / together if together else None


def last_before_load(load: PageLoad) -> Resource | None:
    """What came last of what the load event waited for; None if it was not fired."""
    if load.onload_ms is None:
        return None
    there = [
        resource
        for resource in load.page_resources
        if resource.ended_ms is not None and resource.ended_ms <= load.onload_ms + _SAME_MS
    ]
    return max(there, key=_end_ms, default=None)


def critical_path(load: PageLoad, last: Resource) -> tuple[Step, ...]:
    """The steps that led to a resource, from the page's first request on."""
    chain = [last]
    causes: list[tuple[Resource | None, bool]] = []
    while True:
        cause, waited = _cause(load.resources, chain[-1])
        causes.append((cause, waited))
        if cause is None:
            break
        chain.append(cause)
    steps: list[Step] = []
    until_ms = _end_ms(last)
    for resource, (cause, waited) in zip(chain, causes, strict=True):
        from_ms = (
            min(_end_ms(cause), resource.started_ms) if cause else min(0.0, resource.started_ms)
        )
        phases = tuple(_phases(resource, from_ms, until_ms))
        steps.append(Step(resource, cause, waited, from_ms, until_ms, phases))
        until_ms = from_ms
    return tuple(reversed(steps))


def phases_until_load(load: PageLoad) -> tuple[float, ...]:
    """Milliseconds of each of ``PHASES`` on the critical path to the load event, which they add up to."""
    last = last_before_load(load)
    assert last is not None and load.onload_ms is not None
    steps = critical_path(load, last)
    processing, *others = (
        math.fsum(values) for values in zip(*(step.phases for step in steps), strict=True)
    )
    # What is left after the last byte, the browser works.
    return (processing + load.onload_ms - steps[-1].until_ms - steps[0].from_ms, *others)


def _cause(resources: Sequence[Resource], of: Resource) -> tuple[Resource | None, bool]:
    """What a resource depends on, always something asked for earlier, and whether the parser waited."""
    place = next(place for place, resource in enumerate(resources) if resource is of)
    before = resources[:place]
    initiator = next(
        (resource for resource in reversed(before) if resource.url == of.initiator_url), None
    )
    if initiator is None:
        # A redirect has the initiator of the request that was redirected.
        initiator = before[0] if before else None
    if initiator and of.initiator_type == _PARSER:
        waited = [
            resource
            for resource in before
            if _holds_parser(resource)
            and _end_ms(initiator) < _end_ms(resource) <= of.started_ms + _SAME_MS
        ]
        if waited:
            return max(waited, key=_end_ms), True
    return initiator, False


def _holds_parser(resource: Resource) -> bool:
    """Whether the parser may have to wait for it: a script or style sheet that it found."""
    kind = resource.mime_type.lower()
    return resource.initiator_type == _PARSER and ("javascript" in kind or "css" in kind)


def _phases(resource: Resource, from_ms: float, until_ms: float) -> Iterator[float]:
    """How the time of a step was spent; moments outside it are put to its ends."""
    timing = resource.timing
    ready = timing.connect.end_ms if timing.connect else None
    begun = (timing.dns or timing.connect or timing.send or None) if timing else None
    sent_ms = timing.send.start_ms if timing.send else resource.started_ms
    begun_ms = begun.start_ms if begun else sent_ms
    moments = (
        resource.started_ms,
        min(begun_ms, sent_ms),
        max(ready, begun_ms) if ready is not None else min(begun_ms, sent_ms),
        resource.response_start_ms if resource.response_start_ms is not None else until_ms,
        until_ms,
    )
    at = from_ms
    for moment in moments:
        end = min(max(moment, at), until_ms)
        yield end - at
        at = end


def _end_ms(resource: Resource) -> float:
    return resource.ended_ms if resource.ended_ms is not None else resource.started_ms
