"""Made sites on disk: each is made once by a machine, and again when its generator has changed.

A file is a line of JSON, which tells all but the bodies, and after it the bodies in their order.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from headway.cache import cache_directory, digest, written_atomically
from headway.errors import HeadwayError
from headway.sites.maker import site_makers
from headway.sites.outline import Outline
from headway.sites.site import Exchange, Site

_FORMAT = "3"
"""Changed whenever a file's layout is, so that no older one is read."""
_DIRECTORY = "made-sites"
_T = TypeVar("_T")


def made_site(name: str, make: Callable[[str], Site]) -> Site:
    """A made site, kept on disk.

    Args:
        name: of the site.
        make: makes it if it is not there; what that raises leaves nothing behind.
    """
    return _read(name, _site) or _made(name, make)


def made_outline(name: str, make: Callable[[str], Site]) -> Outline:
    """The outline of a made site; likewise."""
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
    """What sites are made by: the packages of all makers with their tables."""
    files = (
        file
        for maker in site_makers()
        for file in sorted(resources.files(maker.package).iterdir(), key=lambda file: file.name)
    )
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


def _read(name: str, parts: Callable[[dict[str, Any], BinaryIO], _T]) -> _T | None:
    """What a file tells; None if it is not there, or is damaged."""
    try:
        with _path(name).open("rb") as file:
            head = json.loads(file.readline())
            whole = file.tell() + head["outline"]["size_bytes"]
            return parts(head, file) if os.fstat(file.fileno()).st_size == whole else None
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
            exchange["method"],
            exchange["url"],
            exchange["status"],
            tuple((field, value) for field, value in exchange["headers"]),
            file.read(exchange["bytes"]),
            exchange.get("protocol", ""),
        )
        for exchange in head["exchanges"]
    )
    return Site(head["name"], head["outline"]["page"], exchanges, head["description"])
