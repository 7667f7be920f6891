"""Access to a carrier: packets travel in frames, and at a capacity that may be granted on demand.

Demand assignment is that of DVB-RCS2 (ETSI EN 301 545-2, section 9; EN 301 790, section 6.5): constant rate
assignment (CRA), rate-based (RBDC) and volume-based dynamic capacity (VBDC).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from headway.study.base_model import Part, wrong
from headway.study.loss import RandomLoss
from headway.study.queue import Discipline, Queue
from headway.study.rates import RandomRate, RateSchedule, TraceRate
from headway.study.units import Duration, Rate, Size

_SUPERFRAME = Duration(26_500_000)


class CapacityOnDemand(Part):
    """What a terminal has without asking, and what it may ask for at the beginning of superframes.

    Capacity is spread evenly over a superframe. What is granted and not used is lost.
    """

    constant: Rate | None = Field(default=None, description="rate without any request (CRA)")
    rate_based: Rate | None = Field(
        default=None,
        description="most that it may ask for as a rate, until it asks again (RBDC)",
    )
    volume_based: Size | None = Field(
        default=None, description="most that it may ask for at a time, once (VBDC)"
    )
    superframe: Duration = Field(default=_SUPERFRAME, description="length of a superframe")
    latency: Duration = Field(
        description="from a request to the superframe that has what is granted, in whole superframes"
    )
    every: int = Field(default=1, ge=1, description="superframes from a request to the next")

    @model_validator(mode="after")
    def _ever_grants(self) -> Self:
        if not (self.constant or self.rate_based or self.volume_based):
            raise ValueError(
                "nothing is ever granted; give constant, rate_based or volume_based, such as "
                'constant = "100 kbit/s"'
            )
        if self.superframe < 1_000_000:
            raise wrong("superframe", "a superframe must be 1 ms at least")
        return self

    @property
    def latency_superframes(self) -> int:
        """The latency in superframes, rounded up."""
        return -(-self.latency // self.superframe)


class LossUnit(StrEnum):
    """What a link's loss is of."""

    PACKETS = "packets"
    FRAMES = "frames"


class CarrierAccess(Part):
    """Packets follow each other in frames of the link; one arrives with the frame in which it ends.

    A frame takes what waits when it begins, and its whole time. Packets have parts in two frames or more, and
    frames parts of two packets or more.
    """

    frame: Size = Field(description="bytes of packets, with their Ethernet headers, in a frame")
    lost: LossUnit = Field(
        default=LossUnit.PACKETS,
        description="what the direction's loss is of; a packet is lost with any frame that has a part of it",
    )
    demand: CapacityOnDemand | None = None

    @model_validator(mode="after")
    def _grants_frames(self) -> Self:
        volume = self.demand.volume_based if self.demand else None
        if volume is not None and volume < self.frame:
            reason = f"{volume} is less than a frame of {self.frame}, so that none is ever granted"
            raise wrong("demand.volume_based", reason)
        if self.frame < 1:
            raise wrong("frame", "a frame must have a byte at least")
        return self

    def check_beside(
        self,
        rate: RateSchedule | RandomRate | TraceRate | None,
        queue: Queue,
        loss: RandomLoss,
        others: Mapping[str, object],
        changes: Iterable[Part],
    ) -> None:
        """Refuse what a direction cannot have with frames: they are filled from a queue of their own.

        Args:
            rate: the direction's.
            queue: its queue.
            loss: its loss.
            others: by key, what a direction with frames has none of.
            changes: what changes in its course.
        """
        changed = {key for change in changes for key in change.model_fields_set}
        steps = rate.steps if isinstance(rate, RateSchedule) else ()
        if len(steps) != 1 or "rate" in changed:
            raise wrong("access", "frames are sent at one rate that stays; state one, as 10 Mbit/s")
        if queue.discipline is not Discipline.DROPTAIL:
            raise wrong("queue", 'frames are filled from a droptail queue; leave out "discipline"')
        if key := next((key for key, value in others.items() if value), None):
            raise wrong(
                key,
                "cannot be combined with access: a link with access has none; leave out one of the two",
            )
        if self.lost is LossUnit.FRAMES and (loss.burst > 1 or "loss" in changed):
            raise wrong("loss", "frames are lost each by itself, at a share that stays")
        constant = self.demand.constant if self.demand else None
        if constant is not None and constant > steps[0].rate:
            reason = f"{constant} is more than the carrier's {steps[0].rate}"
            raise wrong("access.demand.constant", reason)
