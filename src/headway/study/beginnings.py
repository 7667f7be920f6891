"""Beginnings of paths: what of them only begins with the workload, and what hosts or routers remember of it."""

from __future__ import annotations

from collections.abc import Iterator

from headway.study.path import Direction, Path


def is_remembered(path: Path | None) -> bool:
    """Whether hosts or routers keep something of what a path did: path MTUs that they learned, counts of rules, mappings."""
    natted = any(link.nat for link in path.links) if path else False
    return natted or any(way.carries or way.udp or way.ecn for way in _ways(path))


def begins_with_workload(path: Path | None) -> bool:
    """Whether part of a path only begins with the workload."""
    rules = (rule for way in _ways(path) for rule in (way.udp, way.ecn))
    return counts_from_workload(path) or any(rule and rule.lasts for rule in rules)


def counts_from_workload(path: Path | None) -> bool:
    """Whether a path has a trace, or drops packets by their numbers: both begin with the workload."""
    return any(way.has_process or way.drop_packets for way in _ways(path))


def _ways(path: Path | None) -> Iterator[Direction]:
    for link in path.links if path else ():
        yield from (link.down, link.up)
