"""Control pings, which tell what a path is like before its workload."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from headway.study.base_model import Part, wrong
from headway.study.clock import Clock
from headway.study.path import Path
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


def check_pings_pass(control: Control, paths: tuple[Path | None, ...], clock: Clock) -> None:
    """Control pings need a path that is there before the workload, and is the same after them.

    None of them may wait for another one, since their times are to be those of the path.
    """
    if clock is not Clock.VIRTUAL:
        raise wrong("clock", 'control pings need clock = "virtual": computing takes no time')
    links = [link for path in paths if path for link in path.links]
    for direction in (way for link in links for way in (link.down, link.up)):
        if direction.has_process:
            what = "access" if direction.access else "a trace"
            raise ValueError(f"control pings cannot pass {what}, which begins with the workload")
        if direction.drop_packets:
            raise ValueError("control pings would be counted among the packets of drop_packets")
        rate = direction.lowest_rate
        if rate and control.interval < (needed := PING_FRAME_BYTES * 8 * 10**9 // rate):
            raise ValueError(
                f"the interval of control pings must be {Duration(needed)} at least, "
                f"which one takes at {rate}"
            )
