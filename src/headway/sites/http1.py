"""Messages of HTTP/1.1 (RFC 9112), the form in which archives hold requests and responses."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, replace
from http import HTTPStatus
from urllib.parse import urlsplit

from headway.foreign.numbers import whole_number
from headway.sites.chunks import Joined, joined_chunks
from headway.sites.coding import CodingError, codings, decoded
from headway.sites.site import Exchange, Header

_INTERIM = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+1(?!01)\d\d(?!\d)[^\n]*\n(?:[^\r\n][^\n]*\n)*\r?\n")
_RESPONSE = re.compile(rb"HTTP/\d")
_CHUNKED = "chunked"
_PHRASES = {status.value: status.phrase for status in HTTPStatus}


@dataclass(frozen=True)
class Message:
    """A request or a response.

    Attributes:
        start: the words of its start line, at least two.
        headers: its fields, with names in lower case.
        body: its content, chunks joined.
        cut: why the body is not all of it, in words; empty if nothing says so.
        doubt: what of the body cannot be right, in words; empty if nothing is known.
    """

    start: tuple[str, ...]
    headers: tuple[Header, ...]
    body: bytes
    cut: str = ""
    doubt: str = ""

    @property
    def method(self) -> str:
        """The method of a request."""
        return self.start[0]

    @property
    def status(self) -> int:
        """The status of a response; 0 of a request."""
        is_response = self.start[0].startswith("HTTP/")
        return (whole_number(self.start[1]) or 0) if is_response else 0


def parsed(data: bytes) -> Message | None:
    """Parse a message that takes up all the data; None if it is none.

    Interim responses before a final one (RFC 9110, section 15.2), as recorders of bytes keep them, are left out.
    """
    stream = io.BytesIO(final(data))
    start = tuple(_text(stream.readline()).split())
    if len(start) < 2:
        return None
    headers: list[Header] = []
    while line := _text(stream.readline()).rstrip("\r\n"):
        name, colon, value = line.partition(":")
        if line[0] in " \t" and headers:  # a folded line, section 5.2
            headers[-1] = (headers[-1][0], f"{headers[-1][1]} {line.strip()}")
        elif colon:
            headers.append((name.strip().lower(), value.strip(" \t")))
    content = _content(headers, stream.read())
    return Message(start, tuple(headers), content.body, content.cut, content.doubt)


def final(data: bytes) -> bytes:
    """A message without the interim responses before it; all of it if nothing comes after these."""
    at = 0
    while (interim := _INTERIM.match(data, at)) and _RESPONSE.match(data, interim.end()):
        at = interim.end()
    return data[at:]


def _content(headers: list[Header], body: bytes) -> Joined:
    """A body without its transfer codings (section 7)."""
    stated = (value for field, value in headers if field == "transfer-encoding")
    names = codings(",".join(stated))
    joined = joined_chunks(body) if _CHUNKED in names else Joined(body)
    compressed = [name for name in names if name != _CHUNKED]
    if not compressed or joined.cut:
        return joined
    try:
        return replace(joined, body=decoded(joined.body, compressed))
    except CodingError:
        return replace(joined, doubt=f"it is not {compressed[-1]}-coded as transfer-encoding says")


def request_message(exchange: Exchange) -> bytes:
    """The request of an exchange, of which only method and URL are known."""
    url = urlsplit(exchange.url)
    target = f"{url.path or '/'}?{url.query}" if url.query else url.path or "/"
    return f"{exchange.method} {target} HTTP/1.1\r\nhost: {url.netloc}\r\n\r\n".encode()


def response_message(exchange: Exchange) -> bytes:
    """The response of an exchange; its body ends where the message does (section 6.3)."""
    lines = [f"HTTP/1.1 {exchange.status} {_PHRASES.get(exchange.status, '')}"]
    lines += [f"{name}: {value}" for name, value in exchange.headers]
    return "\r\n".join((*lines, "\r\n")).encode() + exchange.body


def _text(line: bytes) -> str:
    """Fields are UTF-8 today; what is not is taken as ISO-8859-1, as it once was."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")
