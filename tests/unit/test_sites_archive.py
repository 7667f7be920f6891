"""Archives of sites: written, read, and other tools' ones; what a lab's server reads of them."""

from __future__ import annotations

import gzip
import io
import json
import re
import string
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from headway.errors import HeadwayError, WrongInputError
from headway.sites.chunks import Joined, joined_chunks
from headway.sites.cleanup import cleaned
from headway.sites.finding import find_site
from headway.sites.replay import compile_site, replay_tree
from headway.sites.site import Exchange, Site
from headway.sites.warc import read_archive, write_archive

HTML = ("content-type", "text/html")
PAGE = Exchange("GET", "https://a.test/", 200, (HTML,), b"<p>A")
ZIPPED = gzip.compress(b"text", mtime=0)
SITE = Site(
    "a-site",
    "https://a.test/",
    (
        PAGE,
        Exchange("GET", "https://a.test/old", 302, (("location", "/new"),), b""),
        Exchange("GET", "https://a.test/new", 200, (("content-encoding", "gzip"),), ZIPPED),
        Exchange("GET", "https://b.test/x?y=1", 304, (("etag", '"1"'),), b""),
        Exchange(
            "POST", "https://b.test/x?y=1", 404, (HTML, ("x-word", "fête ✓")), b"\r\n\r\n\0\xff"
        ),
    ),
    "For tests.",
)

words = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=8)
values = st.text(
    st.characters(min_codepoint=0x20, exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=20
).map(lambda value: value.strip(" "))
# Names that no rule drops or changes.
fields = st.tuples(words.map(lambda word: f"x-{word}"), values)
exchanges = st.builds(
    Exchange,
    method=st.sampled_from(["GET", "HEAD", "POST", "OPTIONS"]),
    url=st.builds(
        lambda host, path, query: f"https://{host}.test/{path}?{query}", words, words, words
    ),
    status=st.sampled_from([200, 204, 206, 301, 304, 404, 500, 599]),
    headers=st.lists(fields, max_size=3).map(tuple),
    body=st.binary(max_size=60),
)
sites = st.builds(
    Site,
    name=words,
    page=words.map(lambda host: f"https://{host}.test/"),
    exchanges=st.lists(exchanges, min_size=1, max_size=4).map(tuple),
    description=st.lists(words, max_size=3).map(" ".join),
)


@given(sites)
def test_a_site_survives_its_archive(site: Site) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "site.warc.gz")
        write_archive(site, path)
        assert read_archive(path) == site


def test_equal_sites_give_equal_archives_and_nothing_else_is_written(tmp_path: Path) -> None:
    one, other = tmp_path / "1.warc.gz", tmp_path / "2.warc.gz"
    write_archive(SITE, one)
    write_archive(SITE, other)
    assert one.read_bytes() == other.read_bytes()
    assert sorted(tmp_path.iterdir()) == [one, other]


