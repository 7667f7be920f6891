"""Hosts between client and server: routers, and programs that split connections."""

from __future__ import annotations

import re
from typing import Any, Self, TypeVar

from pydantic import Field, field_validator, model_validator

from headway.study.base_model import Part, wrong
from headway.study.host import (
    DESCRIBED,
    CongestionControls,
    Host,
    InitialWindows,
    KnobValue,
    Protocol,
    check_tls,
)
from headway.study.kernel import TUNED, Kernel
from headway.study.path import Path


class ServerSide(Part):
    """How a reverse proxy speaks to the server behind it."""

    protocol: Protocol = Protocol.H1
    tls: bool = True

    @model_validator(mode="after")
    def _possible(self) -> Self:
        check_tls(self.protocol, self.tls)
        return self


class Upstream(ServerSide):
    """Between a proxy and the server behind it."""

    path: Path = Path()


class ReverseProxy(Host):
    """A program that answers requests by asking the server behind it."""

    upstream: ServerSide = ServerSide()


class Proxy(ReverseProxy):
    """A reverse proxy between client and server: each side has its own path."""

    upstream: Upstream = Upstream()


class PepSide(Part):
    """What a PEP does differently on one of its sides."""

    congestion_control: CongestionControls = CongestionControls()
    initial_window: InitialWindows = InitialWindows()
    knobs: dict[str, KnobValue] = Field(default_factory=dict)


class Pep(Host):
    """A performance-enhancing proxy that splits connections (RFC 3135, section 2.4).

    What it says itself holds for both sides, ``downstream`` towards the client and ``upstream``
    towards the server refine it.
    """

    downstream: PepSide = PepSide()
    upstream: PepSide = PepSide()

    @property
    def towards_client(self) -> Host:
        """How it sends towards the client."""
        return self._with(self.downstream)

    @property
    def towards_server(self) -> Host:
        """How it sends towards the server."""
        return self._with(self.upstream)

    def _with(self, side: PepSide) -> Host:
        return Host(
            program=self.program,
            congestion_control=CongestionControls(
                **self.congestion_control.refined(side.congestion_control)
            ),
            initial_window=InitialWindows(**self.initial_window.refined(side.initial_window)),
            knobs=self.knobs | side.knobs,
        )


_HOP_NAME = re.compile(r"[a-z][a-z0-9-]{0,9}")
_OTHER_HOST = re.compile(r"client|server|resolver|link\d+[ab]")
"""What the lab calls the hosts at the ends and the routers of links."""


class Hop(Part):
    """A host between client and server: a router, with programs that split connections or none."""

    name: str
    path: Path = Field(
        default=Path(), description="to the next hop, or from the last to the server"
    )
    kernel: Kernel = Field(default=TUNED, description="settings of the hop's kernel")
    proxy: ReverseProxy | None = Field(default=None, description="a reverse proxy")
    quic_pep: Pep | None = Field(default=None, description="splits QUIC connections")
    tcp_pep: Pep | None = Field(default=None, description="splits TCP connections, transparently")

    @property
    def splits(self) -> bool:
        """Whether it has programs that split connections."""
        return bool(self.proxy or self.quic_pep or self.tcp_pep)

    @field_validator("proxy", "quic_pep", "tcp_pep", mode="before")
    @classmethod
    def _without_program(cls, value: Any) -> Any:
        return described(value)

    @field_validator("proxy", "quic_pep", "tcp_pep")
    @classmethod
    def _that_is_there(cls, host: Host | None) -> Host | None:
        return that_is_there(host)

    @field_validator("name")
    @classmethod
    def _fits(cls, name: str) -> str:
        if not _HOP_NAME.fullmatch(name):
            raise ValueError(
                f"{name!r} is not the name of a hop: at most 10 lower-case letters, digits and "
                "hyphens, a letter first"
            )
        if _OTHER_HOST.fullmatch(name):
            raise ValueError(f"{name!r} is the name of another host of the lab")
        return name

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.proxy and (self.quic_pep or self.tcp_pep):
            raise ValueError("has a reverse proxy or PEPs, not both")
        for role in ("proxy", "quic_pep", "tcp_pep"):
            program: Host | None = getattr(self, role)
            if program and program.kernel != TUNED:
                raise wrong(f"{role}.kernel", "is the hop's, beside its name and its path: kernel")
        return self


_H = TypeVar("_H", bound=Host)


def described(table: Any) -> Any:
    """A program's table; one that only says what it is like in contenders that name its program
    is validated as if it had one.
    """
    named = not isinstance(table, dict) or "program" in table
    return table if named else {**table, "program": DESCRIBED}


def that_is_there(host: _H | None) -> _H | None:
    """A program's host; None if it was only described."""
    return None if host is None or host.program == DESCRIBED else host
