"""What a recorded response is worth: the same, by whatever it was recorded and wherever it is told."""

from __future__ import annotations

import base64
import contextlib
import gzip
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway import cli
from headway.errors import WrongInputError
from headway.sites.body_integrity import judged
from headway.sites.captured import BodyReading, Captured, StatedLength, Told
from headway.sites.finding import find_site
from headway.sites.hostmap import HostMaps
from headway.sites.recording import Recording, merged
from headway.sites.shortfall import Kept, Shortfall
from headway.sites.site import Exchange, Site
from headway.sites.sources import Browsing, record, record_site
from headway.sites.tnetstring import encoded
from headway.sites.verify import Severity, findings
from headway.sites.warc import read_archive, write_archive
from headway.sites.warc_records import read_records
from tests.unit.test_sites_archive import OK, warc
from tests.unit.test_sites_import import HTML, entry, har

URL = "https://a.test/"
PNG = bytes(range(256)) * 20
TEXT = "<p>hello"
GZIP = ("content-encoding", "gzip")

bodies = st.binary(min_size=1, max_size=80)


def length(size: int) -> tuple[str, str]:
    return ("content-length", str(size))


def captured(body: bytes | None, *headers: tuple[str, str], **more: Any) -> Captured:
    return Captured("GET", URL, 200, headers, body, **more)


def kept(one: Captured) -> Kept:
    shortfall = judged(one).shortfall
    return shortfall.kept if shortfall else Kept.WHOLE


@given(bodies, st.booleans())
def test_a_body_that_is_as_long_as_is_said_is_whole(body: bytes, is_decoded: bool) -> None:
    told = Told(sizes=(StatedLength(len(body), "content.size"),))
    for headers in ((), (length(len(body)),), (length(7), GZIP) if is_decoded else ()):
        one = captured(body, *headers, is_decoded=is_decoded, told=told)
        assert (judged(one).body, kept(one)) == (body, Kept.WHOLE)


@given(bodies, st.integers(1, 10_000), st.booleans())
def test_a_body_that_is_shorter_is_a_part_and_none_is_none(
    body: bytes, missing: int, is_decoded: bool
) -> None:
    # Whatever the tool counted of it.
    told = Told(sizes=(StatedLength(len(body), "content.size"),))
    one = captured(body, length(len(body) + missing), is_decoded=is_decoded, told=told)
    assert (judged(one).body, kept(one)) == (body, Kept.PART)
    assert kept(replace(one, body=b"")) is Kept.NOT
    assert kept(replace(one, method="HEAD", body=b"")) is Kept.WHOLE


@given(bodies, st.data())
def test_a_body_that_is_longer_contradicts_what_is_said_of_it(
    body: bytes, data: st.DataObject
) -> None:
    size = data.draw(st.integers(0, len(body) - 1))
    assert kept(captured(body, length(size))) is Kept.CONTRADICTED
    told = Told(sizes=(StatedLength(size or 1000, "content.size"),))
    assert kept(captured(body, is_decoded=True, told=told)) is not Kept.WHOLE


def test_chunks_say_more_of_a_length_than_content_length() -> None:
    one = captured(b"<p>", length(9), ("Transfer-Encoding", "chunked"))
    assert kept(one) is Kept.WHOLE


@given(st.lists(bodies, min_size=1, max_size=4), st.data())
def test_the_reading_that_is_as_long_as_is_said_is_taken(
    found: list[bytes], data: st.DataObject
) -> None:
    right = data.draw(st.sampled_from(found))
    readings = tuple(BodyReading(body, f"reading {at}") for at, body in enumerate(found))
    one = captured(found[0], length(len(right)), is_decoded=True, told=Told(readings=readings))
    worth = judged(one)
    assert worth.shortfall is None
    assert worth.body == next(body for body in found if len(body) == len(right))
    assert worth.how.startswith("reading")


