"""A WACZ file's account of itself (WACZ 1.1.1): its main page, its list of pages, and the hashes of its members."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headway.foreign.documents import json_value
from headway.foreign.shown import quoted
from headway.sites.captured import Captured
from headway.sites.har_file import count, plain
from headway.sites.instants import instant_s
from headway.sites.ordering import in_time
from headway.sites.urls import as_asked

_DATAPACKAGE = "datapackage.json"
_SIGNED = "datapackage-digest.json"
_PAGES = "pages/pages.jsonl"
_MAIN_URLS = ("mainPageUrl", "mainPageURL")
_MAIN_DATES = ("mainPageDate", "mainPageTS", "mainPageTs")
_ALGORITHMS = ("sha256", "sha512", "sha1", "md5")
_MOST_FAULTS = 5


@dataclass(frozen=True)
class MainPage:
    """The page that a package is about.

    Attributes:
        url: of the page.
        began_s: when it was loaded, seconds since 1970; None if that is not told.
    """

    url: str
    began_s: float | None = None

    def first(self, captured: Sequence[Captured]) -> tuple[Captured, ...]:
        """Responses, those to the page at its time before all others: of several, the first is replayed."""
        url = as_asked(self.url)
        chosen = [
            exchange
            for exchange in captured
            if self.began_s is not None
            and exchange.began_s == self.began_s
            and as_asked(exchange.url) == url
        ]
        return (
            (*chosen, *(exchange for exchange in captured if exchange not in chosen))
            if chosen
            else tuple(captured)
        )


@dataclass(frozen=True)
class WaczPackage:
    """A WACZ file.

    Attributes:
        archives: contents of its WARC files.
        main: its page; None if it names none.
        faults: what of it is not as it says, in words.
    """

    archives: tuple[bytes, ...]
    main: MainPage | None
    faults: tuple[str, ...]


def package_of(
    archives: Sequence[str], names: Sequence[str], read: Callable[[str], bytes]
) -> WaczPackage:
    """What a ZIP file is as a WACZ file; one without a description has nothing but archives.

    Args:
        archives: names of its WARC files.
        names: of all its members.
        read: gives a member's content.
    """
    contents = {name: read(name) for name in archives}
    package = _document(read(_DATAPACKAGE)) if _DATAPACKAGE in names else {}
    main = _main(package)
    if main is None and _PAGES in names:
        main = _listed(read(_PAGES))

    def content(name: str) -> bytes:
        return contents[name] if name in contents else read(name)

    faults = list(_faults(package, names, content))
    if _SIGNED in names and _DATAPACKAGE in names:
        faults += _changed(_DATAPACKAGE, _document(read(_SIGNED)), read(_DATAPACKAGE), _SIGNED)
    if (more := len(faults) - _MOST_FAULTS) > 0:
        faults[_MOST_FAULTS:] = [f"{more:,} more members are not as {_DATAPACKAGE} says"]
    return WaczPackage(tuple(contents.values()), main, tuple(faults))


def _document(data: bytes) -> Mapping[str, Any]:
    try:
        document = json_value(data)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _main(package: Mapping[str, Any]) -> MainPage | None:
    urls = [plain(package[name]) for name in _MAIN_URLS if name in package]
    dates = [instant_s(package[name]) for name in _MAIN_DATES if name in package]
    url = next((url for url in urls if as_asked(url)), None)
    return MainPage(url, next(iter(dates), None)) if url else None


def _listed(data: bytes) -> MainPage | None:
    """The first of the listed pages, in time."""
    pages: list[MainPage] = []
    for line in data.removeprefix(b"\xef\xbb\xbf").splitlines():
        page = _document(line)
        url = plain(page.get("url"))
        if as_asked(url):
            pages.append(MainPage(url, instant_s(page.get("ts"))))
    ordered = in_time(pages, [page.began_s for page in pages])
    return ordered[0] if ordered else None


def _faults(
    package: Mapping[str, Any], names: Sequence[str], read: Callable[[str], bytes]
) -> Iterator[str]:
    """Members that are not as the package says."""
    listed = package.get("resources")
    for resource in listed if isinstance(listed, list) else ():
        path = plain(resource.get("path")) if isinstance(resource, dict) else ""
        if path and path not in names:
            yield f"{_DATAPACKAGE} lists {quoted(path)}, which is not in the file"
        elif path:
            yield from _changed(path, resource, read(path), _DATAPACKAGE)


def _changed(path: str, stated: Mapping[str, Any], content: bytes, where: str) -> Iterator[str]:
    """What a member is not, although it is stated: its length, or else its hash."""
    length = count(stated.get("bytes"))
    if length is not None and length != len(content):
        yield f"{quoted(path)} has {len(content):,} bytes, and {where} says {length:,}"
        return
    algorithm, colon, value = plain(stated.get("hash")).lower().partition(":")
    if colon and algorithm in _ALGORITHMS:
        digest = hashlib.new(algorithm, content, usedforsecurity=False).hexdigest()
        if digest != value.strip():
            yield f"{quoted(path)} does not have the {algorithm} that {where} says: it was changed"
