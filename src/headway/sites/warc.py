"""Archives of sites: WARC files (ISO 28500), Headway's own and other tools'."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import tempfile
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from warcio.recordloader import ArcWarcRecord
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from headway.errors import HeadwayError
from headway.sites.firstpage import find_page
from headway.sites.http1 import request_message, response_message
from headway.sites.recording import check_responses, site_name
from headway.sites.revisits import resolved
from headway.sites.shortfall import Kept
from headway.sites.sifting import sifted, without_kept
from headway.sites.site import Exchange, Lost, Site
from headway.sites.urls import as_asked
from headway.sites.warc_records import COST, KEPT, LOST, read_records
from headway.version import VERSION

_VERSION = "WARC/1.1"
_CONFORMS_TO = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
_WARCINFO = "application/warc-fields"
_REQUEST = "application/http; msgtype=request"
_RESPONSE = "application/http; msgtype=response"
_NOT_RECORDED = datetime(2026, 1, 1, tzinfo=UTC)

_Fields = list[tuple[str, str]]


def write_archive(site: Site, path: Path, *, recorded: datetime = _NOT_RECORDED) -> None:
    """Write a site's archive, completely or not at all; one that is there is replaced.

    Equal sites give equal files if they are recorded at the same time.

    Args:
        site: what to write.
        path: of the file.
        recorded: when; a site that was made and not recorded has a fixed date.

    Raises:
        HeadwayError: it cannot be written.
    """
    try:
        descriptor, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                _Writer(file, site, recorded).write()
            Path(partial).chmod(0o644)
            Path(partial).replace(path)
        finally:
            Path(partial).unlink(missing_ok=True)
    except OSError as error:
        raise HeadwayError(f"cannot write {path}: {error.strerror}") from error


def read_archive(path: Path) -> Site:
    """The site of an archive, with the header fields that are replayed.

    What cannot be replayed is left out. Archives of other tools name no page: theirs is the first
    HTML page in them.

    Raises:
        WrongInputError: it cannot be read, is damaged, or holds no page.
    """
    (archive,) = resolved([read_records(path)])
    check_responses([archive], path)
    result = sifted(archive.captured)
    return Site(
        archive.name or site_name(path),
        as_asked(archive.page) or find_page(result, str(path)),
        result.exchanges,
        archive.description,
        without_kept(result.exchanges, (*result.lost, *archive.lost)),
    )


class _Writer:
    """Writes a site's records.

    Identifiers are derived from the content, so that equal sites give equal files.
    """

    def __init__(self, file: BinaryIO, site: Site, recorded: datetime) -> None:
        self._writer = WARCWriter(file, gzip=True, warc_version=_VERSION)
        self._site = site
        self._date = recorded.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def write(self) -> None:
        site = self._site
        info = {
            "software": f"Headway {VERSION}",
            "format": "WARC File Format 1.1",
            "conformsTo": _CONFORMS_TO,
            "title": site.name,
            "page": site.page,
            "description": site.description,
        }
        self._record("warcinfo", _WARCINFO, _named(info), self._id("warcinfo"), [])
        for index, exchange in enumerate(site.exchanges):
            self._exchange(index, exchange)
        for index, lost in enumerate(site.lost):
            self._lost(index, lost)

    def _exchange(self, index: int, exchange: Exchange) -> None:
        request_id, response_id = self._id(f"request {index}"), self._id(f"response {index}")
        target = ("WARC-Target-URI", exchange.url)
        concurrent = ("WARC-Concurrent-To", response_id)
        request, response = request_message(exchange), response_message(exchange)
        more = [target, concurrent, _payload_digest(b"")]
        self._record("request", _REQUEST, request, request_id, more)
        more = [target, _payload_digest(exchange.body)]
        if exchange.protocol:
            more.append(("WARC-Protocol", exchange.protocol))
        if exchange.cost:
            more.append((COST, exchange.cost.written()))
        if shortfall := exchange.shortfall:
            if shortfall.kept is Kept.PART:
                more.append(("WARC-Truncated", "unspecified"))
            more.append((KEPT, f"{shortfall.kept}; {_line(shortfall.reason)}"))
        self._record("response", _RESPONSE, response, response_id, more)

    def _lost(self, index: int, lost: Lost) -> None:
        """A note of a response that was left out, so that it is known why a load does not get it."""
        values = {"method": lost.method, "status": lost.status, LOST: lost.shortfall.reason}
        target = ("WARC-Target-URI", lost.url)
        self._record("metadata", _WARCINFO, _named(values), self._id(f"lost {index}"), [target])

    def _id(self, what: str) -> str:
        return f"<{uuid.uuid5(uuid.NAMESPACE_URL, f'{self._site.page} {self._date} {what}').urn}>"

    def _record(self, kind: str, content: str, block: bytes, record_id: str, more: _Fields) -> None:
        # The block is given as bytes: warcio would escape what is not ASCII in header fields.
        fields = [
            ("WARC-Type", kind),
            ("WARC-Record-ID", record_id),
            ("WARC-Date", self._date),
            *more,
        ]
        headers = StatusAndHeaders("", fields, protocol=_VERSION)
        self._writer.write_record(
            ArcWarcRecord("warc", kind, headers, io.BytesIO(block), None, content, len(block))
        )


def _named(fields: Mapping[str, object]) -> bytes:
    """Named fields, one a line; those without a value are left out."""
    return "".join(
        f"{name}: {_line(str(value))}\r\n" for name, value in fields.items() if value
    ).encode()


def _line(text: str) -> str:
    """A text of others as a field has it: in one line, and of characters that UTF-8 has."""
    return " ".join(text.encode(errors="replace").decode().split())


def _payload_digest(body: bytes) -> tuple[str, str]:
    digest = hashlib.sha1(body, usedforsecurity=False).digest()
    return "WARC-Payload-Digest", f"sha1:{base64.b32encode(digest).decode()}"