@pytest.mark.parametrize(
    ("one", "is_kept"),
    [
        (captured(None), False),  # nothing is said at all
        (captured(None, told=Told(sizes=(StatedLength(0, "content.size"),))), True),
        (captured(None, length(0)), True),
        (captured(None, GZIP, told=Told(sizes=(StatedLength(0, "content.size"),))), False),
        (captured(None, GZIP, length(0)), True),
        (captured(None, length(9), told=Told(sizes=(StatedLength(0, "content.size"),))), False),
        (captured(None, told=Told(sizes=(StatedLength(0, "content.size"),), sent_bytes=9)), False),
        (captured(None, told=Told(sizes=(StatedLength(9, "content.size"),))), False),
        (captured(None, length(0), told=Told(lost="gone")), False),
        (captured(b"", GZIP, length(5000), is_decoded=True), False),
        (captured(b"", GZIP, length(20), is_decoded=True), True),
        (captured(b"", GZIP), True),
        (replace(captured(None), method="HEAD"), True),
        (replace(captured(None), method="OPTIONS"), True),
        (replace(captured(None), status=204), True),
        (replace(captured(None), status=304), True),
        (replace(captured(None, ("Location", "/x")), status=302), True),
        (replace(captured(None), status=302), False),
    ],
)
def test_what_was_not_handed_over_is_empty_only_if_that_is_said(
    one: Captured, is_kept: bool
) -> None:
    assert judged(one).body == (b"" if is_kept else None)
    assert (kept(one) is Kept.NOT) is not is_kept


def image(content: dict[str, Any], *more: tuple[str, str]) -> dict[str, Any]:
    headers = (("content-type", "image/png"), *more)
    return entry(f"{URL}a.png", {"content": content, "headers": headers})


def har_of(tmp_path: Path, *entries: dict[str, Any]) -> Recording:
    page = entry(URL, {"content": {"text": TEXT, "size": len(TEXT)}})
    return record(har(tmp_path / "x.har", page, *entries), Browsing())


def body_of(recording: Recording, path: str) -> bytes:
    return next(one.body for one in recording.site.exchanges if one.url == URL + path)


@given(st.binary(min_size=1, max_size=60))
def test_har_binary_as_text_is_as_long_as_its_size_says(tmp_path_factory: Any, data: bytes) -> None:
    directory = tmp_path_factory.getbasetemp()
    for text in (data.decode("latin-1"), base64.b64encode(data).decode()):
        recording = har_of(directory, image({"text": text, "size": len(data)}))
        assert body_of(recording, "a.png") == data
        assert not recording.site.lost


def test_har_binary_that_was_ruined_is_told(tmp_path: Path) -> None:
    ruined = image({"text": PNG.decode(errors="replace"), "size": len(PNG)})
    recording = har_of(tmp_path, ruined)
    (found,) = findings(recording.site)
    assert (found.severity, found.url) == (Severity.BROKEN, f"{URL}a.png")
    assert "and content.size says 5,120" in found.message


@pytest.mark.parametrize("text", ["p{color:blue;}   ", "p{color:black;}b"])
@pytest.mark.parametrize("size", [None, True])
def test_har_text_that_is_said_to_be_base64_stays_text(
    tmp_path: Path, text: str, size: bool | None
) -> None:
    content = {"text": text, "encoding": "base64", **({"size": len(text)} if size else {})}
    style = entry(f"{URL}s.css", {"content": content, "headers": [("content-type", "text/css")]})
    recording = har_of(tmp_path, style)
    assert body_of(recording, "s.css") == text.encode()
    assert recording.notes == ("text kept as it is, though it is stated to be base64 (1)",)


@pytest.mark.parametrize(
    ("content", "more"),
    [
        ({"mimeType": "image/png"}, ()),
        ({"mimeType": "image/png"}, (length(12_420),)),
        ({"size": -1}, ()),
        ({"size": -1, "_file": "gone.png"}, ()),
        ({"size": -1, "_file": "../x.png"}, ()),
        ({"size": 12_420}, ()),
        ({"size": 0}, (GZIP,)),
    ],
)
def test_har_bodies_that_were_not_kept_are_left_out_and_told(
    tmp_path: Path, content: dict[str, Any], more: tuple[tuple[str, str], ...]
) -> None:
    (tmp_path / "x.png").write_bytes(b"another directory's")
    (tmp_path / "d").mkdir()
    recording = har_of(tmp_path / "d", image(content, *more))
    assert [one.url for one in recording.site.exchanges] == [URL]
    assert recording.notes == ("left out: the body was not kept (1)",)
    (found,) = findings(recording.site)
    assert (found.severity, found.url) == (Severity.BROKEN, f"{URL}a.png")
    assert found.message.startswith("left out, since its body is not kept: ")


