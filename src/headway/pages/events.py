"""From DevTools events to the resources of a page load.

The events are those of the DevTools protocol's Network domain. Its times are of two kinds: those at
which the network service saw something happen (`Network.ResourceTiming`, `loadingFinished`), and
those at which the page's renderer was told. The first are used wherever there are any. What came by
Early Hints is told as if it came from the cache, see `earlyhints`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urldefrag

from headway.pages.earlyhints import EarlyHints, announced_bytes
from headway.pages.resource import Chunk, RequestPhase, Resource, Timing
from headway.sites.site import Header

Event = dict[str, Any]
"""``{"method": ..., "params": ...}``, as the browser sent it."""

_SCHEMES = ("http://", "https://")


@dataclass(frozen=True)
class BrowserClock:
    """How the browser's monotonic clock and the wall clock stand to a load's own time.

    Attributes:
        zero_s: what the monotonic clock showed at navigation start.
        origin_ms: navigation start, after the epoch.
    """

    zero_s: float
    origin_ms: float

    def ms(self, timestamp_s: float) -> float:
        """Milliseconds after navigation start."""
        return (timestamp_s - self.zero_s) * 1e3


def clock_of(events: Iterable[Event], time_origin_ms: float | None) -> BrowserClock:
    """The clock of a load, by its first request, which has the times of both clocks.

    Args:
        events: of the load.
        time_origin_ms: navigation start after the epoch; without it, the load starts with its first
            request.
    """
    for event in events:
        if event["method"] == "Network.requestWillBeSent":
            timestamp_s, wall_s = event["params"]["timestamp"], event["params"]["wallTime"]
            if time_origin_ms is None:
                return BrowserClock(timestamp_s, wall_s * 1e3)
            return BrowserClock(timestamp_s - wall_s + time_origin_ms / 1e3, time_origin_ms)
    return BrowserClock(0.0, time_origin_ms or 0.0)


def resources_of(
    events: Iterable[Event], clock: BrowserClock, *, cached: bool = False
) -> tuple[Resource, ...]:
    """All HTTP requests among the events, in the order in which the browser asked for them.

    Args:
        events: of the load.
        clock: of the load.
        cached: whether the browser's cache had the page.
    """
    exchanges: list[_HeardExchange] = []
    current: dict[str, _HeardExchange] = {}
    for event in events:
        method, params = event["method"].removeprefix("Network."), event["params"]
        if method == "requestWillBeSent":
            request_id = params["requestId"]
            if "redirectResponse" in params and request_id in current:
                current[request_id].redirected(params["redirectResponse"], params["timestamp"])
            current[request_id] = _HeardExchange(params)
            exchanges.append(current[request_id])
        elif (exchange := current.get(params.get("requestId", ""))) is not None:
            exchange.take(method, params)
    heard = [exchange for exchange in exchanges if exchange.url.startswith(_SCHEMES)]
    return tuple(_resources(heard, clock, cached))


def _resources(
    exchanges: Iterable[_HeardExchange], clock: BrowserClock, cached: bool
) -> Iterator[Resource]:
    """With what the browser fetched by a document's Early Hints, in front of what the page asked for."""
    hints: EarlyHints | None = None
    asked_for: set[str] = set()
    for exchange in exchanges:
        resource = exchange.resource(clock)
        came_ms = exchange.came_early_ms(clock)
        if hints and came_ms is not None:
            resource = hints.handed_over(resource, came_ms)
        elif (
            hints
            and resource.url not in asked_for
            and (lost := hints.thrown_away(resource, cached))
        ):
            yield lost
        asked_for.add(resource.url)
        yield resource
        if exchange.hint_fields:
            hints = EarlyHints.of(resource, exchange.hint_fields)


