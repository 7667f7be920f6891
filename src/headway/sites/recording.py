"""From what was captured, by whatever tool, to a site that can be replayed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from headway.errors import WrongInputError
from headway.sites.cleanup import cleaned
from headway.sites.coding import CODINGS, codings, encoded
from headway.sites.matching import Matcher, RedirectError, followed
from headway.sites.site import Exchange, Header, Site

_SUFFIXES = (".gz", ".warc", ".har", ".mitm", ".flows", ".flow")
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
_DECLARED_WITHIN = 1024
"""How many bytes into HTML browsers look for a declaration (HTML Standard, section 13.2.3.2)."""

_HTML = ("text/html", "application/xhtml+xml")


@dataclass(frozen=True)
class Captured:
    """A request and its response, as a tool wrote them down.

    Attributes:
        method: of the request.
        url: absolute.
        status: of the response; 0 if there was none.
        headers: fields of the response, not cleaned.
        body: without a transfer coding; None if the tool did not keep it.
        is_decoded: whether the body is without the content coding that its header fields state.
        protocol: what it came over, as the tool calls it; empty if it does not tell.
    """

    method: str
    url: str
    status: int
    headers: tuple[Header, ...]
    body: bytes | None
    is_decoded: bool = False
    protocol: str = ""


@dataclass(frozen=True)
class Recording:
    """A site, and what of it is not as it was captured.

    Attributes:
        site: ready to be replayed and written to an archive.
        notes: what was left out or changed, for people.
    """

    site: Site
    notes: tuple[str, ...] = ()


def assembled(
    name: str,
    captured: Iterable[Captured],
    *,
    source: str,
    description: str,
    page: str | None = None,
) -> Recording:
    """A site from captured exchanges: what cannot be replayed is left out, repetitions are, too.

    Args:
        name: of the site.
        captured: in the order in which they began.
        source: where they are from, for errors.
        description: of the site.
        page: URL that is loaded; None if it is the first HTML page.

    Raises:
        WrongInputError: nothing can be replayed, or no page is among it.
    """
    notes: Counter[str] = Counter()
    exchanges: dict[Exchange, None] = {}
    for capture in captured:
        if why := obstacle(capture):
            notes[f"left out: {why}"] += 1
            continue
        exchange, note = replayable(capture)
        if note:
            notes[note] += 1
        exchanges[exchange] = None
    kept = _without_revalidations(tuple(exchanges))
    site = Site(name, page or find_page(kept, source), kept, description)
    return Recording(site, tuple(f"{note} ({count})" for note, count in notes.items()))


def merged(name: str, recordings: Sequence[Recording]) -> Recording:
    """One site of several recordings; the first one's page is its page.

    Of exchanges with the same method and URL, those of the earliest recording are taken.
    """
    first = recordings[0]
    exchanges = list(first.site.exchanges)
    for recording in recordings[1:]:
        known = {(exchange.method, exchange.url) for exchange in exchanges}
        exchanges += [
            exchange
            for exchange in recording.site.exchanges
            if (exchange.method, exchange.url) not in known
        ]
    return Recording(
        replace(first.site, name=name, exchanges=tuple(exchanges)),
        tuple(note for recording in recordings for note in recording.notes),
    )


def obstacle(captured: Captured) -> str | None:
    """Why an exchange cannot be replayed; None if it can."""
    if not captured.url.startswith(("http://", "https://")):
        return "not HTTP"
    try:
        if not urlsplit(captured.url).hostname:
            return "URL without a host"
    except ValueError:
        return "not a valid URL"
    if captured.status < 200:
        return "no final response"
    return "the body was not kept" if captured.body is None else None


def replayable(captured: Captured) -> tuple[Exchange, str | None]:
    """The exchange as it is replayed, and what was done to its body, if anything.

    A body that the tool decoded gets its content coding again, so that it has about the size that
    it had. A coding that Headway does not know is dropped, with its header field.
    """
    body, note = captured.body or b"", None
    headers = cleaned(captured.status, captured.headers)
    names = codings(next((value for field, value in headers if field == "content-encoding"), None))
    if names and not body:
        headers = _without_coding(headers)
    elif names and captured.is_decoded:
        if unknown := [name for name in names if name not in CODINGS]:
            headers = _without_coding(headers)
            note = f"content coding {unknown[0]} dropped, the body is sent as it is"
        else:
            body = encoded(body, names)
            efforts = " and ".join(f"{name} ({CODINGS[name].effort})" for name in names)
            note = f"content coding applied again: {efforts}"
    elif not captured.is_decoded and _is_cut(captured):
        note = "body shorter than its content-length says"
    protocol = _alpn(captured.protocol)
    exchange = Exchange(
        captured.method, _sent(captured.url), captured.status, headers, body, protocol
    )
    return exchange, note


def _alpn(told: str) -> str:
    """The ALPN identifier of a version of HTTP: tools write ``HTTP/2.0``, ``http/2`` and ``h2``."""
    version = told.lower().removeprefix("http/").removeprefix("h")
    major = version.partition(".")[0]
    if major in ("2", "3"):
        return f"h{major}"
    return f"http/{version}" if version in ("1.0", "1.1") else ""


def find_page(exchanges: Sequence[Exchange], source: str) -> str:
    """URL of the first HTML page, or of what redirects to it.

    Raises:
        WrongInputError: there is none; `source` is where.
    """
    if not exchanges:
        raise WrongInputError("it holds no response that can be replayed", where=source)
    matcher = Matcher(exchanges)
    for exchange in exchanges:
        if exchange.method == "GET" and _leads_to_html(matcher, exchange):
            return exchange.url
    raise WrongInputError("none of its responses is an HTML page", where=source)


def site_name(path: Path) -> str:
    """Name for the site of a file, from the file's name."""
    name = path.name
    while name.endswith(_SUFFIXES):
        name = name.rpartition(".")[0]
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "site"


