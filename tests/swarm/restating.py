"""The same network stated from the other ends of its links: nothing that is measured may depend on which end is named first."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from tests.swarm.carrying import Trial
from tests.swarm.drawing import Tables

_EXACT = frozenset(("rate", "rtt", "delay", "queue", "mtu", "tunnel", "nat"))
"""Keys of a path of which nothing is drawn, and nothing happens at a moment at which a packet may come, too."""
_TRIFLE = 1e-4
"""Of a time: addresses are others, and with them what some programs do for a microsecond."""


def exact(tables: Tables) -> Tables:
    """A study's tables of whose paths nothing is left to chance."""
    kept: Tables = _without_chance(copy.deepcopy(tables))
    return {**kept, "variation": "none"}


def turned(tables: Tables) -> Tables:
    """The same study, each of whose links is stated from its other end."""
    links = [
        {**link, "between": link["between"][::-1], "path": _turned_path(link.get("path", {}))}
        for link in tables["links"]
    ]
    return {**tables, "links": links}


def differences(stated: Trial, restated: Trial) -> Iterator[str]:
    """What differs between runs of two such studies, a sentence each; nothing if one of them is refused."""
    before, after = stated.record, restated.record
    if restated.fault:
        yield f"stated from the other ends of its links: {restated.fault}"
    if before is None or after is None:
        return
    if before.status != after.status:
        yield f"stated from the other ends of its links it is {after.status} ({after.error}), not {before.status}"
        return
    before_s, after_s = before.total_s or 0, after.total_s or 0
    # Where a queue is full, a microsecond decides which packet it drops, and all that follows.
    overflows = any(
        record.queue_dropped_down or record.queue_dropped_up for record in (before, after)
    )
    if not overflows and abs(after_s - before_s) > _TRIFLE * (1 + before_s):
        yield f"stated from the other ends of its links it takes {after_s} s, not {before_s} s"


def _turned_path(path: Tables) -> Tables:
    ways = {"up": "down", "down": "up"}
    turned_path = {ways.get(key, key): value for key, value in path.items()}
    if isinstance(links := path.get("links"), list):
        turned_path["links"] = [_turned_path(link) for link in reversed(links)]
    return turned_path


def _without_chance(value: Any, name: str = "") -> Any:
    if isinstance(value, list):
        return [_without_chance(inner, name) for inner in value]
    if not isinstance(value, dict):
        return value
    if name in ("path", "second_path", "access", "up", "down"):
        return _exact_path(value)
    return {key: _without_chance(inner, key) for key, inner in value.items()}


def _exact_path(path: Tables) -> Tables:
    kept = {key: value for key, value in path.items() if key in _EXACT}
    if not isinstance(kept.get("rate", ""), str):
        del kept["rate"]
    if isinstance(queue := kept.get("queue"), dict):
        kept["queue"] = {"size": queue.get("size", "100 kB")}
    ways = {key: _exact_path(path[key]) for key in ("up", "down") if key in path}
    links = {"links": [_exact_path(link) for link in path["links"]]} if "links" in path else {}
    return {**kept, **ways, **links}
