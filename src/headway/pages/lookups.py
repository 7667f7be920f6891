"""Lookups: what a page waited for addresses, where its browser asked a resolver."""

from __future__ import annotations

import math
from dataclasses import dataclass

from headway.pages.load import PageLoad


@dataclass(frozen=True)
class Lookups:
    """Waits for addresses.

    Attributes:
        dns_hosts: hosts for whose addresses a request waited.
        dns_wait_s: of each of them, how long a request waited at the most; all added up.
    """

    dns_hosts: int
    dns_wait_s: float


def lookups(load: PageLoad) -> Lookups:
    """What the requests up to the load event waited; those that find an address in the browser's cache wait for nothing."""
    waits_ms: dict[str, float] = {}
    for page_resource in load.page_resources:
        if page_resource.timing.dns and page_resource.timing.dns.length_ms > 0:
            waited_ms = page_resource.timing.dns.length_ms
            waits_ms[page_resource.host] = max(waits_ms.get(page_resource.host, 0.0), waited_ms)
    return Lookups(len(waits_ms), math.fsum(waits_ms.values()) / 1e3)


def addressed_s(load: PageLoad) -> float | None:
    """When the address of the page's host was known, after navigation start; None if nobody waited for it."""
    first = next((resource for resource in load.resources if resource.from_network), None)
    return first.timing.dns.end_ms / 1e3 if first and first.timing.dns else None
