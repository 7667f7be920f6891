"""Content of files of others is bounded: what a bomb holds is not decoded, and a sentence says so."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import WrongInputError
from headway.foreign.bounds import BODY, Bound
from headway.foreign.numbers import whole_number
from headway.instruments.census.har import responses_of_har
from headway.sites.coding import CODINGS, CodingError, decoded, encoded
from headway.sites.sources import Browsing, record_site
from headway.sites.verify import Severity, findings
from headway.traces.mahimahi import read_opportunities

SMALL = Bound(1 << 20, 2)
ZEROS = bytes(2 << 20)


def response(body: bytes, coding: str = "") -> bytes:
    """A WARC file of one response."""
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    head += f"Content-Encoding: {coding}\r\n" if coding else ""
    block = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    fields = "WARC-Type: response\r\nWARC-Target-URI: https://a.test/\r\n"
    return (
        f"WARC/1.0\r\n{fields}Content-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"
    )


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
    return file.getvalue()


HAR = json.dumps({"log": {"entries": []}}).encode()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("gzipped", "warc_records", "zipped"):
        monkeypatch.setattr(f"headway.sites.{place}.RECORDING", SMALL)
    monkeypatch.setattr("headway.sites.coding.BODY", SMALL)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(response(ZEROS)),
        gzip.compress(response(b"<p>")) + gzip.compress(response(ZEROS)),
        gzip.compress(response(ZEROS[: 1 << 19])) * 3,
        gzip.compress(b"filedesc://a 0.0.0.0 20000101000000 text/plain 2\n1\n" + ZEROS),
        gzip.compress(HAR + ZEROS),
        gzip.compress(b'{"Requests": {}}' + ZEROS),
        gzip.compress(b"2097160:7:version;" + ZEROS),
        zipped(a_warc=response(ZEROS)),
        zipped(a_warc=response(b"<p>"), b_warc=response(ZEROS[:-1])),
        zipped(a_har=HAR + ZEROS),
    ],
    ids=["record", "second", "together", "arc", "har", "wpr", "flows", "zip", "zip-2", "zip-har"],
)
def test_a_recording_that_holds_too_much_is_refused(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "bomb"
    file.write_bytes(data)
    with pytest.raises(
        WrongInputError, match=r"bomb: .*: holds more than Headway decodes of a file"
    ):
        record_site("bomb", [str(file)], Browsing())


@pytest.mark.usefixtures("small")
def test_compressed_data_in_compressed_data_counts_once_for_all(tmp_path: Path) -> None:
    inner = gzip.compress(response(ZEROS[: 1 << 19]))
    file = tmp_path / "twice"
    file.write_bytes(zipped(a_warc_gz=inner, b_warc_gz=inner))
    with pytest.raises(WrongInputError, match="holds more than Headway decodes of a file"):
        record_site("twice", [str(file)], Browsing())


@pytest.mark.parametrize("coding", sorted(CODINGS))
def test_codings_are_undone_and_bounded(monkeypatch: pytest.MonkeyPatch, coding: str) -> None:
    body = b"what was sent " * 1000
    assert decoded(encoded(body, [coding, coding]), [coding, coding]) == body
    assert decoded(encoded(b"", [coding]), [coding]) == b""
    monkeypatch.setattr("headway.sites.coding.BODY", SMALL)
    for names in ([coding], [coding, coding]):
        with pytest.raises(CodingError) as refused:
            decoded(encoded(ZEROS, names), names)
        assert refused.value.is_too_long


@given(st.sampled_from(sorted(CODINGS)), st.binary(max_size=200), st.integers(0, 250))
def test_what_is_cut_is_said_to_be_cut(coding: str, body: bytes, kept: int) -> None:
    whole = encoded(body, [coding])
    if kept >= len(whole) or not kept:
        assert decoded(whole, [coding]) == body
        return
    with pytest.raises(CodingError) as refused:
        decoded(whole[:kept], [coding])
    assert refused.value.is_cut or coding == "deflate" or kept < 10


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("coding", "code"),
    [
        ("gzip, gzip", lambda body: gzip.compress(gzip.compress(body))),
        ("br", brotli.compress),
        ("deflate", zlib.compress),
    ],
)
def test_a_body_that_holds_too_much_is_a_flaw(
    tmp_path: Path, coding: str, code: Callable[[bytes], bytes]
) -> None:
    file = tmp_path / "bomb.warc"
    file.write_bytes(response(code(ZEROS), coding))
    (flaw,) = findings(record_site("bomb", [str(file)], Browsing()).site)
    assert flaw.severity is Severity.BROKEN
    assert str(SMALL) in flaw.message


def test_a_bomb_takes_a_stated_amount_of_memory(tmp_path: Path) -> None:
    """Of a kilobyte that is 512 MiB, twice coded: three times what is decoded of a body, at most."""
    encoder = zlib.compressobj(9, wbits=31)
    once = b"".join([*(encoder.compress(bytes(1 << 24)) for _ in range(32)), encoder.flush()])
    file = tmp_path / "bomb.warc"
    file.write_bytes(response(gzip.compress(once), "gzip, gzip"))
    program = (
        "import resource\n"
        "from headway.sites.sources import Browsing, record_site\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"record_site('bomb', [{str(file)!r}], Browsing())\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=300
    )
    assert int(done.stdout) << 10 <= 3 * BODY.least_bytes


def test_a_har_of_the_census_is_bounded_too(tmp_path: Path, small: None) -> None:
    file = tmp_path / "a.har.gz"
    file.write_bytes(gzip.compress(HAR + ZEROS))
    with pytest.raises(WrongInputError, match="holds more than Headway decodes"):
        responses_of_har(file)


@pytest.mark.parametrize("text", ["", "-1", "+1", " 1", "1e3", "\u0661", "1" * 19, "1" * 5000])
def test_no_whole_numbers(text: str) -> None:
    assert whole_number(text) is None


def test_numbers_of_thousands_of_digits_are_refused(tmp_path: Path) -> None:
    digits = "9" * 5000
    whole = response(b"<p>").decode()
    for name, data in {
        "warc": whole.replace("Content-Length: ", f"Content-Length: {digits}", 1),
        "arc": f"filedesc://a 0.0.0.0 20000101000000 text/plain {digits}\n",
    }.items():
        (tmp_path / name).write_text(data, newline="")
        with pytest.raises(WrongInputError):
            record_site(name, [str(tmp_path / name)], Browsing())
    (tmp_path / "trace").write_text(f"1\n{digits}\n")
    with pytest.raises(WrongInputError, match="is not a whole number of milliseconds"):
        read_opportunities(tmp_path / "trace")
