"""Which kind of recording a file is, by its content, and what to do with kinds that are not read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from headway.sites.arc import ARC_START
from headway.sites.gzipped import GZIP_MAGIC, beginning
from headway.sites.zipped import ZIP_START

LOOKED_AT_BYTES = 4096
_MARKS = b"\xef\xbb\xbf \t\r\n"


class Format(Enum):
    """Kinds of files that are read."""

    WARC = auto()
    HAR = auto()
    FLOWS = auto()
    ZIP = auto()
    WPR = auto()


@dataclass(frozen=True)
class _Other:
    """A kind of file that is not read.

    Attributes:
        start: how it begins.
        what: what it is, and what to do.
    """

    start: re.Pattern[bytes]
    what: str


def _other(start: bytes, what: str) -> _Other:
    return _Other(re.compile(start, re.DOTALL), what)


_UNPACK = "compressed with {0}; unpack it first (`{1}`)"
_OTHERS = (
    _other(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", _UNPACK.format("Zstandard", "zstd -d")),
    _other(rb"\xfd7zXZ\0", _UNPACK.format("xz", "xz -d")),
    _other(rb"BZh", _UNPACK.format("bzip2", "bzip2 -d")),
    _other(rb".{257}ustar", _UNPACK.format("tar", "tar -x")),
    _other(
        rb"\xd4\xc3\xb2\xa1|\xa1\xb2\xc3\xd4|\x4d\x3c\xb2\xa1|\xa1\xb2\x3c\x4d|\x0a\x0d\x0d\x0a",
        "a capture of packets, whose content is encrypted; record with a browser or mitmproxy",
    ),
    _other(
        rb"(From: |MIME-Version: |Snapshot-Content-Location: )",
        "a page saved as one file (MHTML), without requests and header fields; record its URL",
    ),
    _other(
        rb"(?i)\s*<(!doctype html|html|\?xml|mpd)",
        "a document and no recording; serve it and record its URL, as `headway record "
        "http://localhost:8000/ --map shop.test=localhost:8000`",
    ),
    _other(
        rb'\{\s*"constants"',
        "a NetLog of Chromium, which has no bodies; save a HAR file with content",
    ),
    _other(
        rb'[\[{]\s*("traceEvents"|\{\s*"(args|cat|name|ph|pid)")',
        "a trace of Chromium, which has no bodies; save a HAR file with content",
    ),
    _other(rb"\[", "a list in JSON; from Charles and others, export the session as HAR"),
    _other(
        rb"(?s)[^\n]*\) ?/?[^\n]* \d{14} \{|\S+\)\S* \d{14} ",
        "an index of web archives (CDX), without content; name the WARC files that it is of",
    ),
)
_UNKNOWN = "neither a WARC, nor a HAR, nor a mitmproxy flow file"


def format_of(start: bytes) -> Format | str:
    """What reads a file that begins so, compressed with gzip or not; or why nothing does."""
    is_gzip = start.startswith(GZIP_MAGIC)
    content = beginning(start)
    if content.startswith((b"WARC/", ARC_START)) or (is_gzip and not content):
        return Format.WARC
    if content.startswith(ZIP_START):
        return Format.ZIP
    text = content.lstrip(_MARKS)
    if re.match(rb'\{\s*"Requests"', text):
        return Format.WPR
    if other := next((one.what for one in _OTHERS if one.start.match(content)), None):
        return f"it is {other}" if other.startswith("compressed") else other
    if text.startswith(b"{"):
        return Format.HAR
    return Format.FLOWS if content.partition(b":")[0].isdigit() else _UNKNOWN