def test_har_without_sizes_of_scripts_and_pictures(tmp_path: Path) -> None:
    script = entry(f"{URL}app.js", {"content": {"mimeType": "text/javascript"}})
    hero = entry(f"{URL}hero.webp", {"content": {"mimeType": "image/webp"}})
    recording = har_of(tmp_path, script, hero)
    assert [one.url for one in recording.site.lost] == [f"{URL}app.js", f"{URL}hero.webp"]


def test_har_bodies_in_files_beside_it(tmp_path: Path) -> None:
    (tmp_path / "0a1b.png").write_bytes(PNG)
    recording = har_of(tmp_path, image({"size": -1, "_file": "0a1b.png"}))
    assert body_of(recording, "a.png") == PNG
    assert findings(recording.site) == ()


def test_a_retried_request_is_answered_with_the_whole_response(tmp_path: Path) -> None:
    headers = (("content-type", "text/html"), GZIP)
    empty = entry(URL, {"content": {"size": 0}, "headers": headers})
    whole = entry(URL, {"content": {"size": len(TEXT), "text": TEXT}, "headers": headers})
    recording = record(har(tmp_path / "x.har", empty, whole), Browsing())
    (page,) = recording.site.exchanges
    assert gzip.decompress(page.body) == TEXT.encode()
    assert findings(recording.site) == ()
    cut = OK + b"Content-Length: 8\r\n\r\n<p>"
    path = warc(
        tmp_path / "a.warc.gz",
        ("response", URL, cut, {}),
        ("response", URL, OK + b"\r\n" + TEXT.encode(), {}),
    )
    assert [one.body for one in read_archive(path).exchanges] == [TEXT.encode()]


def refusal(path: Path | str) -> str:
    with pytest.raises(WrongInputError) as raised:
        record(str(path), Browsing())
    return raised.value.message


def test_why_nothing_is_left_is_told(tmp_path: Path) -> None:
    contents = ({"size": 91}, {"size": 12}, {"size": 12_420})
    entries = [entry(f"{URL}{at}", {"content": one}) for at, one in enumerate(contents)]
    said = refusal(har(tmp_path / "no.har", *entries))
    assert said == (
        "it holds no response that can be replayed; 3 bodies were not kept, as that of "
        f"{URL}0: it is not in the HAR file; such files can be saved with content"
    )
    playwright = entry(URL, {"content": {"size": 91, "_file": "p.html"}})
    said = refusal(har(tmp_path / "no.har", playwright))
    assert said.endswith(f"that of {URL}: its file p.html is not beside the HAR file")


def test_a_warm_cache_is_told_by_name_and_no_other_page_is_taken(tmp_path: Path) -> None:
    frame = entry(f"{URL}frame", {"content": {"text": TEXT}})
    warm = entry(URL, {"status": 304})
    said = refusal(har(tmp_path / "x.har", warm, frame))
    assert said.startswith(
        f"its page, {URL}, cannot be replayed: it is a 304, recorded with a warm"
    )
    unnamed = entry(URL, {"status": 304, "headers": ()})
    style = entry(
        f"{URL}s", {"content": {"text": "p{}"}, "headers": [("content-type", "text/css")]}
    )
    said = refusal(har(tmp_path / "x.har", unnamed, style))
    assert (
        "none of its responses is an HTML page; 1 response is a 304, recorded with a warm" in said
    )
    lost = entry(URL, {"content": {"size": 91}})
    said = refusal(har(tmp_path / "x.har", lost, frame))
    assert said.startswith(f"its page, {URL}, cannot be replayed: its body is not kept: ")


def test_another_page_is_taken_if_it_is_asked_for(tmp_path: Path) -> None:
    frame = entry(f"{URL}fr|me", {"content": {"text": TEXT}})
    lost = entry(URL, {"content": {"size": 91}})
    file = har(tmp_path / "x.har", lost, frame)
    assert refusal(file).endswith("; `headway record --page` names another")
    taken = record_site("s", [file], Browsing(page=f"{URL}fr|me#top")).site
    assert (taken.page, len(taken.exchanges)) == (f"{URL}fr%7Cme", 1)
    write_archive(taken, tmp_path / "a.warc.gz")
    assert find_site(str(tmp_path / "a.warc.gz")).page == taken.page
    for page, said in (
        (
            URL,
            f"--page {URL}: no response to it can be replayed: its body is not kept: it is not in",
        ),
        (f"{URL}none", f"--page {URL}none: no response to it can be replayed"),
        ("shop", "--page shop: no URL with http:// or https://"),
    ):
        with pytest.raises(WrongInputError) as raised:
            record_site("s", [file], Browsing(page=page))
        assert str(raised.value).startswith(said)


