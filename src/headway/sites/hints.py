"""Link fields of a page's document, which tell a browser what the page will need before it has read it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlsplit

from headway.sites.site import Exchange, Header, Site
from headway.study.hints import Destination, Hints

_DESTINATIONS = {
    Destination.STYLE: re.compile(r"text/css\b"),
    Destination.SCRIPT: re.compile(r"(text|application)/(x-)?(java|ecma)script\b"),
    Destination.FONT: re.compile(r"font/|application/(x-)?font"),
    Destination.IMAGE: re.compile(r"image/"),
}
"""Types of content by what they are loaded for."""


def hinting(site: Site, hints: Hints) -> Site:
    """The site whose document has a study's Link fields.

    Args:
        site: as recorded.
        hints: of the study.
    """
    document = document_of(site)
    fields = tuple(_fields(site, document, hints))
    hinted = replace(document, headers=(*document.headers, *fields))
    exchanges = (hinted if exchange is document else exchange for exchange in site.exchanges)
    return replace(site, exchanges=tuple(exchanges))


def document_of(site: Site) -> Exchange:
    """The answer that is the page: the first one that is found and is HTML; without one the page's own."""
    answers = [exchange for exchange in site.exchanges if exchange.method == "GET"]
    html = (
        exchange
        for exchange in answers
        if exchange.status == 200 and "html" in (exchange.header("content-type") or "")
    )
    return next(html, answers[0])


def _fields(site: Site, document: Exchange, hints: Hints) -> Iterator[Header]:
    if hints.preconnect:
        others = dict.fromkeys(_origin(exchange) for exchange in site.exchanges)
        for origin in others:
            if origin != _origin(document):
                yield "link", f"<{origin}>; rel=preconnect"
    named = [
        (exchange.url, destination)
        for exchange in site.exchanges
        if (destination := destination_of(exchange)) in hints.preload
    ]
    for url, destination in dict(named[: hints.most]).items():
        # Browsers fetch fonts without credentials, and take a preload with them for another one.
        anonymous = "; crossorigin" if destination is Destination.FONT else ""
        yield "link", f"<{url}>; rel=preload; as={destination}{anonymous}"


def destination_of(exchange: Exchange) -> Destination | None:
    """What a resource is loaded for, by its type; None if a link cannot name it."""
    kind = (exchange.header("content-type") or "").lower()
    fitting = (which for which, pattern in _DESTINATIONS.items() if pattern.match(kind))
    return next(fitting, None) if exchange.status == 200 else None


def _origin(exchange: Exchange) -> str:
    parts = urlsplit(exchange.url)
    return f"{parts.scheme}://{parts.netloc}"
