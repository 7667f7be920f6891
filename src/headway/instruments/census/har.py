"""Responses of a HAR file (HAR 1.2) as the HTTP Archive's crawl has them, whichever tool wrote it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from headway.errors import WrongInputError
from headway.instruments.census.rows import CrawledResponse
from headway.sites.gzipped import read_unzipped
from headway.sites.har_file import HarEntry, HarFile, HarPage, count, har_file, plain
from headway.sites.httpversions import alpn_of
from headway.sites.oddities import named

_REDIRECTS = frozenset((301, 302, 303, 307, 308))
"""A 304 is none (RFC 9110, section 15.4)."""
_HTML = ("text/html", "application/xhtml+xml")
_PHONES = ("mobile", "android", "iphone")
_GOOGLES_QUIC = "quic"
_VERSIONS = {
    "http/0.9": "HTTP/0.9",
    "http/1.0": "HTTP/1.0",
    "http/1.1": "HTTP/1.1",
    "h2": "HTTP/2",
    "h3": "h3",
}
_CACHED = frozenset(("true", "memory", "disk", "1", "memory cache", "disk cache"))
"""What tools write of a response that came from a cache."""
_CACHE_FIELDS = (
    "_fromCache",
    "_fromDiskCache",
    "_fromMemoryCache",
    "_servedFromCache",
    "_fetchType",
)
"""Of Chrome, others that read its events, and Safari."""


Remark = Callable[[str], None]
"""Takes what is to be said of a file, in a line."""


def no_remark(line: str) -> None:
    """Say nothing.

    Args:
        line: what there is to say.
    """


def responses_of_har(file: Path, remark: Remark = no_remark) -> list[CrawledResponse]:
    """All responses that came over the network; each page of the file is a home page, whatever its path.

    Args:
        file: the HAR file.
        remark: is told of entries that are left out since they are not as they should be.

    Raises:
        WrongInputError: it cannot be read, is no HAR, has no response, or does not tell when.
    """
    har = har_file(read_unzipped(file), file)
    pages: dict[str, list[HarEntry]] = {}
    for entry in har.entries:
        if _is_of_the_network(entry):
            pages.setdefault(_page_of(entry, har), []).append(entry)
    if not pages:
        odd = "; ".join(("", *named(har.odd)))
        raise WrongInputError(f"has no response that came over the network{odd}", where=str(file))
    first_s = next(
        (har_entry.began_s for har_entry in har.entries if har_entry.began_s is not None), None
    )
    if first_s is None:
        raise WrongInputError("has no entry with startedDateTime, its time", where=str(file))
    for line in named(har.odd):
        remark(f"{file}: {line}")
    known = {page.id: page for page in har.pages}
    return [
        crawled_response
        for name, entries in pages.items()
        for crawled_response in _page(entries, known.get(name), first_s)
    ]


def _page_of(entry: HarEntry, har: HarFile) -> str:
    """The page that an entry belongs to: one that names none, to the last that had begun."""
    if entry.page or not har.pages:
        return entry.page
    began_s = entry.began_s
    begun = [
        page.id
        for page in har.pages
        if began_s is not None and page.began_s is not None and page.began_s <= began_s
    ]
    return begun[-1] if begun else har.pages[0].id


def _is_of_the_network(entry: HarEntry) -> bool:
    is_http = _scheme(entry.url) in ("http", "https")
    # Tools write 0 for what was blocked or never answered.
    return is_http and entry.status > 0 and not _is_from_cache(entry)


def _scheme(url: str) -> str:
    """The scheme of a URL; empty if it is none."""
    try:
        return urlsplit(url).scheme
    except ValueError:
        return ""


def _is_from_cache(entry: HarEntry) -> bool:
    """Whether nothing came over the network; a 304 did.

    Firefox and chrome-har write of such a response, and of none other, what the cache had.
    """
    if entry.status == 304:
        return False
    stated = (entry.entry.get(name) for name in _CACHE_FIELDS)
    if any(str(value).strip().lower() in _CACHED for value in stated):
        return True
    cache = entry.entry.get("cache")
    has_state = isinstance(cache, dict) and bool({"beforeRequest", "afterRequest"} & cache.keys())
    return has_state and 0 in (count(entry.response.get("_transferSize")), entry.body_bytes)


def _page(
    entries: Sequence[HarEntry], listed: HarPage | None, first_s: float
) -> Iterator[CrawledResponse]:
    document = _document(entries)
    page, client = entries[0].url, _client(entries[0], listed)
    for index, entry in enumerate(entries, start=1):
        yield CrawledResponse(
            day=_day(first_s if entry.began_s is None else entry.began_s),
            client=client,
            page=page,
            root_page=page,
            rank=None,
            url=entry.url,
            is_document=entry is document,
            index=index,
            protocol=spelled(entry.protocol),
            status=entry.status,
            method=entry.method,
            size_bytes=_size_bytes(entry),
            mime_type=_kind(entry),
            cdn=plain(entry.entry.get("_cdn_provider")),
            request_headers=entry.request_headers,
            response_headers=entry.headers or (),
        )


def _document(entries: Sequence[HarEntry]) -> HarEntry:
    """The document after redirects.

    The one that WebPageTest says it is; else the first HTML, as the HTTP Archive has it; else what a browser says is
    a document; else the first response that is no redirect.
    """
    landed = [entry for entry in entries if entry.status not in _REDIRECTS] or list(entries)
    stated = [
        har_entry for har_entry in landed if _is_true(har_entry.entry.get("_final_base_page"))
    ]
    html = [
        har_entry
        for har_entry in landed
        if _kind(har_entry).startswith(_HTML) and har_entry.method != "OPTIONS"
    ]
    documents = [har_entry for har_entry in landed if har_entry.is_document]
    return (stated or html or documents or landed)[0]


def _kind(entry: HarEntry) -> str:
    """Media type of the content, by its own field or the header's; empty if the tool does not tell."""
    kind = entry.content.kind
    if not kind or kind.lower() in ("x-unknown", "application/x-unknown-content-type", "unknown"):
        values = [value for name, value in entry.headers or () if name.lower() == "content-type"]
        kind = plain(values[0]) if values else ""
    return kind.lower()


def spelled(version: str) -> str:
    """A version of HTTP as Chrome writes it; what is none, as it is.

    Args:
        version: as a tool writes it.
    """
    if _GOOGLES_QUIC in version.lower():
        return version
    return _VERSIONS.get(alpn_of(version), version)


def _client(entry: HarEntry, listed: HarPage | None) -> str:
    agents = [
        value.lower() for name, value in entry.request_headers if name.lower() == "user-agent"
    ]
    is_phone = any(word in agent for agent in agents for word in _PHONES)
    return "mobile" if is_phone or _is_true(_of(listed, "_mobile")) else "desktop"


def _of(listed: HarPage | None, name: str) -> Any:
    return listed.page.get(name) if listed else None


def _is_true(value: Any) -> bool:
    return str(value).strip().lower() in ("true", "1", "yes")


def _day(began_s: float) -> date:
    return datetime.fromtimestamp(began_s, tz=UTC).date().replace(day=1)


def _size_bytes(entry: HarEntry) -> int:
    """Of what came over the network, as far as it is told."""
    sent = _sent_bytes(entry)
    return sent if sent is not None else 0


def _sent_bytes(entry: HarEntry) -> int | None:
    response: Mapping[str, Any] = entry.response
    for stated in (response.get("_transferSize"), entry.entry.get("_bytesIn")):
        if (known := count(stated)) is not None:
            return known
    parts = [known for known in (entry.body_bytes, count(response.get("headersSize"))) if known]
    return sum(parts) if parts else None
