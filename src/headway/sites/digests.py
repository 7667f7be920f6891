"""Digests of WARC records (ISO 28500, sections 5.8 and 5.9), held against what they are of."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable

from headway.sites.coding import CodingError, codings, decoded
from headway.sites.http1 import Message
from headway.sites.warc_parse import WarcRecord

_ALGORITHMS = ("md5", "sha1", "sha256", "sha512")
_BLOCK, _PAYLOAD = "warc-block-digest", "warc-payload-digest"


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
    yield record.block.partition(b"\r\n\r\n")[2]
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
    algorithm, _, value = stated.partition(":")
    algorithm = algorithm.lower().replace("-", "")
    if algorithm not in _ALGORITHMS:
        return None
    expected = _bytes(value.strip(), hashlib.new(algorithm, usedforsecurity=False).digest_size)
    if expected is None:
        return None
    digests = (
        hashlib.new(algorithm, content, usedforsecurity=False).digest() for content in contents
    )
    return expected in digests


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
