"""From DevTools events and the bodies that a browser handed over to captured exchanges."""

from __future__ import annotations

import base64
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from headway.sites.captured import BodyReading, Captured, StatedLength, Told
from headway.sites.readings import TextReadings
from headway.sites.site import Header

Event = dict[str, Any]


@dataclass
class _CapturedExchange:
    """A request and what has been heard of its response."""

    id: str
    method: str
    url: str
    response: dict[str, Any] = field(default_factory=dict)
    has_raw_headers: bool = False
    from_cache: bool = False
    received_bytes: int = 0
    failure: str = ""
    body: bytes | None = None
    readings: Iterable[BodyReading] = ()


class NetworkLog:
    """Listens to the Network domain of all of a browser's sessions.

    A request has one number in all sessions, which it keeps when it is redirected; that for a
    frame's document begins in the session of the page and may end in the frame's own.

    Attributes:
        under_way: numbers of requests whose responses are not complete.
        complete: session and number of those whose bodies can be asked for, oldest first; whoever
            asks takes them out.
    """

    def __init__(self) -> None:
        self.under_way: set[str] = set()
        self.complete: deque[tuple[str, str]] = deque()
        self._exchanges: list[_CapturedExchange] = []
        self._current: dict[str, _CapturedExchange] = {}
        self._raw: defaultdict[str, list[Event]] = defaultdict(list)

    def hear(self, event: Event) -> None:
        """Take note of an event."""
        domain, _, name = event["method"].partition(".")
        params = event.get("params", {})
        if domain != "Network" or "requestId" not in params:
            return
        number = params["requestId"]
        match name:
            case "requestWillBeSent":
                self._requested(number, params)
            case "responseReceivedExtraInfo":
                self._raw[number].append(params)
            case "loadingFinished":
                self.under_way.discard(number)
                if number in self._current:
                    self.complete.append((event.get("sessionId", ""), number))
            case "loadingFailed":
                self.under_way.discard(number)
                if number in self._current:
                    self._current[number].failure = params.get("errorText", "it failed")
            case _ if number in self._current:
                _answered(self._current[number], name, params)

    def add_body(self, number: str, answer: dict[str, Any]) -> None:
        """Take a body, the result of ``Network.getResponseBody``."""
        exchange = self._current[number]
        if answer["base64Encoded"]:
            exchange.body = base64.b64decode(answer["body"])
        else:
            exchange.readings = TextReadings(answer["body"], _headers_shown(exchange))
            exchange.body = next(iter(exchange.readings)).body

    def captured(self) -> Iterator[Captured]:
        """The exchanges in the order in which they began, without what caches answered."""
        raw = {number: deque(events) for number, events in self._raw.items()}
        for exchange in self._exchanges:
            values = raw.get(exchange.id)
            sent = values.popleft() if values and exchange.has_raw_headers else None
            if exchange.from_cache or exchange.url.startswith(("data:", "blob:")):
                continue
            status = exchange.response.get("status", 0)
            yield Captured(
                method=exchange.method,
                url=exchange.url,
                status=sent["statusCode"] if sent else status,
                headers=_fields(sent["headers"]) if sent else _headers_shown(exchange),
                body=exchange.body,
                is_decoded=True,
                protocol=exchange.response.get("protocol", ""),
                told=_told(exchange),
            )

    def _requested(self, number: str, params: dict[str, Any]) -> None:
        redirect = params.get("redirectResponse")
        if redirect and (before := self._current.get(number)):
            before.response = redirect
            before.has_raw_headers = params.get("redirectHasExtraInfo", False)
        request = params["request"]
        self._current[number] = _CapturedExchange(number, request["method"], request["url"])
        self._exchanges.append(self._current[number])
        self.under_way.add(number)


def _answered(exchange: _CapturedExchange, name: str, params: dict[str, Any]) -> None:
    match name:
        case "responseReceived":
            exchange.response = params["response"]
            exchange.has_raw_headers = params.get("hasExtraInfo", False)
            exchange.from_cache |= bool(params["response"].get("fromDiskCache"))
        case "requestServedFromCache":
            exchange.from_cache = True
        case "dataReceived":
            exchange.received_bytes += params.get("dataLength", 0)


def _headers_shown(exchange: _CapturedExchange) -> tuple[Header, ...]:
    """Those that pages may see; without `set-cookie`, for example."""
    return _fields(exchange.response.get("headers", {}))


def _fields(headers: dict[str, str]) -> tuple[Header, ...]:
    return tuple(headers.items())


def _told(exchange: _CapturedExchange) -> Told:
    received = exchange.received_bytes
    return Told(
        readings=exchange.readings,
        sizes=(StatedLength(received, "the browser"),) if received else (),
        lost=exchange.failure,
    )
