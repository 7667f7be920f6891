"""Recordings whose requests and responses are messages of HTTP/1.1, in no order that tells what came first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from headway.sites.captured import Captured, Told
from headway.sites.http1 import Message, parsed

_DOCUMENT = "document"


@dataclass(frozen=True)
class RawPair:
    """A request and its response.

    Attributes:
        request: the message.
        response: the message.
        scheme: of the URL, if the request does not tell it.
    """

    request: bytes
    response: bytes
    scheme: str


def captured_pairs(pairs: Iterable[RawPair]) -> tuple[Captured, ...]:
    """What was captured, what is likely to be the page first, and the rest as servers dated it.

    A page is what a person asked for: no other page referred to it.
    """
    read = [(parsed(pair.request), parsed(pair.response), pair.scheme) for pair in pairs]
    whole = [(asked, sent, scheme) for asked, sent, scheme in read if asked and sent]
    whole.sort(key=lambda triple: (not _is_of_a_person(triple[0]), _date_s(triple[1])))
    return tuple(_captured(asked, sent, scheme) for asked, sent, scheme in whole)


def _captured(asked: Message, sent: Message, scheme: str) -> Captured:
    return Captured(
        method=asked.method,
        url=_url(asked, scheme),
        status=sent.status,
        headers=sent.headers,
        body=sent.body,
        protocol=sent.start[0],
        told=Told(cut=sent.cut, doubt=sent.doubt),
    )


def _url(asked: Message, scheme: str) -> str:
    target = asked.start[1]
    return target if "://" in target else f"{scheme}://{_value(asked, 'host')}{target}"


def _is_of_a_person(asked: Message) -> bool:
    destination = _value(asked, "sec-fetch-dest")
    if destination:
        return destination == _DOCUMENT
    return not _value(asked, "referer") and "text/html" in _value(asked, "accept")


def _date_s(sent: Message) -> float:
    try:
        return parsedate_to_datetime(_value(sent, "date")).timestamp()
    except (ValueError, TypeError):
        return float("inf")


def _value(message: Message, name: str) -> str:
    return next((value for field, value in message.headers if field == name), "")
