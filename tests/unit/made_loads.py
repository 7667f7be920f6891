"""Made page loads: the files that a browser's driver leaves, and loads as they are read."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headway.pages.load import Chunk, PageLoad, Resource

ORIGIN_MS = 1_800_000_000_000.0
"""Navigation start after the epoch."""
ZERO_S = 500.0
"""What the browser's monotonic clock showed then."""


@dataclass
class Recording:
    """Events of a load, in the browser's form; times are in ms after navigation start."""

    events: list[dict[str, Any]] = field(default_factory=list)

    def add(self, method: str, at_ms: float | None = None, **params: Any) -> None:
        """An event of the Network domain."""
        if at_ms is not None:
            params["timestamp"] = ZERO_S + at_ms / 1e3
        self.events.append({"method": f"Network.{method}", "params": params})

    def sent(self, request: str, url: str, at_ms: float, **more: Any) -> None:
        """A request is made; one that a redirect leads to has a `redirectResponse`."""
        asked = {"url": url, "method": "GET", "initialPriority": "High", "headers": {}}
        wall_s = (ORIGIN_MS + at_ms) / 1e3
        self.add(
            "requestWillBeSent", at_ms, requestId=request, request=asked, wallTime=wall_s, **more
        )

    def received(self, request: str, at_ms: float, **response: Any) -> None:
        """The response's head has come; the renderer hears of it 5 ms later."""
        told = {**answer(at_ms), **response}
        self.add("responseReceived", at_ms + 5, requestId=request, response=told)

    def data(self, request: str, at_ms: float, decoded: int, encoded: int) -> None:
        """Content has come."""
        amounts = {"dataLength": decoded, "encodedDataLength": encoded}
        self.add("dataReceived", at_ms, requestId=request, **amounts)

    def finished(self, request: str, at_ms: float, total: int) -> None:
        """The last byte has come."""
        self.add("loadingFinished", at_ms, requestId=request, encodedDataLength=total)

    def write(self, directory: Path, told: dict[str, Any] | None = None) -> None:
        """Write the events, and `load.json` if there is what it tells."""
        lines = [json.dumps(event) + "\n" for event in self.events]
        (directory / "cdp.jsonl").write_text("".join(lines))
        if told is not None:
            (directory / "load.json").write_text(json.dumps(told))


def answer(at_ms: float, **more: Any) -> dict[str, Any]:
    """A response over HTTP/2 whose first byte came then, 30 ms after the request was sent."""
    start_ms = at_ms - 40
    return {
        "status": 200,
        "headers": {},
        "mimeType": "text/plain",
        "protocol": "h2",
        "connectionId": 7,
        "remoteIPAddress": "10.0.0.1",
        "remotePort": 443,
        "encodedDataLength": 100,
        "timing": {
            "requestTime": ZERO_S + start_ms / 1e3,
            "dnsStart": -1,
            "dnsEnd": -1,
            "connectStart": -1,
            "connectEnd": -1,
            "sslStart": -1,
            "sslEnd": -1,
            "sendStart": 9,
            "sendEnd": 10,
            "receiveHeadersStart": 40,
            "receiveHeadersEnd": 41,
        },
        **more,
    }


def told(**navigation: float) -> dict[str, Any]:
    """What the browser told of a load that went well."""
    return {
        "error": None,
        "url": "https://a.test/",
        "time_origin_ms": ORIGIN_MS,
        "navigation": {"connectStart": 1.0, "responseStart": 100.0, **navigation},
        "paint": {"first-paint": 300.0, "first-contentful-paint": 320.0},
        "lcp_ms": 450.0,
        "resources": [],
    }


def resource(url: str = "https://a.test/x", **more: Any) -> Resource:
    """A resource of 1000 bytes that came over HTTP/2, all at its end."""
    values: dict[str, Any] = {
        "url": url,
        "method": "GET",
        "protocol": "h2",
        "status": 200,
        "mime_type": "text/plain",
        "priority": "High",
        "connection_id": 7,
        "remote_address": "10.0.0.1:443",
        "from_cache": False,
        "started_ms": 0.0,
        "response_start_ms": 100.0,
        "ended_ms": 200.0,
        "body_bytes": 1000,
        "error": None,
        **more,
    }
    values.setdefault("encoded_bytes", values["body_bytes"] + 100)
    if values["body_bytes"] and values["ended_ms"] is not None:
        values.setdefault("chunks", (Chunk(values["ended_ms"], values["body_bytes"]),))
    return Resource(**values)


def load(*resources: Resource, **more: Any) -> PageLoad:
    """A load without frames whose load event was fired after a second."""
    values: dict[str, Any] = {
        "url": "https://a.test/",
        "resources": resources,
        "frames": (),
        "response_start_ms": 100.0,
        "fcp_ms": 320.0,
        "lcp_ms": 450.0,
        "dcl_ms": 700.0,
        "onload_ms": 1000.0,
        "plt_ms": 990.0,
        "error": None,
        "time_origin_ms": ORIGIN_MS,
        "connect_start_ms": 1.0,
        **more,
    }
    return PageLoad(**values)
