"""A recorded site: the exchanges of requests and responses that loading a page takes."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urlsplit

from headway.sites.cost import ThreadCost
from headway.sites.shortfall import Shortfall

Header = tuple[str, str]
"""Name and value of a header field, as recorded; names in lower case (RFC 9110, section 5.1)."""


@dataclass(frozen=True)
class Exchange:
    """A request and the response to it.

    Attributes:
        method: of the request.
        url: absolute, with scheme and host, without a fragment.
        status: of the response.
        headers: fields of the response that are replayed, without those of the connection it was
            recorded on; `content-length` is not among them, since the server knows it.
        body: content as it is sent, with its content coding applied and its chunks joined.
        protocol: ALPN identifier that it was recorded over, as ``h2``; empty if that is not told. It is no
            part of what an exchange is.
        shortfall: why the body is not what was sent; None if it is. As little a part of it.
        cost: what it costs a browser's main thread; None if that is not told. As little a part of it.
    """

    method: str
    url: str
    status: int
    headers: tuple[Header, ...]
    body: bytes
    protocol: str = field(default="", compare=False)
    shortfall: Shortfall | None = field(default=None, compare=False)
    cost: ThreadCost | None = field(default=None, compare=False)

    @property
    def host(self) -> str:
        """Host name of the URL, without a port."""
        return urlsplit(self.url).hostname or ""

    def header(self, name: str) -> str | None:
        """Value of the first header field of that name (lower case); None without one."""
        return next((value for text, value in self.headers if text == name), None)


_TEXT = re.compile(r"text/|\b(javascript|json|xml)\b|\+(json|xml)\b")


def is_textual(exchange: Exchange) -> bool:
    """Whether a body is text by its type, and so may name hosts."""
    return bool(_TEXT.search((exchange.header("content-type") or "").lower()))


@dataclass(frozen=True)
class Lost:
    """A request whose response cannot be replayed, since its body was not kept.

    Attributes:
        method: of the request.
        url: absolute, as that of an exchange.
        status: of the response.
        shortfall: why there is no body.
    """

    method: str
    url: str
    status: int
    shortfall: Shortfall


@dataclass(frozen=True)
class Site:
    """A page with all that it needs.

    Attributes:
        name: short, unique among the sites of a study: letters, digits and hyphens.
        page: URL that is loaded.
        exchanges: in the order in which they were recorded.
        description: where it comes from, in a sentence.
        lost: what was recorded and is not there. It is no part of what a site is.
    """

    name: str
    page: str
    exchanges: tuple[Exchange, ...]
    description: str = ""
    lost: tuple[Lost, ...] = field(default=(), compare=False)

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """Host names of all exchanges, the page's first, the others in order of appearance."""
        page = urlsplit(self.page).hostname or ""
        return tuple(dict.fromkeys((page, *(exchange.host for exchange in self.exchanges))))

    @property
    def cost_ms(self) -> float | None:
        """What all exchanges cost a browser's main thread; None if that is told of none of them."""
        known = [exchange.cost.total_ms for exchange in self.exchanges if exchange.cost]
        return math.fsum(known) if known else None

    @property
    def size_bytes(self) -> int:
        """Bytes of all response bodies together."""
        return sum(len(exchange.body) for exchange in self.exchanges)
