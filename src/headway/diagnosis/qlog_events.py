"""Reading qlog files event by event, whatever their size and however they end.

Two forms of draft-ietf-quic-qlog-main-schema, from version 0.3 on: a sequence of JSON texts, each
after a record separator (RFC 7464), the header first; and one JSON document with all traces, where
parts of a trace's header may follow its events. A file that is cut short, because its writer was
killed, gives all events before the cut.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from headway.contract.artifact import open_artifact
from headway.errors import HeadwayError

_SEPARATOR = "\x1e"
_CHUNK_BYTES = 1 << 18
_LONGEST_VALUE = 1 << 24
_JSON = json.JSONDecoder()

DELTA_FORMATS = ("delta", "relative_to_previous_event")
"""Values of ``time_format`` by which an event's time is counted from the event before."""

Event = dict[str, Any]
Wanted = Callable[[str], bool]
"""Tells of an event's JSON text whether it is worth decoding."""


@dataclass
class TraceEvents:
    """One trace of a file: a connection as one end sees it.

    ``header`` is complete only after the last event.
    """

    header: dict[str, Any]
    events: Iterator[Event] = field(default_factory=lambda: iter(()))


def read_traces(file: Path, wanted: Wanted = lambda _: True) -> Iterator[TraceEvents]:
    """The traces of a file; take the events of one before asking for the next.

    Args:
        file: in either form.
        wanted: in a sequence, events whose text it refuses are left out without decoding.

    Raises:
        HeadwayError: the file is not qlog.
    """
    with open_artifact(file) as opened:
        first = opened.read(1)
        opened.seek(0)
        if first == _SEPARATOR.encode():
            yield from _sequence(opened, wanted)
        elif first == b"{":
            yield from _Document(opened).traces()
        elif first:
            raise HeadwayError(f"{file} is not qlog: it begins with {first!r}")


def _sequence(file: IO[bytes], wanted: Wanted) -> Iterator[TraceEvents]:
    records = _records(file)
    header = table((_decode(next(records, "")) or {}).get("trace"))
    # Where each event's time is relative to the one before, none can be left out.
    every = table(header.get("common_fields")).get("time_format") in DELTA_FORMATS
    events = (_decode(record) for record in records if every or wanted(record))
    yield TraceEvents(header, (event for event in events if event))


def _records(file: IO[bytes]) -> Iterator[str]:
    characters = _decoder()
    rest = ""
    while chunk := file.read(_CHUNK_BYTES):
        *whole, rest = (rest + characters.decode(chunk)).split(_SEPARATOR)
        _check_short(rest)
        yield from filter(None, whole)
    yield rest


def _decode(record: str) -> dict[str, Any] | None:
    """A record's object; None for the last one of a file that is cut short."""
    try:
        decoded, _ = _decoded(record, 0)
    except ValueError:
        return None
    return decoded if isinstance(decoded, dict) else None


def _decoded(text: str, at: int) -> tuple[Any, int]:
    """The value that begins somewhere in a text, and where it ends."""
    try:
        return _JSON.raw_decode(text, at)
    except RecursionError:
        raise HeadwayError("is not qlog: its values are nested too deeply") from None


def table(value: object) -> dict[str, Any]:
    """A JSON object, or an empty one in place of whatever else was written."""
    return value if isinstance(value, dict) else {}


def _check_short(value: str) -> None:
    """Let a value that has not ended yet fit into memory.

    Raises:
        HeadwayError: it does not.
    """
    if len(value) > _LONGEST_VALUE:
        raise HeadwayError(
            f"a value is longer than {_LONGEST_VALUE / 1e6:.0f} MB, so it is not qlog"
        )


def _decoder() -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder("utf-8")(errors="replace")


class _CutError(Exception):
    """The document ends in the middle."""


class _Document:
    """A JSON document, decoded a value at a time."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._characters = _decoder()
        self._text = ""
        self._at = 0

    def traces(self) -> Iterator[TraceEvents]:
        """Every trace, at the start of its events."""
        try:
            for key in self._members():
                if key == "traces":
                    for _ in self._items():
                        yield from self._trace()
                else:
                    self._value()
        except _CutError:
            return

    def _trace(self) -> Iterator[TraceEvents]:
        header: dict[str, Any] = {}
        trace = TraceEvents(header)
        for key in self._members():
            if key == "events":
                trace.events = self._rest_of(header)
                yield trace
                for _ in trace.events:
                    pass
                return
            header[key] = self._value()

    def _rest_of(self, header: dict[str, Any]) -> Iterator[Event]:
        """The events, and then what of the header comes after them."""
        try:
            for _ in self._items():
                yield table(self._value())
            for key in self._members(opened=True):
                header[key] = self._value()
        except _CutError:
            return

    def _members(self, *, opened: bool = False) -> Iterator[str]:
        if not opened:
            self._skip("{")
        while self._next(",") != "}":
            key = self._value()
            self._skip(":")
            yield key
        self._at += 1

    def _items(self) -> Iterator[None]:
        self._skip("[")
        while self._next(",") != "]":
            yield
        self._at += 1

    def _next(self, ignored: str = "") -> str:
        """The next character but white space and separators."""
        while True:
            while self._at < len(self._text):
                character = self._text[self._at]
                if not character.isspace() and character != ignored:
                    return character
                self._at += 1
            self._refill()

    def _skip(self, expected: str) -> None:
        if self._next() != expected:
            raise _CutError
        self._at += 1

    def _value(self) -> Any:
        self._next()
        while True:
            try:
                value, end = _decoded(self._text, self._at)
            except json.JSONDecodeError:
                self._refill()
                continue
            if end == len(self._text):  # a number may go on in the next chunk
                self._refill()
                continue
            self._at = end
            return value

    def _refill(self) -> None:
        chunk = self._file.read(max(_CHUNK_BYTES, len(self._text) - self._at))
        if not chunk:
            raise _CutError
        _check_short(self._text[self._at :])
        self._text = self._text[self._at :] + self._characters.decode(chunk)
        self._at = 0
