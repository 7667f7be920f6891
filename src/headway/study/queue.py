"""A bottleneck's queue: its size, and what it does when it fills."""

from __future__ import annotations

import math
import operator
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, Self

from pydantic import Field, WithJsonSchema, model_validator

from headway.study.base_model import Part, wrong
from headway.study.units import Duration, Rate, Size, UnitError, split_quantity

ETHERNET_HEADER_BYTES = 14
FRAME_BYTES = 1514
"""A full-size packet on the wire: an MTU of 1500 bytes and 14 bytes of Ethernet header."""


class Discipline(StrEnum):
    """What a queue does when it fills."""

    DROPTAIL = "droptail"
    CODEL = "codel"
    FQ_CODEL = "fq_codel"
    CAKE = "cake"
    RED = "red"
    PIE = "pie"
    FQ_PIE = "fq_pie"
    DUALPI2 = "dualpi2"

    @property
    def marks_if_asked(self) -> bool:
        """Whether it can mark packets (ECN, RFC 3168) instead of dropping them, or do without."""
        return self not in (Discipline.DROPTAIL, Discipline.CAKE, Discipline.DUALPI2)


TIMES = ("target", "interval", "step")
"""What times of a queue a study may state."""
_CODEL = {"target": Duration(5_000_000), "interval": Duration(100_000_000)}
_PIE = {"target": Duration(15_000_000)}
_LINUX = {
    Discipline.CODEL: _CODEL,
    Discipline.FQ_CODEL: _CODEL,
    Discipline.CAKE: {"interval": _CODEL["interval"]},
    Discipline.PIE: _PIE,
    Discipline.FQ_PIE: _PIE,
    Discipline.DUALPI2: {**_PIE, "step": Duration(1_000_000)},
}
"""The times of each discipline, and their values in Linux. Cake derives its target from its interval."""
_CAKES_TARGET = 20
"""The part of its interval that cake aims at (tc-cake(8))."""
_LONGEST = {"interval": Duration(3600 * 10**9)}
_LONGEST_OF_OTHERS = Duration(10**9)
_QUEUE_UNITS = ("BDP", "BDPs", "packets", "packet", *Duration.units)
"""Beside those of sizes."""
_SIZE = Size.json_schema(*_QUEUE_UNITS)


_EXAMPLES = '"1 BDP", "64 kB", "100 packets" or "50 ms"'


def _queue_hint(number: Decimal, unit: str) -> str:
    """What would be right in the place of a queue's unknown unit."""
    folded = {known.lower(): known for known in ("BDP", "packets", "packet")}
    folded |= {"bdps": "BDP", "pkt": "packets", "pkts": "packets", "p": "packets"}
    if known := folded.get(unit.lower()):
        return f'write "{number:f} {known}"'
    return Size.hint(number, unit, "BDP", "packets", "ms")


class TraceBest(NamedTuple):
    """What a trace lets pass at most, in bytes on the wire: within a round trip, and at once."""

    within_rtt_bytes: int
    burst_bytes: int