def in_charset(text: str, headers: Iterable[Header]) -> bytes:
    """Text in the character set that its `content-type` or, in HTML, itself states; else UTF-8."""
    kinds = " ".join(value for name, value in headers if name.lower() == "content-type")
    stated = _CHARSET.search(kinds)
    if stated is None and kinds.lower().startswith(_HTML):
        stated = _CHARSET.search(text, 0, _DECLARED_WITHIN)
    try:
        return text.encode(stated[1] if stated else "utf-8")
    except (LookupError, UnicodeEncodeError):
        return text.encode(errors="surrogatepass")


def _without_revalidations(exchanges: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    """Without the 304 responses whose content another exchange has; a replaying server makes its own."""
    with_content = {exchange.url for exchange in exchanges if exchange.status == 200}
    return tuple(
        exchange
        for exchange in exchanges
        if exchange.status != 304 or exchange.url not in with_content
    )


def _without_coding(headers: tuple[Header, ...]) -> tuple[Header, ...]:
    return tuple((name, value) for name, value in headers if name != "content-encoding")


def _is_cut(captured: Captured) -> bool:
    lengths = [value for name, value in captured.headers if name.lower() == "content-length"]
    return (
        captured.method != "HEAD"
        and captured.status not in (204, 304)
        and bool(lengths)
        and lengths[0].isdecimal()
        and len(captured.body or b"") < int(lengths[0])
    )


def _sent(url: str) -> str:
    """A URL as a client sends it: with a path, without a fragment."""
    url = url.partition("#")[0]
    parts = urlsplit(url)
    return url if parts.path else parts._replace(path="/").geturl()


def _leads_to_html(matcher: Matcher, exchange: Exchange) -> bool:
    try:
        end = followed(matcher, exchange)
    except RedirectError:
        return False
    kind = (end.header("content-type") or "").partition(";")[0].strip().lower()
    return end.status == 200 and kind in _HTML
