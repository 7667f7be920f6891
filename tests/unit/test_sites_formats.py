"""What other tools recorded is read by its content, and what is not read says what to do."""

from __future__ import annotations

import base64
import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import WrongInputError
from headway.sites.finding import find_site
from headway.sites.recording import Recording
from headway.sites.site import Exchange
from headway.sites.sources import Browsing, record
from headway.sites.tnetstring import encoded
from headway.sites.verify import findings
from tests.unit.test_sites_archive import OK, warc
from tests.unit.test_sites_import import RECORDED, entry, har
from tests.unit.test_sites_worth import raw

URL = "https://a.test/"
PNG = bytes(range(256))
PAGE = OK + b"\r\n<p><img src=/a.png>"
IMAGE = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n" + PNG
EXCHANGES = (
    Exchange("GET", URL, 200, (("content-type", "text/html"),), b"<p><img src=/a.png>"),
    Exchange("GET", f"{URL}a.png", 200, (("content-type", "image/png"),), PNG),
)


def read(path: Path | str) -> Recording:
    recording = record(str(path), Browsing())
    assert findings(recording.site) == ()
    return recording


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def playwright(directory: Path) -> Path:
    page = {"size": 19, "_file": "1f.html"}
    image = {"size": -1, "_file": "2e.png"}
    png = (("content-type", "image/png"),)
    entries = (
        entry(URL, {"content": page}),
        entry(f"{URL}a.png", {"content": image, "headers": png}),
    )
    return Path(har(directory / "har.har", *entries))


def test_playwrights_zip_files(tmp_path: Path) -> None:
    listed = playwright(tmp_path).read_bytes()
    files = {"1f.html": EXCHANGES[0].body, "har.har": listed, "2e.png": PNG}
    recording = read(zipped(tmp_path / "shop.har.zip", files))
    assert recording.site.exchanges == EXCHANGES
    assert recording.site.name == "shop"
    inside = {f"run/{name}": data for name, data in files.items()}
    assert read(zipped(tmp_path / "in.zip", inside)).site.exchanges == EXCHANGES
    del files["2e.png"]
    lost = record(str(zipped(tmp_path / "lost.zip", files)), Browsing()).site.lost
    assert [one.url for one in lost] == [f"{URL}a.png"]
    assert "its file 2e.png is not beside the HAR file" in str(lost[0].shortfall)


def test_wacz_files_with_the_page_that_they_list(tmp_path: Path) -> None:
    first = warc(tmp_path / "1.warc.gz", ("response", f"{URL}other", PAGE, {}))
    second = warc(
        tmp_path / "2.warc.gz", ("response", URL, PAGE, {}), ("response", f"{URL}a.png", IMAGE, {})
    )
    pages = b'{"format": "json-pages-1.0"}\n\n{"id": "1", "url": "https://a.test", "title": "x"}\n'
    files = {
        "datapackage.json": b"{}",
        "archive/1.warc.gz": first.read_bytes(),
        "archive/2.warc.gz": second.read_bytes(),
    }
    listed = read(zipped(tmp_path / "a.wacz", {**files, "pages/pages.jsonl": pages}))
    assert (listed.site.page, listed.site.exchanges[1:]) == (URL, EXCHANGES)
    assert read(zipped(tmp_path / "b.wacz", files)).site.page == f"{URL}other"


def test_gzip_in_gzip(tmp_path: Path) -> None:
    listed = har(tmp_path / "x.har", entry(URL, {"content": {"text": "<p>"}}))
    for name, data in (("x.har", Path(listed).read_bytes()), ("x.warc", raw(URL, OK + b"\r\n<p>"))):
        (tmp_path / name).write_bytes(gzip.compress(gzip.compress(data)))
        assert record(str(tmp_path / name), Browsing()).site.exchanges[0].body == b"<p>"


def test_gzip_around_har_and_flows(tmp_path: Path) -> None:
    for name in ("flows.har", "flows.mitm"):
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress((RECORDED / name).read_bytes()))
        whole, packed = (record(str(one / f), Browsing()) for one, f in (
            (RECORDED, name), (tmp_path, f"{name}.gz")))  # fmt: skip
        assert packed.site.exchanges == whole.site.exchanges


