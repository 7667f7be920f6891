"""HAR files of all makers: odd entries, bodies that are still coded, and what a warm cache had."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import WrongInputError
from headway.sites.coding import content_codings, decoded
from headway.sites.recording import Recording
from headway.sites.shortfall import Kept
from headway.sites.site import Exchange
from headway.sites.sources import Browsing, record
from headway.sites.verify import findings
from tests.unit.test_sites_import import HTML, entry, har

URL = "https://a.test/"
TEXT = "<p>a page, long enough to be coded</p>" * 4
CODED = {
    "gzip": gzip.compress(TEXT.encode()),
    "x-gzip": gzip.compress(TEXT.encode()),
    "deflate": zlib.compress(TEXT.encode()),
    "br": brotli.compress(TEXT.encode()),
    "gzip, br": brotli.compress(gzip.compress(TEXT.encode())),
}


def read(path: Path | str) -> Recording:
    return record(str(path), Browsing())


def page(**more: Any) -> dict[str, Any]:
    return {**entry(URL, {"content": {"text": "<p>"}}), **more}


def beacon(**response: Any) -> dict[str, Any]:
    """An entry whose response is changed; what is None is left out."""
    sound = entry(f"{URL}beacon", {"content": {"text": "ok"}}, "POST")
    sound["response"] = {
        name: one for name, one in (sound["response"] | response).items() if one != "gone"
    }
    return sound


HEADER = {"name": "a", "value": "b"}
ODD = [
    (None, "entry 2: it is null"),
    ([], "entry 2: it is a list"),
    ({}, "entry 2: request is missing"),
    ({"request": {"url": URL}, "response": {}}, f"entry 2, {URL}: request.method is missing"),
    (page(request={"method": "GET", "url": None}), "entry 2, GET: request.url is null and not text"),
    (page(response=None), f"entry 2, GET {URL}: response is null"),
    (page(response="x"), f"entry 2, GET {URL}: response is text"),
    ({"request": page()["request"]}, f"entry 2, GET {URL}: response is missing"),
    (beacon(status=None), "response.status is null and not a number"),
    (beacon(status="gone"), "response.status is missing"),
    (beacon(status="OK"), "response.status is text and not a number"),
    (beacon(status=True), "response.status is true or false and not a number"),
    (beacon(status=200.5), "response.status is not a status"),
    (beacon(status=float("nan")), "response.status is not a status"),
    (beacon(status=20000), "response.status is not a status"),
    (beacon(headers=None), "response.headers is null and not a list"),
    (beacon(headers="gone"), "response.headers is missing"),
    (beacon(headers={"a": "b"}), "response.headers is an object and not a list"),
    (beacon(headers=[HEADER, None]), "response.headers[1] is null"),
    (beacon(headers=[{"name": "a", "value": None}]), "response.headers[0].value is null and not text"),
    (beacon(headers=[{"name": 1, "value": "a"}]), "response.headers[0].name is a number and not text"),
    (beacon(headers=[{"name": "a"}]), "response.headers[0].value is missing"),
    (beacon(content={"text": 7}), "response.content.text is a number and not text"),
]  # fmt: skip


@pytest.mark.parametrize(("odd", "said"), ODD)
def test_an_odd_entry_is_left_out_and_named(tmp_path: Path, odd: Any, said: str) -> None:
    style = entry(
        f"{URL}s.css", {"content": {"text": "p{}"}, "headers": [("content-type", "text/css")]}
    )
    recording = read(har(tmp_path / "x.har", page(), odd, style))
    assert [one.url for one in recording.site.exchanges] == [URL, f"{URL}s.css"]
    (note,) = recording.notes
    assert note.startswith("left out: entry 2")
    assert said in note


@pytest.mark.parametrize(
    "sound",
    [
        beacon(content="gone"), beacon(content=None), beacon(content={"text": "x", "size": -1}),
        beacon(status="200"), beacon(status=200.0), beacon(bodySize=-1, httpVersion=None),
        beacon(content={"text": "a\ud800b"}), {**beacon(), "request": {"method": "GET", "url": f"{URL}b", "postData": "\ud800"}},
        {**beacon(), "startedDateTime": None, "time": -1, "timings": None, "cache": None, "pageref": 7},
    ],
)  # fmt: skip
def test_what_nothing_depends_on_may_be_odd(tmp_path: Path, sound: dict[str, Any]) -> None:
    if "content" not in sound["response"] or not sound["response"]["content"]:
        sound["response"]["bodySize"] = 0
    recording = read(har(tmp_path / "x.har", page(), sound))
    assert (len(recording.site.exchanges), recording.notes) == (2, ())


def written(tmp_path: Path, *entries: bytes, end: bytes = b"]}}") -> Path:
    path = tmp_path / "x.har"
    path.write_bytes(
        b'{"log": {"version": "1.2", "pages": [], "entries": [' + b",\n".join(entries) + end
    )
    return path


def test_json_that_is_broken_in_one_entry(tmp_path: Path) -> None:
    sound = json.dumps(page()).encode()
    other = json.dumps(beacon()).encode()
    for broken, said in (
        (other.replace(b'"ok"', rb'"\v[{"'), "left out: entry 2: its JSON is broken at character"),
        (
            other.replace(b'"ok"', b'"\xe9"'),
            f"left out: entry 2, POST {URL}beacon: it has bytes that are no UTF-8",
        ),
        (other.replace(b'"ok"', b'"ok",'), "left out: entry 2: its JSON is broken at character"),
        (
            other.replace(b'"ok"', b"[" * 100_000 + b"]" * 100_000),
            "left out: entry 2: it is nested too deeply",
        ),
    ):
        recording = read(written(tmp_path, sound, broken))
        assert (len(recording.site.exchanges), len(recording.notes)) == (1, 1)
        assert recording.notes[0].startswith(said)
    with pytest.raises(WrongInputError, match="truncated: its JSON ends in or after entry 2"):
        read(written(tmp_path, sound, other[:-30], end=b""))
    digits = other.replace(b'"ok"', b'"ok", "size": ' + b"9" * 5000)
    assert len(read(written(tmp_path, sound, digits)).site.exchanges) == 2


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_har_files_in_other_encodings(tmp_path: Path, encoding: str) -> None:
    from headway.sites.har_file import har_file

    text = json.dumps({"log": {"entries": [page()]}}).replace("\n", "\r\n")
    assert len(har_file(text.encode(encoding), tmp_path).entries) == 1


def test_a_flood_of_odd_entries_is_a_few_lines(tmp_path: Path) -> None:
    recording = read(har(tmp_path / "x.har", page(), *[beacon(status=None)] * 1000))
    assert len(recording.notes) == 6
    assert recording.notes[-1] == "left out: 995 more that are not as they should be"
    long = entry(URL + "x" * 200_000, {"status": None})
    with pytest.raises(WrongInputError) as raised:
        read(har(tmp_path / "x.har", *[long] * 1000))
    assert len(str(raised.value)) < 2000
    lost = entry(URL, {"content": {"size": 9, "_file": "x\ny" * 1000}})
    assert read(
        har(tmp_path / "x.har", page(request={"method": "GET", "url": f"{URL}b"}), lost)
    ).site.lost


@pytest.mark.parametrize("coding", CODED)
@pytest.mark.parametrize("kind", ["text/html", "text/html; charset=utf-8"])
@pytest.mark.parametrize("is_base64", [True, False])
@pytest.mark.parametrize("has_lengths", [True, False])
def test_a_body_that_is_still_coded_is_not_coded_again(
    tmp_path: Path, coding: str, kind: str, is_base64: bool, has_lengths: bool
) -> None:
    body = CODED[coding]
    text = base64.b64encode(body).decode() if is_base64 else body.decode("latin-1")
    content: dict[str, Any] = {"text": text} | ({"encoding": "base64"} if is_base64 else {})
    headers = [("content-type", kind), ("content-encoding", coding)]
    if has_lengths:
        content["size"] = len(body)
        headers.append(("content-length", str(len(body))))
    recording = read(har(tmp_path / "x.har", entry(URL, {"content": content, "headers": headers})))
    (exchange,) = recording.site.exchanges
    assert (exchange.body, exchange.header("content-encoding")) == (body, coding)
    assert decoded(exchange.body, content_codings(exchange.headers)) == TEXT.encode()
    assert findings(recording.site) == ()
    assert "body is still coded with" in recording.notes[0]


def test_a_body_of_which_one_coding_is_undone(tmp_path: Path) -> None:
    headers = [*HTML, ("content-encoding", "gzip, br")]
    text = base64.b64encode(CODED["gzip"]).decode()
    recording = read(har(tmp_path / "x.har", entry(
        URL, {"content": {"text": text, "encoding": "base64"}, "headers": headers})))  # fmt: skip
    (exchange,) = recording.site.exchanges
    assert decoded(exchange.body, ["gzip", "br"]) == TEXT.encode()


def test_a_body_in_zstandard_keeps_it(tmp_path: Path) -> None:
    body = b"\x28\xb5\x2f\xfd\x24\x03\x19\x00\x00abc\x00\x00\x00\x00"
    content = {"text": base64.b64encode(body).decode(), "encoding": "base64"}
    recording = read(har(tmp_path / "x.har", page(), entry(
        f"{URL}z", {"content": content, "headers": [*HTML, ("content-encoding", "zstd")]})))  # fmt: skip
    assert recording.site.exchanges[1].header("content-encoding") == "zstd"
    assert recording.site.exchanges[1].body == body


TEXTS = ["", ";", "\x06", "x\x9c", "p{}", "\x1b$B!", TEXT, "é" * 9, "BZh"]


@given(st.one_of(st.sampled_from(TEXTS), st.text()), st.sampled_from(["gzip", "br", "deflate"]))
def test_no_text_is_taken_for_coded(
    tmp_path_factory: pytest.TempPathFactory, text: str, coding: str
) -> None:
    headers = [("content-type", "text/plain; charset=utf-8"), ("content-encoding", coding)]
    path = tmp_path_factory.getbasetemp() / "x.har"
    recording = read(
        har(path, page(), entry(f"{URL}t", {"content": {"text": text}, "headers": headers}))
    )
    exchange = recording.site.exchanges[1]
    sent = decoded(exchange.body, content_codings(exchange.headers)) if exchange.body else b""
    assert sent == text.encode()


def test_a_compressed_file_that_was_compressed_again(tmp_path: Path) -> None:
    """Lengths alone tell: what was sent is longer, or as long."""
    inner = gzip.compress(TEXT.encode() * 9)
    content = {"text": base64.b64encode(inner).decode(), "encoding": "base64", "size": len(inner)}

    def sent(length: int) -> Exchange:
        headers = [
            ("content-type", "application/gzip"),
            ("content-encoding", "gzip"),
            ("content-length", str(length)),
        ]
        return read(har(tmp_path / "x.har", page(), entry(
            f"{URL}a.gz", {"content": content, "headers": headers}))).site.exchanges[1]  # fmt: skip

    assert sent(len(inner)).body == inner
    assert gzip.decompress(sent(len(inner) + 23).body) == inner


def test_coded_bytes_that_were_taken_for_text_are_lost(tmp_path: Path) -> None:
    text = CODED["gzip"].decode(errors="replace")
    headers = [*HTML, ("content-encoding", "gzip")]
    recording = read(
        har(tmp_path / "x.har", entry(URL, {"content": {"text": text}, "headers": headers}))
    )
    (exchange,) = recording.site.exchanges
    assert exchange.shortfall and exchange.shortfall.kept is Kept.PART


def test_what_a_warm_cache_had_is_replayed(tmp_path: Path) -> None:
    warm = {"status": 304, "headers": [("etag", "2"), ("content-length", "0")]}
    kind = {"mimeType": "text/html", "text": "<p>"}
    recording = read(har(tmp_path / "x.har", entry(URL, {**warm, "content": kind})))
    assert recording.site.exchanges == (
        Exchange("GET", URL, 200, (("etag", "2"), ("content-type", "text/html")), b"<p>"),
    )
    assert recording.notes == ("304 replayed as the 200 whose content the recording has (1)",)
    # The fields that are known of the 200, whose body is not there, and newer ones of the 304.
    headers = [*HTML, ("etag", "1"), ("x", "y"), ("content-encoding", "gzip")]
    cold = entry(URL, {"content": {"size": 9}, "headers": headers})
    (exchange,) = read(
        har(tmp_path / "x.har", cold, entry(URL, {**warm, "content": kind}))
    ).site.exchanges
    assert exchange.headers == (
        ("content-type", "text/html"),
        ("x", "y"),
        ("content-encoding", "gzip"),
        ("etag", "2"),
    )
    assert gzip.decompress(exchange.body) == b"<p>"
    # Of a 200 that is whole, a 304 is a repetition; one in part is worth less.
    both = read(har(tmp_path / "x.har", page(), *[entry(URL, {**warm, "content": kind})] * 2))
    assert [one.status for one in both.site.exchanges] == [200]
    cut = entry(URL, {"content": {"text": "<", "size": 3}})
    assert [one.body for one in read(har(tmp_path / "x.har", cut, entry(
        URL, {**warm, "content": {**kind, "size": 3}}))).site.exchanges] == [b"<p>"]  # fmt: skip
    part = read(har(tmp_path / "x.har", entry(URL, {**warm, "content": {**kind, "size": 30}}))).site
    assert part.exchanges[0].shortfall and part.exchanges[0].shortfall.kept is Kept.PART
