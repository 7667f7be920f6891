"""The page among a recording's responses."""

from __future__ import annotations

from collections.abc import Iterator

from headway.errors import WrongInputError
from headway.sites.matching import Matcher, RedirectError, followed
from headway.sites.sifting import HTML_TYPES, LEFT_OUT, NOT_KEPT, Sifted
from headway.sites.site import Exchange, Lost

_WARM = "recorded with a warm cache; with an empty one, servers send content"


def find_page(sifted: Sifted, source: str) -> str:
    """URL of the first HTML page, or of what redirects to it.

    Raises:
        WrongInputError: there is none, or it is lost, so that any other one would be another page; `source` is
            where.
    """
    if not sifted.exchanges:
        raise WrongInputError(_nothing(sifted), where=source)
    matcher = Matcher(sifted.exchanges)
    lost = set(sifted.lost)
    for exchange in sifted.order:
        if why := _why_no_page(exchange, sifted, lost):
            message = f"its page, {exchange.url}, cannot be replayed: {why}; `headway record --page` names another"
            raise WrongInputError(message, where=source)
        answer = _answer(exchange, sifted)
        if answer and exchange.method == "GET" and _leads_to_html(matcher, answer):
            return exchange.url
    raise WrongInputError(_nothing(sifted), where=source)


def _why_no_page(exchange: Exchange | Lost, sifted: Sifted, lost: set[Lost]) -> str | None:
    """Why a document is no page to load, although it was one; None if it is, or is no document."""
    if exchange.method != "GET" or exchange.url not in sifted.documents:
        return None
    if isinstance(exchange, Lost):
        return str(exchange.shortfall) if exchange in lost and exchange.status == 200 else None
    has_content = any(
        other.url == exchange.url and other.status == 200 for other in sifted.exchanges
    )
    return None if exchange.status != 304 or has_content else f"it is a 304, {_WARM}"


def _answer(exchange: Exchange | Lost, sifted: Sifted) -> Exchange | None:
    """What a browser gets with an empty cache: of a lost response or a 304, the 200 that is elsewhere."""
    if isinstance(exchange, Exchange) and exchange.status != 304:
        return exchange
    is_document = exchange.url in sifted.documents
    return next(
        (
            other
            for other in sifted.exchanges
            if is_document and (other.method, other.url, other.status) == ("GET", exchange.url, 200)
        ),
        None,
    )


def _nothing(sifted: Sifted) -> str:
    """That there is no page, and what may be the reason."""
    what = "it holds no response that can be replayed"
    if sifted.exchanges:
        what = "none of its responses is an HTML page"
    return "; ".join([what, *_reasons(sifted)])


def _reasons(sifted: Sifted) -> Iterator[str]:
    if lost := sifted.lost:
        bodies = "1 body was" if len(lost) == 1 else f"{len(lost)} bodies were"
        yield f"{bodies} not kept, as that of {lost[0].url}: {lost[0].shortfall.reason}"
    if warm := sum(exchange.status == 304 for exchange in sifted.exchanges):
        responses = "1 response is" if warm == 1 else f"{warm} responses are"
        yield f"{responses} a 304, {_WARM}"
    for note, count in sifted.notes.items():
        if note.startswith(LEFT_OUT) and note != NOT_KEPT:
            yield f"{note} ({count})"


def _leads_to_html(matcher: Matcher, exchange: Exchange) -> bool:
    try:
        end = followed(matcher, exchange)
    except RedirectError:
        return False
    kind = (end.header("content-type") or "").partition(";")[0].strip().lower()
    return end.status == 200 and kind in HTML_TYPES
