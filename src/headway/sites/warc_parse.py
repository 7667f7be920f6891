"""The records of a WARC file (ISO 28500), one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from headway.foreign.bounds import Budget
from headway.foreign.numbers import whole_number
from headway.sites.gzipped import GZIP_MAGIC, DamagedError, members

_START = b"WARC/"
_OTHER = "not a WARC file"
_LINE_END = re.compile(rb"\r*\n")
_HEAD_END = re.compile(rb"\r*\n\r*\n")
_LINE = re.compile(r"\r*\n")
_FOLDED = re.compile(r"\r*\n[ \t]+")


@dataclass(frozen=True)
class WarcRecord:
    """A record: its own header fields (names in lower case), its content."""

    fields: dict[str, str]
    block: bytes

    @property
    def kind(self) -> str:
        """What it holds: a request, a response and others."""
        return self.fields.get("warc-type", "").lower()

    def reference(self, field: str) -> str:
        """Value of a field that holds a URI or a digest; empty without it."""
        return self.fields.get(field, "").strip("<> ")

    @property
    def url(self) -> str:
        """What was requested."""
        return self.reference("warc-target-uri")

    @property
    def pair(self) -> tuple[str, ...]:
        """Record IDs by which a request and its response find each other."""
        ids = (self.reference("warc-record-id"), self.reference("warc-concurrent-to"))
        return tuple(record_id for record_id in ids if record_id)


def read_all(data: bytes, budget: Budget) -> list[WarcRecord]:
    """All records of a file, compressed or not.

    Raises:
        DamagedError: it is not a WARC file, or is damaged.
        TooMuchContentError: it holds more than the budget has.
    """
    records: list[WarcRecord] = []
    for piece in pieces(data, budget):
        if not piece.lstrip(b"\r\n").startswith(_START):
            raise DamagedError("damaged: a record does not begin with WARC/" if records else _OTHER)
        records += _records(piece, len(records))
    if not records:
        raise DamagedError(_OTHER)
    return records


def pieces(data: bytes, budget: Budget) -> Iterator[bytes]:
    """Content of a file that can be read by itself: as a rule, each record is a gzip member of its own.

    What a member says of its length cannot then reach beyond it. Others compress all records together, or in
    blocks that end anywhere.

    Raises:
        DamagedError: its compressed data is damaged, or was cut.
        TooMuchContentError: it holds more than the budget has.
    """
    if not data.startswith(GZIP_MAGIC):
        yield data
        return
    piece = b""
    for member in members(data, budget):
        if member.startswith(_START) and piece:
            yield piece
            piece = b""
        piece += member
    yield piece


def head_text(head: bytes) -> str:
    """Text of a record's head: UTF-8, and ISO-8859-1 if it cannot be."""
    try:
        return head.decode()
    except UnicodeDecodeError:
        return head.decode("latin-1")


def _records(piece: bytes, before: int) -> Iterator[WarcRecord]:
    """The records of a piece; `before` are how many came before it."""
    at = _after_lines(piece, 0)
    number = before
    while at < len(piece):
        number += 1
        record, at = _record(piece, at, number)
        yield record


def _record(piece: bytes, at: int, number: int) -> tuple[WarcRecord, int]:
    """A record, and where the next one begins."""
    head_end = _HEAD_END.search(piece, at)
    if head_end is None:
        raise DamagedError(f"truncated: the head of record {number} ends too early")
    fields = _fields(piece[at : head_end.start()])
    url = WarcRecord(fields, b"").url
    name = f"record {number}, {url}," if url else f"record {number}"
    length = whole_number(fields.get("content-length", ""))
    if length is None:
        raise DamagedError(f"damaged: {name} has no valid Content-Length")
    end = head_end.end() + length
    block = piece[head_end.end() : end]
    if len(block) < length:
        raise DamagedError(f"truncated: {name} has {len(block)} of {length} bytes")
    after = _after_lines(piece, end)
    if after < len(piece) and not piece.startswith(_START, after):
        raise DamagedError(f"damaged: {name} does not end where its Content-Length says")
    return WarcRecord(fields, block), after


def _after_lines(piece: bytes, at: int) -> int:
    """Where what is no end of a line begins: records are followed by two, more or less."""
    while match := _LINE_END.match(piece, at):
        at = match.end()
    return at


def _fields(head: bytes) -> dict[str, str]:
    """The named fields of a record's head, without its first line."""
    _, *lines = _LINE.split(_FOLDED.sub(" ", head_text(head)))
    pairs = (line.partition(":") for line in lines)
    return {name.strip().lower(): value.strip() for name, colon, value in pairs if colon}
