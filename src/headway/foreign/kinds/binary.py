"""Kinds that are told by their first bytes."""

from __future__ import annotations

import codecs
import re
import struct
from dataclasses import dataclass

from headway.foreign.kinds.beginning import Beginning
from headway.foreign.kinds.model import FileKind, Identity

_RECORD = "save the page as a HAR file with content instead, or record its URL: `headway record URL --out SITE.warc.gz`"
_UNPACK = "unpack it first: `{} {{file}}`"
_SERVE = "serve it and record its URL: `headway record http://localhost:8000/ --map shop.test=localhost:8000 --out SITE.warc.gz`"
ENCRYPTED = "its content is encrypted; record with a browser or mitmproxy, or give its round trip and rate to `[path]`"


@dataclass(frozen=True)
class _Start:
    """How files of a kind begin."""

    start: re.Pattern[bytes]
    kind: FileKind


def _mark(start: bytes, key: str, noun: str, way: str = "") -> _Start:
    return _Start(re.compile(start, re.DOTALL), FileKind(key, noun, way))


PCAP = FileKind("pcap", "a capture of packets (pcap {})", ENCRYPTED)
PCAPNG = FileKind("pcapng", "a capture of packets (pcapng {})", ENCRYPTED)
WARC = FileKind(
    "warc",
    "a WARC {} file",
    "`headway record {file} --out SITE.warc.gz`",
    reads="0.17 to 1.1, compressed or not: responses and revisits, whose originals may be in any of the files that are named together; requests, metadata, resources and conversions are left out",
)
ARC = FileKind(
    "arc",
    "an ARC {} file",
    "`headway record {file} --out SITE.warc.gz`",
    reads="1 and 2, compressed or not: responses by HTTP",
)
FLOWS = FileKind(
    "flows",
    "a mitmproxy flow file",
    "`headway record {file} --out SITE.warc.gz`",
    reads="of mitmproxy 0.16 and newer: HTTP; older ones after `mitmdump -n -r OLD -w NEW`",
)
EMPTY = FileKind("empty", "an empty file", is_defect=True)
_FLOW = re.compile(rb"\d+:\d+:\w+[;,]")
"""A dictionary of netstrings, whose first key it is (https://tnetstrings.info)."""
_PCAP_BYTES = 8
_MARKS = (
    _mark(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", "zstd", "a file compressed with Zstandard", _UNPACK.format("zstd -d")),
    _mark(rb"\xfd7zXZ\0", "xz", "a file compressed with xz", _UNPACK.format("xz -d")),
    _mark(rb"BZh[1-9]", "bzip2", "a file compressed with bzip2", _UNPACK.format("bzip2 -d")),
    _mark(rb"\x04\x22\x4d\x18", "lz4", "a file compressed with LZ4", _UNPACK.format("lz4 -d")),
    _mark(rb"LZIP", "lzip", "a file compressed with lzip", _UNPACK.format("lzip -d")),
    _mark(rb"\x1f\x9d", "compress", "a file compressed with compress", _UNPACK.format("uncompress")),
    _mark(rb"7z\xbc\xaf\x27\x1c", "7z", "a 7z archive", _UNPACK.format("7z x")),
    _mark(rb"Rar!\x1a\x07", "rar", "a RAR archive", _UNPACK.format("unrar x")),
    _mark(rb"\x89PNG\r\n\x1a\n", "png", "a picture (PNG)", _RECORD),
    _mark(rb"\xff\xd8\xff", "jpeg", "a picture (JPEG)", _RECORD),
    _mark(rb"GIF8[79]a", "gif", "a picture (GIF)", _RECORD),
    _mark(rb"RIFF....WEBP", "webp", "a picture (WebP)", _RECORD),
    _mark(rb"%PDF-", "pdf", "a PDF document", _RECORD),
    _mark(rb"....ftyp", "mp4", "a video (MP4)", "name the MPD that it belongs to in `workload.mpd`, or write one: `headway video make --help`"),
    _mark(rb"....(styp|sidx|moof)", "segment", "a segment of a video (MP4)", "name the MPD that it belongs to in `workload.mpd`"),
    _mark(rb"\x1a\x45\xdf\xa3", "webm", "a video (Matroska or WebM)", "write its segments and an MPD with a packager"),
    _mark(rb"HWSENDER", "hwtrace", "a compact trace of a sender of Headway's", "`headway states {file}`"),
    _mark(rb"\x7fELF", "elf", "a program (ELF)", "`headway exec -- {file}` runs it; `headway check` compares two builds"),
    _mark(rb"\x00asm", "wasm", "a WebAssembly module"),
    _mark(rb"PAR1", "parquet", "a Parquet table", "`headway census {file}`, if it is an export of the HTTP Archive"),
    _mark(rb"SQLite format 3\0", "sqlite", "an SQLite database"),
    _mark(rb"hsqs|sqsh", "squashfs", "a file system (squashfs)", "unpack it and name the directory: `unsquashfs {file}`"),
    _mark(rb"QFI\xfb", "qcow", "a disk of a virtual machine (qcow2)"),
    _mark(rb"!<arch>\ndebian-binary", "deb", "a Debian package", "unpack it and name its tree: `dpkg -x {file} TREE`"),
    _mark(rb"\xed\xab\xee\xdb", "rpm", "an RPM package", "unpack it and name its tree: `rpm2cpio {file} | cpio -id`"),
    _mark(rb"snoop\0\0\0", "snoop", "a capture of packets (snoop)", ENCRYPTED),
    _mark(rb"bplist00", "plist", "a property list of Apple", _RECORD),
)  # fmt: skip


def binary_kind(start: Beginning) -> Identity | None:
    """What begins so; None if other marks have to tell."""
    data = start.data.removeprefix(codecs.BOM_UTF8)
    if start.is_whole and not data.strip(b"\0"):
        return Identity(EMPTY)
    if data.startswith(b"WARC/"):
        return _warc(data)
    if data.startswith(b"filedesc://"):
        return _arc(data)
    if identity := _capture(data):
        return identity
    if _FLOW.match(data):
        return Identity(FLOWS)
    return next((Identity(mark.kind) for mark in _MARKS if mark.start.match(data)), None)


def _warc(data: bytes) -> Identity:
    first, _, rest = data.partition(b"\n")
    software = re.search(rb"(?im)^software: *([^\r\n]{1,80})", rest)
    return Identity(WARC, first[5:].strip().decode("latin-1"), _latin(software))


def _arc(data: bytes) -> Identity:
    """An ARC file: its second line has its version and the name of who made it."""
    line = data.partition(b"\n")[2].partition(b"\n")[0]
    version = re.match(rb"([12]) ([01]) ([^\r\n]{1,40})", line)
    if version is None:
        return Identity(ARC)
    return Identity(ARC, version[1].decode(), version[3].strip().decode("latin-1"))


def _capture(data: bytes) -> Identity | None:
    """A capture of packets, by its magic number in either order of bytes, in micro- or nanoseconds."""
    magic = data[:4]
    for order, byte_order in (("<", "little"), (">", "big")):
        value = int.from_bytes(magic, byte_order)  # type: ignore[arg-type]
        if value in (0xA1B2C3D4, 0xA1B23C4D, 0xA1B2CD34) and len(data) >= _PCAP_BYTES:
            major, minor = struct.unpack(f"{order}HH", data[4:8])
            return Identity(PCAP, f"{major}.{minor}")
    if magic == b"\x0a\x0d\x0d\x0a":
        return Identity(PCAPNG, "1.0")
    return None


def _latin(match: re.Match[bytes] | None) -> str:
    return match[1].strip().decode("latin-1") if match else ""
