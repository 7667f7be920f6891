"""Transfers beside a resource that was on its way: what it shared the path with."""

from __future__ import annotations

from dataclasses import dataclass

from headway.pages.load import PageLoad, Resource


@dataclass(frozen=True)
class ContentBeside:
    """A resource of which content came while another one was on its way.

    Attributes:
        resource: the resource.
        content_bytes: that came then, as sent.
    """

    resource: Resource
    content_bytes: int


def came_beside(load: PageLoad, of: Resource) -> tuple[ContentBeside, ...]:
    """What came after the browser had asked for a resource and until its last byte; the most first.

    Connections of all hosts count, since they share the path.
    """
    if of.ended_ms is None:
        return ()
    counted = [
        ContentBeside(
            resource,
            sum(
                chunk.encoded_bytes
                for chunk in resource.chunks
                if of.started_ms < chunk.at_ms <= of.ended_ms
            ),
        )
        for resource in load.resources
        if resource is not of
    ]
    came = [content_beside for content_beside in counted if content_beside.content_bytes]
    return tuple(sorted(came, key=lambda content_beside: -content_beside.content_bytes))
