"""The recorded exchange that answers a request, as replaying servers decide it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit

from headway.sites.site import Exchange
from headway.sites.urls import as_asked

_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_LONGEST_CHAIN = 20
"""After so many redirects browsers give up (Fetch Standard, section 4.4)."""


class Matcher:
    """Finds exchanges by request, following Mahimahi's replay server.

    URLs are compared as browsers write them when they ask.

    Host and method must be the request's, and GET answers HEAD; the port is not looked at. Those
    of the request's scheme come first, those of the other one only if it has none. Among them an
    equal path and query wins, else of those with an equal path the one whose query has the longest
    common start with the request's, and of equally good ones that which was recorded first.

    Args:
        exchanges: what was recorded, in order.
    """

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self._by_path: dict[tuple[str, str, str], list[tuple[SplitResult, Exchange]]]
        self._by_path = defaultdict(list)
        for exchange in exchanges:
            url = urlsplit(as_asked(exchange.url) or "")
            self._by_path[exchange.method, *_place(url)].append((url, exchange))

    def find(self, method: str, url: str) -> Exchange | None:
        """The exchange that answers a request; None if the answer is 404."""
        asked = urlsplit(as_asked(url) or "")
        if not asked.hostname:
            return None
        split_results = self._by_path.get((method, *_place(asked)), [])
        if not split_results and method == "HEAD":
            split_results = self._by_path.get(("GET", *_place(asked)), [])
        split_results = [
            entry for entry in split_results if entry[0].scheme == asked.scheme
        ] or split_results
        if not split_results:
            return None

        def likeness(entry: tuple[SplitResult, Exchange]) -> tuple[bool, int]:
            query = entry[0].query
            return query == asked.query, _common_start(query, asked.query)

        return max(split_results, key=likeness)[1]  # the first of the best


def _place(url: SplitResult) -> tuple[str, str]:
    return url.hostname or "", url.path or "/"


def _common_start(text: str, other: str) -> int:
    """How many characters at the start of two texts are the same."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(text), len(other)))


def redirect_target(exchange: Exchange) -> str | None:
    """URL that a response redirects to; None if it does not redirect."""
    location = exchange.header("location")
    if exchange.status not in _REDIRECTS or location is None:
        return None
    return as_asked(location, exchange.url) or location


class RedirectError(Exception):
    """A chain of redirects leads nowhere."""


def followed(matcher: Matcher, exchange: Exchange) -> Exchange:
    """The response at the end of a chain of redirects; the exchange itself if it is none.

    Raises:
        RedirectError: the chain is a loop, too long, or leads to what was not recorded.
    """
    seen = {exchange.url}
    while (target := redirect_target(exchange)) is not None:
        if target in seen:
            raise RedirectError(f"redirects in a loop, back to {target}")
        if len(seen) > _LONGEST_CHAIN:
            raise RedirectError(f"redirects more than {_LONGEST_CHAIN} times")
        seen.add(target)
        result = matcher.find("GET", target)
        if result is None:
            raise RedirectError(f"redirects to {target}, which is not in the archive")
        exchange = result
    return exchange