def test_an_archive_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "site.warc.gz"
    write_archive(SITE, path)
    before = path.read_bytes()
    bad = Site("b", "https://b.test/", (Exchange("GET", "https://b.test/\ud800", 200, (), b""),))
    with pytest.raises(UnicodeEncodeError):
        write_archive(bad, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(HeadwayError, match=r"cannot write .*No such file"):
        write_archive(SITE, tmp_path / "no" / "site.warc.gz")


def test_warcio_reads_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "site.warc.gz"
    write_archive(SITE, path, recorded=datetime(2026, 3, 1, tzinfo=UTC))
    read = []
    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type == "response":
                url = record.rec_headers.get_header("WARC-Target-URI")
                assert record.rec_headers.get_header("WARC-Date") == "2026-03-01T00:00:00Z"
                read.append((url, record.http_headers.get_statuscode(), record.raw_stream.read()))
    assert read == [(e.url, str(e.status), e.body) for e in SITE.exchanges]


def test_its_digests_are_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "site.warc.gz"
    write_archive(SITE, path)

    class Arguments:
        verbose = False
        inputs = (str(path),)

    assert Checker(Arguments()).process_all() == 0
    assert capsys.readouterr().out == ""


def warc(path: Path, *records: tuple[str, str, bytes, dict[str, str]], zipped: bool = True) -> Path:
    """An archive as another tool writes it: type, URL, HTTP message, more header fields."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=zipped)
        for kind, url, message, more in records:
            head, _, body = message.partition(b"\r\n\r\n")
            start, *lines = head.decode("latin-1").split("\r\n")
            pairs = [tuple(line.split(": ", 1)) for line in lines]
            protocol, _, status = start.partition(" ")
            headers = StatusAndHeaders(status, pairs, protocol) if message else None
            writer.write_record(
                writer.create_warc_record(
                    url,
                    kind,
                    payload=io.BytesIO(body),
                    length=len(body),
                    http_headers=headers,
                    warc_headers_dict=more,
                )
            )
    return path


OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def test_chunks_are_joined_and_codings_kept(tmp_path: Path) -> None:
    coded = gzip.compress(b"<p>page", mtime=0)
    chunks = b"5\r\n%s\r\n%x;ext=1\r\n%s\r\n0\r\nTrailer: 1\r\n\r\n"
    message = (
        OK
        + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
        + chunks % (coded[:5], len(coded) - 5, coded[5:])
    )
    site = read_archive(
        warc(tmp_path / "a page.warc.gz", ("response", "http://a.test/", message, {}))
    )
    assert site == Site(
        "a-page",
        "http://a.test/",
        (Exchange("GET", "http://a.test/", 200, (HTML, ("content-encoding", "gzip")), coded),),
    )


@given(st.lists(st.binary(min_size=1, max_size=20), max_size=5))
def test_joining_undoes_chunking(pieces: list[bytes]) -> None:
    chunked = b"".join(b"%X\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    assert joined_chunks(chunked) == Joined(b"".join(pieces))


CUT = "it ends before its last chunk"
SRT = b"1\n00:00:01,000 --> 00:00:02,000\nHello\n"


@pytest.mark.parametrize(
    ("body", "joined"),
    [
        (b"<html>", Joined(b"<html>")),  # joined already
        (b"", Joined(b"")),
        (SRT, Joined(SRT)),
        (SRT.replace(b"\n", b"\r\n"), Joined(SRT.replace(b"\n", b"\r\n"))),
        (b"0\r\n00:00\r\n", Joined(b"0\r\n00:00\r\n")),
        (b"0\r\n\r\n", Joined(b"")),
        (b"4\r\nabcd\r\n6\r\nef", Joined(b"abcdef", cut=CUT)),
        (b"4\r\nabcd\r\n", Joined(b"abcd", cut=CUT)),
        (b"4\r\nabcd\r\n1", Joined(b"abcd", cut=CUT)),
        (b"4\r\nab", Joined(b"ab", cut=CUT)),
        (
            b"4\r\nabcd\r\nrubbish",
            Joined(b"4\r\nabcd\r\nrubbish", doubt="it begins with chunks and goes on otherwise"),
        ),
    ],
)
def test_bodies_that_are_not_well_chunked(body: bytes, joined: Joined) -> None:
    assert joined_chunks(body) == joined


def test_methods_come_from_requests_wherever_they_stand(tmp_path: Path) -> None:
    ids = [f"<urn:uuid:{number}>" for number in range(4)]
    path = warc(
        tmp_path / "a.warc",
        ("response", "http://a.test/", OK + b"\r\nA", {"WARC-Record-ID": ids[0]}),
        (
            "request",
            "http://a.test/",
            b"POST / HTTP/1.1\r\nHost: a\r\n\r\n",
            {"WARC-Record-ID": ids[1], "WARC-Concurrent-To": ids[0]},
        ),
        (
            "request",
            "http://a.test/",
            b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n",
            {"WARC-Record-ID": ids[2]},
        ),
        (
            "response",
            "http://a.test/",
            OK + b"\r\n",
            {"WARC-Record-ID": ids[3], "WARC-Concurrent-To": ids[2]},
        ),
        ("response", "http://a.test/", OK + b"\r\nC", {}),
        zipped=False,
    )
    assert [exchange.method for exchange in read_archive(path).exchanges] == ["POST", "HEAD", "GET"]


@pytest.mark.parametrize(
    "refers",
    [
        {"WARC-Refers-To": "<urn:uuid:1>"},
        {"WARC-Refers-To-Target-URI": "http://a.test/"},
        {"WARC-Payload-Digest": "sha1:AAAA"},
    ],
)
def test_revisits_have_the_body_that_they_refer_to(tmp_path: Path, refers: dict[str, str]) -> None:
    original = {"WARC-Record-ID": "<urn:uuid:1>", "WARC-Payload-Digest": "sha1:AAAA"}
    fields = b"HTTP/1.1 203 Hm\r\nX-Again: 1\r\n\r\n"
    path = warc(
        tmp_path / "a.warc.gz",
        ("revisit", "http://a.test/twice", fields, refers),
        ("response", "http://a.test/", OK + b"\r\nbody", original),
        ("revisit", "http://a.test/lost", fields, {"WARC-Refers-To": "<urn:uuid:9>"}),
        ("revisit", "http://a.test/same", b"HTTP/1.1 304 Not Modified\r\nA: b\r\n\r\n",
         {**refers, "WARC-Profile": "http://netpreserve.org/warc/1.1/revisit/server-not-modified"}),
    )  # fmt: skip
    found = [(e.url, e.status, e.headers, e.body) for e in read_archive(path).exchanges]
    assert found == [
        ("http://a.test/twice", 203, (("x-again", "1"),), b"body"),
        ("http://a.test/", 200, (HTML,), b"body"),
        ("http://a.test/same", 200, (HTML,), b"body"),
    ]


def test_the_page_of_others_is_what_leads_to_the_first_document(tmp_path: Path) -> None:
    moved = b"HTTP/1.1 301 Moved\r\nLocation: https://a.test/#top\r\n\r\n"
    path = warc(
        tmp_path / "a.warc.gz",
        ("response", "http://a.test/robots.txt", b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nx", {}),
        ("response", "http://a.test", moved, {}),
        ("response", "urn:text:x", OK + b"\r\nA", {}),
        ("response", "http://a.test/ws", b"HTTP/1.1 101 Switching\r\nA: b\r\n\r\n", {}),
        ("response", "https://a.test/", OK + b"\r\nA", {}),
    )  # fmt: skip
    site = read_archive(path)
    assert site.page == "http://a.test/"
    assert [exchange.url for exchange in site.exchanges] == [
        "http://a.test/robots.txt",
        "http://a.test/",
        "https://a.test/",
    ]


def whole(tmp_path: Path) -> bytes:
    path = tmp_path / "whole.warc.gz"
    write_archive(SITE, path)
    return path.read_bytes()


def complaint(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    with pytest.raises(WrongInputError) as raised:
        read_archive(path)
    message = str(raised.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


def test_every_cut_of_an_archive_is_noticed(tmp_path: Path) -> None:
    data = whole(tmp_path)
    ends = {0}
    rest = data
    while rest:  # where a gzip member, and so a record, ends, nobody can tell
        rest = rest[rest.index(b"\x1f\x8b\x08", 1) :] if b"\x1f\x8b\x08" in rest[1:] else b""
        ends.add(len(data) - len(rest))
    for end in set(range(2, len(data), 7)) - ends:
        said = complaint(tmp_path / "cut.warc.gz", data[:end])
        assert "truncated" in said or "damaged" in said


def test_every_changed_byte_of_compressed_data_is_noticed(tmp_path: Path) -> None:
    data = bytearray(whole(tmp_path))
    members = [at for at in range(len(data)) if data[at : at + 3] == b"\x1f\x8b\x08"]
    heads = {at + offset for at in members for offset in range(3, 10)}  # times, flags: not checked
    for at in set(range(3, len(data), 11)) - heads:
        changed = bytearray(data)
        changed[at] ^= 0x55
        complaint(tmp_path / "changed.warc.gz", bytes(changed))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not a WARC file"),
        (b"<html>", "not a WARC file"),
        (gzip.compress(b"text", mtime=0), "not a WARC file"),
        (b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 9\r\n\r\nHTTP", "truncated"),
        (b"WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 1\r\n\r\n1234\r\n\r\n", "damaged"),
        (b"WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n", "no HTTP response"),
    ],
)  # fmt: skip
def test_what_is_no_archive_gives_one_clear_line(tmp_path: Path, data: bytes, said: str) -> None:
    assert said in complaint(tmp_path / "bad.warc", data)


def test_an_archive_without_a_page(tmp_path: Path) -> None:
    message = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n"
    path = warc(tmp_path / "a.warc.gz", ("response", "http://a.test/", message, {}))
    with pytest.raises(WrongInputError, match="none of its responses is an HTML page"):
        read_archive(path)
    with pytest.raises(WrongInputError, match="cannot be read: No such file"):
        find_site(str(tmp_path / "none.warc.gz"))


def test_one_gzip_stream_for_all_records_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip.compress(gzip.decompress(whole(tmp_path))))
    assert find_site(str(path)) == SITE


def test_a_replay_tree_has_every_exchange_and_every_body_once(tmp_path: Path) -> None:
    site = Site("s", PAGE.url, (PAGE, Exchange("GET", "https://b.test/", 200, (), PAGE.body)))
    compile_site(site, tmp_path)
    index = json.loads((tmp_path / "site.json").read_bytes())
    key = "951ee2fca37f447b2ea44660af8c9126c455255b29ecc0e6c93d18dc110da4d3"
    body = index["exchanges"][0]["body"]
    assert index == {
        "page": "https://a.test/",
        "exchanges": [
            {"method": "GET", "url": "https://a.test/", "status": 200,
             "headers": [["content-type", "text/html"]], "body": body, "bytes": 4},
            {"method": "GET", "url": "https://b.test/", "status": 200,
             "headers": [], "body": body, "bytes": 4},
        ],
    }  # fmt: skip
    assert body == f"bodies/{key}"
    assert (tmp_path / body).read_bytes() == PAGE.body
    assert len(list((tmp_path / "bodies").iterdir())) == 1


def test_replay_trees_are_kept_by_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path))
    tree = replay_tree(SITE)
    assert tree.parent == tmp_path / "sites"
    before = (tree / "site.json").stat()
    assert replay_tree(SITE) == tree
    assert (tree / "site.json").stat() == before
    other = Site(SITE.name, SITE.page, (PAGE,))
    assert replay_tree(other) != tree


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ("connection: x-hop, close|x-hop: 1|keep-alive: 5|x: 1", "x: 1"),
        ("transfer-encoding: chunked|Content-Length: 5|trailer: a|alt-svc: h3|link: <a>", ""),
        (":status: 200|Set-Cookie: a=1\nb=2", "set-cookie: a=1|set-cookie: b=2"),
        ("strict-transport-security: a|nel: a|content-security-policy-report-only: a", ""),
        # 90 seconds: expires less date, whatever today is; age is dropped.
        (
            "date: Sun, 06 Nov 1994 08:49:37 GMT|expires: Sun, 06 Nov 1994 08:51:07 GMT|age: 7",
            "cache-control: max-age=90",
        ),
        (
            "cache-control: public|date: Sun, 06 Nov 1994 08:49:37 GMT|expires: 0",
            "cache-control: public, max-age=0",
        ),
        (
            "cache-control: max-age=5|date: Sun, 06 Nov 1994 08:49:37 GMT|expires: 0",
            "cache-control: max-age=5",
        ),
        # A tenth of 1000 seconds.
        (
            "date: Sun, 06 Nov 1994 08:16:40 GMT|last-modified: Sun, 06 Nov 1994 08:00:00 GMT",
            "last-modified: Sun, 06 Nov 1994 08:00:00 GMT|cache-control: max-age=100",
        ),
        (
            "cache-control: no-cache|date: Sun, 06 Nov 1994 08:16:40 GMT"
            "|last-modified: Sun, 06 Nov 1994 08:00:00 GMT",
            "cache-control: no-cache|last-modified: Sun, 06 Nov 1994 08:00:00 GMT",
        ),
        ("expires: Sun, 06 Nov 1994 08:51:07 GMT", ""),
        (
            "date: Sun, 06 Nov 1994 08:49:37 GMT"
            "|set-cookie: a=1; Expires=Sun, 06-Nov-1994 09:49:37 GMT; Path=/",
            "set-cookie: a=1; Max-Age=3600; Path=/",
        ),
        (
            "set-cookie: a=1; Expires=Sun, 06-Nov-1994 09:49:37 GMT; max-age=5",
            "set-cookie: a=1; max-age=5",
        ),
        (
            "content-security-policy: default-src 'self'; report-uri /r; upgrade-insecure-requests",
            "content-security-policy: default-src 'self'",
        ),
        ("content-security-policy: report-to r", ""),
    ],
)  # fmt: skip
def test_clean_up(fields: str, kept: str) -> None:
    headers = []
    for field in fields.split("|"):
        name, _, value = field.rpartition(": ") if field[0] == ":" else field.partition(": ")
        headers.append((name, value))
    result = cleaned(200, headers)
    assert "|".join(f"{name}: {value}" for name, value in result) == kept
    assert cleaned(200, result) == result


@given(st.lists(st.tuples(st.text(max_size=12) | st.sampled_from(["Vary", "age"]), st.text())))
def test_every_http_version_can_send_what_is_kept(headers: list[tuple[str, str]]) -> None:
    for name, value in cleaned(200, headers):
        assert re.fullmatch(r"[a-z0-9!#$%&'*+.^_`|~-]+", name)
        assert not set("\0\r\n") & set(value)
        assert value == value.strip(" \t")
        value.encode()
