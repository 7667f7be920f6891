"""Live video: its source makes it while players play it."""

from __future__ import annotations

from random import Random
from typing import Self

from pydantic import Field, model_validator

from headway.study.base_model import Part, wrong
from headway.study.units import Duration, Ratio

LIVE_RECORD_BYTES = 4096
"""Of a TLS record in which live video is sent: a player sees a chunk come, and so how fast, in such pieces."""
MOST_CHUNKS = 10_000
"""Of a segment, as headway-server makes it."""
MOST_SEGMENT_BYTES = 256 << 20
"""Of live video, as headway-server makes it."""
_MS = 10**6
_MOST_CATCH_UP = Ratio(0.5)


class Live(Part):
    """How a live video is made, and how a player keeps its distance from the source.

    A chunk of a segment (CMAF) can be had as soon as its source has made all of it, while the segment goes on.
    """

    chunk: Duration = Field(
        default=Duration(500 * _MS), description="what a chunk plays; segments have whole chunks"
    )
    latency: Duration = Field(
        default=Duration(3000 * _MS),
        description="the live latency that the player aims at: from when the source made a picture until it is seen",
    )
    catch_up: Ratio = Field(
        default=Ratio(0.05),
        description="by how much the rate of playback may differ from 1, so that the latency comes near to that; "
        "0 %: never; at most 50 %",
    )

    @model_validator(mode="after")
    def _can_be_kept(self) -> Self:
        if not self.chunk:
            raise wrong("chunk", "a chunk plays for a time")
        if self.latency < self.chunk:
            raise wrong("latency", f"a chunk or more, here {self.chunk}: it is sent as a whole")
        if self.catch_up > _MOST_CATCH_UP:
            raise wrong("catch_up", f"at most {_MOST_CATCH_UP}")
        return self

    @staticmethod
    def joins(segment: Duration, seed: str) -> Duration:
        """How far the source is in a segment when what a viewer sees first is made: drawn, as people come at any time.

        Args:
            segment: what a segment plays.
            seed: what is drawn by.
        """
        return Duration(Random(f"joins {seed}").randrange(segment))

    def __str__(self) -> str:
        return f"live in chunks of {self.chunk}, {self.latency} behind"
