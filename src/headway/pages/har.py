"""A page load as an HTTP Archive, which many tools open: HAR 1.2 (J. Odvarko, "HAR 1.2 Spec").

Bodies are left out. Fields that begin with an underscore are custom ones, as the format allows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from headway.pages.load import PageLoad
from headway.pages.resource import RequestPhase, Resource
from headway.sites.site import Header
from headway.version import VERSION

Json = dict[str, Any]

_PAGE_ID = "page_1"
_HTTP_VERSIONS = {"http/1.1": "HTTP/1.1", "h2": "HTTP/2", "h3": "HTTP/3"}
_NOT_AVAILABLE = -1


def make_har(load: PageLoad, browser_version: str | None = None) -> Json:
    """The load as a HAR document, to be written as JSON.

    Resources that never ended, as when the load was given up, have the times that are known.

    Args:
        load: any, also a failed one, whose error is the page's comment.
        browser_version: of Chromium, if it is known.
    """
    page: Json = {
        "startedDateTime": _date_time(load, 0.0),
        "id": _PAGE_ID,
        "title": load.url,
        "pageTimings": {
            "onContentLoad": _or_not_available(load.dcl_ms),
            "onLoad": _or_not_available(load.onload_ms),
        },
    }
    if load.error:
        page["comment"] = load.error
    log: Json = {
        "version": "1.2",
        "creator": {"name": "Headway", "version": VERSION},
        "pages": [page],
        "entries": [_entry(load, resource) for resource in load.resources],
    }
    if browser_version:
        log["browser"] = {"name": "Chromium", "version": browser_version}
    return {"log": log}


def _entry(load: PageLoad, resource: Resource) -> Json:
    timings = _timings(resource)
    # TLS is part of the connection's time.
    time_ms = math.fsum(
        ms for name, ms in timings.items() if name != "ssl" and ms != _NOT_AVAILABLE
    )
    entry: Json = {
        "pageref": _PAGE_ID,
        "startedDateTime": _date_time(load, resource.started_ms),
        "time": time_ms,
        "request": _request(resource),
        "response": _response(resource),
        "cache": {},
        "timings": timings,
        "_priority": resource.priority,
        "_fromCache": resource.from_cache,
    }
    if resource.initiator_type:
        url = {"url": resource.initiator_url} if resource.initiator_url else {}
        entry["_initiator"] = {"type": resource.initiator_type, **url}
    if resource.render_blocking:
        entry["_renderBlocking"] = resource.render_blocking
    if resource.remote_address:
        entry["serverIPAddress"] = resource.remote_address.rpartition(":")[0].strip("[]")
    if resource.connection_id is not None:
        entry["connection"] = str(resource.connection_id)
    return entry


def _request(resource: Resource) -> Json:
    sent = [value for name, value in resource.request_headers if name == "cookie"]
    query = parse_qsl(urlsplit(resource.url).query, keep_blank_values=True)
    return {
        "method": resource.method,
        "url": resource.url,
        "httpVersion": _http_version(resource),
        "cookies": [_cookie(pair) for value in sent for pair in value.split(";")],
        "headers": _pairs(resource.request_headers),
        "queryString": _pairs(query),
        "headersSize": _NOT_AVAILABLE,
        "bodySize": _NOT_AVAILABLE,
    }


def _response(resource: Resource) -> Json:
    set_cookies = [value for name, value in resource.headers if name == "set-cookie"]
    redirected = resource.status is not None and 300 <= resource.status < 400
    response: Json = {
        "status": resource.status or 0,
        "statusText": "",
        "httpVersion": _http_version(resource),
        "cookies": [_cookie(value.partition(";")[0]) for value in set_cookies],
        "headers": _pairs(resource.headers),
        "content": {"size": resource.decoded_bytes, "mimeType": resource.mime_type},
        "redirectURL": dict(resource.headers).get("location", "") if redirected else "",
        "headersSize": _NOT_AVAILABLE,
        "bodySize": resource.body_bytes,
        "_transferSize": resource.encoded_bytes,
    }
    if resource.error:
        response["_error"] = resource.error
    return response


def _timings(resource: Resource) -> dict[str, float]:
    """Phases one after the other, without gaps: what is none of them is time blocked or waited."""
    timing = resource.timing
    started_ms = resource.started_ms
    ended_ms = _first_known(resource.ended_ms, resource.response_start_ms, started_ms)
    response_ms = min(_first_known(resource.response_start_ms, ended_ms), ended_ms)
    send = timing.send or RequestPhase(min(started_ms, response_ms), min(started_ms, response_ms))
    before_sending = [span for span in (timing.dns, timing.connect) if span]
    return {
        "blocked": max(
            send.start_ms - started_ms - math.fsum(s.length_ms for s in before_sending), 0.0
        ),
        "dns": _length(timing.dns),
        "connect": _length(timing.connect),
        "ssl": _length(timing.tls),
        "send": send.length_ms,
        "wait": max(response_ms - send.end_ms, 0.0),
        "receive": ended_ms - response_ms,
    }


def _first_known(*times_ms: float | None) -> float:
    return next(time_ms for time_ms in times_ms if time_ms is not None)


def _length(span: RequestPhase | None) -> float:
    return span.length_ms if span else _NOT_AVAILABLE


def _or_not_available(time_ms: float | None) -> float:
    return _NOT_AVAILABLE if time_ms is None else time_ms


def _http_version(resource: Resource) -> str:
    return _HTTP_VERSIONS.get(resource.protocol or "", resource.protocol or "")


def _pairs(fields: Iterable[Header]) -> list[Json]:
    return [{"name": name, "value": value} for name, value in fields]


def _cookie(pair: str) -> Json:
    name, _, value = pair.strip().partition("=")
    return {"name": name, "value": value}


def _date_time(load: PageLoad, at_ms: float) -> str:
    """ISO 8601 in UTC, to the millisecond."""
    moment = datetime.fromtimestamp((load.time_origin_ms + at_ms) / 1e3, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
