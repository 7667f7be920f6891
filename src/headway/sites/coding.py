"""Content codings (RFC 9110, section 8.4.1): undone to look into a body, and applied again."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import brotli

from headway.foreign.bounds import BODY, Budget, TooMuchContentError

_FIELD = "content-encoding"
_GZIP_LEVEL = 6
_BROTLI_QUALITY = 5
_PIECE_BYTES = 1 << 20


class CodingError(Exception):
    """A body is not coded as its header field says, or in a way that is not known.

    Attributes:
        is_unknown: whether the coding is not known, so that the body may be right.
        is_cut: whether the body is so coded and ends too early.
        is_too_long: whether it is so coded and holds more than Headway decodes.
    """

    def __init__(
        self,
        message: str,
        *,
        is_unknown: bool = False,
        is_cut: bool = False,
        is_too_long: bool = False,
    ) -> None:
        super().__init__(message)
        self.is_unknown = is_unknown
        self.is_cut = is_cut
        self.is_too_long = is_too_long


@dataclass(frozen=True)
class Coding:
    """A content coding that can be undone and applied.

    Attributes:
        decode: undoes it within a budget; what it raises for a body that is not so coded is among `_FAILURES`.
        encode: applies it; equal bodies give equal results on every day.
        effort: how hard it is tried, in words.
    """

    decode: Callable[[bytes, Budget], bytes]
    encode: Callable[[bytes], bytes]
    effort: str


def _gunzip(body: bytes, budget: Budget) -> bytes:
    """Decode "gzip": members one after the other, as RFC 1952 has them, and zeros after the last one."""
    decoded = b""
    while body:
        decoder = zlib.decompressobj(16 + zlib.MAX_WBITS)
        decoded += _whole(decoder, body, budget)
        body = decoder.unused_data.lstrip(b"\0")
    return decoded


def _inflate(body: bytes, budget: Budget) -> bytes:
    """Decode "deflate": the zlib format, or without it as some servers send it."""
    try:
        return _whole(zlib.decompressobj(), body, budget)
    except zlib.error:
        return _whole(zlib.decompressobj(-zlib.MAX_WBITS), body, budget)


def _whole(decoder: zlib._Decompress, body: bytes, budget: Budget) -> bytes:
    def pieces() -> Iterator[bytes]:
        rest = body
        while not decoder.eof and (piece := decoder.decompress(rest, _PIECE_BYTES)):
            yield piece
            rest = decoder.unconsumed_tail

    decoded = _joined(pieces(), budget)
    if not decoder.eof:
        raise EOFError("it ends too early")
    return decoded


def _unbrotli(body: bytes, budget: Budget) -> bytes:
    decoder = brotli.Decompressor()

    def pieces() -> Iterator[bytes]:
        rest = body
        while piece := decoder.process(rest, output_buffer_limit=_PIECE_BYTES):
            yield piece
            rest = b""

    decoded = _joined(pieces(), budget)
    if not decoder.is_finished():
        raise EOFError("it ends too early")
    return decoded


def _joined(pieces: Iterator[bytes], budget: Budget) -> bytes:
    parts = []
    for piece in pieces:
        budget.take(len(piece))
        parts.append(piece)
    return b"".join(parts)


_GZIP = Coding(
    _gunzip,
    lambda body: gzip.compress(body, _GZIP_LEVEL, mtime=0),
    f"level {_GZIP_LEVEL}",
)
CODINGS: dict[str, Coding] = {
    "gzip": _GZIP,
    "x-gzip": _GZIP,
    "deflate": Coding(
        _inflate, lambda body: zlib.compress(body, _GZIP_LEVEL), f"level {_GZIP_LEVEL}"
    ),
    "br": Coding(
        _unbrotli,
        lambda body: bytes(brotli.compress(body, quality=_BROTLI_QUALITY)),
        f"quality {_BROTLI_QUALITY}",
    ),
}
"""By their names in RFC 9110 and RFC 7932; all that Headway knows."""

_FAILURES = (OSError, EOFError, zlib.error, brotli.error)


UNDONE = frozenset((*CODINGS, "zstd"))
"""What browsers undo. Chromium takes a body as it is if any other name stands in `content-encoding`."""


def codings(value: str | None) -> tuple[str, ...]:
    """Names in a field of codings, in the order in which they were applied."""
    names = (name.strip().lower() for name in (value or "").split(","))
    return tuple(name for name in names if name and name != "identity")


def content_codings(headers: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The content codings of a response that browsers undo, in the order in which they were applied.

    None if there is one that they do not know, even ``identity``, which no server should send: they then take the body
    as it is (Chromium, ``URLRequestHttpJob::SetUpSourceStream``).
    """
    fields = ",".join(value for name, value in headers if name.lower() == _FIELD)
    names = [name for part in fields.split(",") if (name := part.strip().lower())]
    return tuple(names) if UNDONE.issuperset(names) else ()


def decoded(body: bytes, names: Sequence[str]) -> bytes:
    """A body without its content codings.

    Args:
        body: as it is sent.
        names: its codings, in the order in which they were applied.

    Raises:
        CodingError: it is not so coded, a coding is not known, or it is longer than `BODY` allows.
    """
    length = len(body)
    for name in reversed(names):
        if name not in CODINGS:
            message = f"content coding {name} is known to browsers, and not to Headway: its body is not looked into"
            raise CodingError(message, is_unknown=True)
        try:
            body = CODINGS[name].decode(body, BODY.budget(length))
        except TooMuchContentError:
            message = f"its body holds more than Headway decodes of a body, which is {BODY}"
            raise CodingError(message, is_too_long=True) from None
        except _FAILURES as error:
            message = f"its body is not {name}-coded as content-encoding says"
            raise CodingError(message, is_cut=isinstance(error, EOFError)) from error
    return body


def encoded(body: bytes, names: Sequence[str]) -> bytes:
    """A body with known content codings applied in order."""
    for name in names:
        body = CODINGS[name].encode(body)
    return body
