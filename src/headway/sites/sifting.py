"""Sifting of captured exchanges: what can be replayed, and what is left out, and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from headway.sites.body_integrity import Worth, judged
from headway.sites.captured import NOTHING_TOLD, Captured
from headway.sites.cleanup import cleaned
from headway.sites.coding import CODINGS, content_codings, encoded
from headway.sites.freshening import freshened, with_content
from headway.sites.httpversions import alpn_of
from headway.sites.site import Exchange, Header, Lost
from headway.sites.urls import as_asked

_METHOD = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,32}")
HTML_TYPES = ("text/html", "application/xhtml+xml")
LEFT_OUT = "left out: "
"""How notes begin on what is not replayed."""
NOT_KEPT = f"{LEFT_OUT}the body was not kept"
_LESS = f"{LEFT_OUT}another response to the same request is more complete"
_WARM = "304 replayed as the 200 whose content the recording has"


@dataclass(frozen=True)
class Sifted:
    """What there is to replay, and what there is not.

    Attributes:
        order: what can be replayed and what is lost, in the order in which it was captured.
        documents: URLs that HTML was asked for at, or where a tool knows that.
        notes: what was left out or changed, in words, and how often.
    """

    order: tuple[Exchange | Lost, ...]
    documents: frozenset[str]
    notes: Counter[str]

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """What can be replayed."""
        return tuple(exchange for exchange in self.order if isinstance(exchange, Exchange))

    @property
    def lost(self) -> tuple[Lost, ...]:
        """What was asked for, and cannot be replayed."""
        return without_kept(
            self.exchanges, (exchange for exchange in self.order if isinstance(exchange, Lost))
        )


def without_kept(exchanges: Iterable[Exchange], lost: Iterable[Lost]) -> tuple[Lost, ...]:
    """What is lost, each once, without what an exchange answers."""
    known = {(exchange.method, exchange.url) for exchange in exchanges}
    losses: dict[tuple[str, str], Lost] = {}
    for loss in lost:
        if (loss.method, loss.url) not in known:
            losses.setdefault((loss.method, loss.url), loss)
    return tuple(losses.values())


def together(parts: Iterable[Sifted]) -> Sifted:
    """What there is in several files, one after the other."""
    listed = tuple(parts)
    notes: Counter[str] = Counter()
    for part in listed:
        notes.update(part.notes)
    documents = frozenset(url for part in listed for url in part.documents)
    return Sifted(tuple(exchange for part in listed for exchange in part.order), documents, notes)


def sifted(captured: Iterable[Captured]) -> Sifted:
    """Judge captured exchanges; of several responses to a request those stay that are worth most."""
    notes: Counter[str] = Counter()
    order: list[Exchange | Lost] = []
    documents: set[str] = set()
    for capture, worth in _refreshed(_worthy(captured, notes), notes):
        if capture.media_type in HTML_TYPES:
            documents.add(capture.url)
        if worth.body is None:
            assert worth.shortfall
            notes[NOT_KEPT] += 1
            order.append(Lost(capture.method, capture.url, capture.status, worth.shortfall))
            continue
        exchange, note = replayable(capture, worth)
        notes.update(text for text in (worth.how, note) if text)
        order.append(exchange)
    return Sifted(tuple(order), frozenset(documents), notes)


def _worthy(captured: Iterable[Captured], notes: Counter[str]) -> Iterator[tuple[Captured, Worth]]:
    """What servers sent, but for what is worth less than another response to the same request.

    A client that is not content with a response asks again.
    """
    pairs: list[tuple[Captured, Worth]] = []
    best: dict[tuple[str, str, int], tuple[int, bool]] = {}
    for capture in captured:
        if why := obstacle(capture):
            notes[f"{LEFT_OUT}{why}"] += 1
            continue
        capture = replace(capture, url=as_asked(capture.url) or capture.url)
        worth = judged(with_content(capture))
        # What was not taken for the body is not needed any more, and may be large.
        pairs.append((replace(capture, body=None, told=NOTHING_TOLD), worth))
        key = capture.method, capture.url, capture.status
        best[key] = min(best.get(key, worth.rank), worth.rank)
    for capture, worth in pairs:
        if worth.rank == best[capture.method, capture.url, capture.status]:
            yield capture, worth
        else:
            notes[_LESS] += 1


def _refreshed(
    worthy: Iterable[tuple[Captured, Worth]], notes: Counter[str]
) -> list[tuple[Captured, Worth]]:
    """What servers sent to an empty cache, as far as is known: browsers write the content of their cache to a 304.

    It is what the server would have sent with status 200, unless that is there.
    """
    captures = list(worthy)
    whole = {_request(capture) for capture, worth in captures if _is_whole(capture, worth)}
    refreshed: dict[tuple[str, str], int] = {}
    stored = {
        _request(capture): capture.headers for capture, _ in captures if capture.status == 200
    }
    for at, (capture, worth) in enumerate(captures):
        request = _request(capture)
        if capture.status == 304 and capture.is_decoded and worth.body and request not in whole:
            notes[_WARM] += 1
            whole.add(request)
            fields = freshened(stored.get(request, ()), capture.headers, capture.kind)
            captures[at] = replace(capture, status=200, headers=fields), worth
            refreshed[request] = at
    kept = [
        pair
        for at, pair in enumerate(captures)
        if pair[0].status != 200 or refreshed.get(_request(pair[0]), at) == at
    ]
    if less := len(captures) - len(kept):
        notes[_LESS] += less
    return kept


def _is_whole(capture: Captured, worth: Worth) -> bool:
    return capture.status == 200 and worth.body is not None and worth.shortfall is None


def _request(capture: Captured) -> tuple[str, str]:
    return capture.method, capture.url


def obstacle(captured: Captured) -> str | None:
    """Why nothing of an exchange can be replayed, whatever its body is; None if it can."""
    if not captured.url.lower().startswith(("http://", "https://")):
        return "not HTTP"
    if as_asked(captured.url) is None:
        return "not a valid URL"
    if not _METHOD.fullmatch(captured.method):
        return "not a method of HTTP"
    return "no final response" if captured.status < 200 else None


def replayable(captured: Captured, worth: Worth) -> tuple[Exchange, str | None]:
    """The exchange as it is replayed, and what was done to its body, if anything.

    A body that the tool decoded gets its content coding again, so that it has about the size that
    it had. A coding that Headway does not know is dropped, with its header field.
    """
    body, note = worth.body or b"", None
    headers = cleaned(captured.status, captured.headers)
    names = content_codings(headers)[len(worth.coded) :]
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
    exchange = Exchange(
        captured.method,
        captured.url,
        captured.status,
        headers,
        body,
        alpn_of(captured.protocol),
        worth.shortfall,
        captured.cost,
    )
    return exchange, note


def without_revalidations(exchanges: Sequence[Exchange]) -> tuple[Exchange, ...]:
    """Without the 304 responses whose content another exchange has; a replaying server makes its own."""
    with_content = {exchange.url for exchange in exchanges if exchange.status == 200}
    return tuple(
        exchange
        for exchange in exchanges
        if exchange.status != 304 or exchange.url not in with_content
    )


def _without_coding(headers: tuple[Header, ...]) -> tuple[Header, ...]:
    return tuple((name, value) for name, value in headers if name != "content-encoding")
