"""The kernel of a host: a profile, sysctls, the discipline and the offloads of its devices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Self

from pydantic import Field, WithJsonSchema, field_validator, model_validator

from headway.study.base_model import Part, wrong
from headway.study.processor import Processor
from headway.study.sysctls import check_sysctl, dotted
from headway.study.units import Duration
from headway.tables import table


class HostProfile(StrEnum):
    """Settings that hosts have together, as their owners ship them: docs/hosts.md has the sources.

    ``tuned``: buffers so large that no path of a study meets them, and no memory of earlier
    connections.
    """

    TUNED = "tuned"
    DEBIAN_12 = "debian-12"
    DEBIAN_13 = "debian-13"
    UBUNTU_24_04 = "ubuntu-24.04"
    ANDROID = "android"


class HostDiscipline(StrEnum):
    """What holds packets that a host's devices are given: tc(8). ``noqueue``: nothing."""

    NOQUEUE = "noqueue"
    PFIFO = "pfifo"
    PFIFO_FAST = "pfifo_fast"
    FQ = "fq"
    FQ_CODEL = "fq_codel"


class Offload(StrEnum):
    """What a host's device does with many packets as one.

    ``gso``: TCP hands down up to 64 kB, which are cut into packets just before the device.
    ``gro``: packets of a connection that arrive together are handed up as one.
    """

    GSO = "gso"
    GRO = "gro"


_OF_PATHS = {"tso": "segments", "lro": "merged packets"}
"""Offloads that a device without hardware cannot have: what would cross the path in one piece."""
_LONGEST_COALESCING = Duration(10_000_000)


class Kernel(Part):
    """How a host's kernel is set; where nothing is said, as its profile says."""

    profile: HostProfile = HostProfile.TUNED
    sysctls: Annotated[dict[str, str], WithJsonSchema({"type": "object"})] = Field(
        default_factory=dict, description="values that differ from the profile's, by name"
    )
    qdisc: HostDiscipline | None = Field(
        default=None,
        description="queueing discipline of the host's devices: noqueue, pfifo, pfifo_fast, fq, fq_codel",
    )
    offload: tuple[Offload, ...] | None = Field(
        default=None, description='gso, gro; by default ["gso"]'
    )
    coalescing: Duration = Field(
        default=Duration(0),
        description="how long a received packet waits for others to be handed up with it",
    )
    processor: Processor | None = Field(
        default=None,
        exclude_if=lambda processor: processor is None,
        description="what system calls, packets and bytes cost the host; by default computing takes no time",
    )

    @field_validator("sysctls", mode="before")
    @classmethod
    def _flat(cls, value: Any) -> Any:
        return dict(dotted(value)) if isinstance(value, Mapping) else value

    @field_validator("offload", mode="before")
    @classmethod
    def _possible_offloads(cls, value: Any) -> Any:
        for name in value if isinstance(value, list | tuple) else ():
            if what := _OF_PATHS.get(str(name)):
                raise ValueError(
                    f"{name} needs hardware, which the lab lacks: {what} of up to 64 kB "
                    "would cross the path whole, as with `offload = true`; hosts have gso and gro"
                )
        return value

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for name, value in self.sysctls.items():
            if reason := check_sysctl(name, value):
                raise wrong(f"sysctls.{name}", reason)
        if self.coalescing > _LONGEST_COALESCING:
            raise wrong("coalescing", f"is {_LONGEST_COALESCING} at most, not {self.coalescing}")
        if self.coalescing and self.offload is not None and Offload.GRO not in self.offload:
            raise wrong("coalescing", 'needs gro: leave out offload, or add "gro"')
        return self

    @property
    def all_sysctls(self) -> dict[str, str]:
        """Those of the profile, and those that replace or add to them."""
        return {**shipped(self.profile).sysctls, **self.sysctls}

    @property
    def discipline(self) -> HostDiscipline:
        """Of the host's devices."""
        return self.qdisc or shipped(self.profile).discipline

    @property
    def segments_late(self) -> bool:
        """Whether TCP hands down more than a packet at once."""
        return self.offload is None or Offload.GSO in self.offload

    @property
    def gro_flush_ns(self) -> int | None:
        """How long GRO waits for more packets; None if the host does not merge them."""
        merges = bool(self.coalescing) or (self.offload is not None and Offload.GRO in self.offload)
        return self.coalescing.ns if merges else None

    def __str__(self) -> str:
        """What a study said, in words: ``debian-12, net.core.rmem_max=4194304, fq``."""
        return ", ".join(self._words())

    def _words(self) -> Iterator[str]:
        yield str(self.profile)
        yield from (f"{name}={value}" for name, value in self.sysctls.items())
        if self.qdisc:
            yield str(self.qdisc)
        if self.offload is not None:
            yield f"offload {' '.join(sorted(self.offload)) or 'none'}"
        if self.coalescing:
            yield f"coalescing {self.coalescing}"
        if self.processor:
            yield f"processor {self.processor}"


RewriteCalls = Annotated[
    bool,
    Field(
        exclude_if=bool,
        description="in the virtual clock, the lab's kernel replaces calls that repeat in code of the C library and of Headway's own programs; without, they cost more of this machine's processor",
    ),
]
"""Of the lab's own kernel, which all hosts share."""

TUNED = Kernel()
"""What hosts are where a study says nothing."""


class Shipped(Part):
    """What a profile sets."""

    sysctls: dict[str, str]
    discipline: HostDiscipline


QDISC = "qdisc"
"""The line of a profile's table that is no sysctl."""


@cache
def shipped(profile: HostProfile) -> Shipped:
    """What a profile sets, from the table that also has the sources."""
    texts = {
        row["name"]: row["value"]
        for row in table("headway.study", "data/hosts.csv")
        if str(profile) in row["profiles"].split()
    }
    discipline = texts.pop(QDISC, HostDiscipline.NOQUEUE)
    return Shipped(sysctls=texts, discipline=HostDiscipline(discipline))
