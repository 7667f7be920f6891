"""Replay trees: what a lab's server reads of a site."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from headway.cache import EntryDirectory, cache_directory, digest
from headway.sites.site import Site

_FORMAT = "1"
"""Changed whenever the tree's layout is, so that no older tree is taken from the cache."""

_INDEX = "site.json"
_BODIES = "bodies"


def replay_tree(site: Site) -> Path:
    """The site's replay tree in the cache, compiled if it is not there yet.

    Raises:
        HeadwayError: the cache cannot be written to.
    """
    store = EntryDirectory(cache_directory() / "sites")
    name = site_key(site)
    entry = store.entry(name)
    if not entry.is_dir():
        with store.locked():
            if not entry.is_dir():
                store.make(name, lambda directory: compile_site(site, directory))
    return entry


@lru_cache(maxsize=8)
def site_key(site: Site) -> str:
    """Digest of all that is replayed of a site; remembered, since every run asks for it."""
    return digest(_FORMAT, _index(site))


def compile_site(site: Site, directory: Path) -> None:
    """Write a site's replay tree into an empty directory.

    `site.json` names the page and lists the exchanges in order; each body is a file below
    `bodies/`, named by its SHA-256, so that equal bodies are there once.
    """
    bodies = directory / _BODIES
    bodies.mkdir()
    for exchange in site.exchanges:
        (bodies / _key(exchange.body)).write_bytes(exchange.body)
    (directory / _INDEX).write_bytes(_index(site))


def _index(site: Site) -> bytes:
    exchanges: list[dict[str, Any]] = [
        {
            "method": exchange.method,
            "url": exchange.url,
            "status": exchange.status,
            "headers": exchange.headers,
            "body": f"{_BODIES}/{_key(exchange.body)}",
            "bytes": len(exchange.body),
        }
        for exchange in site.exchanges
    ]
    return json.dumps({"page": site.page, "exchanges": exchanges}, indent=1).encode()


def _key(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