@dataclass
class _HeardExchange:
    """A request and what was heard of its response; times in seconds of the browser's clock."""

    sent: dict[str, Any]
    response: dict[str, Any] = field(default_factory=dict)
    wire_status: int | None = None
    """Status that the server sent, where the browser shows another one to the page."""
    responded_s: float | None = None
    ended_s: float | None = None
    total_bytes: int | None = None
    error: str | None = None
    served_from_cache: bool = False
    hint_fields: tuple[Header, ...] = ()
    """Of a response 103 that came before."""
    data: list[tuple[float, int, int]] = field(default_factory=list)
    """When data came, how many bytes decoded, and how many encoded bytes were reported."""

    @property
    def url(self) -> str:
        """What was requested, without a fragment."""
        return urldefrag(str(self.sent["request"]["url"])).url

    def take(self, method: str, params: dict[str, Any]) -> None:
        """Hear of an event of this request, by the method's name within its domain."""
        match method:
            case "responseReceived":
                self.response, self.responded_s = params["response"], params["timestamp"]
            case "responseReceivedEarlyHints":
                self.hint_fields = _headers(params["headers"])
            case "responseReceivedExtraInfo":
                self.wire_status = params["statusCode"]
            case "requestServedFromCache":
                self.served_from_cache = True
            case "dataReceived":
                amounts = params["dataLength"], params["encodedDataLength"]
                self.data.append((params["timestamp"], *amounts))
            case "loadingFinished":
                self.ended_s, self.total_bytes = params["timestamp"], params["encodedDataLength"]
            case "loadingFailed":
                self.ended_s, self.error = params["timestamp"], _reason(params)

    def redirected(self, response: dict[str, Any], at_s: float) -> None:
        """Its response was a redirect, which the browser had followed by then."""
        self.response = response
        headers_end_ms = response.get("timing", {}).get("receiveHeadersEnd", -1)
        if headers_end_ms >= 0:
            at_s = response["timing"]["requestTime"] + headers_end_ms / 1e3
        self.responded_s = self.ended_s = at_s
        self.total_bytes = response["encodedDataLength"]

    def resource(self, clock: BrowserClock) -> Resource:
        """The finished account."""
        response, request = self.response, self.sent["request"]
        early = self.came_early_ms(clock) is not None
        encoded, body = self._early_bytes() if early else self._bytes()
        address = response.get("remoteIPAddress")
        return Resource(
            url=self.url,
            method=request["method"],
            protocol=response.get("protocol") or None,
            status=self._status(),
            mime_type=response.get("mimeType", ""),
            priority=request.get("initialPriority", ""),
            connection_id=int(response.get("connectionId", 0)) or None,
            remote_address=f"{address}:{response['remotePort']}" if address else None,
            from_cache=self._from_cache() and not early,
            started_ms=clock.ms(self.sent["timestamp"]),
            response_start_ms=self._response_start_ms(clock),
            ended_ms=None if self.ended_s is None else clock.ms(self.ended_s),
            encoded_bytes=encoded,
            body_bytes=body,
            error=self.error,
            chunks=self._chunks(clock, body),
            decoded_bytes=sum(decoded for _, decoded, _ in self.data),
            timing=_timing(response.get("timing"), clock),
            request_headers=_headers(request.get("headers", {})),
            headers=_headers(response.get("headers", {})),
            initiator_type=str(self.sent.get("initiator", {}).get("type", "")),
            initiator_url=_initiator_url(self.sent.get("initiator", {})),
            render_blocking=str(self.sent.get("renderBlockingBehavior", "")),
        )

    def came_early_ms(self, clock: BrowserClock) -> float | None:
        """When the response began, if Early Hints of this load had the browser fetch it; else None."""
        if not self.response.get("fromEarlyHints"):
            return None
        came_ms = float(self.response["responseTime"]) - clock.origin_ms
        # What an earlier load left in the cache is not fetched.
        return came_ms if came_ms >= 0 else None

    def _from_cache(self) -> bool:
        stored = ("fromDiskCache", "fromPrefetchCache", "fromServiceWorker")
        return self.served_from_cache or any(self.response.get(key) for key in stored)

    def _status(self) -> int | None:
        """What the server sent: the page sees 200 for a copy that a 304 validated."""
        shown: int | None = self.response.get("status")
        if shown == 200 and self.wire_status == 304 and not self._from_cache():
            return 304
        return shown

    def _bytes(self) -> tuple[int, int]:
        """Bytes received, with header fields and without.

        What HTTP/2 and HTTP/3 add around the content counts among the received, so the length that
        the server announced is the upper limit of the content.
        """
        headers = round(self.response.get("encodedDataLength", 0))
        total = self.total_bytes
        if total is None:
            total = headers + sum(encoded for *_, encoded in self.data)
        body = max(0, round(total) - headers)
        announced = announced_bytes(_headers(self.response.get("headers", {})))
        return round(total), body if announced is None else min(body, announced)

    def _early_bytes(self) -> tuple[int, int]:
        """Those of the content; the browser has none of the network."""
        announced = announced_bytes(_headers(self.response.get("headers", {})))
        decoded = sum(decoded for _, decoded, _ in self.data)
        body = decoded if announced is None else announced
        return body, body

    def _chunks(self, clock: BrowserClock, body: int) -> tuple[Chunk, ...]:
        """When the content came.

        The browser reports encoded bytes an event late and decoded ones at once, so these tell how
        the former are spread over time. The renderer may hear of data after the network has seen
        the end, which is then the time of their arrival.
        """
        decoded = sum(length for _, length, _ in self.data)
        if not body or not decoded:
            end_s = self.ended_s
            return (Chunk(clock.ms(end_s), body),) if body and end_s is not None else ()
        latest_s = self.ended_s if self.ended_s is not None else self.data[-1][0]
        chunks, so_far, given = [], 0, 0
        for at_s, length, _ in self.data:
            so_far += length
            if amount := body * so_far // decoded - given:
                chunks.append(Chunk(clock.ms(min(at_s, latest_s)), amount))
                given += amount
        return tuple(chunks)

    def _response_start_ms(self, clock: BrowserClock) -> float | None:
        timing = self.response.get("timing") or {}
        for name in ("receiveHeadersStart", "receiveHeadersEnd"):
            if timing.get(name, -1) > 0:
                return clock.ms(timing["requestTime"]) + float(timing[name])
        return None if self.responded_s is None else clock.ms(self.responded_s)


def _reason(failed: dict[str, Any]) -> str:
    return failed.get("blockedReason") or failed["errorText"] or "failed"


def _initiator_url(initiator: dict[str, Any]) -> str | None:
    """What names the request: a document or style sheet, or the script that called for it."""
    stack = initiator.get("stack") or {}
    frames = [frame["url"] for frame in stack.get("callFrames", ()) if frame.get("url")]
    value = initiator.get("url") or next(iter(frames), None)
    return urldefrag(str(value)).url if value else None


def _headers(fields: dict[str, str]) -> tuple[Header, ...]:
    return tuple(
        (name.lower(), value) for name, joined in fields.items() for value in joined.split("\n")
    )


def _timing(raw: dict[str, float] | None, clock: BrowserClock) -> Timing:
    """Phases; `raw` has the start in seconds and the rest in milliseconds after it, or -1."""
    if not raw:
        return Timing()
    start_ms = clock.ms(raw["requestTime"])

    def span(name: str) -> RequestPhase | None:
        start, end = raw.get(f"{name}Start", -1), raw.get(f"{name}End", -1)
        return RequestPhase(start_ms + start, start_ms + end) if start >= 0 and end >= 0 else None

    return Timing(span("dns"), span("connect"), span("ssl"), span("send"))