class Queue(Part):
    """The bottleneck's queue: a size in BDPs, bytes on the wire, packets or time, and a discipline."""

    other_forms = (_SIZE,)

    bdp: float | None = Field(default=None, gt=0, le=10_000)
    size: Annotated[Size | None, WithJsonSchema(_SIZE)] = None
    packets: int | None = Field(default=None, ge=1, le=10_000_000)
    drain: Duration | None = Field(
        default=None,
        gt=0,
        exclude_if=lambda drain: drain is None,
        description="how long a full queue takes to drain at the rate whose BDP would be its size",
    )
    discipline: Discipline = Discipline.DROPTAIL
    ecn: bool = Field(
        default=False,
        description="marks packets of flows that can ECN (RFC 3168), instead of dropping them",
    )
    step: Duration | None = Field(
        default=None,
        exclude_if=lambda step: step is None,
        description="of dualpi2: packets of its low-latency queue are marked that were there for longer; by default Linux's, 1 ms",
    )
    target: Duration | None = Field(
        default=None,
        exclude_if=lambda target: target is None,
        description="how long packets may wait before the discipline acts, of codel, fq_codel, pie, fq_pie and dualpi2; by default Linux's: 5 ms, or 15 ms",
    )
    interval: Duration | None = Field(
        default=None,
        exclude_if=lambda interval: interval is None,
        description="for how long they have to wait longer than that, of codel, fq_codel and cake, which calls it rtt; by default Linux's, 100 ms",
    )
    bursts: bool = Field(
        default=False,
        exclude_if=operator.not_,
        description="of a trace: a BDP is the most that passes within a round trip, and the largest burst has room besides",
    )

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        raw = dict(value) if isinstance(value, dict) else {"size": value}
        text = raw.get("size")
        if isinstance(text, str):
            try:
                number, unit = split_quantity(text)
            except UnitError as error:
                raise ValueError(str(error)) from error
            if unit and unit not in (*_QUEUE_UNITS, *Size.units):
                raise ValueError(f"{unit!r} is not a unit of queues; {_queue_hint(number, unit)}")
            if unit in ("BDP", "BDPs"):
                raw["bdp"] = float(number)
                del raw["size"]
            elif unit in ("packet", "packets"):
                raw["packets"] = float(number)  # a whole number, or it is refused
                del raw["size"]
            elif unit in Duration.units:
                raw["drain"] = raw.pop("size")
        elif isinstance(text, int | float) and not isinstance(text, bool | Size):
            raise ValueError(f"{text} has no unit; write {_EXAMPLES}")
        return raw

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        given = [self.bdp, self.size, self.packets, self.drain]
        if len(given) - given.count(None) != 1:
            raise ValueError(f"a queue needs one size: {_EXAMPLES}")
        return self

    @model_validator(mode="after")
    def _marks_if_it_can(self) -> Self:
        if self.ecn and not self.discipline.marks_if_asked:
            able = ", ".join(discipline for discipline in Discipline if discipline.marks_if_asked)
            text = "never marks" if self.discipline is Discipline.DROPTAIL else "always marks"
            raise ValueError(f"{self.discipline} {text}; ecn is for {able}")
        return self

    @model_validator(mode="after")
    def _has_these_times(self) -> Self:
        for name, value in self.stated_times.items():
            if name not in _LINUX.get(self.discipline, ()):
                able = ", ".join(discipline for discipline, own in _LINUX.items() if name in own)
                raise wrong(name, f"{self.discipline} has no {name}; that is for {able}")
            longest = _LONGEST.get(name, _LONGEST_OF_OTHERS)
            if not 0 < value <= longest:
                raise wrong(name, f"it is more than 0 and up to {longest}, not {value}")
        times = self.times
        if times.get("target", 0) >= times.get("interval", math.inf):
            raise wrong(
                "target",
                f"{times['target']} is not shorter than the interval of {times['interval']}",
            )
        return self

    @property
    def stated_times(self) -> dict[str, Duration]:
        """The times of its active queue management that a study states."""
        stated = {name: getattr(self, name) for name in TIMES}
        return {name: value for name, value in stated.items() if value is not None}

    @property
    def times(self) -> dict[str, Duration]:
        """The times of its active queue management: those stated, and Linux's."""
        return {**_LINUX.get(self.discipline, {}), **self.stated_times}

    @property
    def target_ns(self) -> int | None:
        """How long packets may wait before the discipline acts; None of one without a target."""
        times = self.times
        if self.discipline is Discipline.CAKE:
            return int(times["interval"]) // _CAKES_TARGET
        return int(times["target"]) if "target" in times else None

    def limit_bytes(self, rate: Rate, rtt: Duration, trace: TraceBest | None = None) -> int:
        """Size in bytes on the wire; never less than two full packets, or nothing would pass.

        Args:
            rate: a BDP's.
            rtt: a BDP's.
            trace: what a trace lets pass at best, for a queue with room for bursts.
        """
        if self.packets is not None:
            return self.packets * FRAME_BYTES
        return max(int(self._bytes(rate, rtt, trace)), 2 * FRAME_BYTES)

    def _bytes(self, rate: Rate, rtt: Duration, trace: TraceBest | None) -> float:
        if self.size is not None:
            return self.size
        if self.drain is not None:
            return rate * self.drain / 8e9
        bdp = self.bdp or 0
        if self.bursts and trace:
            return bdp * trace.within_rtt_bytes + trace.burst_bytes
        return bdp * rate * rtt / 8e9