@pytest.mark.parametrize("is_gzip", [True, False])
def test_arc_files(tmp_path: Path, is_gzip: bool) -> None:
    info = b"1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n\n"
    records = [
        (b"filedesc://a.arc 0.0.0.0 20260101000000 text/plain", info),
        (b"https://a.test/ 192.0.2.1 20260101000000 text/html", PAGE),
        (b"https://a.test/a.png 192.0.2.1 20260101000000 image/png", IMAGE),
    ]
    written = [b"%s %d\n%s\n" % (head, len(block), block) for head, block in records]
    path = tmp_path / "a.arc.gz"
    path.write_bytes(b"".join(map(gzip.compress, written) if is_gzip else written))
    assert read(path).site.exchanges == EXCHANGES
    cut = b"".join(written)[:-10]
    path.write_bytes(cut)
    with pytest.raises(WrongInputError, match=r"truncated: record 3, https://a\.test/a\.png, has"):
        record(str(path), Browsing())
    path.write_bytes(written[0] + b"x\n" + written[1])
    with pytest.raises(WrongInputError, match="damaged: record 2 does not begin with URL, address"):
        record(str(path), Browsing())


def request(path: str, *fields: str) -> bytes:
    return "\r\n".join((f"GET {path} HTTP/1.1", "Host: a.test", *fields, "\r\n")).encode()


FROM_PAGE = ("Referer: https://a.test/",)
TYPED = ("Accept: text/html,*/*",)


def test_web_page_replays_archives(tmp_path: Path) -> None:
    def one(asked: bytes, sent: bytes) -> list[dict[str, Any]]:
        fields = {"SerializedRequest": asked, "SerializedResponse": sent}
        return [{name: base64.b64encode(data).decode() for name, data in fields.items()}]

    chunked = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = chunked + b"%x\r\n%s\r\n0\r\n\r\n" % (len(PNG), PNG)
    frame = "https://a.test/Frame"  # URLs are sorted
    archive = {
        "Requests": {
            "a.test": {
                frame: one(request("/Frame", *FROM_PAGE, *TYPED), PAGE),
                URL: one(request("/", *TYPED), PAGE),
                f"{URL}a.png": one(request("/a.png", *FROM_PAGE), chunks),
                f"{URL}failed": one(request("/failed", *FROM_PAGE), b""),
            }
        },
        "Certs": {},
    }
    path = tmp_path / "shop.wprgo"
    path.write_bytes(gzip.compress(json.dumps(archive).encode()))
    site = read(path).site
    assert (site.name, site.page) == ("shop", URL)
    assert set(EXCHANGES) < set(site.exchanges)
    assert len(site.exchanges) == 3
    path.write_bytes(gzip.compress(b'{"Requests": 1}'))
    with pytest.raises(WrongInputError, match="not a recording of Web Page Replay"):
        record(str(path), Browsing())


def varint(value: int) -> bytes:
    return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80]) + varint(value >> 7)


