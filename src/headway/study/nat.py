"""A NAT at the near end of a link: whose connections it maps to what, and when it forgets that."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from headway.study.base_model import Part, wrong
from headway.study.units import Duration

_SECOND = 10**9
_LONGEST_IDLE_S = 2_000_000
"""Linux counts it in milliseconds, in 31 bits."""


class Rebound(StrEnum):
    """What is another one after a rebinding."""

    PORT = "port"
    ADDRESS = "address"


class Rebinding(Part):
    """The NAT forgets all mappings, and makes others for the packets that come (RFC 9000, section 9.3.3).

    They have other ports; with ``address``, the NAT has another address, too.
    """

    other_forms = (Duration.json_schema(),)

    at: Duration = Field(description="from the start of the workload")
    what: Rebound = Field(default=Rebound.PORT, description="what is another one from then on")

    @model_validator(mode="before")
    @classmethod
    def _from_time(cls, value: Any) -> Any:
        return value if isinstance(value, dict | Part) else {"at": value}

    def __str__(self) -> str:
        return f"{self.what} at {self.at}"


class Nat(Part):
    """A NAT that gives all connections from the client's side its own address, and each a port (RFC 3022).

    What comes from the other side and belongs to no mapping is dropped (RFC 4787, section 5: filtering
    that depends on address and port). Every packet of a connection, in either direction, keeps its mapping.
    """

    other_forms = ({"type": "boolean"},)

    rebindings: tuple[Rebinding, ...] = Field(
        default=(), description="when it forgets its mappings, and makes others"
    )
    udp_idle: Duration = Field(
        default=Duration(120 * _SECOND),
        description="without a packet for so long, a mapping of UDP is forgotten (RFC 4787, section 4.3)",
    )
    tcp_idle: Duration = Field(
        default=Duration(7440 * _SECOND),
        description="the same of an established TCP connection (RFC 5382, section 5)",
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for key in ("udp_idle", "tcp_idle"):
            idle: Duration = getattr(self, key)
            if idle % _SECOND or not 1 <= idle // _SECOND <= _LONGEST_IDLE_S:
                raise wrong(
                    key, f"a NAT counts whole seconds, 1 s to {_LONGEST_IDLE_S} s, not {idle}"
                )
        times = [rebinding.at for rebinding in self.rebindings]
        if times != sorted(set(times)):
            raise wrong("rebindings", "the times of the rebindings must increase")
        return self

    def __str__(self) -> str:
        rebound = f", rebound: {', '.join(map(str, self.rebindings))}" if self.rebindings else ""
        return f"NAT, UDP idle {self.udp_idle}, TCP idle {self.tcp_idle}{rebound}"

    @property
    def changes_address(self) -> bool:
        """Whether it has a second address in the course of the workload."""
        return any(rebinding.what is Rebound.ADDRESS for rebinding in self.rebindings)


def _nat(value: object) -> object:
    if isinstance(value, bool):
        return {} if value else None
    if not isinstance(value, dict | Part | None):
        raise ValueError('a NAT is true, false, or a table: { rebindings = ["2 s"] }')
    return value


NatSource = Annotated[Nat | None, BeforeValidator(_nat)]
