"""DNS of a client: a resolver, and what it answers of the server's address."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from headway.study.base_model import Part, wrong
from headway.study.path import Path
from headway.study.units import Duration

RESOLVER_NAME = "dns.server.test"
"""Name of the resolver, which its certificate holds."""
SERVER_NAME = "server.test"
"""Name that clients ask for; the server's and the proxy's certificate hold it."""
_LABELS = r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$"
DnsName = Annotated[str, StringConstraints(pattern=_LABELS, max_length=200)]
_MOST_ALIASES = 15
"""A resolver that follows more takes the zone for a mistake."""


class DnsTransport(StrEnum):
    """Over what a client asks."""

    UDP = "udp"
    TCP = "tcp"
    HTTPS = "https"


class RecordType(StrEnum):
    """Types of records that clients of HTTP ask for."""

    A = "A"
    AAAA = "AAAA"
    HTTPS = "HTTPS"


class HttpsRecord(Part):
    """What the HTTPS record of the server's name says (RFC 9460, section 9)."""

    alpn: tuple[str, ...] = Field(
        default=("h3", "h2"), min_length=1, description="versions of HTTP, by their names in ALPN"
    )
    port: int | None = Field(
        default=None, ge=1, le=65535, description="port of the service, if not 443"
    )
    hints: bool = Field(
        default=True, description="whether the record has the server's address, too"
    )

    @field_validator("alpn")
    @classmethod
    def _known(cls, alpn: tuple[str, ...]) -> tuple[str, ...]:
        for text in alpn:
            if text not in _ALPN:
                raise ValueError(f"{text!r} is no version of HTTP in ALPN: {', '.join(_ALPN)}")
        return alpn


_ALPN = ("h3", "h2", "http/1.1")


class Dns(Part):
    """A resolver on a path of its own; without one, clients are told the address."""

    at: str | None = Field(
        default=None,
        exclude_if=lambda at: at is None,
        description="host between client and server where the resolver's path begins; by default the client",
    )
    path: Path = Field(default=Path(), description="to the resolver, from the client or from `at`")
    transport: DnsTransport = Field(
        default=DnsTransport.UDP,
        description="transport of the questions, for clients that have the option",
    )
    delay: Duration = Field(
        default=Duration(0), description="how long the resolver takes for an answer"
    )
    ttl: Duration = Field(
        default=Duration(300 * 10**9), description="time to live of all records, in whole seconds"
    )
    cname: tuple[DnsName, ...] = Field(
        default=(),
        description="aliases between the server's name and its address, one after the other",
    )
    https: HttpsRecord | None = Field(
        default=None, description="the HTTPS record of the server's name; true is the usual one"
    )
    drops: tuple[RecordType, ...] = Field(
        default=(), description="types whose questions the resolver does not answer"
    )
    silent: bool = Field(default=False, description="whether it answers nothing at all")
    unknown: bool = Field(
        default=False, description="whether it answers that the name does not exist"
    )

    @field_validator("https", mode="before")
    @classmethod
    def _usual(cls, value: object) -> object:
        return {True: {}, False: None}[value] if isinstance(value, bool) else value

    @field_validator("ttl")
    @classmethod
    def _whole(cls, ttl: Duration) -> Duration:
        if ttl.ns % 10**9:
            raise ValueError(f"DNS counts whole seconds, not {ttl}")
        return ttl

    @property
    def at_client(self) -> Dns:
        """The same beside the client."""
        return self.model_copy(update={"at": None})

    @model_validator(mode="after")
    def _possible(self) -> Self:
        names = (SERVER_NAME, *self.cname)
        for number, name in enumerate(names):
            if name in names[:number]:
                way = " > ".join(names[: number + 1])
                raise wrong("cname", f"these aliases form a loop: {way}")
        if len(self.cname) > _MOST_ALIASES:
            raise wrong("cname", f"at most {_MOST_ALIASES} names, not {len(self.cname)}")
        if self.silent and self.unknown:
            raise wrong(
                "unknown",
                "a silent resolver cannot answer that a name is unknown: leave out one of the two",
            )
        return self
