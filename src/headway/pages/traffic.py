"""Traffic of a page load: objects, bytes, connections, domains and protocols.

An object is a request that a server answered, whatever the status: a redirect, a 404 and a 304 are
objects; what comes from the browser's cache without asking the server is not, nor is a request that
got no answer. Only what was requested before the load event counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from headway.pages.load import PageLoad
from headway.pages.resource import Resource

Key = TypeVar("Key", int, str)


class Amount(NamedTuple):
    """Objects, and the bytes of their content as sent."""

    objects: int
    content_bytes: int


NOTHING = Amount(0, 0)


@dataclass(frozen=True)
class Traffic:
    """What a load took from the network.

    Attributes:
        total: all objects.
        image_bytes: of the content of images.
        cached: resources that came from the browser's cache without asking the server.
        connections: connections that carried objects. The browser does not tell which one carried what came by Early
            Hints; a host all of whose objects came so counts as one.
        domains: host names of the objects' URLs.
        by_protocol: by ALPN identifier, the one with the most objects first.
        by_connection: by the browser's number, the one with the most objects first.
    """

    total: Amount
    image_bytes: int
    cached: int
    connections: int
    domains: int
    by_protocol: dict[str, Amount]
    by_connection: dict[int, Amount]

    @property
    def largest_object_share(self) -> float | None:
        """Share of objects on the connection with the most (Perna et al. 2022, section 5.2), of those with a known one."""
        return _largest([amount.objects for amount in self.by_connection.values()])

    @property
    def largest_byte_share(self) -> float | None:
        """Share of bytes on the connection with the most of them, likewise."""
        return _largest([amount.content_bytes for amount in self.by_connection.values()])


def third_parties(load: PageLoad, hosts: Collection[str]) -> Amount:
    """What of it came from hosts that are third parties."""
    objects = [
        page_resource
        for page_resource in load.page_resources
        if page_resource.from_network and page_resource.host in hosts
    ]
    return Amount(len(objects), sum(resource.body_bytes for resource in objects))


def traffic_of(load: PageLoad) -> Traffic:
    """What a load took from the network until the load event."""
    resources = load.page_resources
    objects = [resource for resource in resources if resource.from_network]
    by_connection = _amounts((o.connection_id, o) for o in objects if o.connection_id is not None)
    domains = {resource.host for resource in objects}
    of_known = {resource.host for resource in objects if resource.connection_id is not None}
    return Traffic(
        total=Amount(len(objects), sum(resource.body_bytes for resource in objects)),
        image_bytes=sum(
            resource.body_bytes for resource in objects if resource.mime_type.startswith("image/")
        ),
        cached=sum(resource.from_cache for resource in resources),
        connections=len(by_connection) + len(domains - of_known),
        domains=len(domains),
        by_protocol=_amounts((o.protocol, o) for o in objects if o.protocol is not None),
        by_connection=by_connection,
    )


def _largest(amounts: Collection[int]) -> float | None:
    most = max(amounts, default=0)
    return most / sum(amounts) if most else None


def _amounts(keyed: Iterable[tuple[Key, Resource]]) -> dict[Key, Amount]:
    objects: Counter[Key] = Counter()
    content_bytes: Counter[Key] = Counter()
    for key, resource in keyed:
        objects[key] += 1
        content_bytes[key] += resource.body_bytes
    return {key: Amount(count, content_bytes[key]) for key, count in objects.most_common()}
