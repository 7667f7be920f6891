"""What files of others are, by their content alone."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.cli.entries import COMMANDS
from headway.errors import WrongInputError
from headway.foreign.kinds.every import every_kind
from headway.foreign.kinds.identify import identify, identify_opened

WARCINFO = (
    b"WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 20\r\n\r\nsoftware: Crawler/2\r\n\r\n\r\n"
)
ARC = b"filedesc://a.arc 0.0.0.0 20200101000000 text/plain 40\n2 0 Archive\nURL IP-address\n"
HAR = {"log": {"version": "1.2", "creator": {"name": "Tool", "version": "3"}, "entries": []}}
QLOG = {"qlog_version": "0.3", "title": "stack", "traces": [{"events": []}]}
MPD = '<?xml version="1.0"?>\n<!-- Generated with packager 2 -->\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011"/>'


def text(value: object) -> bytes:
    return json.dumps(value).encode()


CONTENTS = [
    (WARCINFO, "a WARC 1.1 file of Crawler/2"),
    (gzip.compress(WARCINFO, mtime=0), "a WARC 1.1 file of Crawler/2, compressed with gzip"),
    (
        gzip.compress(gzip.compress(WARCINFO, mtime=0), mtime=0),
        "a WARC 1.1 file of Crawler/2, compressed with gzip and gzip",
    ),
    (ARC, "an ARC 2 file of Archive"),
    (text(HAR), "a HAR 1.2 file of Tool 3"),
    (b"\xef\xbb\xbf\r\n" + text(HAR), "a HAR 1.2 file of Tool 3"),
    (text(HAR).decode().encode("utf-16"), "a HAR 1.2 file of Tool 3 in UTF-16"),
    (
        text({"log": {**HAR["log"], "browser": {"name": "Firefox", "version": "140"}}}),
        "a HAR 1.2 file of Firefox 140",
    ),
    (text(QLOG), "a qlog 0.3 file of stack"),
    (b"\x1e" + text({"qlog_format": "JSON-SEQ", **QLOG}) + b"\n", "a qlog 0.3 file of stack"),
    (text({"traceEvents": []}), "a trace of Chromium's profiler"),
    (text({"constants": {"clientInfo": {"name": "Chrome", "version": "130"}}}), "a NetLog of Chromium of Chrome 130"),
    (text({"Requests": {}}), "an archive of Web Page Replay"),
    (text([{"duration_ms": 1000, "bandwidth_kbps": 800, "latency_ms": 40}]), "a trace of Sabre"),
    (text([{"host": "a.test"}]), "a list in JSON"),
    (text({"a": 1}), "a JSON document"),
    (b'{"a": 1}\n{"a": 2}\n', "a file of JSON lines"),
    (MPD.encode(), "an MPD of DASH of packager 2"),
    (b"#EXTM3U\n#EXT-X-VERSION:3\n", "a playlist of HLS"),
    (b"<!-- a -->\n<!DOCTYPE html>\n<p>", "an HTML document"),
    (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "a picture (SVG)"),
    (b"\xd4\xc3\xb2\xa1\x02\0\x04\0", "a capture of packets (pcap 2.4)"),
    (b"\xa1\xb2\xc3\xd4\0\x02\0\x04", "a capture of packets (pcap 2.4)"),
    (b"\x0a\x0d\x0d\x0a....", "a capture of packets (pcapng 1.0)"),
    (b"0\n3\n3\n17\n", "a trace of Mahimahi's form"),
    (b"0\r\n3", "a trace of Mahimahi's form"),
    (b"0.0\t4.03\n1.0\t3.9\n", "a table of times and rates"),
    (b"0.0, 4.03\n1.0, 3.9\n", "a table of times and rates"),
    (b"time,rate\n1,2\n2,3\n", "a table (CSV)"),
    (b"# delay distribution table\n-32768 -32307\n-31000 0\n", "a table of netem's delay distribution"),
    (b'[path]\nrate = "1 Mbit/s"\n', "a study"),
    (b'[server.x]\nargv = ["x"]\n', "a file of programs"),
    (b"[package]\nname = 'x'\n", "a TOML document"),
    (b"From: <Saved by Blink>\r\nMIME-Version: 1.0\r\n", "a page saved as one file (MHTML)"),
    (b'test,a)/ 20260101000000 {"url": "https://a.test/"}\n', "an index of web archives (CDX)"),
    (b"CLIENT_RANDOM " + b"0a" * 32 + b" 00\n", "a log of TLS secrets"),
    (b"12:34:56.123456 IP 10.0.0.1.443 > 10.0.0.2.5: Flags [S]\n", "a text of tcpdump or tshark"),
    (b"#!/usr/bin/env python3\n", "a script of python3"),
    (b"FROM debian:12\nRUN true\n", "a Dockerfile"),
    (b"a few words, and no more\n", "a text"),
    (b"", "an empty file"),
    (b"\0" * 700, "an empty file"),
    (b"\0" * 70_000, "of no kind that is known here"),
    (b"\xef\xbb\xbf" + WARCINFO, "a WARC 1.1 file of Crawler/2"),
    (bytes(range(256)), "of no kind that is known here"),
    (b"\x1f\x8bxx", "compressed data (gzip) that is damaged or cut off"),
    (b"PK\x03\x04....", "a ZIP file that is damaged or cut off"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "name"), CONTENTS, ids=[name for _, name in CONTENTS])
def test_files_by_their_content(data: bytes, name: str) -> None:
    assert str(identify_opened(io.BytesIO(data))) == name


@pytest.mark.parametrize(
    ("names", "name"),
    [
        (("datapackage.json", "archive/a.warc.gz"), "a WACZ file"),
        (("page.har", "a.txt"), "a HAR file with its bodies in a ZIP file"),
        (("raw/1_c.txt",), "a session of Fiddler"),
        (("a.txt",), "a ZIP file"),
    ],
)
def test_zip_files_by_what_they_hold(names: tuple[str, ...], name: str) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for member in names:
            archive.writestr(member, b"x")
    assert str(identify_opened(file)) == name


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
@pytest.mark.parametrize(
    ("names", "name"),
    [
        (("blobs/sha256/aa", "manifest.json"), "a container image (docker save)"),
        (("./oci-layout",), "a container image (OCI)"),
        (("a/b.txt",), "a tar archive"),
    ],
)
def test_tar_files_by_what_they_hold(names: tuple[str, ...], name: str, form: int) -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        for member in names:
            archive.addfile(tarfile.TarInfo(member))
    assert str(identify_opened(file)) == name
    packed = io.BytesIO(gzip.compress(file.getvalue(), mtime=0))
    assert str(identify_opened(packed)) == f"{name}, compressed with gzip"


@pytest.mark.parametrize(
    ("names", "name"),
    [
        (("version", "manifest.json", "0" * 64), "a directory with a container image (skopeo's dir)"),
        (("oci-layout", "index.json"), "a directory with a container image (OCI)"),
        (("save.Ab3x",), "a recording of Mahimahi (mm-webrecord)"),
        (("etc", "bin", "usr"), "a root tree"),
        (("a",), "a directory"),
        ((), "an empty directory"),
    ],
)  # fmt: skip
def test_directories_by_their_names(tmp_path: Path, names: tuple[str, ...], name: str) -> None:
    for one in names:
        (tmp_path / one).touch()
    assert str(identify(tmp_path)) == name


def test_ways_are_commands_that_there_are() -> None:
    """A name with blanks stays one word of a command."""
    name = shlex.quote("-a file.x")
    for kind in every_kind():
        for command in re.findall(r"`headway ([^`]*)`", kind.way.format(file=name)):
            words = shlex.split(command)
            assert words[0] in COMMANDS, kind
            assert "a file" not in command or "-a file.x" in words[1:], kind


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(WrongInputError, match="named pipe"):
        identify(tmp_path / "pipe")
    with pytest.raises(WrongInputError, match="cannot be read"):
        identify(tmp_path / "nothing")


STARTS = tuple(data for data, _ in CONTENTS)


@settings(max_examples=400)
@given(
    start=st.sampled_from(STARTS),
    at=st.integers(0, 80),
    middle=st.binary(max_size=40)
    | st.text("{}[]\"':,0123456789\n <>&\t", max_size=40).map(str.encode),
    tail=st.sampled_from(
        (b"", b"\0" * 5, b"{" * 5000, b'"a": ' * 3000, b"1 " * 20000, b"<" * 9000)
    ),
)
def test_every_content_has_a_name(start: bytes, at: int, middle: bytes, tail: bytes) -> None:
    """Whatever is changed or cut in a file, it is something, in one short line that can be printed."""
    name = str(identify_opened(io.BytesIO(start[:at] + middle + start[at:] + tail)))
    assert 0 < len(name) < 200
    assert "\n" not in name


def test_every_kind_has_a_key_of_its_own() -> None:
    keys = [kind.key for kind in every_kind()]
    assert len(keys) == len(set(keys)) > 90


@pytest.mark.parametrize(
    ("command", "noun"),
    [
        (("states", "a.har"), "a qlog file"),
        (("run", "a.har"), "a study"),
        (("validate", "a.har"), "a study"),
        (("sites", "verify", "a.har"), "an archive"),
        (("census", "a.trace"), "an export"),
        (("record", "a.trace", "--out", "x.warc.gz"), "a recording"),
        (("report", "image"), "results of Headway"),
    ],
)
def test_commands_name_what_they_were_given(
    tmp_path: Path, command: tuple[str, ...], noun: str
) -> None:
    (tmp_path / "a.har").write_bytes(text(HAR))
    (tmp_path / "a.trace").write_bytes(b"0\n3\n17\n")
    (tmp_path / "image").mkdir()
    (tmp_path / "image" / "oci-layout").touch()
    words = [sys.executable, "-m", "headway", *command]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f", not {noun}" in line
    assert "`" in line, "the message has a way"