def field(number: int, value: int | bytes) -> bytes:
    """A field of Protocol Buffers."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(data: bytes) -> bytes:
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    fields = (line.split(b": ", 1) for line in lines if line)
    headers = b"".join(field(2, field(1, name) + field(2, value)) for name, value in fields)
    return field(1, first) + headers + field(3, body)


def mahimahi(scheme: int, asked: bytes, sent: bytes) -> bytes:
    told = field(1, b"192.0.2.1") + field(2, 443) + field(3, scheme)
    return told + field(4, message(asked)) + field(5, message(sent))


def test_sites_that_mahimahi_recorded(tmp_path: Path) -> None:
    later = b"Date: Thu, 01 Jan 2026 00:00:09 GMT\r\n"
    image = IMAGE.replace(b"\r\nContent", b"\r\n" + later + b"Content")
    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "save.aaaa").write_bytes(mahimahi(2, request("/a.png", *FROM_PAGE), image))
    (shop / "save.zzzz").write_bytes(mahimahi(2, request("/", *TYPED), PAGE))
    site = read(shop).site
    assert (site.name, site.page, site.exchanges) == ("shop", URL, EXCHANGES)
    for data in (b"text\n", b"", mahimahi(2, request("/"), PAGE)[:-5], mahimahi(3, PAGE, PAGE)):
        (shop / "other").write_bytes(data)
        with pytest.raises(WrongInputError, match=r"not an exchange that Mahimahi"):
            record(str(shop), Browsing())


def test_a_directory_without_anything(tmp_path: Path) -> None:
    with pytest.raises(WrongInputError, match="an empty directory, not a recording"):
        record(str(tmp_path), Browsing())


OLD_FLOW = {"request": {}, "response": {"code": 200}, "type": "http", "version": [0, 15]}
OLDER_FLOW = {"request": {}, "response": {}, "version": [0, 10]}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            b"\x28\xb5\x2f\xfd....",
            "a file compressed with Zstandard, not a recording; unpack it first: `zstd -d ",
        ),
        (b"\x5d\x2a\x4d\x18dictionary", "a file compressed with Zstandard"),
        (b"\xfd7zXZ\0...", "a file compressed with xz"),
        (b"BZh9...", "a file compressed with bzip2"),
        (b"\x0a\x0d\x0d\x0a....", "a capture of packets"),
        (b"\xd4\xc3\xb2\xa1....", "a capture of packets"),
        (b"From: <Saved by Blink>\r\n", "a page saved as one file (MHTML)"),
        (b"<!DOCTYPE html><p>", "an HTML document, not a recording; serve it and record its URL"),
        (b"<?xml version='1.0'?><MPD>", "an MPD of DASH, not a recording"),
        (b'{"constants": {}}', "a NetLog of Chromium, not a recording; it has no bodies"),
        (
            b'{"traceEvents": []}',
            "a trace of Chromium's profiler, not a recording; it has no bodies",
        ),
        (b'[{"host": "a.test"}]', "from Charles and others, export the session as HAR"),
        (b'test,a)/ 20260101000000 {"url": "https://a.test/"}\n', "an index of web archives (CDX)"),
        (encoded(OLD_FLOW), "a mitmproxy before 0.16 wrote it; `mitmdump -n -r OLD -w NEW`"),
        (encoded(OLDER_FLOW), "a mitmproxy before 0.16 wrote it"),
        (b"GIF89a", "a picture (GIF), not a recording"),
        (
            gzip.compress(b"<html>", mtime=0),
            "an HTML document, compressed with gzip, not a recording",
        ),
        (b"PK\x03\x04....", "a ZIP file that is damaged or cut off, not a recording"),
    ],
)
def test_what_is_not_read_says_what_to_do(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(WrongInputError) as raised:
        record(str(path), Browsing())
    assert str(raised.value).startswith(f"{path}: ")
    assert said in raised.value.message
    assert "\n" not in raised.value.message


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a.har": b"{}", "b.har": b"{}"}, "it holds 2 HAR files; unpack it and name one"),
        (
            {"raw/1_c.txt": b"GET /"},
            "a session of Fiddler, not a recording; export it as HTTPArchive",
        ),
        ({"a.txt": b""}, "a ZIP file, not a recording"),
        ({"a.har": b"{}"}, "not a HAR 1.2 file: it has no log"),
        ({"archive/a.warc": raw(URL, PAGE)[:-30]}, "truncated: record 1, https://a.test/, has"),
    ],
)
def test_zip_files_of_something_else(tmp_path: Path, files: dict[str, bytes], said: str) -> None:
    with pytest.raises(WrongInputError) as raised:
        record(str(zipped(tmp_path / "x.zip", files)), Browsing())
    assert said in raised.value.message


SEEDS = (
    (RECORDED / "flows.mitm").read_bytes(),
    (RECORDED / "flows.har").read_bytes(),
    raw(URL, PAGE) + raw(f"{URL}a.png", IMAGE),
    gzip.compress(raw(URL, PAGE), mtime=0) + gzip.compress(raw(f"{URL}a.png", IMAGE), mtime=0),
    b"filedesc://a 0 0 text/plain 0\n\nhttps://a.test/ 1 2 text/html %d\n%s" % (len(PAGE), PAGE),
    mahimahi(2, request("/", *TYPED), PAGE),
)
PIECES = (b'"', b"-1", b"null", b"{}", b"\r\n", b"\0", b"99999999999", b"http://[", b"|", b"\xff")
edits = st.tuples(
    st.floats(0, 1), st.integers(0, 30), st.sampled_from(PIECES) | st.binary(max_size=5)
)


@given(st.sampled_from(SEEDS), st.lists(edits, max_size=4))
def test_mutants_are_read_or_refused_in_a_line(
    tmp_path_factory: Any, data: bytes, edited: list[tuple[float, int, bytes]]
) -> None:
    is_mahimahi = data == SEEDS[-1]
    for place, removed, new in edited:
        at = int(place * len(data))
        data = data[:at] + new + data[at + removed :]
    path = tmp_path_factory.getbasetemp() / "mutant"
    path.mkdir(exist_ok=True)
    (path / "file").write_bytes(data)
    try:
        findings(record(str(path if is_mahimahi else path / "file"), Browsing()).site)
    except WrongInputError as error:
        assert "\n" not in str(error)


def test_studies_name_archives_and_other_recordings_become_some(tmp_path: Path) -> None:
    path = playwright(tmp_path)
    with pytest.raises(
        WrongInputError, match=f"not an archive.*`headway record {path} --out SITE.warc.gz`"
    ):
        find_site(str(path))
