"""Middleboxes of a link, beside its queue and delay: its MTU, policers, firewalls."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from headway.study.base_model import Part, wrong
from headway.study.units import Duration, Rate, Ratio, Size

SMALLEST_MTU = 576
"""What every host must accept of IPv4 (RFC 791, section 3.1)."""
SMALLEST_MTU_IPV6 = 1280
"""RFC 8200, section 5; QUIC needs it, too (RFC 9000, section 14)."""
LARGEST_MTU = 1500
"""That of the lab's other devices."""
_LARGEST_BELOW_A_TUNNEL = 3000
"""More than any tunnel needs to carry packets of `LARGEST_MTU`."""
_LONGEST_BURST_S = 270
_SMALLEST_BURST = 1514
"""A packet that is larger than a policer's bucket never passes."""


def _mtu(value: object) -> object:
    return value if isinstance(value, dict | Part) else {"size": value}


class Mtu(Part):
    """The largest packet that a link carries, and whether senders are told of it.

    A router fragments packets of IPv4 that are larger and may be fragmented. It drops others, and sends
    back "fragmentation needed" (RFC 792, RFC 1191) or "packet too big" (RFC 4443), unless something drops
    that: then the link is a black hole (RFC 2923), which only probing finds (RFC 4821, RFC 8899).
    """

    other_forms = (Size.json_schema(),)

    size: Size = Field(description="size of the largest packet, its IP header included")
    icmp: bool = Field(
        default=True, description="whether senders of larger packets get an ICMP message"
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if not SMALLEST_MTU <= self.size <= _LARGEST_BELOW_A_TUNNEL:
            raise wrong("size", f"an MTU is {SMALLEST_MTU} B to {LARGEST_MTU} B, not {self.size}")
        return self


def _too_small(burst: Size) -> str:
    return f"a burst of {burst} lets no full packet pass; it must be at least {_SMALLEST_BURST} B"


def _check_burst(rate: Rate, burst: Size) -> None:
    """Linux counts a bucket in time, in 32 bits of 64 ns."""
    if not rate:
        raise ValueError('a rate of zero lets nothing pass; to block UDP write udp = "blocked"')
    if burst * 8 > _LONGEST_BURST_S * int(rate):
        raise ValueError(f"a burst of {burst} takes longer than {_LONGEST_BURST_S} s at {rate}")


class Policer(Part):
    """A token bucket that drops what exceeds it, and holds nothing back (RFC 2475, section 2.3.3.4)."""

    rate: Rate
    burst: Size = Field(description="bytes that may pass at once")

    @model_validator(mode="after")
    def _lets_packets_pass(self) -> Self:
        if self.burst < _SMALLEST_BURST:
            raise ValueError(_too_small(self.burst))
        _check_burst(self.rate, self.burst)
        return self


class UdpVerdict(StrEnum):
    """What becomes of a packet that may not pass."""

    BLOCKED = "blocked"
    REJECTED = "rejected"


_FORMS = (
    '"blocked", "rejected", or a table with one of rate and burst, loss, or longest: '
    '{ rate = "1 Mbit/s", burst = "30 kB" }'
)


def _udp(value: object) -> object:
    return {"verdict": value} if isinstance(value, str) else value


class Udp(Part):
    """What becomes of UDP packets, while others pass.

    ``blocked`` drops them all, and ``rejected`` tells their senders that nobody is there (ICMP port unreachable).
    """

    other_forms = ({"enum": [udp_verdict.value for udp_verdict in UdpVerdict]},)

    verdict: UdpVerdict | None = None
    rate: Rate | None = Field(default=None, description="rate of a policer for UDP only")
    burst: Size | None = Field(default=None, description="that policer's, bytes")
    loss: Ratio | None = Field(
        default=None, description="share of UDP packets that are lost, independently"
    )
    longest: Size | None = Field(
        default=None, description="size of the longest packets that pass, IP header included"
    )
    start: Duration = Field(
        default=Duration(0), description="from this time on, counted from the start of the workload"
    )
    end: Duration | None = Field(default=None, description="until this time; by default to the end")

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        sentence = [self.verdict, self.rate, self.loss, self.longest]
        if sum(part is not None for part in sentence) != 1:
            raise ValueError(f"udp is {_FORMS}")
        if (self.rate is None) != (self.burst is None):
            raise ValueError('a policer needs both "rate" and "burst"')
        if self.end is not None and self.end <= self.start:
            raise ValueError("it must end after it starts")
        if self.rate is not None and self.burst is not None:
            if self.burst < _SMALLEST_BURST:
                raise ValueError(_too_small(self.burst))
            _check_burst(self.rate, self.burst)
        return self

    @property
    def policer(self) -> Policer | None:
        """The policer that UDP goes through; None if it goes through none."""
        if self.rate is None:
            return None
        return Policer.model_validate({"rate": self.rate, "burst": self.burst})

    @property
    def lasts(self) -> bool:
        """Whether what becomes of a packet depends on the time, or on packets before it."""
        return bool(self.start) or self.end is not None or self.loss is not None

    def __str__(self) -> str:
        if self.verdict:
            what = str(self.verdict)
        elif self.rate is not None:
            what = f"policed to {self.rate}"
        elif self.loss is not None:
            what = f"{self.loss} lost"
        else:
            what = f"lost beyond {int(self.longest or 0)} B"
        when = f" from {self.start}" if self.start else ""
        return what + when + (f" to {self.end}" if self.end is not None else "")


MtuSource = Annotated[Mtu, BeforeValidator(_mtu)]
UdpSource = Annotated[Udp, BeforeValidator(_udp)]
