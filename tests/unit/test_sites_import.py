"""Recordings of other tools, and of Chromium, become sites.

`sites/` has what mitmproxy and Chromium made of the page that `page_server` serves: `flows.mitm` and
`flows.har` by mitmdump, `devtools.jsonl` the events of a load in Chromium, and the bodies it handed
over, as it sent them but for fields that nobody reads.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import math
import zlib
from pathlib import Path
from typing import Any

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import HeadwayError, WrongInputError
from headway.sites.body_integrity import judged
from headway.sites.capture import NetworkLog
from headway.sites.captured import Captured
from headway.sites.chromium import BROWSERS, find_browser
from headway.sites.hostmap import HostMap, HostMaps
from headway.sites.readings import in_charset
from headway.sites.recording import Recording, assembled, merged, site_name
from headway.sites.sifting import replayable
from headway.sites.site import Exchange, Site
from headway.sites.sources import Browsing, record
from headway.sites.tnetstring import TnetstringError, Value, encoded, values
from headway.sites.verify import findings
from headway.sites.warc import write_archive
from headway.study.device import Device
from tests.unit.page_server import DOT, FRAME, LATIN, PAGE, SCRIPT, STYLE, served

RECORDED = Path(__file__).parent / "sites"
HTML = (("content-type", "text/html"),)


def browser_or_none() -> Path | None:
    try:
        return find_browser()
    except WrongInputError:
        return None


def bodies(site: Site, origin: str) -> dict[str, tuple[int, bytes]]:
    """Status and decoded body of every GET of an origin, by path."""
    decoders = {"gzip": gzip.decompress, "br": brotli.decompress, "deflate": zlib.decompress}
    return {
        exchange.url.removeprefix(origin): (
            exchange.status,
            decoders.get(exchange.header("content-encoding") or "", bytes)(exchange.body),
        )
        for exchange in site.exchanges
        if exchange.method == "GET" and exchange.url.startswith(origin)
    }


def served_bodies(port: str) -> dict[str, tuple[int, bytes]]:
    return {
        "/": (200, PAGE.replace("PORT", port).encode()),
        "/style.css": (200, STYLE.encode()),
        "/old.js": (302, b""),
        "/script.js": (200, SCRIPT.encode()),
        "/dot.png": (200, DOT),
    }


@pytest.mark.parametrize("name", ["flows.mitm", "flows.har"])
def test_a_recording_of_mitmproxy(name: str) -> None:
    recording = record(str(RECORDED / name), Browsing())
    site = recording.site
    assert site.page == "http://127.0.0.1:18000/"
    assert bodies(site, "http://127.0.0.1:18000") == {
        **served_bodies("18000"),
        "/latin.js": (200, LATIN.encode("latin-1")),
        "/missing": (404, b""),
    }
    put = next(exchange for exchange in site.exchanges if exchange.method == "PUT")
    assert (put.url, put.body) == ("http://127.0.0.1:18000/data.json", b'{"a": 1}')
    style = next(exchange for exchange in site.exchanges if exchange.url.endswith(".css"))
    assert style.headers == (
        ("server", "BaseHTTP/0.6 Python/3.11.7"),
        ("content-type", "text/css"),
        ("content-encoding", "br"),
        ("set-cookie", "seen=1; Max-Age=86400; Path=/"),
        ("cache-control", "max-age=86400"),
    )


def test_flows_keep_bodies_and_har_files_say_what_is_new() -> None:
    flows = record(str(RECORDED / "flows.mitm"), Browsing())
    assert flows.notes == ()
    script = next(e for e in flows.site.exchanges if e.url.endswith("/script.js"))
    assert script.body == zlib.compress(SCRIPT.encode())
    assert record(str(RECORDED / "flows.har"), Browsing()).notes == (
        "content coding applied again: gzip (level 6) (1)",
        "content coding applied again: br (quality 5) (1)",
        "content coding applied again: deflate (level 6) (1)",
    )


def chromium_log() -> NetworkLog:
    """What Chromium told, with each body taken when it can be, as while recording."""
    log = NetworkLog()
    for line in (RECORDED / "devtools.jsonl").read_text().splitlines():
        told = json.loads(line)
        if "event" in told:
            log.hear(told["event"])
        else:
            assert told["body"] in [number for _, number in log.complete]
            log.add_body(told["body"], told["answer"])
    return log


def check_chromium(recording: Recording, port: str) -> None:
    site = recording.site
    assert site.page == f"http://127.0.0.1:{port}/"
    assert site.hosts == ("127.0.0.1", "localhost")
    pictures = {"/dot.png?size=2": (200, DOT)}
    own = bodies(site, f"http://127.0.0.1:{port}")
    own.pop("/favicon.ico", None)
    assert own == {**served_bodies(port), **pictures}
    assert bodies(site, f"http://localhost:{port}") == {
        "/frame.html": (200, FRAME.encode()),
        "/latin.js": (200, LATIN.encode("latin-1")),
    }
    others = {(e.method, e.status, e.body) for e in site.exchanges if e.method != "GET"}
    assert others == {("OPTIONS", 204, b""), ("PUT", 200, b'{"a": 1}')}
    redirect = next(e for e in site.exchanges if e.status == 302)
    assert redirect.header("location") == "/script.js"
    page = site.exchanges[0]  # only what Chromium tells of the network has cookies
    assert page.header("set-cookie") == "seen=1; Max-Age=86400; Path=/"
    assert page.header("alt-svc") is None
    local = [HostMap("a.test", "127.0.0.1", int(port))]
    assert findings(HostMaps(tuple(local)).applied(recording).site) == ()


def test_a_recording_of_chromium() -> None:
    log = chromium_log()
    assert log.under_way == set()
    recording = assembled("s", log.captured(), source="a load", description="")
    check_chromium(recording, "8000")


@pytest.mark.skipif(
    browser_or_none() is None,
    reason=f"none of {', '.join(BROWSERS)} is in PATH; `apt-get install chromium` brings one",
)
def test_recording_with_chromium() -> None:
    with served() as url:
        recording = record(url, Browsing(Device.IPHONE_6))
    check_chromium(recording, url.rpartition(":")[2].strip("/"))


def event(name: str, number: str = "1", **params: Any) -> dict[str, Any]:
    return {"method": f"Network.{name}", "params": {"requestId": number, **params}}


def sent(number: str, url: str) -> dict[str, Any]:
    return event("requestWillBeSent", number, request={"method": "GET", "url": url})


def test_what_caches_answer_and_what_fails_is_not_recorded() -> None:
    log = NetworkLog()
    for told in (
        sent("1", "https://a.test/"),
        event("responseReceived", "1", response={"status": 200, "headers": dict(HTML)}),
        event("loadingFinished", "1"),
        sent("2", "https://a.test/"),
        event("requestServedFromCache", "2"),
        event("responseReceived", "2", response={"status": 200, "headers": {}}),
        event("loadingFinished", "2"),
        sent("3", "data:text/plain,x"),
        event("loadingFinished", "3"),
        sent("4", "https://gone.test/"),
        event("loadingFailed", "4", errorText="net::ERR_NAME_NOT_RESOLVED"),
        {"method": "Page.loadEventFired", "params": {}},
        event("loadingFinished", "of another page"),
    ):
        log.hear(told)
    assert log.under_way == set()
    log.add_body("1", {"body": "PHA+", "base64Encoded": True})
    recording = assembled("s", log.captured(), source="a load", description="")
    assert recording.site.exchanges == (Exchange("GET", "https://a.test/", 200, HTML, b"<p>"),)
    assert recording.notes == ("left out: no final response (1)",)


def entry(url: str, response: dict[str, Any], method: str = "GET") -> dict[str, Any]:
    headers = [{"name": name, "value": value} for name, value in response.pop("headers", HTML)]
    return {
        "request": {"method": method, "url": url},
        "response": {"status": 200, "headers": headers, **response},
    }


def har(path: Path, *entries: dict[str, Any]) -> str:
    path.write_text("\ufeff" + json.dumps({"log": {"version": "1.2", "entries": entries}}))
    return str(path)


def test_har_files_as_browsers_save_them(tmp_path: Path) -> None:
    zstd = (*HTML, ("Content-Encoding", "zstd"))
    file = har(
        tmp_path / "My page.har",
        entry("https://a.test/#top", {"content": {"text": "<p>", "size": 3}}),
        entry("https://a.test/z", {"content": {"text": "<z>"}, "headers": zstd}),
        entry("https://a.test/blob", {"content": {"text": "AP8=", "encoding": "base64"}}),
        entry("https://a.test/lost", {"content": {"size": 9}}),
        entry("https://a.test/failed", {"status": 0}),
        entry("wss://a.test/", {"status": 101}),
        entry("https://[a.test/", {}),
        entry("https://a.test/same", {"content": {"text": "1"}}),
        entry("https://a.test/same", {"content": {"text": "1"}}),
        entry("https://a.test/same", {"status": 304}),
    )
    recording = record(file, Browsing())
    assert recording.site == Site(
        "My-page",
        "https://a.test/",
        (
            Exchange("GET", "https://a.test/", 200, HTML, b"<p>"),
            Exchange("GET", "https://a.test/z", 200, HTML, b"<z>"),
            Exchange("GET", "https://a.test/blob", 200, HTML, b"\0\xff"),
            Exchange("GET", "https://a.test/same", 200, HTML, b"1"),
        ),
        "Imported from My page.har.",
    )
    assert recording.notes == (
        "left out: no final response (1)",
        "left out: not HTTP (1)",
        "left out: not a valid URL (1)",
        "content coding zstd dropped, the body is sent as it is (1)",
        "left out: the body was not kept (1)",
        "left out: the same response to the same request again (1)",
        "left out: a 304 whose 200 is there (1)",
    )


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"log": 1}', "a JSON document, not a recording"),
        (b'{"log": {"entries": []}}', "it holds no HTTP response"),
        (b"{", "a JSON document, not a recording"),
        (b"12:abc", "a text, not a recording"),
        (b"1:1#", "a text, not a recording"),
        (encoded({"type": "http", "response": {}}), "left out: flow 1: it has no request"),
        (encoded({"type": "tcp"}), "it holds no HTTP response"),
        (b"GIF89a", "a picture (GIF), not a recording"),
        (b"\x1f\x8bxx", "compressed data (gzip) that is damaged or cut off"),
    ],
)
def test_files_that_are_no_recordings(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(WrongInputError) as raised:
        record(str(path), Browsing())
    assert str(raised.value).startswith(f"{path}: ")
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_source_that_is_nowhere(tmp_path: Path) -> None:
    with pytest.raises(WrongInputError, match="neither a URL with http:// or https:// nor a file"):
        record("example.org", Browsing())
    with pytest.raises(WrongInputError, match=r"--browser .*nosuch: no such program"):
        record("http://127.0.0.1:9/", Browsing(browser=tmp_path / "nosuch"))


def test_a_browser_that_ends_at_once() -> None:
    with pytest.raises(HeadwayError, match=r"http://127\.0\.0\.1:9/: the browser is gone"):
        record("http://127.0.0.1:9/", Browsing(browser=Path("true")))


def test_no_browser_is_in_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WrongInputError, match="needs Chromium, and none of chromium, "):
        find_browser()
    program = tmp_path / "google-chrome"
    program.touch(mode=0o755)
    assert find_browser() == program


def test_archives_are_sources_too_and_the_first_of_several_has_the_page(tmp_path: Path) -> None:
    page = Exchange("GET", "https://a.test/", 200, HTML, b"A")
    newer = Exchange("GET", "https://a.test/", 200, HTML, b"B")
    extra = Exchange("GET", "https://b.test/x", 200, HTML, b"C")
    write_archive(Site("one", page.url, (page,), "First."), tmp_path / "1.warc.gz")
    write_archive(Site("two", extra.url, (newer, extra), "Second."), tmp_path / "2.warc.gz")
    recordings = [record(str(tmp_path / f"{number}.warc.gz"), Browsing()) for number in (1, 2)]
    assert recordings[1].site.page == extra.url
    assert merged("both", recordings).site == Site("both", page.url, (page, extra), "First.")


@pytest.mark.parametrize(
    ("coding", "decode"),
    [("gzip", gzip.decompress), ("deflate", zlib.decompress), ("br", brotli.decompress)],
)
@given(body=st.binary(min_size=1, max_size=300))
def test_codings_are_applied_again(coding: str, decode: Any, body: bytes) -> None:
    fields = (("Content-Encoding", coding),)
    captured = Captured("GET", "https://a.test/", 200, fields, body, is_decoded=True)
    exchange, note = replayable(captured, judged(captured))
    assert decode(exchange.body) == body
    assert replayable(captured, judged(captured)) == (exchange, note)
    as_sent = Captured("GET", "https://a.test/", 200, fields, exchange.body)
    assert replayable(as_sent, judged(as_sent)) == (exchange, None)


@pytest.mark.parametrize(
    ("text", "kind", "sent"),
    [
        ("é", "text/html; Charset='ISO-8859-1'", b"\xe9"),
        ("é", "text/html", b"\xc3\xa9"),
        ("é", "text/html; charset=none-such", b"\xc3\xa9"),
        ("✓", "text/html; charset=iso-8859-1", b"\xe2\x9c\x93"),
        ("<meta charset=latin-1>é", "text/html", b"<meta charset=latin-1>\xe9"),
        ("<meta charset=latin-1>é", "text/plain", b"<meta charset=latin-1>\xc3\xa9"),
    ],
)
def test_text_is_sent_in_its_character_set(text: str, kind: str, sent: bytes) -> None:
    assert in_charset(text, [("Content-Type", kind)]) == sent


@pytest.mark.parametrize(
    ("file", "name"),
    [("a.warc.gz", "a"), ("My page_2.har", "My-page-2"), ("x.y.mitm", "x-y"), (".warc", "site")],
)
def test_names_of_sites(file: str, name: str) -> None:
    assert site_name(Path(file)) == name


netstrings: st.SearchStrategy[Value] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.binary() | st.text()
    | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(st.lists(netstrings, max_size=3))
def test_netstrings_survive(written: list[Value]) -> None:
    assert list(values(b"".join(map(encoded, written)))) == written


@given(netstrings, st.data())
def test_netstrings_that_are_cut_are_noticed(value: Value, data: st.DataObject) -> None:
    whole = encoded(value)
    cut = whole[: data.draw(st.integers(1, len(whole) - 1))]
    with pytest.raises(TnetstringError):
        list(values(cut))


@given(st.binary(max_size=40))
def test_any_bytes_are_netstrings_or_are_not(noise: bytes) -> None:
    with contextlib.suppress(TnetstringError):
        list(values(noise))


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"5:hello,", b"hello"),
        (b"3:\xe2\x9c\x93;", "✓"),
        (b"2:42#", 42),
        (b"3:1.5^", 1.5),
        (b"4:true!", True),
        (b"0:~", None),
        (b"8:1:a,1:1#]", [b"a", 1]),
        (b"8:1:a;1:1#}", {"a": 1}),
        (b"8:1:a,1:1#}", {"a": 1}),  # keys as bytes, in older files
        (b"3:inf^", math.inf),
    ],
)
def test_netstrings_by_hand(data: bytes, value: Value) -> None:
    assert list(values(data)) == [value]


@pytest.mark.parametrize(
    "data", [b":,", b"01x:,", b"1:x#", b"1:1?", b"2:no!", b"4:1:a,}", b"4:1:1#1:1#}"]
)
def test_netstrings_that_are_none(data: bytes) -> None:
    with pytest.raises(TnetstringError):
        list(values(data))
