"""Crawls as their makers mean them: pages by time, revisits across files, what a record's line says."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import WrongInputError
from headway.sites.instants import instant_s
from headway.sites.ordering import in_time
from headway.sites.recording import Recording
from headway.sites.sources import Browsing, record, record_site
from headway.sites.verify import findings
from tests.unit.test_sites_archive import OK, warc
from tests.unit.test_sites_import import entry, har

URL = "https://a.test/"
PAGE = OK + b"\r\n<p>page"
FRAME = OK + b"\r\n<p>frame"
PNG = bytes(range(256)) * 3
IMAGE = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n" + PNG
UNCHANGED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"


def read(path: Path | str, page: str = "") -> Recording:
    return record(str(path), Browsing(page=page))


def digest(body: bytes, *, base: int = 32) -> str:
    value = hashlib.sha1(body, usedforsecurity=False).digest()
    return f"sha1:{value.hex() if base == 16 else base64.b32encode(value).decode()}"


def dated(
    path: str, second: int, message: bytes = PAGE, **fields: str
) -> tuple[str, str, bytes, dict[str, str]]:
    more = {name.replace("_", "-"): value for name, value in fields.items()}
    return (
        "response",
        f"{URL}{path}",
        message,
        {"WARC-Date": f"2026-03-02T10:00:{second:02}Z", **more},
    )


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("1970-01-01T00:00:01Z", 1), ("1970-01-01T00:00:01.25Z", 1.25),
        ("1970-01-01T00:00:01.123456789Z", 1.123456), ("1970-01-01T01:00:01+01:00", 1),
        ("1970-01-01T01:00:01.5+0100", 1.5), ("1970-01-01T00:00:01", 1), ("1970-01-02", 86400),
        ("1970-02", 31 * 86400), ("1971", 365 * 86400), ("19700101000001", 1), ("197001010001", 60),
        (1500.5, 1500.5), (1_700_000_000_000, 1_700_000_000), ("", None), ("x", None), (None, None),
        (True, None), ([], None), ("19701301000000", None), ("1970-13", None), ("9999-99-99", None),
    ],
)  # fmt: skip
def test_instants(written: Any, seconds: float | None) -> None:
    assert instant_s(written) == seconds


@given(st.lists(st.one_of(st.none(), st.floats(), st.integers(0, 3).map(float))))
def test_what_has_a_time_is_in_order_and_the_others_follow_their_own(
    times: list[float | None],
) -> None:
    ordered = in_time(list(range(len(times))), times)
    assert sorted(ordered) == list(range(len(times)))
    usable = [times[at] for at in ordered if times[at] is not None and times[at] == times[at]]
    assert usable == sorted(usable)  # type: ignore[type-var]
    same = [at for at in ordered if times[at] == 1]
    assert same == sorted(same)


def test_the_page_of_a_har_file_is_the_first_in_time(tmp_path: Path) -> None:
    def at(path: str, second: object, **more: Any) -> dict[str, Any]:
        return {
            **entry(f"{URL}{path}", {"content": {"text": f"<p>{path}"}}),
            "startedDateTime": second,
            **more,
        }

    early, late = "2026-03-02T10:00:00.1Z", "2026-03-02T11:00:01.5+01:00"
    file = har(tmp_path / "x.har", at("frame", late), at("", early), at("b", late))
    found = read(file).site
    assert [one.url for one in found.exchanges] == [URL, f"{URL}frame", f"{URL}b"]
    assert found.page == URL
    # Without a time, an entry follows the one before it; without any, the file's order is all there is.
    file = har(tmp_path / "x.har", at("frame", late), at("b", None), at("", early))
    assert read(file).site.page == URL
    assert read(har(tmp_path / "x.har", at("b", None), at("", "soon"))).site.page == f"{URL}b"
    pages = [{"id": "2", "startedDateTime": late}, {"id": "1", "startedDateTime": early}]
    entries = [at("frame", None, pageref="2"), at("", None, pageref="1")]
    Path(file).write_text(json.dumps({"log": {"pages": pages, "entries": entries}}))
    assert read(file).site.page == URL


def test_the_page_of_an_archive_is_the_first_in_time(tmp_path: Path) -> None:
    path = warc(
        tmp_path / "a.warc.gz", dated("frame", 5, FRAME), dated("", 2), dated("c", 5, FRAME)
    )
    site = read(path).site
    assert [one.url for one in site.exchanges] == [URL, f"{URL}frame", f"{URL}c"]
    assert site.page == URL


LINES = (
    "{url} 192.0.2.1 20260302100000 text/html {length}",
    "{url} 192.0.2.1 20260302100000 text/html; charset=utf-8 {length}",
    '{url} 2001:db8::1 20260302100000 text/html;  charset="utf 8" {length}',
    "{url} 0.0.0.0 202603021000 no-type {length}",
    "{url} - 20260302100000  {length}",
)
LINES_2 = (
    "{url} 192.0.2.1 20260302100000 text/html 200 AB12 - 0 a.arc.gz {length}",
    "{url} 192.0.2.1 20260302100000 text/html; charset=utf-8 200 - https://a.test/x y 77 a b.arc {length}",
)


@pytest.mark.parametrize("path", ["", "a b", "q?x=1 2 3", "bücher", "a 1"])
@pytest.mark.parametrize(
    ("line", "version"), [*((line, 1) for line in LINES), *((line, 2) for line in LINES_2)]
)
def test_lines_of_arc_records(tmp_path: Path, line: str, version: int, path: str) -> None:
    info = f"{version} 0 Test\nURL IP-address Archive-date Content-type Archive-length\n\n".encode()
    head = f"filedesc://a.arc 0.0.0.0 20260302100000 text/plain {len(info)}\n".encode()
    record_line = line.format(url=f"{URL}{path}", length=len(PAGE)).encode()
    (tmp_path / "a.arc").write_bytes(head + info + b"\n" + record_line + b"\n" + PAGE + b"\n")
    assert read(tmp_path / "a.arc", page=f"{URL}{path}").site.exchanges[0].body == b"<p>page"
    assert read(tmp_path / "a.arc").site.exchanges[0].url == read(tmp_path / "a.arc").site.page


def test_arc_records_are_in_order_of_time(tmp_path: Path) -> None:
    info = b"1 0 Test\n"
    parts = [b"filedesc://a 0.0.0.0 20260302100000 text/plain %d\n%s" % (len(info), info)]
    for path, second in (("frame", 5), ("", 2)):
        parts.append(
            f"{URL}{path} 1.2.3.4 202603021000{second:02} text/html {len(PAGE)}\n".encode() + PAGE
        )
    (tmp_path / "a.arc").write_bytes(b"\n".join(parts))
    assert read(tmp_path / "a.arc").site.page == URL


REVISITS: dict[str, dict[str, str]] = {
    "of a record": {"WARC-Refers-To": "<urn:uuid:1>"},
    "of a URL": {"WARC-Refers-To-Target-URI": f"{URL}old.png"},
    "of a URL and a date": {"WARC-Refers-To-Target-URI": f"{URL}old.png",
                            "WARC-Refers-To-Date": "2026-03-02T10:00:01Z"},
    "of any URL": {"WARC-Payload-Digest": digest(PNG)},
    "of any URL, in hexadecimal": {"WARC-Payload-Digest": digest(PNG, base=16)},
    "of a record that is not there": {"WARC-Refers-To": "<urn:uuid:7>", "WARC-Payload-Digest": digest(PNG)},
}  # fmt: skip


@pytest.mark.parametrize("refers", REVISITS.values(), ids=REVISITS.keys())
@pytest.mark.parametrize("has_digest", [True, False])
@pytest.mark.parametrize("is_first", [True, False])
def test_revisits_refer_across_files(
    tmp_path: Path, refers: dict[str, str], has_digest: bool, is_first: bool
) -> None:
    fields = {"WARC-Record-ID": "<urn:uuid:1>"} | (
        {"WARC-Payload-Digest": digest(PNG)} if has_digest else {}
    )
    first = warc(
        tmp_path / "1.warc.gz", dated("old", 0, FRAME), dated("old.png", 1, IMAGE, **fields)
    )
    page = OK + b"\r\n<img src=/new.png>"
    again = ("revisit", f"{URL}new.png", IMAGE[: -len(PNG)], refers)
    second = warc(tmp_path / "2.warc.gz", dated("", 9, page), again)
    files = [first, second] if is_first else [second, first]
    recording = record_site("s", list(map(str, files)), Browsing(page=URL))
    assert {one.url: one.body for one in recording.site.exchanges}[f"{URL}new.png"] == PNG
    assert findings(recording.site) == ()
    account = (
        "responses that were fetched: 1, 0.0 kB; revisits, with the content of another response: 1"
    )
    assert account in recording.notes
    (lost,) = record_site("s", [str(second)], Browsing()).site.lost
    assert "which is not in this file" in str(lost.shortfall)


def test_revisits_of_the_same_url_that_is_not_named(tmp_path: Path) -> None:
    """As a server's 304 that names nothing, and a revisit of a revisit."""
    unchanged = {"WARC-Profile": UNCHANGED}
    first = warc(
        tmp_path / "1.warc.gz",
        dated("", 0),
        dated("a.png", 1, IMAGE, **{"WARC-Record-ID": "<urn:uuid:1>"}),
    )
    second = warc(
        tmp_path / "2.warc.gz",
        ("revisit", URL, b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n", unchanged),
        ("revisit", f"{URL}b.png", b"", {"WARC-Record-ID": "<urn:uuid:2>", "WARC-Refers-To": "<urn:uuid:1>"}),
        ("revisit", f"{URL}c.png", b"", {"WARC-Refers-To": "<urn:uuid:2>"}),
        ("revisit", f"{URL}d.png", b"", {"WARC-Record-ID": "<urn:uuid:3>", "WARC-Refers-To": "<urn:uuid:3>"}),
    )  # fmt: skip
    recording = record_site("s", [str(second), str(first)], Browsing())
    bodies = {one.url: one.body for one in recording.site.exchanges}
    assert bodies == {URL: b"<p>page"} | {f"{URL}{one}.png": PNG for one in "abc"}
    assert [one.url for one in recording.site.lost] == [f"{URL}d.png"]
    assert recording.site.page == URL


def test_files_without_a_page_or_a_response_belong_to_a_crawl(tmp_path: Path) -> None:
    meta = warc(tmp_path / "meta.warc.gz", ("request", URL, b"GET / HTTP/1.1\r\n\r\n", {}))
    images = warc(tmp_path / "1.warc.gz", dated("a.png", 0, IMAGE))
    page = warc(tmp_path / "2.warc.gz", dated("", 1, OK + b"\r\n<img src=a.png>"))
    recording = record_site("s", [str(meta), str(images), str(page)], Browsing())
    assert recording.site.page == URL
    assert findings(recording.site) == ()
    with pytest.raises(WrongInputError, match="it holds no HTTP response"):
        read(meta)


def test_a_304_in_one_file_has_its_content_in_another(tmp_path: Path) -> None:
    page = OK + b"\r\n<link rel=stylesheet href=s.css>"
    style = b"HTTP/1.1 200 OK\r\nContent-Type: text/css\r\n\r\np{}"
    warm = b"HTTP/1.1 304 Not Modified\r\n\r\n"
    first = warc(tmp_path / "1.warc.gz", dated("", 0, page), dated("s.css", 1, warm))
    second = warc(tmp_path / "2.warc.gz", dated("s.css", 0, style))
    recording = record_site("s", [str(first), str(second)], Browsing())
    assert findings(recording.site) == ()
    assert "left out: another source has a response to the same request (1)" in recording.notes


@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
def test_interim_responses_before_the_final_one(tmp_path: Path, end: bytes) -> None:
    interim = [
        b"HTTP/1.1 100 Continue",
        b"HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\nX: y",
    ]
    before = b"".join(one.replace(b"\r\n", end) + end + end for one in interim)
    path = warc(
        tmp_path / "a.warc.gz",
        dated("", 0, before + PAGE, **{"WARC-Payload-Digest": digest(b"<p>page")}),
    )
    recording = read(path)
    assert [(one.status, one.body) for one in recording.site.exchanges] == [(200, b"<p>page")]
    assert findings(recording.site) == ()
    path = warc(tmp_path / "a.warc.gz", dated("", 0), dated("x", 0, before))
    assert read(path).notes == ("left out: no final response (1)",)


def wacz(path: Path, files: dict[str, bytes], package: dict[str, Any] | None = None) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        if package is not None:
            archive.writestr("datapackage.json", json.dumps(package))
    return path


def crawl(tmp_path: Path) -> bytes:
    later = OK + b"\r\n<p>later"
    return warc(
        tmp_path / "a.warc.gz", dated("o", 0, FRAME), dated("", 1), dated("", 7, later)
    ).read_bytes()


def test_the_main_page_of_a_wacz_file(tmp_path: Path) -> None:
    pages = b'{"format": "json-pages-1.0"}\n{"url": "https://a.test/o", "ts": "2026-03-02T10:00:09Z"}\n{"url": "https://a.test/", "ts": "2026-03-02T10:00:01Z"}'
    files = {"archive/a.warc.gz": crawl(tmp_path), "pages/pages.jsonl": pages}
    assert read(wacz(tmp_path / "1.wacz", files)).site.page == URL
    package: dict[str, Any] = {"mainPageUrl": f"{URL}o"}
    assert read(wacz(tmp_path / "2.wacz", files, package)).site.page == f"{URL}o"
    package = {"mainPageUrl": URL, "mainPageDate": "2026-03-02T10:00:07Z"}
    assert read(wacz(tmp_path / "3.wacz", files, package)).site.exchanges[0].body == b"<p>later"


def test_hashes_of_a_wacz_file(tmp_path: Path) -> None:
    data = crawl(tmp_path)
    files = {"archive/a.warc.gz": data}
    right = {
        "path": "archive/a.warc.gz",
        "bytes": len(data),
        "hash": f"sha256:{hashlib.sha256(data).hexdigest()}",
    }
    assert read(wacz(tmp_path / "1.wacz", files, {"resources": [right]})).notes == ()
    for wrong, said in (
        ({**right, "bytes": 7}, f"'archive/a.warc.gz' has {len(data):,} bytes, and datapackage.json says 7"),
        ({**right, "hash": "sha256:00"},
         "'archive/a.warc.gz' does not have the sha256 that datapackage.json says: it was changed"),
        ({**right, "path": "b"}, "datapackage.json lists 'b', which is not in the file"),
    ):  # fmt: skip
        assert read(wacz(tmp_path / "1.wacz", files, {"resources": [wrong, 1]})).notes == (said,)
    package = json.dumps({"resources": [right]}).encode()
    signed = {"datapackage.json": package, "datapackage-digest.json": b'{"hash": "sha256:00"}'}
    (said,) = read(wacz(tmp_path / "1.wacz", {**files, **signed})).notes
    assert "'datapackage.json' does not have the sha256 that datapackage-digest.json says" in said


def test_a_collection_of_wacz_files(tmp_path: Path) -> None:
    inner = {
        f"{at}.wacz": wacz(tmp_path / f"{at}.wacz", {"archive/a.warc.gz": data}).read_bytes()
        for at, data in enumerate(
            (crawl(tmp_path), warc(tmp_path / "b.warc.gz", dated("x", 3)).read_bytes())
        )
    }
    recording = read(
        wacz(
            tmp_path / "all.wacz",
            inner,
            {"profile": "multi-wacz-package", "mainPageUrl": f"{URL}x"},
        )
    )
    assert recording.site.page == f"{URL}x"
    assert {one.url for one in recording.site.exchanges} == {URL, f"{URL}o", f"{URL}x"}


@pytest.mark.parametrize(
    "coding", ["none", "identity", "UTF-8", "gzip, none", "binary", "", "chunked", "x-unknown"]
)
def test_codings_that_browsers_take_for_none(tmp_path: Path, coding: str) -> None:
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {coding}\r\n\r\n".encode()
    )
    site = read(warc(tmp_path / "a.warc.gz", dated("", 0, head + b"<img src=/gone.png>"))).site
    (flaw,) = findings(site)
    assert flaw.message == f"refers to {URL}gone.png, which is not in the archive"
    still = read(warc(tmp_path / "b.warc.gz", dated("", 0, head + gzip.compress(b"<p>")))).site
    assert any("is coded with gzip" in one.message for one in findings(still))
