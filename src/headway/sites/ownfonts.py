"""Fonts at the page's own host, so that they are asked for with credentials.

A browser asks for fonts of other origins without credentials (CSS Fonts 4, section 4.9; Fetch, section 2.2.5), and has
other connections for what it sends no credentials on, whatever certificate and address the hosts share.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from headway.sites.coding import CodingError, content_codings, decoded, encoded
from headway.sites.site import Exchange, Site

_TYPES = ("font/", "application/font", "application/x-font", "application/vnd.ms-fontobject")
_SUFFIXES = (".ttf", ".otf", ".woff", ".woff2")
_NAMING_TYPES = ("text/html", "text/css", "javascript")
"""Types whose bodies may name fonts."""


def with_own_fonts(site: Site) -> Site:
    """The site with the fonts of other hosts at its page's host, wherever their whole URLs are named."""
    moved = {
        exchange.url: _moved(exchange, site)
        for exchange in site.exchanges
        if is_font(exchange) and exchange.host != site.hosts[0]
    }
    if not moved:
        return site
    exchanges = tuple(
        replace(exchange, url=moved.get(exchange.url, exchange.url), body=_body(exchange, moved))
        for exchange in site.exchanges
    )
    return replace(site, exchanges=exchanges)


def is_font(exchange: Exchange) -> bool:
    """Whether what is answered is a font."""
    kind = (exchange.header("content-type") or "").lower()
    return kind.startswith(_TYPES) or urlsplit(exchange.url).path.endswith(_SUFFIXES)


def _moved(exchange: Exchange, site: Site) -> str:
    page, url = urlsplit(site.page), urlsplit(exchange.url)
    return url._replace(netloc=page.netloc, path=f"/{exchange.host}{url.path}").geturl()


def _body(exchange: Exchange, moved: dict[str, str]) -> bytes:
    kind = (exchange.header("content-type") or "").lower()
    if not any(naming_type in kind for naming_type in _NAMING_TYPES):
        return exchange.body
    names = content_codings(exchange.headers)
    try:
        body = decoded(exchange.body, names)
    except CodingError:
        return exchange.body
    renamed = body
    for old, new in moved.items():
        renamed = renamed.replace(old.encode(), new.encode())
    return exchange.body if renamed == body else encoded(renamed, names)
