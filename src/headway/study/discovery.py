"""Clients that find out by themselves which version of HTTP a server speaks."""

from __future__ import annotations

from enum import Enum

from pydantic import Field

from headway.study.base_model import Part
from headway.study.dns import DnsName
from headway.study.host import Protocol

_MOST_VISITS = 20
_OFFERED = (Protocol.H1, Protocol.H2, Protocol.H3)


class Means(Enum):
    """How a client finds out that a server has HTTP/3."""

    ALT_SVC = "the Alt-Svc field of a response (RFC 7838)"
    RACE = "trying it beside TCP"
    RECORD = "the HTTPS record of the server's name (RFC 9460)"


class Alternative(Part):
    """Where Alt-Svc says that HTTP/3 is (RFC 7838, section 3); at the server's own name and port if nothing is said."""

    host: DnsName | None = Field(
        default=None, description="another name, of the same address, which the client has to find"
    )
    port: int = Field(
        default=443, ge=1, le=65535, description="another port, on which the server takes QUIC"
    )

    @property
    def field_value(self) -> str:
        """The value of the field."""
        return f'h3="{self.host or ""}:{self.port}"; ma=86400'


class Discovery(Part):
    """The server offers every version up to ``protocol``, and the client is told none of them."""

    visit: int = Field(
        default=1,
        ge=1,
        le=_MOST_VISITS,
        description="which visit is measured: before the second, the client has learnt what the first responses said",
    )
    alternative: Alternative = Field(
        default=Alternative(),
        exclude_if=lambda alternative: alternative == Alternative(),
        description="where HTTP/3 is, if not at the server's name and port",
    )


def offered(protocol: Protocol, discovery: Discovery | None) -> frozenset[Protocol]:
    """What a server speaks: one version if clients are told which, else all up to it."""
    if discovery is None or protocol not in _OFFERED:
        return frozenset({protocol})
    return frozenset(_OFFERED[: _OFFERED.index(protocol) + 1])
