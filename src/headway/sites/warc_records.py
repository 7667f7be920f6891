"""Reading WARC files (ISO 28500), whoever wrote them."""

from __future__ import annotations

import contextlib
import gzip
import io
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.recordloader import ArcWarcRecord
from warcio.statusandheaders import StatusAndHeadersParserException

from headway.errors import WrongInputError
from headway.sites.http1 import Message, parsed
from headway.sites.recording import Captured

_NOT_MODIFIED_PROFILE = "server-not-modified"
_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True)
class Archive:
    """What an archive holds.

    Attributes:
        captured: its HTTP exchanges, in the order of the responses.
        name: of the site; empty if another tool wrote it, as are the others.
        page: URL that is loaded.
        description: of the site.
    """

    captured: tuple[Captured, ...]
    name: str = ""
    page: str = ""
    description: str = ""


def read_records(path: Path) -> Archive:
    """The exchanges of an archive as they were recorded, with all header fields.

    Raises:
        WrongInputError: it cannot be read, is damaged, or holds no response.
    """
    reader = _Reader()
    try:
        for record in _records(_uncompressed(path.read_bytes())):
            reader.add(record)
    except OSError as error:
        raise WrongInputError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except _BrokenError as error:
        raise WrongInputError(str(error), where=str(path)) from error
    captured = tuple(reader.captured())
    if not captured:
        raise WrongInputError("no HTTP response is in this WARC file", where=str(path))
    info = reader.info
    return Archive(
        captured, info.get("title", ""), info.get("page", ""), info.get("description", "")
    )


class _BrokenError(Exception):
    """An archive is not what it should be."""


@dataclass(frozen=True)
class _Record:
    """A record of a WARC file: its kind, its own header fields (lower case), its content."""

    kind: str
    fields: dict[str, str]
    block: bytes

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


def _uncompressed(data: bytes) -> bytes:
    """A file's content; here and not by warcio, which takes a file that was cut for a whole one.

    Raises:
        _BrokenError: its compressed data is damaged.
    """
    if not data.startswith(_GZIP_MAGIC):
        return data
    try:
        return gzip.decompress(data)
    except EOFError as error:
        raise _BrokenError("truncated: its compressed data ends too early") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise _BrokenError("damaged: its compressed data cannot be read") from error


def _records(data: bytes) -> list[_Record]:
    """All records of an uncompressed file.

    Raises:
        _BrokenError: it is not a WARC file, or is damaged.
    """
    if not data.startswith(b"WARC/"):
        raise _BrokenError("not a WARC file")
    complaints = io.StringIO()  # warcio prints what it finds odd
    try:
        with contextlib.redirect_stderr(complaints):
            records = [
                _record(record)
                for record in ArchiveIterator(io.BytesIO(data), no_record_parse=True)
            ]
    except (ArchiveLoadFailed, StatusAndHeadersParserException, ValueError) as error:
        raise _BrokenError("damaged: one of its records cannot be read") from error
    if complaints.getvalue():
        raise _BrokenError("damaged: a record does not end where its Content-Length says")
    return records


def _record(record: ArcWarcRecord) -> _Record:
    block = record.raw_stream.read() or b""
    if record.length is not None and len(block) < record.length:
        raise _BrokenError(f"truncated: its last record has {len(block)} of {record.length} bytes")
    fields = {name.lower(): value for name, value in record.rec_headers.headers}
    return _Record(record.rec_type, fields, block)


@dataclass
class _Reader:
    """Collects the records that matter, and then joins them into exchanges."""

    info: dict[str, str] = field(default_factory=dict)
    _methods: dict[str, str] = field(default_factory=dict)  # by record ID of request or response
    _responses: list[tuple[_Record, Message | None]] = field(default_factory=list)

    def add(self, record: _Record) -> None:
        """Take one more record; what it is decides what becomes of it."""
        if record.kind == "warcinfo":
            self._add_info(record.block.decode(errors="replace"))
        elif record.kind == "request":
            self._add_request(record)
        elif record.kind in ("response", "revisit"):
            self._add_response(record)

    def captured(self) -> Iterable[Captured]:
        """The exchanges, revisits with the body that they refer to."""
        for record, message in self._responses:
            if record.kind == "revisit":
                message = self._revisited(record, message)
            if message is not None:
                yield Captured(
                    self._method(record),
                    record.url,
                    message.status,
                    message.headers,
                    message.body,
                    protocol=record.fields.get("warc-protocol", ""),
                )

    def _add_info(self, text: str) -> None:
        for line in text.splitlines():
            name, colon, value = line.partition(":")
            if colon:
                self.info[name.strip()] = value.strip()

    def _add_request(self, record: _Record) -> None:
        message = parsed(record.block)
        if message is not None:
            self._methods.update(dict.fromkeys(record.pair, message.method))

    def _add_response(self, record: _Record) -> None:
        message = parsed(record.block)
        if record.kind == "revisit" or (message is not None and message.status):
            self._responses.append((record, message))

    def _method(self, record: _Record) -> str:
        """The method of the request that a response answers; requests are optional, and most are GET."""
        found = (
            self._methods[record_id] for record_id in record.pair if record_id in self._methods
        )
        return next(found, "GET")

    def _revisited(self, revisit: _Record, own: Message | None) -> Message | None:
        """The response of a revisit record; None if what it refers to is not in the file."""
        original = self._original(revisit)
        if original is None:
            return None
        unchanged = _NOT_MODIFIED_PROFILE in revisit.fields.get("warc-profile", "")
        if own is None or not own.status or unchanged:
            return original
        return replace(own, body=original.body)

    def _original(self, revisit: _Record) -> Message | None:
        """What a revisit refers to: by record, else by URL, else by digest of the payload."""
        for name, of_record in (
            ("warc-refers-to", "warc-record-id"),
            ("warc-refers-to-target-uri", "warc-target-uri"),
            ("warc-payload-digest", "warc-payload-digest"),
        ):
            wanted = revisit.reference(name)
            for record, message in self._responses:
                if wanted and record.kind == "response" and record.reference(of_record) == wanted:
                    return message
        return None
