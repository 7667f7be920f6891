"""Digests of WARC records (ISO 28500, sections 5.8 and 5.9), held against what they are of."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable

from headway.sites.coding import CodingError, codings, decoded
from headway.sites.http1 import Message, final
from headway.sites.warc_parse import WarcRecord

_ALGORITHMS = ("md5", "sha1", "sha256", "sha512")
_BLOCK, _PAYLOAD = "warc-block-digest", "warc-payload-digest"


def same_digest(stated: str, other: str) -> bool | None:
    """Whether two digests are the same, however they are written; None if they cannot be compared."""
    if stated == other:
        return True
    first, another = _digest(stated), _digest(other)
    if first is None or another is None:
        # Of an algorithm that is not known, only equal texts are equal.
        return None if stated.partition(":")[0] != other.partition(":")[0] else False
    return first[1] == another[1] if first[0] == another[0] else None


def digest_key(stated: str) -> tuple[str, bytes] | str:
    """What equal digests share, however they are written: in base 16, 32 or 64."""
    return _digest(stated) or stated


def digest_of(content: bytes, like: str) -> tuple[str, bytes] | str | None:
    """The key of a content's digest by the algorithm of another one; None if that is not known.

    Args:
        content: what it is of.
        like: a digest, as it is written.
    """
    known = _digest(like)
    if known is None:
        return None
    return known[0], hashlib.new(known[0], content, usedforsecurity=False).digest()


def broken_digest(record: WarcRecord, message: Message) -> str:
    """Which digest of a record is not that of its content, in words; empty if none is known to be wrong.

    Programs differ in what they take for the payload: chunks and content codings are undone by some. A digest of
    the block is of all of it.
    """
    block = _is_of(record.fields.get(_BLOCK, ""), [record.block])
    if block is not None:
        return "" if block else "its record is not what WARC-Block-Digest says"
    payload = _is_of(record.fields.get(_PAYLOAD, ""), _payloads(record, message))
    return "it is not what WARC-Payload-Digest says" if payload is False else ""


def _payloads(record: WarcRecord, message: Message) -> Iterable[bytes]:
    yield message.body
    yield final(record.block).partition(b"\r\n\r\n")[2]
    names = codings(
        next((value for name, value in message.headers if name == "content-encoding"), "")
    )
    if names:
        try:
            yield decoded(message.body, names)
        except CodingError:
            return


def _is_of(stated: str, contents: Iterable[bytes]) -> bool | None:
    """Whether a digest is of one of the contents; None if it is none that can be computed."""
    known = _digest(stated)
    if known is None:
        return None
    algorithm, expected = known
    return expected in (
        hashlib.new(algorithm, content, usedforsecurity=False).digest() for content in contents
    )


def _digest(stated: str) -> tuple[str, bytes] | None:
    """Algorithm and value of a digest; None if it is none that can be computed."""
    algorithm, _, text = stated.partition(":")
    algorithm = algorithm.strip().lower().replace("-", "")
    if algorithm not in _ALGORITHMS:
        return None
    size = hashlib.new(algorithm, usedforsecurity=False).digest_size
    value = _bytes(text.strip(), size)
    return None if value is None else (algorithm, value)


def _bytes(text: str, size: int) -> bytes | None:
    """A digest, written in base 32, as most do, in base 16 or in base 64; None if it is none of that size."""
    for decode in (base64.b32decode, bytes.fromhex, base64.b64decode):
        try:
            value = decode(text.upper() if decode is base64.b32decode else text)
        except (ValueError, binascii.Error):
            continue
        if len(value) == size:
            return value
    return None
