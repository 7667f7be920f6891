"""Rows of a waterfall: one for each resource, those that tell little folded together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from urllib.parse import urlsplit

from headway.analysis.numbers import data_size
from headway.errors import counted
from headway.pages.load import PageLoad, Resource
from headway.report.theme import BLUE, BROWN, CYAN, GREEN, GREY, LILAC, ORANGE, PURPLE, Colour

KINDS: dict[str, Colour] = {
    "document": BLUE,
    "stylesheet": GREEN,
    "script": ORANGE,
    "font": BROWN,
    "image": PURPLE,
    "media": LILAC,
    "data": CYAN,
    "other": GREY,
}
"""Kinds of resources, and their colours."""

_KIND_OF_TYPE = {
    "text/html": "document",
    "application/xhtml+xml": "document",
    "text/css": "stylesheet",
    "application/javascript": "script",
    "application/json": "data",
    "application/xml": "data",
    "text/javascript": "script",
    "text/xml": "data",
    "text/plain": "data",
}
_KIND_OF_TREE = {"audio": "media", "font": "font", "image": "image", "video": "media"}
_PRIORITIES = ("VeryHigh", "High", "Medium", "Low", "VeryLow")
_OWN_ROWS = 0.6
"""Share of the rows, where they are not enough, for what tells most; others split what is left."""
_PROTOCOLS = {"http/1.0": "h1", "http/1.1": "h1"}


@dataclass(frozen=True)
class Row:
    """A row of a waterfall.

    Attributes:
        resources: what stands in it: one, or several in the order of their requests.
        name: what it is called.
        versions: of HTTP: ``h2``, or ``cache``.
        connections: their numbers: ``1``, or ``1–6``.
        failed: whether a resource was not delivered.
    """

    resources: tuple[Resource, ...]
    name: str
    versions: str
    connections: str
    failed: bool

    @property
    def folded(self) -> bool:
        """Whether it stands for several resources."""
        return len(self.resources) > 1

    @property
    def started_ms(self) -> float:
        """When the browser asked for the first of them."""
        return min(resource.started_ms for resource in self.resources)

    @property
    def ended_ms(self) -> float:
        """The last moment that is known of them."""
        return max(
            resource.ended_ms or resource.response_start_ms or resource.started_ms
            for resource in self.resources
        )

    @property
    def body_bytes(self) -> int:
        """Bytes of content, as sent."""
        return sum(resource.body_bytes for resource in self.resources)


def kind_of(resource: Resource) -> str:
    """What a resource is: one of ``KINDS``, by its media type."""
    media_type = resource.mime_type.partition(";")[0].strip().lower()
    tree = media_type.partition("/")[0]
    return _KIND_OF_TYPE.get(media_type) or _KIND_OF_TREE.get(tree) or "other"


def waterfall_rows(load: PageLoad, most: int) -> list[Row]:
    """The resources of a load in the order of their requests, in at most so many rows.

    If there are more, those stay that tell most: the page, what failed, what was asked for with the
    highest priority, what is large, and what came last. Of the others, neighbours share a row.
    """
    numbers = connection_numbers(load)
    groups = _groups(load.resources, most)
    return [
        _single(load, group[0], numbers) if len(group) == 1 else _folded(group, numbers)
        for group in groups
    ]


def connection_numbers(load: PageLoad) -> dict[int, int]:
    """Numbers of connections from 1 on, in the order in which they were used."""
    used = [
        resource.connection_id for resource in load.resources if resource.connection_id is not None
    ]
    return {browsers: number for number, browsers in enumerate(dict.fromkeys(used), start=1)}


def failed(resource: Resource) -> bool:
    """Whether it failed, or the server answered with an error."""
    return resource.error is not None or (resource.status or 0) >= 400


def _groups(resources: Sequence[Resource], most: int) -> list[list[Resource]]:
    """Neighbours that share a row, in at most so many groups."""
    kept = _kept(resources, most)
    groups: list[list[Resource]] = []
    for alone, places in groupby(range(len(resources)), key=lambda place: place in kept):
        result = [resources[place] for place in places]
        groups += [[resource] for resource in result] if alone else [result]
    while len(groups) < min(most, len(resources)):
        place = max(range(len(groups)), key=lambda place: len(groups[place]))
        half = len(groups[place]) // 2
        groups[place : place + 1] = [groups[place][:half], groups[place][half:]]
    return groups


def _kept(resources: Sequence[Resource], most: int) -> set[int]:
    """Places of the resources that have rows of their own; some rows are left to the others."""
    total = len(resources)
    if total <= most:
        return set(range(total))
    last_ms = max(resource.ended_ms or 0.0 for resource in resources)
    ranked = sorted(range(total), key=lambda place: _rank(resources[place], place, last_ms))
    room = max(1, round(_OWN_ROWS * most))
    numbers = (set(ranked[:count]) for count in range(room, 0, -1))
    return next((kept for kept in numbers if len(kept) + _gaps(total, kept) <= room), set())


def _gaps(count: int, kept: set[int]) -> int:
    """How many rows take what is not kept."""
    return sum(not alone for alone, _ in groupby(range(count), key=lambda place: place in kept))


def _rank(resource: Resource, place: int, last_ms: float) -> tuple[bool, bool, bool, int, int, int]:
    """What orders resources, the most telling first."""
    last = (resource.ended_ms or 0.0) == last_ms
    known = resource.priority in _PRIORITIES
    priority = _PRIORITIES.index(resource.priority) if known else len(_PRIORITIES)
    return (place > 0, not failed(resource), not last, priority, -resource.body_bytes, place)


def resource_name(load: PageLoad, resource: Resource) -> str:
    """What a resource is called: the last part of its URL, with the host if it is not the page's."""
    return _name(resource, urlsplit(load.url).hostname or "")


