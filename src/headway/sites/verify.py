"""Checks of a site: what would fail when it is replayed, and what may."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from headway.sites.charsets import decoded_text
from headway.sites.coding import CodingError, content_codings, decoded
from headway.sites.css_references import css_references
from headway.sites.gzipped import GZIP_MAGIC
from headway.sites.matching import Matcher, RedirectError, followed, redirect_target
from headway.sites.references import html_references
from headway.sites.referring import Reference
from headway.sites.servable import unservable
from headway.sites.shortfall import Kept
from headway.sites.site import Exchange, Site, is_textual

_SEEN = (200, 304)
"""Statuses of responses whose content pages see."""


class Severity(StrEnum):
    """How bad a finding is."""

    BROKEN = "broken"
    """Every load shows it: something fails, or is not what it was."""
    DOUBTFUL = "doubtful"
    """It may show in some browsers or on some devices, or is odd."""


@dataclass(frozen=True)
class Flaw:
    """Something about a site that is not as it should be.

    Attributes:
        severity: how bad it is.
        url: of the exchange that has it.
        message: what it is.
    """

    severity: Severity
    url: str
    message: str


def findings(site: Site) -> tuple[Flaw, ...]:
    """All that is found, in the order of the exchanges; what has no exchange comes first."""
    matcher = Matcher(site.exchanges)
    flaws = [*_page(site, matcher), *_unservable(site), *shortfalls(site), *_repeated(site)]
    for exchange in site.exchanges:
        flaws += _redirect(exchange, matcher)
        flaws += _partial(exchange)
        flaws += _type(exchange)
        flaws += _content(exchange, matcher)
    return tuple(dict.fromkeys(flaws))


def shortfalls(site: Site) -> tuple[Flaw, ...]:
    """What of a recording is not what servers sent: what was not kept, and what was kept otherwise."""
    return (*_lost(site), *(flaw for exchange in site.exchanges for flaw in _short(exchange)))


def _page(site: Site, matcher: Matcher) -> Iterator[Flaw]:
    page = matcher.find("GET", site.page)
    if page is None:
        yield Flaw(Severity.BROKEN, site.page, "the page is not in the archive")
    elif page.status >= 400:
        yield Flaw(Severity.BROKEN, site.page, f"the page has status {page.status}")


def _unservable(site: Site) -> Iterator[Flaw]:
    """What is at places where a lab has nothing."""
    if reason := unservable(site.page):
        yield Flaw(Severity.BROKEN, site.page, f"the page cannot be replayed: {reason}")
    answers = (exchange for exchange in site.exchanges if redirect_target(exchange) is None)
    first_of = {_origin(exchange.url): exchange.url for exchange in reversed([*answers])}
    for origin, url in reversed(first_of.items()):
        if origin != _origin(site.page) and (reason := unservable(url)):
            # Of what a page over HTTPS asks for over HTTP, browsers ask for images over HTTPS.
            over_http = unservable(url, tls=False) is None
            severity = Severity.DOUBTFUL if over_http else Severity.BROKEN
            message = f"cannot be replayed, as all of {origin}: {reason}"
            yield Flaw(severity, url, message)


def _origin(url: str) -> str:
    """Scheme, host and port of a URL."""
    return "/".join(url.split("/", 3)[:3])


def _repeated(site: Site) -> Iterator[Flaw]:
    counts = Counter((exchange.method, exchange.url) for exchange in site.exchanges)
    for (method, url), count in counts.items():
        if count > 1:
            message = f"{method} is there {count} times; the first is replayed"
            yield Flaw(Severity.DOUBTFUL, url, message)


def _lost(site: Site) -> Iterator[Flaw]:
    """What a load asks for in vain, since the recording has not what was answered."""
    for lost in site.lost:
        was_seen = lost.method == "GET" and lost.status in _SEEN
        severity = Severity.BROKEN if was_seen else Severity.DOUBTFUL
        yield Flaw(severity, lost.url, f"left out, since {lost.shortfall}")


def _short(exchange: Exchange) -> Iterator[Flaw]:
    """What is replayed, and is not what was sent."""
    if shortfall := exchange.shortfall:
        # Text that was written down as Unicode differs in single characters.
        is_altered = shortfall.kept is Kept.CONTRADICTED and is_textual(exchange)
        severity = Severity.DOUBTFUL if is_altered and _decodes(exchange) else Severity.BROKEN
        yield Flaw(severity, exchange.url, str(shortfall))


def _decodes(exchange: Exchange) -> bool:
    try:
        decoded(exchange.body, content_codings(exchange.headers))
    except CodingError:
        return False
    return True


def _redirect(exchange: Exchange, matcher: Matcher) -> Iterator[Flaw]:
    if redirect_target(exchange) is not None:
        try:
            followed(matcher, exchange)
        except RedirectError as error:
            yield Flaw(Severity.BROKEN, exchange.url, str(error))


def _partial(exchange: Exchange) -> Iterator[Flaw]:
    if exchange.status == 304:
        message = "304 without the content: it was recorded with a warm cache"
        yield Flaw(Severity.BROKEN, exchange.url, message)
    elif exchange.status == 206:
        yield Flaw(Severity.DOUBTFUL, exchange.url, "206: only a range was recorded")


def _type(exchange: Exchange) -> Iterator[Flaw]:
    if exchange.body and not exchange.header("content-type"):
        yield Flaw(Severity.DOUBTFUL, exchange.url, "no content-type")


def _content(exchange: Exchange, matcher: Matcher) -> Iterator[Flaw]:
    """Whether its body can be decoded, and all that it refers to is there."""
    if not exchange.body:
        return
    try:
        body = decoded(exchange.body, content_codings(exchange.headers))
    except CodingError as error:
        if exchange.shortfall is None:
            severity = Severity.DOUBTFUL if error.is_unknown else Severity.BROKEN
            yield Flaw(severity, exchange.url, str(error))
        return
    if body.startswith(GZIP_MAGIC) and is_textual(exchange):
        message = "its body is coded with gzip, and no content-encoding that browsers undo says so"
        yield Flaw(Severity.BROKEN, exchange.url, message)
        return
    if exchange.status == 200 and exchange.method == "GET":
        for reference in _references(exchange, body):
            if matcher.find("GET", reference.url) is None:
                message = f"refers to {reference.url}, which is not in the archive"
                yield Flaw(_severity(reference, matcher), exchange.url, message)


def _severity(reference: Reference, matcher: Matcher) -> Severity:
    """How bad it is that what something refers to is not there."""
    is_one_of_none = bool(reference.others) and not any(
        matcher.find("GET", other) for other in reference.others
    )
    return Severity.BROKEN if reference.is_certain or is_one_of_none else Severity.DOUBTFUL


def _references(exchange: Exchange, body: bytes) -> Iterator[Reference]:
    """What it refers to."""
    content_type = exchange.header("content-type") or ""
    kind = content_type.partition(";")[0].strip().lower()
    text, charset = decoded_text(body, content_type)
    if kind in ("text/html", "application/xhtml+xml"):
        is_xml = kind != "text/html"
        yield from html_references(text, exchange.url, charset, is_xml=is_xml)
    elif kind == "text/css":
        yield from css_references(text, exchange.url, charset)
