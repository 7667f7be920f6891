"""The outline of a site: what planning needs to know of it."""

from __future__ import annotations

from dataclasses import dataclass

from headway.sites.site import Site

_VERSIONS = ("http/", "h2", "h3")


@dataclass(frozen=True)
class Outline:
    """What planning needs to know of a site.

    Attributes:
        page: URL that is loaded.
        hosts: of all exchanges, the page's first.
        size_bytes: of all response bodies together.
        resources: how many exchanges there are.
        versions: ALPN identifiers of the highest version that each of the hosts was recorded over, in their
            order; empty where that is not told.
    """

    page: str
    hosts: tuple[str, ...]
    size_bytes: int
    resources: int
    versions: tuple[str, ...] = ()

    @classmethod
    def of(cls, site: Site) -> Outline:
        """That of a site."""
        versions = dict.fromkeys(site.hosts, "")
        for exchange in site.exchanges:
            highest = max(versions[exchange.host], exchange.protocol, key=_rank)
            versions[exchange.host] = highest
        return cls(
            site.page,
            site.hosts,
            site.size_bytes,
            len(site.exchanges),
            tuple(versions.values()),
        )


def _rank(identifier: str) -> int:
    """Of an ALPN identifier: 0 if it is none of HTTP's, else the version that it begins with."""
    return next(
        (rank for rank, prefix in enumerate(_VERSIONS, 1) if identifier.startswith(prefix)), 0
    )
