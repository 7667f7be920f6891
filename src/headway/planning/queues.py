"""Limits of a study's queues, for a reader of its results."""

from __future__ import annotations

from collections.abc import Iterator

from headway.planning.deployment import Deployment
from headway.study.path import Direction


def idle_queues(deployment: Deployment) -> Iterator[str]:
    """Queues that no packet waits in."""
    ways = [
        way
        for path in deployment.network.paths
        for link in path.links
        for way in (link.down, link.up)
    ]
    if any(_is_idle(way) for way in ways):
        yield "path.queue is without effect where there is no rate: packets wait only before a link that is slower than they come"


def _is_idle(way: Direction) -> bool:
    return way.rate is None and "queue" in way.model_fields_set