def test_a_page_of_a_mapped_server_may_be_named_by_either_name(tmp_path: Path) -> None:
    local = "http://127.0.0.1:8001/"
    pages = [entry(f"{local}{name}", {"content": {"text": TEXT}}) for name in ("", "b")]
    maps = HostMaps.parse(["a.test=127.0.0.1:8001"])
    for page in (f"{local}b", f"{URL}b"):
        file = har(tmp_path / "x.har", *pages)
        assert record_site("s", [file], Browsing(maps=maps, page=page)).site.page == f"{URL}b"


def test_flows_of_connections_that_broke_are_parts(tmp_path: Path) -> None:
    def flow(path: str, content: bytes | None, **more: Any) -> bytes:
        request = {"method": "GET", "scheme": "https", "authority": "a.test", "path": path}
        response = {"status_code": 200, "headers": [["content-type", "text/html"]]}
        return encoded(
            {
                "type": "http",
                "request": {**request, "headers": []},
                "response": {**response, "content": content},
                **more,
            }
        )

    (tmp_path / "x.mitm").write_bytes(
        flow("/", b"<p>")
        + flow("/cut", b"<p", error={"msg": "peer closed connection"})
        + flow("/streamed", None)
    )
    recording = record(str(tmp_path / "x.mitm"), Browsing())
    assert [(one.url, one.message) for one in findings(recording.site)] == [
        (f"{URL}streamed", "left out, since its body is not kept: the recording does not have it"),
        (f"{URL}cut", "its body is kept in part: peer closed connection"),
    ]


CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("message", "more", "said"),
    [
        (
            OK + b"Content-Length: 5034\r\n\r\n<p>",
            {"WARC-Truncated": "length"},
            "kept in part: 3 of the 5,034 bytes that content-length says (WARC-Truncated: length)",
        ),
        (OK + b"Content-Length: 9\r\n\r\n<p>", {}, "kept in part: 3 of the 9 bytes that content-"),
        (CHUNKED + b"3\r\n<p>\r\nbda\r\nz", {}, "kept in part: it ends before its last chunk"),
        (
            CHUNKED + b"3\r\n<p>\r\n",
            {"WARC-Truncated": "disconnect"},
            "kept in part: it ends before its last chunk (WARC-Truncated: disconnect)",
        ),
        (OK + b"\r\n<p>", {"WARC-Truncated": "time"}, "kept in part: WARC-Truncated: time"),
        (
            OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
            {},
            "not what is said of it: it is not gzip-coded as transfer-encoding says",
        ),
        (
            OK + b"\r\n<p>",
            {"WARC-Payload-Digest": "sha1:" + "A" * 32, "WARC-Block-Digest": "x:y"},
            "not what is said of it: it is not what WARC-Payload-Digest says",
        ),
        (
            OK + b"\r\n<p>",
            {"WARC-Block-Digest": "sha1:" + "A" * 32},
            "not what is said of it: its record is not what WARC-Block-Digest says",
        ),
        (OK + b"Content-Length: 1\r\n\r\n<p>", {}, "it has 3 bytes, and content-length says 1"),
        (
            OK + b"Content-Encoding: gzip\r\n\r\n<p>",
            {},
            "not what is said of it: it is not gzip-coded as content-encoding says",
        ),
        (
            OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"<p>", mtime=0)[:-4],
            {},
            "kept in part: it ends before its content coding, gzip, does",
        ),
    ],
)
def test_archives_are_held_against_what_they_say(
    tmp_path: Path, message: bytes, more: dict[str, str], said: str
) -> None:
    path = warc(tmp_path / "a.warc.gz", ("response", URL, message, more))
    (found,) = findings(read_archive(path))
    assert said in found.message
    # What is written anew says the same.
    recording = record(str(path), Browsing())
    write_archive(recording.site, tmp_path / "new.warc.gz")
    assert findings(recording.site) == (found,)
    assert findings(find_site(str(tmp_path / "new.warc.gz"))) == (found,)
    assert findings(record(str(tmp_path / "new.warc.gz"), Browsing()).site) == (found,)


