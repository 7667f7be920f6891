"""The chunked transfer coding (RFC 9112, section 7.1), as archives have it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r\n")
_END = b"\r\n"


@dataclass(frozen=True)
class Joined:
    """The content of a body that is said to be chunked.

    Attributes:
        body: without chunks.
        cut: why it is not all, in words; empty if the last chunk is there, or there are no chunks.
        doubt: why it is as it was, in words, although it begins with chunks; empty if it does not.
    """

    body: bytes
    cut: str = ""
    doubt: str = ""


def joined_chunks(body: bytes) -> Joined:
    """Join the chunks of a body, without extensions and trailers.

    Some tools join chunks and keep the header field. What is no chain of chunks, each of which ends in CRLF, is
    returned as it is: a file may begin with a number.
    """
    pieces: list[bytes] = []
    at = 0
    while at < len(body):
        match = _SIZE.match(body, at)
        if match is None:
            is_size = body.find(_END, at) < 0 and re.fullmatch(rb"[0-9A-Fa-f]+\r?", body[at:])
            return _cut(pieces) if pieces and is_size else _no_chain(body, pieces)
        size = int(match[1], 16)
        if size == 0:
            is_chain = pieces or not body[match.end() :].strip(_END)
            return Joined(b"".join(pieces) if is_chain else body)
        end = match.end() + size
        pieces.append(body[match.end() : end])
        if end >= len(body):
            return _cut(pieces)
        if not _END.startswith(body[end : end + len(_END)]):
            return _no_chain(body, pieces[:-1])
        at = end + len(_END)
    return _cut(pieces) if pieces else Joined(body)


def _cut(pieces: list[bytes]) -> Joined:
    return Joined(b"".join(pieces), cut="it ends before its last chunk")


def _no_chain(body: bytes, pieces: list[bytes]) -> Joined:
    return Joined(body, doubt="it begins with chunks and goes on otherwise" if pieces else "")
