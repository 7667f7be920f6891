"""Bulk flows: long ones, and those that come and go by chance, as the traffic of others does."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Self

from pydantic import Field, model_validator

from headway.overriding import override
from headway.study.host import BULK, Protocol
from headway.study.offeredload import OfferedLoad
from headway.study.oneway import OneWayWorkload
from headway.study.units import Duration, Rate, Size

_MOST_FLOWS = 2000
"""That may be expected of one workload."""


@dataclass(frozen=True)
class BulkTransfer:
    """One of a workload's bulk flows: when it starts, and how long or how much it sends."""

    start: Duration
    amount: Duration | Size


class BulkPart(OneWayWorkload, ABC):
    """Bulk flows of some kind: arbitrary data on the transport alone, without HTTP."""

    @abstractmethod
    def transfers(self, seed: str) -> tuple[BulkTransfer, ...]:
        """Its flows, in the order of their starts; what is by chance, by the seed."""

    @property
    @override
    def protocols(self) -> frozenset[Protocol]:
        return BULK


class Bulk(BulkPart):
    """Flows of arbitrary data on the transport alone, without HTTP, for a time or a size each.

    Every flow has a connection of its own, which the client opens. What is told of a flow is how
    many bytes its receiver's program got in every 100 ms.
    """

    kind: Literal["bulk"] = "bulk"
    duration: Duration | None = Field(default=None, description="how long each flow sends")
    size: Size | None = Field(default=None, description="how much each flow sends")
    starts: tuple[Duration, ...] = Field(
        default=(Duration(0),),
        min_length=1,
        max_length=100,
        description='when each flow starts, such as ["0 s", "5 s"] for two',
    )

    @model_validator(mode="after")
    def _ends_once(self) -> Self:
        if (self.duration is None) == (self.size is None):
            raise ValueError('a bulk flow has either a duration, such as "15 s", or a size')
        if not (self.duration or self.size):
            raise ValueError("a bulk flow must send something")
        return self

    @property
    @override
    def requests(self) -> int:
        return len(self.starts)

    @property
    @override
    def amount(self) -> Size | None:
        return self.size

    @property
    @override
    def offered_load(self) -> OfferedLoad:
        last = max(self.starts)
        sends = Duration(last + self.duration) if self.duration else None
        return OfferedLoad(sends=sends, last_start=last)

    @override
    def transfers(self, seed: str) -> tuple[BulkTransfer, ...]:
        amount = self.duration if self.duration is not None else self.size
        assert amount is not None, "a bulk flow has either a duration or a size"
        return tuple(BulkTransfer(start, amount) for start in self.starts)

    def __str__(self) -> str:
        count = f"{len(self.starts)} x " if len(self.starts) > 1 else ""
        return f"bulk {self.direction} {count}{self.duration or self.size}"


class ByChance(BulkPart, ABC):
    """Bulk flows that come by chance for a while."""

    duration: Duration = Field(description="how long flows arrive")

    @property
    @override
    def offered_load(self) -> OfferedLoad:
        return OfferedLoad(sends=self.duration, last_start=self.duration)


class Arrivals(ByChance):
    """Short flows that arrive by chance: a Poisson process, with sizes of a bounded Pareto distribution.

    As web traffic is modelled since Crovella and Bestavros 1997: many small transfers, and most
    bytes in few large ones.
    """

    kind: Literal["arrivals"] = "arrivals"
    load: Rate = Field(description="mean rate of all flows together")
    mean_size: Size = Field(default=Size(100_000), description="of a flow")
    largest: Size = Field(default=Size(10_000_000), description="no flow is larger")
    shape: float = Field(
        default=1.2,
        gt=1,
        le=10,
        description="shape of the Pareto distribution; the smaller, the heavier its tail",
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if not self.load or not self.duration or not self.mean_size:
            raise ValueError("arrivals need a load, a duration and a size above zero")
        if self.mean_size >= self.largest:
            raise ValueError(
                f"the largest flow ({self.largest}) is above the mean ({self.mean_size})"
            )
        expected = self.duration.s * self._per_second
        if expected > _MOST_FLOWS:
            raise ValueError(f"{expected:.0f} flows are expected; {_MOST_FLOWS} at most")
        return self

    @property
    def _per_second(self) -> float:
        return self.load / 8 / self.mean_size

    @override
    def transfers(self, seed: str) -> tuple[BulkTransfer, ...]:
        chance = random.Random(f"arrivals {seed}")
        return tuple(self._arriving(chance)) or (BulkTransfer(Duration(0), self.mean_size),)

    def _arriving(self, chance: random.Random) -> Iterator[BulkTransfer]:
        least = self._least_size
        at_s = chance.expovariate(self._per_second)
        while at_s < self.duration.s:
            size = min(least * chance.paretovariate(self.shape), self.largest)
            yield BulkTransfer(Duration(round(at_s * 1e9)), Size(max(round(size), 1)))
            at_s += chance.expovariate(self._per_second)

    @property
    def _least_size(self) -> float:
        """The size with which the mean of sizes, none above the largest, is what it is to be."""
        low, high = 0.0, float(self.mean_size)
        for _ in range(60):
            middle = (low + high) / 2
            tail = middle**self.shape * float(self.largest) ** (1 - self.shape)
            mean = (self.shape * middle - tail) / (self.shape - 1)
            low, high = (middle, high) if mean < self.mean_size else (low, middle)
        return low

    def __str__(self) -> str:
        return f"arrivals {self.direction} {self.load} of {self.mean_size} for {self.duration}"


class OnOff(ByChance):
    """A flow that sends for a while and pauses for a while, by chance; each time on a new connection."""

    kind: Literal["on-off"] = "on-off"
    on: Duration = Field(
        default=Duration(5_000_000_000), description="mean time for which it sends"
    )
    off: Duration = Field(
        default=Duration(5_000_000_000), description="mean time for which it pauses"
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if not self.duration or not self.on or not self.off:
            raise ValueError("on, off and duration must be above zero")
        if self.duration.s / (self.on.s + self.off.s) > _MOST_FLOWS:
            raise ValueError(f"more than {_MOST_FLOWS} times of sending are expected")
        return self

    @override
    def transfers(self, seed: str) -> tuple[BulkTransfer, ...]:
        chance = random.Random(f"on-off {seed}")
        bulk_transfers, at_s, end_s = [], 0.0, self.duration.s
        while at_s < end_s:
            on_s = min(chance.expovariate(1 / self.on.s), end_s - at_s)
            bulk_transfers.append(
                BulkTransfer(Duration(round(at_s * 1e9)), Duration(max(round(on_s * 1e9), 1)))
            )
            at_s += on_s + chance.expovariate(1 / self.off.s)
        return tuple(bulk_transfers)

    def __str__(self) -> str:
        return f"on-off {self.direction} {self.on} of {Duration(self.on + self.off)} for {self.duration}"