def test_transfer_codings_are_undone(tmp_path: Path) -> None:
    coded = gzip.compress(b"<p>", mtime=0)
    message = OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n"
    path = warc(tmp_path / "a.warc.gz", ("response", URL, message % (len(coded), coded), {}))
    site = read_archive(path)
    assert (site.exchanges[0].body, findings(site)) == (b"<p>", ())


def test_a_revisit_of_another_file_is_lost_and_told(tmp_path: Path) -> None:
    refers = {"WARC-Refers-To-Target-URI": f"{URL}old", "WARC-Payload-Digest": "sha1:AAAA"}
    json_type = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
    path = warc(
        tmp_path / "a.warc.gz",
        ("response", URL, OK + b"\r\n<p>", {}),
        ("revisit", f"{URL}api", json_type, refers),
        # The URL is the same, and the digest says that the content is not.
        ("response", f"{URL}old", OK + b"\r\nB", {"WARC-Payload-Digest": "sha1:BBBB"}),
    )
    (found,) = findings(read_archive(path))
    assert (found.severity, found.url) == (Severity.BROKEN, f"{URL}api")
    assert f"it is the same as that of {URL}old, which is not in this file" in found.message


def test_what_is_lost_stays_told_until_another_recording_has_it(tmp_path: Path) -> None:
    lost = har_of(tmp_path, image({"size": 5}), image({"size": -1}))
    write_archive(lost.site, tmp_path / "1.warc.gz")
    again = read_archive(tmp_path / "1.warc.gz")
    assert [(one.url, one.status) for one in again.lost] == [(f"{URL}a.png", 200)]
    assert findings(again) == findings(lost.site)
    whole = Exchange("GET", f"{URL}a.png", 200, (("content-type", "image/png"),), PNG)
    write_archive(replace(again, exchanges=(*again.exchanges, whole)), tmp_path / "2.warc.gz")
    assert findings(read_archive(tmp_path / "2.warc.gz")) == ()


def test_of_several_sources_the_first_that_has_all_of_a_body_is_taken() -> None:
    cut = Exchange("GET", URL, 200, HTML, b"<p", shortfall=Shortfall(Kept.PART, "why"))
    shorter = replace(cut, body=b"<")
    whole, newer = replace(cut, body=b"<p>", shortfall=None), Exchange("GET", URL, 200, HTML, b"<")
    image = Exchange("GET", f"{URL}a.png", 200, (), PNG)

    def taken(*found: Exchange) -> list[bytes]:
        recordings = [Recording(Site("s", URL, (one, image))) for one in found]
        return [one.body for one in merged("s", recordings).site.exchanges]

    assert taken(cut, whole, newer) == [PNG, b"<p>"]
    assert taken(whole, cut) == [b"<p>", PNG]
    assert taken(cut, shorter) == [b"<p", PNG]


def test_what_har_files_say_beside_does_not_refuse_them(tmp_path: Path) -> None:
    odd = {"text": TEXT, "size": "x", "compression": 1.5, "mimeType": 1, "_file": {}}
    response = {"content": odd, "bodySize": 1e300, "_error": ["x"]}
    recording = record(har(tmp_path / "x.har", entry(URL, response)), Browsing())
    assert [one.body for one in recording.site.exchanges] == [TEXT.encode()]
    assert findings(recording.site) == ()


def test_other_tools_are_told_what_is_cut(tmp_path: Path) -> None:
    page = Exchange("GET", URL, 200, HTML, b"<p>", shortfall=Shortfall(Kept.PART, "why"))
    write_archive(Site("s", URL, (page,)), tmp_path / "a.warc.gz")
    data = gzip.decompress((tmp_path / "a.warc.gz").read_bytes())
    assert b"\r\nWARC-Truncated: unspecified\r\n" in data
    (one,) = read_records(tmp_path / "a.warc.gz").captured
    assert one.told.cut == "why"


def raw(url: str, message: bytes, length: int | None = None, end: bytes = b"\r\n\r\n") -> bytes:
    """A record, byte for byte."""
    size = len(message) if length is None else length
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
        f"WARC-Target-URI: {url}\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {size}\r\n\r\n"
    )
    return head.encode() + message + end


PAGE_MESSAGE = OK + b"\r\n<p>"


