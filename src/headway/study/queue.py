"""A bottleneck's queue: its size, and what it does when it fills."""

from __future__ import annotations

import operator
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, Self

from pydantic import Field, WithJsonSchema, model_validator

from headway.study.base_model import Part, wrong
from headway.study.units import Duration, Rate, Size, UnitError, split_quantity

ETHERNET_HEADER_BYTES = 14
_LONGEST_STEP_MS = 1000
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


_QUEUE_UNITS = ("BDP", "BDPs", "packets", "packet")
"""Beside those of sizes."""
_SIZE = Size.json_schema(*_QUEUE_UNITS)


def _queue_hint(number: Decimal, unit: str) -> str:
    """What would be right in the place of a queue's unknown unit."""
    folded = {known.lower(): known for known in ("BDP", "packets", "packet")}
    folded |= {"bdps": "BDP", "pkt": "packets", "pkts": "packets", "p": "packets"}
    if known := folded.get(unit.lower()):
        return f'write "{number:f} {known}"'
    return Size.hint(number, unit, *_QUEUE_UNITS[::2])


class TraceBest(NamedTuple):
    """What a trace lets pass at most, in bytes on the wire: within a round trip, and at once."""

    within_rtt_bytes: int
    burst_bytes: int


class Queue(Part):
    """The bottleneck's queue: a size in BDPs, bytes on the wire or packets, and a discipline."""

    other_forms = (_SIZE,)

    bdp: float | None = Field(default=None, gt=0, le=10_000)
    size: Annotated[Size | None, WithJsonSchema(_SIZE)] = None
    packets: int | None = Field(default=None, ge=1, le=10_000_000)
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
        elif isinstance(text, int | float) and not isinstance(text, bool | Size):
            raise ValueError(f'{text} has no unit; write "1 BDP", "64 kB" or "100 packets"')
        return raw

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        given = [v for v in (self.bdp, self.size, self.packets) if v is not None]
        if len(given) != 1:
            raise ValueError('a queue needs one size: "1 BDP", "64 kB" or "100 packets"')
        if self.ecn and not self.discipline.marks_if_asked:
            able = ", ".join(discipline for discipline in Discipline if discipline.marks_if_asked)
            text = "never marks" if self.discipline is Discipline.DROPTAIL else "always marks"
            raise ValueError(f"{self.discipline} {text}; ecn is for {able}")
        if self.step is not None and self.discipline is not Discipline.DUALPI2:
            raise wrong("step", f"{self.discipline} has no low-latency queue; step is for dualpi2")
        if self.step is not None and not 0 < self.step.ms <= _LONGEST_STEP_MS:
            raise wrong(
                "step", f"it is more than 0 and up to {_LONGEST_STEP_MS} ms, not {self.step}"
            )
        return self

    def limit_bytes(self, rate: Rate, rtt: Duration, trace: TraceBest | None = None) -> int:
        """Size in bytes on the wire; never less than two full packets, or nothing would pass.

        Args:
            rate: a BDP's.
            rtt: a BDP's.
            trace: what a trace lets pass at best, for a queue with room for bursts.
        """
        if self.packets is not None:
            return self.packets * FRAME_BYTES
        bdp_bytes = (self.bdp or 0) * rate * rtt / 8e9
        if self.bursts and trace:
            bdp_bytes = (self.bdp or 0) * trace.within_rtt_bytes + trace.burst_bytes
        wanted = self.size if self.size is not None else int(bdp_bytes)
        return max(int(wanted), 2 * FRAME_BYTES)
