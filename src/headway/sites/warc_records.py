"""Reading WARC files (ISO 28500), whoever wrote them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from headway.errors import WrongInputError
from headway.foreign.bounds import RECORDING, Budget, TooMuchContentError
from headway.foreign.files import read_regular
from headway.foreign.numbers import whole_number
from headway.sites.arc import is_arc, read_arc
from headway.sites.captured import (
    NOTHING_TOLD,
    Captured,
    Original,
    RecordedFile,
    Revisit,
    Told,
)
from headway.sites.cost import read_cost
from headway.sites.digests import broken_digest
from headway.sites.gzipped import DamagedError, compressed_once
from headway.sites.http1 import Message, parsed
from headway.sites.instants import instant_s
from headway.sites.ordering import in_time
from headway.sites.shortfall import Kept, Shortfall
from headway.sites.site import Lost
from headway.sites.warc_parse import WarcRecord, read_all

_DIGEST = "warc-payload-digest"
_NOT_MODIFIED_PROFILE = "server-not-modified"
LOST = "not-kept"
"""Field of a metadata record for a response that was left out: why its body was not kept."""
_NO_MESSAGE = Message(("", ""), (), b"")
"""Of a revisit that says nothing of its response."""
COST = "headway-main-thread"
"""Field of a response: what it cost the browser's main thread that recorded it."""
KEPT = "headway-kept"
"""Field of a response record that tells how much of its body is there, and why not all."""


def read_records(path: Path) -> RecordedFile:
    """The exchanges of an archive as they were recorded, with all header fields.

    Raises:
        WrongInputError: it cannot be read, or is damaged.
    """
    data = read_regular(path)
    return archive_of([data], path, RECORDING.budget(len(data)))


def archive_of(contents: Iterable[bytes], path: Path, budget: Budget) -> RecordedFile:
    """The exchanges of WARC or ARC files that belong together, in the order in which they began.

    Revisits have no bodies yet; see `revisits.resolved`.

    Args:
        contents: of the files.
        path: where they are from.
        budget: what they may hold, all together.

    Raises:
        WrongInputError: one is damaged or holds too much.
    """
    reader = _Reader()
    try:
        for content in contents:
            data = compressed_once(content, budget)
            for record in (read_arc if is_arc(data) else read_all)(data, budget):
                reader.add(record)
    except (DamagedError, TooMuchContentError) as error:
        raise WrongInputError(str(error), where=str(path)) from error
    originals = tuple(reader.originals())
    captured = [original.captured for original in originals]
    info = reader.info
    return RecordedFile(
        tuple(in_time(captured, [exchange.began_s for exchange in captured])),
        info.get("title", ""),
        info.get("page", ""),
        info.get("description", ""),
        tuple(reader.lost),
        originals=originals,
    )


@dataclass
class _Reader:
    """Collects the records that matter, and then joins requests and responses."""

    info: dict[str, str] = field(default_factory=dict)
    lost: list[Lost] = field(default_factory=list)
    _methods: dict[str, str] = field(default_factory=dict)  # by record ID of request or response
    _responses: list[tuple[WarcRecord, Message | None]] = field(default_factory=list)

    def add(self, record: WarcRecord) -> None:
        """Take one more record; what it is decides what becomes of it."""
        if record.kind == "warcinfo":
            self._add_info(record.block.decode(errors="replace"))
        elif record.kind == "request":
            self._add_request(record)
        elif record.kind in ("response", "revisit"):
            self._add_response(record)
        elif record.kind == "metadata":
            self._add_lost(record)

    def originals(self) -> Iterator[Original]:
        """The exchanges, with what revisits may call them."""
        for record, message in self._responses:
            revisit = _revisit(record) if record.kind == "revisit" else None
            captured = self._captured(record, message, revisit)
            yield Original(captured, record.reference("warc-record-id"), record.reference(_DIGEST))

    def _add_info(self, text: str) -> None:
        self.info.update(_named(text))

    def _add_lost(self, record: WarcRecord) -> None:
        """Take what Headway notes of a response that it left out."""
        texts = _named(record.block.decode(errors="replace"))
        if why := texts.get(LOST):
            status = texts.get("status", "")
            shortfall = Shortfall(Kept.NOT, why)
            self.lost.append(
                Lost(
                    texts.get("method", "GET"),
                    record.url,
                    whole_number(status) or 0,
                    shortfall,
                )
            )

    def _add_request(self, record: WarcRecord) -> None:
        message = parsed(record.block)
        if message is not None:
            self._methods.update(dict.fromkeys(record.pair, message.method))

    def _add_response(self, record: WarcRecord) -> None:
        message = parsed(record.block)
        if record.kind == "revisit" or (message is not None and message.status):
            self._responses.append((record, message))

    def _method(self, record: WarcRecord) -> str:
        """The method of the request that a response answers; requests are optional, and most are GET."""
        texts = (
            self._methods[record_id] for record_id in record.pair if record_id in self._methods
        )
        return next(texts, "GET")

    def _captured(
        self, record: WarcRecord, message: Message | None, revisit: Revisit | None
    ) -> Captured:
        """What a record says; of a revisit that has no message, no status and no fields."""
        message = message or _NO_MESSAGE
        statement = Told(cut=_cut(record, message), doubt=_doubt(record, message))
        return Captured(
            self._method(record),
            record.url,
            message.status,
            message.headers,
            None if revisit else message.body,
            protocol=record.fields.get("warc-protocol", ""),
            told=NOTHING_TOLD if revisit else statement,
            began_s=instant_s(record.fields.get("warc-date")),
            revisit=revisit,
            cost=read_cost(record.fields.get(COST, "")),
        )


def _revisit(record: WarcRecord) -> Revisit:
    return Revisit(
        record=record.reference("warc-refers-to"),
        url=record.reference("warc-refers-to-target-uri"),
        instant_s=instant_s(record.fields.get("warc-refers-to-date")),
        digest=record.reference(_DIGEST),
        is_unchanged=_NOT_MODIFIED_PROFILE in record.fields.get("warc-profile", ""),
    )


def _named(text: str) -> dict[str, str]:
    """Named fields, one a line."""
    pairs = (line.partition(":") for line in text.splitlines())
    return {name.strip(): value.strip() for name, colon, value in pairs if colon}


def _cut(record: WarcRecord, message: Message) -> str:
    """Why a response's body is not all of it; empty if nothing says so."""
    kept, _, reason = record.fields.get(KEPT, "").partition("; ")
    if kept == Kept.PART:
        return reason
    why = f"WARC-Truncated: {text}" if (text := record.fields.get("warc-truncated")) else ""
    return f"{message.cut} ({why})" if message.cut and why else message.cut or why


def _doubt(record: WarcRecord, message: Message) -> str:
    """What of a response's body cannot be right; empty if nothing is known."""
    kept, _, reason = record.fields.get(KEPT, "").partition("; ")
    return reason if kept == Kept.CONTRADICTED else message.doubt or broken_digest(record, message)