def test_a_space_in_a_url_is_no_damage(tmp_path: Path) -> None:
    data = gzip.compress(raw(URL, PAGE_MESSAGE)) + gzip.compress(raw(f"{URL}a b", OK + b"\r\nx"))
    (tmp_path / "a.warc.gz").write_bytes(data)
    assert len(find_site(str(tmp_path / "a.warc.gz")).exchanges) == 2


@pytest.mark.parametrize("end", [b"\n", b"\r\r\n"])
def test_lines_of_records_may_end_otherwise(tmp_path: Path, end: bytes) -> None:
    """As editors and tools that copy text leave them."""
    head, _, _ = raw(URL, PAGE_MESSAGE).partition(PAGE_MESSAGE)
    (tmp_path / "a.warc").write_bytes(head.replace(b"\r\n", end) + PAGE_MESSAGE + end * 2)
    assert len(find_site(str(tmp_path / "a.warc")).exchanges) == 1


@pytest.mark.parametrize("end", [b"", b"\r\n", b"\r\n\r\n", b"\n\n", b"\r\n" * 3])
def test_records_that_are_gzip_members_end_where_these_do(tmp_path: Path, end: bytes) -> None:
    # Its length includes what follows it.
    info = b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 17\r\n\r\nsoftware: X\r\n\r\n\r\n"
    data = gzip.compress(info) + gzip.compress(raw(URL, PAGE_MESSAGE, end=end))
    (tmp_path / "a.warc.gz").write_bytes(data)
    assert len(find_site(str(tmp_path / "a.warc.gz")).exchanges) == 1


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([raw(URL, PAGE_MESSAGE), raw(f"{URL}b", PAGE_MESSAGE, 5)],
         f"damaged: record 2, {URL}b, does not end where its Content-Length says"),
        ([raw(URL, PAGE_MESSAGE), raw(f"{URL}b", PAGE_MESSAGE, 500, b"")],
         f"truncated: record 2, {URL}b, has {len(PAGE_MESSAGE)} of 500 bytes"),
        ([raw(URL, PAGE_MESSAGE), b"WARC/1.0\r\nWARC-Type: response\r\n\r\nx"],
         "damaged: record 2 has no valid Content-Length"),
        ([raw(URL, PAGE_MESSAGE), b"WARC/1.0\r\nWARC-Ty"],
         "truncated: the head of record 2 ends too early"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("zipped", [True, False])
def test_damage_is_told_with_the_record(
    tmp_path: Path, records: list[bytes], said: str, zipped: bool
) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join(map(gzip.compress, records)) if zipped else b"".join(records))
    with pytest.raises(WrongInputError) as raised:
        read_archive(path)
    assert raised.value.message == said


@given(st.integers(1, 400), st.lists(bodies, min_size=1, max_size=4))
def test_members_may_end_anywhere(tmp_path_factory: Any, size: int, found: list[bytes]) -> None:
    """As with tools that compress in blocks."""
    data = b"".join(raw(f"{URL}{at}", OK + b"\r\n" + body) for at, body in enumerate(found))
    blocks = (gzip.compress(data[at : at + size]) for at in range(0, len(data), size))
    path = tmp_path_factory.getbasetemp() / "blocks.warc.gz"
    path.write_bytes(b"".join(blocks))
    assert [one.body for one in read_records(path).captured] == found


def told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    monkeypatch.setattr(sys, "argv", ["headway", *words])
    with contextlib.suppress(SystemExit):
        cli.main()
    captured = capsys.readouterr()
    return " ".join(f"{captured.out} {captured.err}".split())


def test_every_command_says_the_same_of_an_archive(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))
    cut = OK + b"Content-Length: 5034\r\n\r\n<p>"
    warc(tmp_path / "a.warc.gz", ("response", URL, cut, {}))
    (tmp_path / "study.toml").write_text(
        'name = "s"\nprotocol = "h2"\n[workload]\nkind = "page"\nsite = "a.warc.gz"\n'
        '[client]\nprogram = "chromium"\n'
    )
    why = f"{URL}: its body is kept in part: 3 of the 5,034 bytes that content-length says"
    for words in (
        ("record", "a.warc.gz", "--out", "b.warc.gz"),
        ("sites", "verify", "a.warc.gz"),
        ("sites", "verify", "b.warc.gz"),
        ("validate", "study.toml"),
        ("plan", "study.toml"),
    ):
        assert why in told(monkeypatch, capsys, *words), words
