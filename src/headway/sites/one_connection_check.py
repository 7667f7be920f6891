"""Obstacles that keep a site's page from coming over one connection, whatever certificate and address its hosts share.

A browser keeps what it sends no credentials on apart (Fetch, section 2.2.5, network partition and credentials), and
WebSockets are connections of their own (RFC 6455; over one of HTTP/2 or 3 only if the server offers that).
What scripts ask for by themselves is not told here: only a load tells it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Set
from html.parser import HTMLParser
from urllib.parse import urlsplit

from headway.overriding import override
from headway.sites.coding import CodingError, content_codings, decoded
from headway.sites.css_references import css_references
from headway.sites.ownfonts import is_font, with_own_fonts
from headway.sites.references import html_references
from headway.sites.site import Exchange, Site
from headway.sites.urls import as_asked

_WEB_SOCKET = re.compile(r"\bnew\s+WebSocket\s*\(")
_SOURCES = {"script": "src", "link": "href", "img": "src", "audio": "src", "video": "src"}
_SKIPPED = frozenset(("noscript", "template"))
_HTTP_1 = "http/1."


def unshared(site: Site) -> str | None:
    """What of a site has, or may have, a connection of its own, in a line; None if nothing is found."""
    fonts = {exchange.url for exchange in site.exchanges if is_font(exchange)}
    own = with_own_fonts(site)
    foreign = {font for font in fonts if _is_foreign(font, own.page, own)}
    texts = [*_apart(own, foreign), *_sockets(own), *_old_hosts(own)]
    return "; ".join(texts) or None


def _apart(site: Site, fonts: Set[str]) -> Iterator[str]:
    """Requests without credentials, from document to what it asks for: the first, and how many more.

    Args:
        site: with its fonts where they are replayed.
        fonts: where those of other origins were recorded. One that is named by a relative URL is still asked for there.
    """
    asked = [
        (exchange.url, url, why)
        for exchange in site.exchanges
        for url, why in _without_credentials(exchange, site, fonts)
    ]
    if asked:
        by, url, why = asked[0]
        more = f", and {len(asked) - 1} more" if len(asked) > 1 else ""
        yield f"{by} asks for {url} without credentials ({why}){more}"


def _without_credentials(
    exchange: Exchange, site: Site, fonts: Set[str]
) -> Iterator[tuple[str, str]]:
    if _is(exchange, "html"):
        parser = _WithoutCredentials(exchange.url)
        parser.feed(_text(exchange))
        parser.close()
        yield from (pair for pair in parser.found if _is_foreign(pair[0], exchange.url, site))
    if fonts and (_is(exchange, "css") or _is(exchange, "html")):
        references = css_references if _is(exchange, "css") else html_references
        for reference in references(_text(exchange), exchange.url):
            if reference.url in fonts:
                yield reference.url, "a font"


def _is_foreign(url: str, document: str, site: Site) -> bool:
    """Whether it is of another origin than the document, and of a host that is replayed."""
    first, other = urlsplit(url), urlsplit(document)
    return (first.scheme, first.netloc) != (
        other.scheme,
        other.netloc,
    ) and first.hostname in site.hosts


class _WithoutCredentials(HTMLParser):
    """Collects what a document asks for without credentials, if it is of another origin."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self._base = base
        self._skipped = 0

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._skipped += tag in _SKIPPED
        values = {name: (value or "").strip() for name, value in attrs}
        if tag == "base" and values.get("href"):
            self._base = as_asked(values["href"], self._base) or self._base
        url = values.get(_SOURCES.get(tag, ""), "")
        if url and not self._skipped and (why := _reason(tag, values)):
            self.found.append((as_asked(url, self._base) or url, why))

    @override
    def handle_endtag(self, tag: str) -> None:
        if tag in _SKIPPED and self._skipped:
            self._skipped -= 1


def _reason(tag: str, values: dict[str, str]) -> str | None:
    """Why an element's request has no credentials for another origin (HTML, section 2.5.4); None if it has."""
    if "crossorigin" in values:
        return None if values["crossorigin"].lower() == "use-credentials" else "crossorigin"
    is_module = tag == "script" and values.get("type", "").lower() == "module"
    return "a module" if is_module or "modulepreload" in values.get("rel", "").lower() else None


def _sockets(site: Site) -> Iterator[str]:
    scripts = (
        exchange
        for exchange in site.exchanges
        if _is(exchange, "javascript") or _is(exchange, "html")
    )
    opening = [script.url for script in scripts if _WEB_SOCKET.search(_text(script))]
    if opening:
        more = f" and {len(opening) - 1} more" if len(opening) > 1 else ""
        yield f"{opening[0]}{more} may open WebSockets"


def _old_hosts(site: Site) -> Iterator[str]:
    """Hosts that spoke HTTP/1.1 only: here they share a connection that they have not out there."""
    known: Counter[str] = Counter(exchange.host for exchange in site.exchanges if exchange.protocol)
    old: Counter[str] = Counter(
        exchange.host for exchange in site.exchanges if exchange.protocol.startswith(_HTTP_1)
    )
    hosts = [host for host in known if known[host] == old[host]]
    if hosts:
        more = f" and {len(hosts) - 1} more" if len(hosts) > 1 else ""
        yield f"{hosts[0]}{more} spoke HTTP/1.1 only when it was recorded"


def _is(exchange: Exchange, kind: str) -> bool:
    return kind in (exchange.header("content-type") or "").lower()


def _text(exchange: Exchange) -> str:
    try:
        return decoded(exchange.body, content_codings(exchange.headers)).decode(errors="replace")
    except CodingError:
        return ""
