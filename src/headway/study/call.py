"""Calls: datagrams at a constant rate, which nothing slows down and nobody sends again."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from headway.columns.column import Of
from headway.overriding import override
from headway.study.host import Protocol
from headway.study.offeredload import OfferedLoad
from headway.study.oneway import OneWayWorkload
from headway.study.units import Duration, Rate, Size

_SMALLEST, _LARGEST = 25, 65_507
_MOST_DATAGRAMS = 10_000_000


class Call(OneWayWorkload):
    """Datagrams of one size at a constant rate, as an audio or video call without rate control sends.

    What is told is how many came and how late (RFC 8868 has what interactive media are judged by).
    """

    kind: Literal["call"] = "call"
    rate: Rate = Field(description="of the UDP payload")
    datagram: Size = Field(default=Size(1200), description="UDP payload of each datagram")
    duration: Duration = Field(description="how long it sends")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if not _SMALLEST <= self.datagram <= _LARGEST:
            raise ValueError(f"a datagram has {_SMALLEST} to {_LARGEST} bytes, not {self.datagram}")
        if not 1 <= self.datagrams <= _MOST_DATAGRAMS:
            raise ValueError(
                f"a call has 1 to {_MOST_DATAGRAMS} datagrams: {self.rate} for {self.duration} "
                f"in datagrams of {self.datagram} are {self.datagrams}"
            )
        return self

    @property
    def every_ns(self) -> int:
        """Time from a datagram to the next."""
        return max(round(self.datagram * 8 / self.rate * 1e9), 1)

    @property
    def datagrams(self) -> int:
        """How many there are."""
        return self.duration // self.every_ns

    @property
    @override
    def protocols(self) -> frozenset[Protocol]:
        return frozenset({Protocol.UDP})

    @property
    @override
    def offered_load(self) -> OfferedLoad:
        return OfferedLoad(sends=self.duration, is_controlled=False)

    @property
    @override
    def amount(self) -> Size:
        return Size(self.datagrams * self.datagram)

    @property
    @override
    def run_kinds(self) -> frozenset[Of]:
        return super().run_kinds | {Of.CALLS}

    def __str__(self) -> str:
        return f"call {self.direction} {self.rate} for {self.duration}"
