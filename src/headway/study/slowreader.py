"""Slow readers: a response that its client reads slowly, beside others on the same connection."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from headway.columns.column import Of
from headway.overriding import override
from headway.study.application import Application
from headway.study.base_model import wrong
from headway.study.host import Protocol
from headway.study.offeredload import OfferedLoad
from headway.study.payload import Payload
from headway.study.units import Duration, Rate, Size
from headway.study.workloadpart import WorkloadPart

_BYTE_BITS = 8


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
        if self.pause is not None and not self.pause:
            raise wrong("pause", "a pause of 0 s reads nothing slowly: it has to take time")
        if self.rate is not None and self.rate % _BYTE_BITS:
            reason = (
                f"content is read in whole bytes a second: {self.rate} is no multiple of 8 bit/s"
            )
            raise wrong("rate", reason)
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
    def offered_load(self) -> OfferedLoad:
        slow_s = self.size / self.rate_bytes_s if self.pause is None else self.pause.s
        sends = max(round(slow_s * 1e9), self.interval * self.count)
        return OfferedLoad(sends=Duration(sends))

    @property
    @override
    def payload(self) -> Payload:
        return Payload(application=Application(f"bytes/{int(self.size)}"))

    @property
    def rate_bytes_s(self) -> int:
        """The rate in bytes a second; of a reader that has one."""
        assert self.rate is not None, "it reads after a pause"
        return self.rate // _BYTE_BITS

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of all responses, the slow one's first."""
        return (int(self.size), *[int(self.down)] * self.count)

    @property
    @override
    def run_kinds(self) -> frozenset[Of]:
        return super().run_kinds | {Of.SERIES}

    def __str__(self) -> str:
        how = f"after {self.pause}" if self.pause is not None else f"at {self.rate}"
        beside = f"{self.count} requests of {self.down} every {self.interval}"
        return f"slow reader of {self.size} {how} beside {beside}"