def size_text(count: int) -> str:
    """Bytes with three digits, which is all that a row has room for: ``310 kB``."""
    return data_size(round(float(f"{count:.2e}"))) if count >= 1000 else f"{count} B"


def _single(load: PageLoad, resource: Resource, numbers: dict[int, int]) -> Row:
    name = resource_name(load, resource)
    if resource.error is not None:
        name = f"failed: {name}"
    elif failed(resource):
        name = f"{resource.status}: {name}"
    return Row((resource,), name, *_connection([resource], numbers), failed(resource))


def _name(resource: Resource, page_host: str) -> str:
    """The last part of its URL, with the host if it is not the page's."""
    url = urlsplit(resource.url)
    file = url.path.rstrip("/").rpartition("/")[2] + (f"?{url.query}" if url.query else "")
    if not file or resource.host == page_host:
        return file or resource.host
    return f"{resource.host}/{file}"


def _folded(resources: Sequence[Resource], numbers: dict[int, int]) -> Row:
    kinds = Counter(map(kind_of, resources))
    text = ", ".join(_counted_kind(count, kind) for kind, count in kinds.most_common())
    some_failed = any(map(failed, resources))
    return Row(tuple(resources), f"+ {text}", *_connection(resources, numbers), some_failed)


def _counted_kind(count: int, kind: str) -> str:
    return f"{count} {kind}" if kind in ("data", "media", "other") else counted(count, kind)


def _connection(resources: Sequence[Resource], numbers: dict[int, int]) -> tuple[str, str]:
    """Versions of HTTP, and numbers of connections."""
    if all(resource.from_cache for resource in resources):
        return "cache", ""
    came = [resource for resource in resources if resource.protocol and not resource.from_cache]
    versions = dict.fromkeys(
        _PROTOCOLS.get(resource.protocol or "", resource.protocol or "") for resource in came
    )
    result = sorted(
        {numbers[resource.connection_id] for resource in came if resource.connection_id is not None}
    )
    return "/".join(versions), _numbers(result) if result else ""


def _numbers(numbers: Sequence[int]) -> str:
    """Numbers in ascending order, in short: ``4``, ``1–6``, and ``1…9`` if some are left out."""
    if len(numbers) == 1:
        return str(numbers[0])
    together = numbers[-1] - numbers[0] == len(numbers) - 1
    return f"{numbers[0]}{'–' if together else '…'}{numbers[-1]}"
