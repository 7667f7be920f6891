"""Control pings, which tell what a path is like before its workload."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from headway.study.base_model import Part
from headway.study.units import Duration

PING_FRAME_BYTES = 98
"""Size of a control ping: 56 bytes of data, as ping has them by default, and headers."""


class Control(Part):
    """ICMP echo requests from the client before the workload, over the path that it will take."""

    pings: int = Field(default=10, ge=1, le=1000)
    interval: Duration = Field(default=Duration(100 * 10**6), description="between two requests")

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if self.interval < 1_000_000:
            raise ValueError("the interval of control pings must be at least 1 ms")
        return self
