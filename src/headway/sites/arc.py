"""ARC files, which came before WARC (Internet Archive, ARC File Format 1.0), as records of WARC."""

from __future__ import annotations

from collections.abc import Iterator

from headway.foreign.bounds import Budget
from headway.foreign.numbers import whole_number
from headway.sites.gzipped import GZIP_MAGIC, DamagedError, beginning, members
from headway.sites.warc_parse import WarcRecord

ARC_START = b"filedesc://"
_FEWEST_WORDS = 5
_LOOKED_AT_BYTES = 512


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
    while at < len(content):
        end = content.find(b"\n", at)
        line = content[at : end if end >= 0 else len(content)].decode("latin-1").strip()
        at = end + 1 if end >= 0 else len(content)
        if not line:
            continue
        number += 1
        words = line.split(" ")
        length = whole_number(words[-1])
        if len(words) < _FEWEST_WORDS or length is None:
            raise DamagedError(
                f"damaged: record {number} does not begin with URL, address, date, type, length"
            )
        url = " ".join(words[: 1 - _FEWEST_WORDS])
        block = content[at : at + length]
        if len(block) < length:
            raise DamagedError(
                f"truncated: record {number}, {url}, has {len(block)} of {length} bytes"
            )
        at += length
        if not line.encode("latin-1").startswith(ARC_START):
            yield WarcRecord({"warc-type": "response", "warc-target-uri": url}, block)
