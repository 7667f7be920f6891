"""Hosts: what they run and speak, and their TCP."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from headway.study.part import Part


class Protocol(StrEnum):
    """HTTP version: RFC 9112, RFC 9113 and RFC 9114; or for bulk flows the transport alone."""

    H1 = "h1"
    H2 = "h2"
    H3 = "h3"
    TCP = "tcp"
    QUIC = "quic"

    @property
    def over_quic(self) -> bool:
        """Whether its transport is QUIC and not TCP."""
        return self in (Protocol.H3, Protocol.QUIC)


HTTP = frozenset({Protocol.H1, Protocol.H2, Protocol.H3})
"""The versions of HTTP."""


class CongestionControl(StrEnum):
    """Congestion control of the lab kernel's TCP."""

    RENO = "reno"
    CUBIC = "cubic"
    BBR = "bbr"
    HYBLA = "hybla"
    VEGAS = "vegas"
    WESTWOOD = "westwood"
    ILLINOIS = "illinois"
    DCTCP = "dctcp"


class Host(Part):
    """A host: its program, and its TCP."""

    program: str
    congestion_control: CongestionControl = CongestionControl.CUBIC
    initial_window: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="segments of TCP, packets of a QUIC that can be told; 10 if not given",
    )
    knobs: dict[str, str] = Field(
        default_factory=dict, description="settings of the program that differ from the adapter's"
    )


def check_tls(protocol: Protocol, tls: bool) -> None:
    """Refuse protocols in the clear that programs do not offer so."""
    if not tls and protocol not in (Protocol.H1, Protocol.TCP):
        raise ValueError(f"{protocol} without TLS is not offered; only h1 is, and tcp")
