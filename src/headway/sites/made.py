"""Made sites on disk: each is made once by a machine, and again when its generator has changed.

A file is a line of JSON, which tells all but the bodies, and after it the bodies in their order.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from headway.cache import cache_directory, digest, written_atomically
from headway.errors import HeadwayError
from headway.sites.site import Exchange, Site

_FORMAT = "3"
"""Changed whenever a file's layout is, so that no older one is read."""
_DIRECTORY = "made-sites"
_CORPUS = "headway.sites.corpus"
_VERSIONS = ("http/", "h2", "h3")
_T = TypeVar("_T")


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


def made_site(name: str, make: Callable[[str], Site]) -> Site:
    """A site of the corpus, kept on disk.

    Args:
        name: of the site.
        make: makes it if it is not there; what that raises leaves nothing behind.
    """
    return _read(name, _site) or _made(name, make)


def made_outline(name: str, make: Callable[[str], Site]) -> Outline:
    """The outline of a site of the corpus; likewise."""
    return _read(name, _outline) or Outline.of(_made(name, make))


def _made(name: str, make: Callable[[str], Site]) -> Site:
    site, path = make(name), _path(name)
    try:
        path.unlink(missing_ok=True)
        with written_atomically(path) as descriptor:
            if descriptor is not None:
                with os.fdopen(descriptor, "wb", closefd=False) as file:
                    _write(site, file)
    except (OSError, HeadwayError):
        pass  # It is made again next time; nothing else depends on it.
    return site


def _path(name: str) -> Path:
    return cache_directory() / _DIRECTORY / digest(_FORMAT, _generator(), name)


@cache
def _generator() -> str:
    """What sites are made by: the corpus with its tables."""
    files = sorted(resources.files(_CORPUS).iterdir(), key=lambda file: file.name)
    return digest(*(file.read_bytes() for file in files if file.is_file()))


def _write(site: Site, file: BinaryIO) -> None:
    head = {
        "outline": asdict(Outline.of(site)),
        "name": site.name,
        "description": site.description,
        "exchanges": [
            {
                "method": exchange.method,
                "url": exchange.url,
                "status": exchange.status,
                "headers": exchange.headers,
                "bytes": len(exchange.body),
                **({"protocol": exchange.protocol} if exchange.protocol else {}),
            }
            for exchange in site.exchanges
        ],
    }
    file.write(json.dumps(head).encode() + b"\n")
    for exchange in site.exchanges:
        file.write(exchange.body)


def _read(name: str, told: Callable[[dict[str, Any], BinaryIO], _T]) -> _T | None:
    """What a file tells; None if it is not there, or is damaged."""
    try:
        with _path(name).open("rb") as file:
            head = json.loads(file.readline())
            whole = file.tell() + head["outline"]["size_bytes"]
            return told(head, file) if os.fstat(file.fileno()).st_size == whole else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _outline(head: dict[str, Any], _file: BinaryIO) -> Outline:
    outline = head["outline"]
    return Outline(
        outline["page"],
        tuple(outline["hosts"]),
        outline["size_bytes"],
        outline["resources"],
        tuple(outline["versions"]),
    )


def _site(head: dict[str, Any], file: BinaryIO) -> Site:
    exchanges = tuple(
        Exchange(
            one["method"],
            one["url"],
            one["status"],
            tuple((field, value) for field, value in one["headers"]),
            file.read(one["bytes"]),
            one.get("protocol", ""),
        )
        for one in head["exchanges"]
    )
    return Site(head["name"], head["outline"]["page"], exchanges, head["description"])
