"""The JSON text of qlog files, decoded a value at a time, whatever a file's size and however it ends."""

from __future__ import annotations

import codecs
import gzip
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from headway.contract.artifact import open_artifact
from headway.errors import HeadwayError
from headway.foreign.bounds import RECORDING, Budget

SEPARATOR = "\x1e"
"""Before each text of a sequence (RFC 7464)."""
_BOM = "\ufeff"
_GZIP = b"\x1f\x8b"
_CHUNK_BYTES = 1 << 18
_LONGEST_VALUE = 1 << 24
_JSON = json.JSONDecoder()
# Separators are white space to Python, but not between the values of a text.
_NEXT = {ignored: re.compile(rf"[^\s{ignored}]|{SEPARATOR}") for ignored in ("", ",", _BOM)}
"""The next character that means something, by what else is ignored."""


class Readable(Protocol):
    """What texts are read from."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, so many at most."""


class NotQlogError(HeadwayError):
    """A file is not qlog; its text ends the sentence that begins with the file's name."""


class CutError(Exception):
    """The text ends in the middle."""


@contextmanager
def open_text(file: Path) -> Iterator[Readable]:
    """The text of a file, decompressed if it is of gzip.

    Raises:
        NotQlogError: it is not readable as compressed data.
    """
    with open_artifact(file) as opened:
        begins = opened.read(len(_GZIP))
        opened.seek(0)
        if begins != _GZIP:
            yield opened
            return
        yield _Decompressed(opened, RECORDING.budget(file.stat().st_size))


class _Decompressed:
    """What a gzip file holds, within a budget, up to where it is cut."""

    def __init__(self, packed: IO[bytes], budget: Budget) -> None:
        self._file = gzip.GzipFile(fileobj=packed)
        self._budget = budget
        self._begins = True

    def read(self, size: int, /) -> bytes:
        try:
            data = self._file.read1(size)
        except EOFError:
            return b""
        except (OSError, zlib.error):
            raise NotQlogError("is not qlog: its gzip data is damaged") from None
        self._budget.take(len(data))
        if self._begins and data.startswith(_GZIP):
            raise NotQlogError("is gzip in gzip: decompress it once")
        self._begins = False
        return data


def table(value: object) -> dict[str, Any]:
    """A JSON object, or an empty one in place of whatever else was written."""
    return value if isinstance(value, dict) else {}


def _decoded(text: str, at: int) -> tuple[Any, int]:
    """The value that begins somewhere in a text, and where it ends.

    Raises:
        json.JSONDecodeError: there is none.
    """
    try:
        return _JSON.raw_decode(text, at)
    except RecursionError:
        raise NotQlogError("is not qlog: its values are nested too deeply") from None
    except json.JSONDecodeError:
        raise
    except ValueError:
        raise NotQlogError("is not qlog: it has a number of thousands of digits") from None


class QlogText:
    """Decodes a text, whose next value is all that is held of it."""

    def __init__(self, file: Readable) -> None:
        self._file = file
        self._characters = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._text = ""
        self._at = 0

    def begins(self) -> str:
        """The first character that says something; empty if there is none."""
        try:
            return self._next(_BOM)
        except CutError:
            return ""

    def members(self) -> Iterator[str]:
        """The names of an object's members; take each one's value before asking for the next."""
        self._skip("{")
        yield from self.members_left()

    def members_left(self) -> Iterator[str]:
        """The same of an object of which some were read."""
        while self._next(",") != "}":
            key = self.value()
            self._skip(":")
            yield str(key)
        self._at += 1

    def items(self) -> Iterator[None]:
        """The values of an array, each of which is to be taken, too."""
        self._skip("[")
        while self._next(",") != "]":
            yield
        self._at += 1

    def value(self) -> Any:
        """The next value.

        Raises:
            CutError: it is none, or is cut.
        """
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

    def lines(self) -> Iterator[str]:
        """What follows, cut at ends of lines and at separators."""
        rest, self._text, self._at = self._text[self._at :], "", 0
        while chunk := self._file.read(_CHUNK_BYTES):
            rest += self._characters.decode(chunk)
            *whole, rest = rest.replace(SEPARATOR, "\n").split("\n")
            _check_short(rest)
            yield from (line for line in whole if line.strip())
        yield from (line for line in rest.replace(SEPARATOR, "\n").split("\n") if line.strip())

    def records(self) -> Iterator[str]:
        """What follows, cut at separators."""
        rest, self._text, self._at = self._text[self._at :], "", 0
        while chunk := self._file.read(_CHUNK_BYTES):
            *whole, rest = (rest + self._characters.decode(chunk)).split(SEPARATOR)
            _check_short(rest)
            yield from (record for record in whole if record.strip())
        yield from (record for record in rest.split(SEPARATOR) if record.strip())

    def _next(self, ignored: str = "") -> str:
        """The next character but white space and separators."""
        while (match := _NEXT[ignored].search(self._text, self._at)) is None:
            self._at = len(self._text)
            self._refill()
        self._at = match.start()
        return match[0]

    def _skip(self, expected: str) -> None:
        if self._next() != expected:
            raise CutError
        self._at += 1

    def _refill(self) -> None:
        chunk = self._file.read(max(_CHUNK_BYTES, len(self._text) - self._at))
        if not chunk:
            raise CutError
        _check_short(self._text[self._at :])
        self._text = self._text[self._at :] + self._characters.decode(chunk)
        self._at = 0


def decoded_record(record: str) -> dict[str, Any] | None:
    """A record's object; None for the last one of a file that is cut short."""
    text = record.strip()
    try:
        value, _ = _decoded(text, 0)
    except json.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _check_short(value: str) -> None:
    """Let a value that has not ended yet fit into memory.

    Raises:
        NotQlogError: it does not.
    """
    if len(value) > _LONGEST_VALUE:
        raise NotQlogError(f"is not qlog: a value is longer than {_LONGEST_VALUE / 1e6:.0f} MB")
