"""HTTP Archives of page loads, against the rules of HAR 1.2."""

import json
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.pages.har import make_har
from headway.pages.load import PageLoad
from headway.pages.resource import RequestPhase, Timing
from tests.unit.made_loads import load, resource

NUMBER = (int, float)
LOG = {"version": str, "creator": dict, "entries": list}
ENTRY = {
    "startedDateTime": str,
    "time": NUMBER,
    "request": dict,
    "response": dict,
    "cache": dict,
    "timings": dict,
}
MESSAGE = {
    "httpVersion": str,
    "cookies": list,
    "headers": list,
    "headersSize": NUMBER,
    "bodySize": NUMBER,
}
REQUEST = MESSAGE | {"method": str, "url": str, "queryString": list}
RESPONSE = MESSAGE | {"status": NUMBER, "statusText": str, "content": dict, "redirectURL": str}
OPTIONAL = {"pages", "browser", "pageref", "serverIPAddress", "connection", "comment"}


def check(thing: dict[str, Any], required: dict[str, Any]) -> None:
    """All required fields are there, of their type; others are optional or custom ones."""
    for name, kind in required.items():
        assert isinstance(thing[name], kind), name
    assert all(name.startswith("_") or name in OPTIONAL for name in set(thing) - set(required))


def check_har(har: dict[str, Any]) -> list[dict[str, Any]]:
    """Check a document by the specification; returns its entries."""
    log = json.loads(json.dumps(har))["log"]
    check(log, LOG)
    assert log["version"] == "1.2"
    assert set(log["creator"]) == {"name", "version"}
    for page in log["pages"]:
        check(page, {"startedDateTime": str, "id": str, "title": str, "pageTimings": dict})
        datetime.fromisoformat(page["startedDateTime"])
    for entry in log["entries"]:
        check(entry, ENTRY)
        check(entry["request"], REQUEST)
        check(entry["response"], RESPONSE)
        check(entry["response"]["content"], {"size": NUMBER, "mimeType": str})
        assert entry["pageref"] in {page["id"] for page in log["pages"]}
        datetime.fromisoformat(entry["startedDateTime"])
        check_timings(entry)
    entries: list[dict[str, Any]] = log["entries"]
    return entries


def check_timings(entry: dict[str, Any]) -> None:
    timings = entry["timings"]
    assert set(timings) == {"blocked", "dns", "connect", "ssl", "send", "wait", "receive"}
    assert min(timings[name] for name in ("send", "wait", "receive")) >= 0
    assert all(ms >= 0 or ms == -1 for ms in timings.values())
    counted = [ms for name, ms in timings.items() if name != "ssl" and ms != -1]
    assert entry["time"] == pytest.approx(sum(counted))


def entry_of(made: PageLoad) -> dict[str, Any]:
    (entry,) = check_har(make_har(made))
    return entry


def test_an_entry_of_a_new_connection() -> None:
    timing = Timing(
        RequestPhase(12, 13), RequestPhase(13, 43), RequestPhase(23, 43), RequestPhase(44, 45)
    )
    entry = entry_of(load(resource("https://a.test/x", started_ms=10.0, timing=timing)))
    assert entry["startedDateTime"] == "2027-01-15T08:00:00.010Z"
    assert entry["timings"] == {
        "blocked": 3,
        "dns": 1,
        "connect": 30,
        "ssl": 20,
        "send": 1,
        "wait": 55,
        "receive": 100,
    }
    assert entry["time"] == 190  # from 10 to 200
    assert (entry["serverIPAddress"], entry["connection"]) == ("10.0.0.1", "7")
    assert entry["response"]["bodySize"] == 1000
    assert entry["response"]["_transferSize"] == 1100


def test_an_entry_of_a_reused_connection() -> None:
    timings = entry_of(load(resource(timing=Timing(send=RequestPhase(20, 21)))))["timings"]
    assert (timings["dns"], timings["connect"], timings["ssl"]) == (-1, -1, -1)
    assert (timings["blocked"], timings["send"], timings["wait"]) == (20, 1, 79)


@pytest.mark.parametrize(
    ("protocol", "version"),
    [("http/1.1", "HTTP/1.1"), ("h2", "HTTP/2"), ("h3", "HTTP/3"), (None, "")],
)
def test_version_of_http(protocol: str | None, version: str) -> None:
    entry = entry_of(load(resource(protocol=protocol)))
    assert entry["request"]["httpVersion"] == entry["response"]["httpVersion"] == version


def test_fields_query_cookies_and_redirects() -> None:
    made = resource(
        "https://a.test/x?a=1&b=&a=2%203",
        status=302,
        request_headers=(("accept", "*/*"), ("cookie", "k=v; l=w=x")),
        headers=(("location", "/y"), ("set-cookie", "m=1; Path=/"), ("set-cookie", "n=2")),
    )
    entry = entry_of(load(made))
    request, response = entry["request"], entry["response"]
    query = [(pair["name"], pair["value"]) for pair in request["queryString"]]
    assert query == [("a", "1"), ("b", ""), ("a", "2 3")]
    assert request["cookies"] == [{"name": "k", "value": "v"}, {"name": "l", "value": "w=x"}]
    assert response["cookies"] == [{"name": "m", "value": "1"}, {"name": "n", "value": "2"}]
    assert response["redirectURL"] == "/y"
    assert request["headers"][0] == {"name": "accept", "value": "*/*"}


def test_a_load_that_failed() -> None:
    refused = resource(
        status=None,
        protocol=None,
        connection_id=None,
        remote_address=None,
        response_start_ms=None,
        body_bytes=0,
        error="net::ERR_CONNECTION_REFUSED",
    )
    unfinished = resource(ended_ms=None)
    har = make_har(
        load(refused, unfinished, error="given up", onload_ms=None, dcl_ms=None), "156.0.8078.79"
    )
    first, second = check_har(har)
    assert first["response"]["status"] == 0
    assert first["response"]["_error"] == "net::ERR_CONNECTION_REFUSED"
    assert "connection" not in first and "serverIPAddress" not in first
    assert second["time"] == 100
    (page,) = har["log"]["pages"]
    assert page["pageTimings"] == {"onContentLoad": -1, "onLoad": -1}
    assert page["comment"] == "given up"
    assert har["log"]["browser"] == {"name": "Chromium", "version": "156.0.8078.79"}


@given(st.lists(st.floats(0, 1e5), min_size=7, max_size=7).map(sorted), st.booleans())
def test_phases_add_up_to_the_time_that_it_took(times: list[float], connected: bool) -> None:
    started, dns, connect, send, sent, response, ended = times
    timing = Timing(send=RequestPhase(send, sent))
    if connected:
        timing = Timing(
            RequestPhase(dns, connect), RequestPhase(connect, send), None, RequestPhase(send, sent)
        )
    made = resource(started_ms=started, response_start_ms=response, ended_ms=ended, timing=timing)
    assert entry_of(load(made))["time"] == pytest.approx(ended - started)
