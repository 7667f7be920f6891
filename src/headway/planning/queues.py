"""Limits of a study's queues, for a reader of its results."""

from __future__ import annotations

from collections.abc import Iterator

from headway.planning.deployment import Deployment
from headway.study.path import Direction
from headway.study.queue import Discipline


def idle_queues(deployment: Deployment) -> Iterator[str]:
    """Queues that no packet waits in, and a queue for L4S traffic that nobody sends."""
    ways = list(_directions(deployment))
    if any(way.rate is None and "queue" in way.model_fields_set for way in ways):
        yield "path.queue is without effect where there is no rate: packets wait only before a link that is slower than they come"
    if any(way.queue.discipline is Discipline.DUALPI2 and way.rate is not None for way in ways):
        yield (
            "no sender of this study marks ECT(1) (RFC 9331): dualpi2 has no L4S traffic, and all packets, DCTCP's too, "
            "go through its classic queue"
        )


def _directions(deployment: Deployment) -> Iterator[Direction]:
    for path in deployment.network.paths:
        for link in path.links:
            yield from (link.down, link.up)
