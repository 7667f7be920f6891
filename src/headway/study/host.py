"""Hosts: what they run and speak, and their TCP."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema, model_serializer, model_validator

from headway.study import controllers
from headway.study.base_model import Part
from headway.study.kernel import TUNED, Kernel


class Protocol(StrEnum):
    """HTTP version: RFC 9112, RFC 9113 and RFC 9114; or the transport alone, for bulk flows and calls."""

    H1 = "h1"
    H2 = "h2"
    H3 = "h3"
    TCP = "tcp"
    QUIC = "quic"
    UDP = "udp"

    @property
    def transport(self) -> str:
        """What its packets are: ``tcp`` or ``udp`` (RFC 9000: QUIC's are UDP datagrams)."""
        return "udp" if self.over_quic or self is Protocol.UDP else "tcp"

    @property
    def over_quic(self) -> bool:
        """Whether its transport is QUIC and not TCP."""
        return self in (Protocol.H3, Protocol.QUIC)


HTTP = frozenset({Protocol.H1, Protocol.H2, Protocol.H3})
"""The versions of HTTP."""

BULK = frozenset({Protocol.TCP, Protocol.QUIC})
"""What carries bulk flows."""


class CongestionControl(StrEnum):
    """Congestion control: the lab kernel's, and what only QUIC programs have."""

    _ignore_ = "name"

    RENO = "reno"
    CUBIC = "cubic"
    for name in dict.fromkeys((*controllers.OF_THE_KERNEL, *controllers.OF_HEADWAYS_QUIC)):
        if name not in (RENO, CUBIC):
            vars()[name.upper().replace("-", "_")] = name


OF_THE_KERNEL = tuple(CongestionControl(name) for name in controllers.OF_THE_KERNEL)
"""Congestion control that TCP can have."""
USUAL_CONGESTION_CONTROL = CongestionControl.CUBIC
"""TCP's where a study asks for none, as in Linux; QUIC's, too, of programs that have it."""


class ByTransport(Part):
    """What a study asks of a host's TCP and of its QUIC; None where it asks for nothing.

    In a study file a value alone asks both for the same.
    """

    tcp: Any = None
    quic: Any = None

    @model_validator(mode="before")
    @classmethod
    def _alone(cls, value: Any) -> Any:
        return value if isinstance(value, dict | cls) else both(value)

    @model_serializer
    def _as_written(self) -> Any:
        if self.tcp == self.quic:
            return self.tcp
        return {name: value for name, value in dict(self).items() if value is not None}

    def __str__(self) -> str:
        """The value for both; or each, by its transport."""
        if self.tcp == self.quic:
            return str(self.tcp)
        return ", ".join(f"{name} {value}" for name, value in dict(self).items() if value)

    def refined(self, other: ByTransport) -> dict[str, Any]:
        """The same, but for what another one asks."""
        return {"tcp": other.tcp or self.tcp, "quic": other.quic or self.quic}


def both(value: Any) -> dict[str, Any]:
    """What a value that stands alone asks of the transports."""
    return {"tcp": value, "quic": value}


class CongestionControls(ByTransport):
    """Congestion control by transport."""

    other_forms = ({"enum": [str(control) for control in CongestionControl]},)

    tcp: CongestionControl | None = None
    quic: CongestionControl | None = None


class InitialWindows(ByTransport):
    """Initial window by transport: segments of TCP, packets of QUIC."""

    other_forms = ({"type": "integer", "minimum": 1, "maximum": 1000},)

    tcp: int | None = Field(default=None, ge=1, le=1000)
    quic: int | None = Field(default=None, ge=1, le=1000)


DESCRIBED = "\0"
"""Program of a table that only says what a program is like in contenders that name it."""


def _as_text(value: object) -> object:
    """A number as it is written, since programs are told texts."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if number else value


KnobValue = Annotated[
    str, BeforeValidator(_as_text), WithJsonSchema({"type": ["string", "number"]})
]
"""A text, or a number."""


class Host(Part):
    """A host: its program, its TCP, and what is asked of its QUIC."""

    program: str
    congestion_control: CongestionControls = CongestionControls()
    initial_window: InitialWindows = Field(
        default=InitialWindows(),
        description="segments of TCP, packets of a QUIC that has the option; by default 10",
    )
    knobs: dict[str, KnobValue] = Field(
        default_factory=dict, description="settings of the program that differ from the adapter's"
    )
    kernel: Kernel = Field(
        default_factory=lambda: TUNED, description="settings of the host's kernel"
    )

    @property
    def tcp_congestion_control(self) -> CongestionControl:
        asked = self.congestion_control.tcp
        return asked if asked in OF_THE_KERNEL else USUAL_CONGESTION_CONTROL


def check_tls(protocol: Protocol, tls: bool) -> None:
    """Refuse protocols in the clear that programs do not offer so."""
    if not tls and protocol not in (Protocol.H1, Protocol.TCP, Protocol.UDP):
        raise ValueError(f"{protocol} needs TLS; only h1, tcp and udp work without it")
