"""ARC files, which came before WARC (Internet Archive, ARC File Format 1.0), as records of WARC."""

from __future__ import annotations

import re
from collections.abc import Iterator

from headway.foreign.bounds import Budget
from headway.foreign.numbers import whole_number
from headway.sites.gzipped import GZIP_MAGIC, DamagedError, beginning, members
from headway.sites.warc_parse import WarcRecord, head_text

ARC_START = b"filedesc://"
_LOOKED_AT_BYTES = 512
_LINE = re.compile(
    r"(?P<url>.*) (?P<address>[0-9A-Fa-f.:]+|\S+) (?P<date>\d{14}|\d{12}) (?P<rest>.*)"
)
"""URL, address and date; behind them are a type, which may have spaces, and of version 2 five more fields, and at the
end of both the length."""
_WORDS_BEHIND_URL = {b"1": 4, b"2": 9}
"""By version: how many fields follow the URL."""


def is_arc(data: bytes) -> bool:
    """Whether a file, compressed or not, is an ARC file."""
    return beginning(data[:_LOOKED_AT_BYTES]).startswith(ARC_START)


def read_arc(data: bytes, budget: Budget) -> Iterator[WarcRecord]:
    """The responses of a file, compressed or not: a line each with URL, address, date, type and length, and content.

    Raises:
        DamagedError: it is damaged.
        TooMuchContentError: it holds more than the budget has.
    """
    content = b"".join(members(data, budget)) if data.startswith(GZIP_MAGIC) else data
    at = number = 0
    version = b"1"
    while at < len(content):
        end = content.find(b"\n", at)
        line = head_text(content[at : end if end >= 0 else len(content)]).strip()
        at = end + 1 if end >= 0 else len(content)
        if not line:
            continue
        number += 1
        length = whole_number(line.rpartition(" ")[2])
        fields = _fields(line, version)
        if fields is None or length is None:
            raise DamagedError(
                f"damaged: record {number} does not begin with URL, address, date, type, length"
            )
        block = content[at : at + length]
        if len(block) < length:
            raise DamagedError(
                f"truncated: record {number}, {fields['warc-target-uri']}, has {len(block)} of {length} bytes"
            )
        at += length
        if line.startswith(ARC_START.decode()):
            version = block[:1]  # of the records that follow
        else:
            yield WarcRecord(fields, block)


def _fields(line: str, version: bytes) -> dict[str, str] | None:
    """What a record's line says, by the names of WARC; None if it is none.

    URLs and types may have spaces; address and date of 14 digits tell where the URL ends. Of a line with another date,
    words are counted from its end.
    """
    if match := _LINE.fullmatch(line):
        url, date = match["url"], match["date"]
    else:
        words = line.split(" ")
        behind = _WORDS_BEHIND_URL.get(version, 4)
        if len(words) <= behind:
            return None
        url, date = " ".join(words[:-behind]), words[1 - behind]
    return {"warc-type": "response", "warc-target-uri": url, "warc-date": date}
