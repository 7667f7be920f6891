"""Reading qlog files event by event, whatever their size and however they end.

Three forms of draft-ietf-quic-qlog-main-schema and its predecessors: one JSON document with all traces; a sequence of
JSON texts, each after a record separator (RFC 7464), the header first; and the same with a text a line (NDJSON). What
a document's objects hold has no order, so a document is read twice: for its headers, and for its events. A file that
is cut short, because its writer was killed, gives all events before the cut.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from headway.diagnosis.qlog_forms import Event, EventForm, is_delta, time_format
from headway.diagnosis.qlog_text import (
    SEPARATOR,
    CutError,
    NotQlogError,
    QlogText,
    decoded_record,
    open_text,
    table,
)

Wanted = Callable[[str], bool]
"""Tells of an event's JSON text whether it is worth decoding."""
_OF_QLOG = frozenset({"qlog_version", "qlog_format", "file_schema", "serialization_format"})
_TIME_FORMAT, _GROUP = '"time_format"', '"group_id"'
"""What an event may say itself: how its time counts, and which connection it is of."""


@dataclass
class TraceEvents:
    """One trace of a file: a connection as one end sees it.

    Attributes:
        header: what the trace says of itself.
        events: in one form, see `headway.diagnosis.qlog_forms`.
        document: what the file says of itself.
    """

    header: dict[str, Any]
    events: Iterator[Event] = field(default_factory=lambda: iter(()))
    document: dict[str, Any] = field(default_factory=dict)


def read_traces(file: Path, wanted: Wanted = lambda _: True) -> Iterator[TraceEvents]:
    """The traces of a file; take the events of one before asking for the next.

    Args:
        file: in any form, compressed with gzip or not.
        wanted: in a sequence, events whose text it refuses are left out without decoding, but for the first and the last.

    Raises:
        NotQlogError: the file is not qlog.
    """
    with open_text(file) as opened:
        text = QlogText(opened)
        if text.begins() == SEPARATOR:
            yield from _sequence(text.records(), wanted)
            return
        outline = _outline(text)
        if "trace" in outline.document:
            yield _of_records(outline.document, text.lines(), wanted)
            return
    with open_text(file) as opened, suppress(CutError):
        yield from _document(QlogText(opened), outline)


def read_document(file: Path) -> dict[str, Any]:
    """What a file says of itself, beside its traces.

    Raises:
        NotQlogError: the file is not qlog.
    """
    with open_text(file) as opened:
        text = QlogText(opened)
        if text.begins() == SEPARATOR:
            return decoded_record(next(text.records(), "")) or {}
        return _outline(text).document


@dataclass
class _Outline:
    """What a document says beside its events."""

    document: dict[str, Any] = field(default_factory=dict)
    headers: list[dict[str, Any]] = field(default_factory=list)
    has_traces: bool = False
    is_cut: bool = True


def _outline(text: QlogText) -> _Outline:
    """Read all of a document but its events.

    Raises:
        NotQlogError: it is none of qlog.
    """
    outline = _Outline()
    begins = text.begins()
    if begins != "{":
        raise NotQlogError(_odd(begins))
    with suppress(CutError):
        for key in text.members():
            if key != "traces":
                outline.document[key] = text.value()
                continue
            outline.has_traces = True
            for _ in text.items():
                header: dict[str, Any] = {}
                outline.headers.append(header)
                _read_header(text, header)
        outline.is_cut = False
    if (
        outline.has_traces
        or (outline.is_cut and not outline.document)
        or not _OF_QLOG.isdisjoint(outline.document)
    ):
        _check_version(outline)
        return outline
    known = ", ".join(map(repr, list(outline.document)[:4])) or "nothing"
    raise NotQlogError(
        f"is not qlog: its JSON object has {known[:200]}, and neither qlog_version nor traces"
    )


def _check_version(outline: _Outline) -> None:
    if not outline.has_traces and "connections" in outline.document:
        version = str(outline.document.get("qlog_version", "?"))[:20]
        raise NotQlogError(
            f"is qlog {version} of before the drafts, which is not read; drafts 00 to 02, 0.3 and 0.4 are"
        )


def _odd(begins: str) -> str:
    if not begins:
        return "is not qlog: it is empty"
    return f"is not qlog: it begins with {begins!r}, and neither with {{ nor a record separator"


def _read_header(text: QlogText, header: dict[str, Any]) -> None:
    """Read a trace but its events, as far as it goes."""
    for key in text.members():
        if key == "events":
            for _ in text.items():
                text.value()
        else:
            header[key] = text.value()


def _document(text: QlogText, outline: _Outline) -> Iterator[TraceEvents]:
    """Every trace of a document whose headers are known."""
    headers = iter(outline.headers)
    for key in text.members():
        if key != "traces":
            text.value()
            continue
        for _ in text.items():
            header = next(headers, {})
            for inner in text.members():
                if inner != "events":
                    text.value()
                    continue
                events = _in_form(header, _values(text))
                yield TraceEvents(header, events, outline.document)
                for _ in events:
                    pass
                break
            else:
                yield TraceEvents(header, iter(()), outline.document)
                continue
            for _ in text.members_left():
                text.value()


def _values(text: QlogText) -> Iterator[Any]:
    with suppress(CutError):
        for _ in text.items():
            yield text.value()


def _in_form(header: dict[str, Any], raw: Iterable[object]) -> Iterator[Event]:
    form = EventForm.of(header)
    for entry in raw:
        if (event := form.event(entry)) is not None:
            yield event


def _sequence(records: Iterator[str], wanted: Wanted) -> Iterator[TraceEvents]:
    document = decoded_record(next(records, ""))
    if document is None:
        return  # it is cut in its header
    if "trace" not in document and _OF_QLOG.isdisjoint(document):
        raise NotQlogError(
            "is not qlog: it is a sequence of JSON texts, and the first is no header"
        )
    yield _of_records(document, records, wanted)


def _of_records(document: dict[str, Any], records: Iterator[str], wanted: Wanted) -> TraceEvents:
    header = table(document.get("trace"))
    decoded = map(decoded_record, _worth_decoding(header, records, wanted))
    return TraceEvents(header, _in_form(header, decoded), document)


def _worth_decoding(
    header: dict[str, Any], records: Iterator[str], wanted: Wanted
) -> Iterator[str]:
    """The records that are wanted, and those whose times say when the trace begins, ends and goes on."""
    if is_delta(time_format(header)):
        # None can be left out if each counts from the one before.
        yield from records
        return
    left_out: deque[str] = deque(maxlen=2)  # the last may be cut
    for place, record in enumerate(records):
        overrides = _TIME_FORMAT in record or _GROUP in record
        if not place or wanted(record) or overrides:
            if overrides:
                yield from left_out
            left_out.clear()
            yield record
        else:
            left_out.append(record)
    ends = (record for record in reversed(left_out) if decoded_record(record) is not None)
    yield from islice(ends, 1)
