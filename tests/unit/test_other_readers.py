"""Recordings as other readers read them: drawn files, of which accounts agree.

The other readers are warcio and FastWARC for WARC, warcio for ARC, haralyzer for HAR, and the ZIP module with warcio for
WACZ. Each file is drawn from what the format's text allows.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastwarc.warc import ArchiveIterator as FastArchiveIterator
from fastwarc.warc import WarcRecordType
from haralyzer import HarParser
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from headway.errors import WrongInputError
from headway.foreign.bounds import RECORDING
from headway.sites.captured import Captured
from headway.sites.har_import import har_content
from headway.sites.revisits import resolved
from headway.sites.sources import Browsing, record
from headway.sites.warc_records import archive_of
from headway.sites.zipped import read_zip

QUICK, NIGHTLY = 150, 10_000
PATH = Path("drawn")
TOKEN = st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=8).map(lambda text: f"x-{text}")
VALUE = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=12)
KINDS = st.sampled_from(["text/html", "text/html; charset=utf-8", "image/png", "no-type"])


@dataclass(frozen=True)
class Drawn:
    """A response as it is written to a file."""

    path: str
    second: int
    status: int
    kind: str
    fields: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def url(self) -> str:
        return f"https://a.test/{self.path}"

    @property
    def message(self) -> bytes:
        lines = [f"HTTP/1.1 {self.status} OK", f"Content-Type: {self.kind}"]
        lines += [f"{name}: {value}" for name, value in self.fields]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


drawn = st.builds(
    Drawn,
    path=st.text("abc/?&=%20", max_size=8),
    second=st.integers(0, 59),
    status=st.sampled_from([200, 200, 301, 304, 404, 500]),
    kind=KINDS,
    fields=st.lists(st.tuples(TOKEN, VALUE), max_size=3).map(tuple),
    body=st.binary(max_size=60),
)
responses = st.lists(drawn, min_size=1, max_size=6)


def often(test: Callable[..., None]) -> Any:
    """The test with few files in the quick suite, and with thousands by night."""

    def repeated(strategy: st.SearchStrategy[Any], count: int) -> Callable[[], None]:
        @settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck))
        @given(strategy)
        def run(value: Any) -> None:
            test(value)

        return run

    return repeated


def warc_record(one: Drawn, at: int, kind: str = "response", **more: str) -> bytes:
    block = one.message
    digest = base64.b32encode(hashlib.sha1(one.body, usedforsecurity=False).digest()).decode()
    fields = {
        "WARC-Type": kind, "WARC-Record-ID": f"<urn:uuid:{at}>", "WARC-Target-URI": one.url,
        "WARC-Date": f"2026-03-02T10:00:{one.second:02}Z", "WARC-Payload-Digest": f"sha1:{digest}",
        "Content-Type": "application/http; msgtype=response", "Content-Length": str(len(block)), **more,
    }  # fmt: skip
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"WARC/1.1\r\n{head}\r\n".encode() + block + b"\r\n\r\n"


def own(data: bytes) -> list[tuple[str, int, tuple[tuple[str, str], ...], bytes]]:
    file = archive_of([data], PATH, RECORDING.budget(len(data)))
    return [account(one) for one in file.captured]


def account(one: Captured) -> tuple[str, int, tuple[tuple[str, str], ...], bytes]:
    return (
        one.url,
        one.status,
        tuple((name.lower(), value) for name, value in one.headers),
        one.body or b"",
    )


def by_warcio(
    data: bytes,
) -> Iterator[tuple[str, tuple[str, int, tuple[tuple[str, str], ...], bytes]]]:
    for one in ArchiveIterator(io.BytesIO(data)):
        if one.rec_type == "response" and one.http_headers:
            headers = tuple((name.lower(), value) for name, value in one.http_headers.headers)
            told = one.rec_headers
            yield told.get_header("WARC-Date"), (
                told.get_header("WARC-Target-URI"), int(one.http_headers.get_statuscode()),
                headers, one.raw_stream.read(),
            )  # fmt: skip


def by_fastwarc(
    data: bytes,
) -> Iterator[tuple[str, tuple[str, int, tuple[tuple[str, str], ...], bytes]]]:
    for one in FastArchiveIterator(io.BytesIO(data), record_types=WarcRecordType.response):
        headers = tuple((name.lower(), value) for name, value in one.http_headers)
        yield one.headers["WARC-Date"], (
            one.headers["WARC-Target-URI"], one.http_headers.status_code, headers, one.reader.read(),
        )  # fmt: skip


def warc_agrees(value: tuple[list[Drawn], bool]) -> None:
    listed, is_gzip = value
    records = [warc_record(one, at) for at, one in enumerate(listed)]
    data = b"".join(map(gzip.compress, records) if is_gzip else records)
    found = own(data)
    for others in (list(by_warcio(data)), list(by_fastwarc(data))):
        assert found == [one for _, one in sorted(others, key=lambda pair: pair[0])]


def arc_agrees(value: tuple[list[Drawn], int]) -> None:
    listed, version = value
    info = f"{version} 0 Test\nURL IP-address Archive-date Content-type Archive-length\n\n".encode()
    parts = [f"filedesc://a.arc 0.0.0.0 20260302100000 text/plain {len(info)}\n".encode() + info]
    for one in listed:
        kind = one.kind.replace(" ", "")  # warcio splits the line at each space
        line = f"{one.url} 192.0.2.1 202603021000{one.second:02} {kind}"
        line += " 200 - - 0 a.arc" if version == 2 else ""
        parts.append(f"{line} {len(one.message)}\n".encode() + one.message)
    data = b"\n".join([*parts, b""])
    found = own(data)
    if version == 1:
        others = [
            (each.rec_headers.get_header("archive-date"), (
                each.rec_headers.get_header("uri"), int(each.http_headers.get_statuscode()),
                tuple((name.lower(), one) for name, one in each.http_headers.headers), each.raw_stream.read()))
            for each in ArchiveIterator(io.BytesIO(data), arc2warc=False)
            if each.rec_type == "response"
        ]  # fmt: skip
        assert found == [one for _, one in sorted(others, key=lambda pair: pair[0])]
    in_time = sorted(listed, key=lambda one: one.second)
    assert [one[0] for one in found] == [one.url for one in in_time]
    assert [one[3] for one in found] == [one.body for one in in_time]


def har_agrees(listed: list[Drawn]) -> None:
    entries = [
        {
            "pageref": "page", "startedDateTime": f"2026-03-02T10:00:{one.second:02}.000Z", "time": 1,
            "request": {"method": "GET", "url": one.url, "headers": [], "httpVersion": "HTTP/2"},
            "response": {
                "status": one.status, "httpVersion": "HTTP/2", "headersSize": -1, "bodySize": len(one.body),
                "headers": [{"name": name, "value": value} for name, value in (("Content-Type", one.kind), *one.fields)],
                "content": {"mimeType": one.kind, "size": len(one.body), "encoding": "base64",
                            "text": base64.b64encode(one.body).decode()},
            },
            "cache": {}, "timings": {"send": 0, "wait": 1, "receive": 0},
        }
        for one in listed
    ]  # fmt: skip
    pages = [
        {"id": "page", "startedDateTime": "2026-03-02T10:00:00Z", "title": "t", "pageTimings": {}}
    ]
    document = {
        "log": {
            "version": "1.2",
            "creator": {"name": "t", "version": "1"},
            "pages": pages,
            "entries": entries,
        }
    }
    found = har_content(json.dumps(document).encode(), PATH, lambda _: None).captured
    (page,) = HarParser(document).pages
    others = [
        (one.request.url, one.response.status,
         tuple((field["name"].lower(), field["value"]) for field in one.response.headers),
         base64.b64decode(one.response.raw_entry["content"]["text"]))
        for one in sorted(page.entries, key=lambda one: one.startTime)
    ]  # fmt: skip
    assert [account(one) for one in found] == others


def wacz_agrees(value: tuple[list[Drawn], list[Drawn], int, Path]) -> None:
    first, second, main, path = value
    files = {
        f"archive/{name}.warc.gz": b"".join(
            gzip.compress(warc_record(one, at)) for at, one in enumerate(part)
        )
        for name, part in (("a", first), ("b", second))
    }
    resources = [
        {"path": name, "bytes": len(data), "hash": f"sha256:{hashlib.sha256(data).hexdigest()}"}
        for name, data in files.items()
    ]
    page = [*first, *second][main % (len(first) + len(second))].url
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        archive.writestr(
            "datapackage.json", json.dumps({"resources": resources, "mainPageUrl": page})
        )
    file = read_zip(path)
    with zipfile.ZipFile(path) as archive:
        others = [pair for name in sorted(files) for pair in by_warcio(archive.read(name))]
    assert [account(one) for one in file.captured] == [
        one for _, one in sorted(others, key=lambda pair: pair[0])
    ]
    assert (file.page, file.notes) == (page, ())


def revisits_agree(value: tuple[list[Drawn], list[int], bool]) -> None:
    """Revisits of any record have its body, in one file or in two."""
    listed, revisited, is_split = value
    originals = [warc_record(one, at) for at, one in enumerate(listed)]
    again: list[bytes] = []
    for number, index in enumerate(revisited):
        original = listed[index % len(listed)]
        head = Drawn("again", 0, 203, "text/html", (), b"")
        refers = {"WARC-Refers-To": f"<urn:uuid:{index % len(listed)}>"} if number % 2 else {}
        digest = base64.b32encode(
            hashlib.sha1(original.body, usedforsecurity=False).digest()
        ).decode()
        again.append(
            warc_record(
                head, 100 + number, "revisit", **refers, **{"WARC-Payload-Digest": f"sha1:{digest}"}
            )
        )
    parts = [b"".join(again), b"".join(originals)] if is_split else [b"".join(again + originals)]
    files = [archive_of([part], PATH, RECORDING.budget(len(part))) for part in parts]
    bodies = [one.body for file in resolved(files) for one in file.captured if one.status == 203]
    assert bodies == [listed[index % len(listed)].body for index in revisited]


STRATEGIES: dict[str, tuple[Callable[[Any], None], st.SearchStrategy[Any]]] = {
    "warc": (warc_agrees, st.tuples(responses, st.booleans())),
    "arc": (arc_agrees, st.tuples(responses, st.sampled_from([1, 2]))),
    "har": (har_agrees, responses),
    "revisits": (
        revisits_agree,
        st.tuples(responses, st.lists(st.integers(0, 9), min_size=1, max_size=5), st.booleans()),
    ),
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_other_readers_agree(name: str) -> None:
    test, strategy = STRATEGIES[name]
    often(test)(strategy, QUICK)()


@pytest.mark.nightly
@pytest.mark.parametrize("name", STRATEGIES)
def test_other_readers_agree_by_night(name: str) -> None:
    test, strategy = STRATEGIES[name]
    often(test)(strategy, NIGHTLY)()


@pytest.mark.parametrize("count", [QUICK // 3, pytest.param(NIGHTLY, marks=pytest.mark.nightly)])
def test_packages_agree(tmp_path: Path, count: int) -> None:
    path = st.just(tmp_path / "a.wacz")
    often(wacz_agrees)(st.tuples(responses, responses, st.integers(0, 11), path), count)()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["request", "response", "url", "method", "status", "headers", "name", "value", "content",
                         "text", "encoding", "size", "startedDateTime", "pageref", "id", "mimeType"]),
        inner, max_size=5),
    max_leaves=25,
)  # fmt: skip


def is_refused_in_a_line(path: Path) -> None:
    try:
        recording = record(str(path), Browsing())
        assert all("\n" not in note and len(note) < 400 for note in recording.notes)
    except WrongInputError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 3000


def fuzzed(value: tuple[Path, bytes]) -> None:
    path, data = value
    path.write_bytes(data)
    is_refused_in_a_line(path)


@st.composite
def mutants(draw: st.DrawFn) -> bytes:
    """A sound file of one of the formats, of which some bytes are others, or missing, or there twice."""
    listed = draw(responses)
    records = [warc_record(one, at) for at, one in enumerate(listed)]
    data = draw(st.sampled_from([b"".join(records), b"".join(map(gzip.compress, records))]))
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 20)))
        data = (
            data[:start] + draw(st.binary(max_size=8) | st.just(data[start:end] * 2)) + data[end:]
        )
    return data


@st.composite
def odd_hars(draw: st.DrawFn) -> bytes:
    entries = draw(st.lists(JSON, max_size=4))
    text = json.dumps({"log": {"version": "1.2", "pages": draw(JSON), "entries": entries}})
    data = text.encode()
    at = draw(st.integers(0, len(data)))
    return data[:at] + draw(st.binary(max_size=3)) + data[at + draw(st.integers(0, 3)) :]


@pytest.mark.parametrize("count", [QUICK, pytest.param(NIGHTLY, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    "files", [mutants(), odd_hars(), st.binary(max_size=80)], ids=["warc", "har", "bytes"]
)
def test_drawn_files_are_read_or_refused_in_a_line(
    tmp_path: Path, files: st.SearchStrategy[bytes], count: int
) -> None:
    often(fuzzed)(st.tuples(st.just(tmp_path / "file"), files), count)()
