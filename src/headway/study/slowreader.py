"""Slow readers: a response that its client reads slowly, beside others on the same connection."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator
from typing_extensions import override

from headway.study.application import Application
from headway.study.host import Protocol
from headway.study.units import Duration, Rate, Size
from headway.study.workloadpart import WorkloadPart


class SlowReader(WorkloadPart):
    """A response that is read at a rate, or after a pause, and requests beside it at an interval.

    What nobody has read stays in the windows of flow control, that of the connection, too.
    """

    kind: Literal["slow-reader"] = "slow-reader"
    size: Size = Field(description="of the response that is read slowly")
    rate: Rate | None = Field(default=None, description="at which it is read")
    pause: Duration | None = Field(
        default=None, description="or how long nothing of it is read, after its head came"
    )
    count: int = Field(ge=1, le=1000, description="requests beside it")
    down: Size = Field(description="of each of their responses")
    interval: Duration = Field(
        description="from one of them to the next, and to the first, after the slow one"
    )

    @model_validator(mode="after")
    def _is_slow_in_one_way(self) -> Self:
        if (self.rate is None) == (self.pause is None):
            raise ValueError(
                "a response is read slowly either at a rate or after a pause: state one of them"
            )
        return self

    @property
    @override
    def requests(self) -> int:
        return 1 + self.count

    @property
    @override
    def protocols(self) -> frozenset[Protocol]:
        """Those that have several requests on a connection."""
        return frozenset({Protocol.H2, Protocol.H3})

    @property
    @override
    def needs(self) -> str:
        return "several requests have to share a connection"

    @property
    @override
    def sends(self) -> Duration:
        slow_s = self.pause.s if self.pause else self.size * 8 / float(self.rate or 1)
        return Duration(max(round(slow_s * 1e9), self.interval * self.count))

    @property
    @override
    def application(self) -> Application:
        return Application(f"bytes/{int(self.size)}")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of all responses, the slow one's first."""
        return (int(self.size), *[int(self.down)] * self.count)

    def __str__(self) -> str:
        how = f"after {self.pause}" if self.pause else f"at {self.rate}"
        beside = f"{self.count} requests of {self.down} every {self.interval}"
        return f"slow reader of {self.size} {how} beside {beside}"
