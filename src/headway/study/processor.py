"""A host's processor: what its system calls, packets and bytes cost in virtual time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, Self

from pydantic import Field, model_validator

from headway.study.base_model import Part, wrong
from headway.study.units import Duration
from headway.tables import table

MOST_CORES = 64
_DEAREST = Duration(1_000_000_000)
_LARGEST_FACTOR = 1000.0
_SYSCTL = "net.processor."


class ProcessorProfile(StrEnum):
    """Processors that have a name: docs/processors.md has their costs and the sources.

    ``free``: nothing costs anything, but what the study states. ``moto-g``: 65 times as slow as a desktop, which no
    measurement of that phone supports.
    """

    FREE = "free"
    DESKTOP = "desktop"
    SERVER_CORE = "server-core"
    MID_TIER_PHONE = "mid-tier-phone"
    LOW_END_PHONE = "low-end-phone"
    MOTO_G = "moto-g"


class PacketCosts(Part):
    """What packets of one direction cost; None where the profile decides."""

    buffer: Duration | None = Field(
        default=None,
        description="what the protocols handle at once: a packet, or up to 64 kB with gso or gro",
    )
    packet: Duration | None = Field(default=None, description="each packet on the wire")
    datagram: Duration | None = Field(
        default=None,
        description="each UDP datagram besides: what a program does for it that TCP's kernel need not, such as QUIC's",
    )
    kilobyte: Duration | None = Field(default=None, description="1000 bytes on the wire")


class Processor(Part):
    """A host's processor, in the clock ``virtual``; in a study file a profile's name, or a table."""

    other_forms = ({"enum": [str(processor_profile) for processor_profile in ProcessorProfile]},)

    profile: ProcessorProfile = Field(
        default=ProcessorProfile.FREE, description="costs that nothing else states"
    )
    factor: float = Field(
        default=1.0,
        gt=0,
        le=_LARGEST_FACTOR,
        description="all costs are multiplied by it: a processor this many times slower",
    )
    cores: int = Field(default=1, ge=1, le=MOST_CORES)
    call: Duration | None = Field(default=None, description="a system call of no other kind")
    send_call: Duration | None = Field(
        default=None, description="a call that sends or writes, such as sendmsg"
    )
    receive_call: Duration | None = Field(
        default=None, description="a call that receives or reads, such as recvmsg"
    )
    wait_call: Duration | None = Field(
        default=None, description="a call that waits, such as epoll_wait"
    )
    switch: Duration | None = Field(
        default=None,
        description="extra cost of a call that blocked: the switch back to its program",
    )
    sent: PacketCosts = PacketCosts()
    received: PacketCosts = PacketCosts()
    computing: float = Field(
        default=0.0,
        ge=0,
        le=_LARGEST_FACTOR,
        description="the programs' own computing between calls, as a multiple of its time on the machine that runs "
        "the lab; above 0 no run repeats exactly",
    )

    @model_validator(mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        return {"profile": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for name, cost in self._stated():
            if cost is not None and cost * self.factor > _DEAREST:
                raise wrong(name, f"costs {_DEAREST} at most, not {cost} x {self.factor:g}")
        if self.factor != 1 and not self.costs:
            raise wrong("factor", "multiplies nothing: state a profile, or costs, beside it")
        return self

    def _stated(self) -> Iterator[tuple[str, Duration | None]]:
        for name in _CALLS:
            yield name, getattr(self, name)
        for way in ("sent", "received"):
            for name, cost in dict(getattr(self, way)).items():
                yield f"{way}.{name}", cost

    @property
    def states_all(self) -> bool:
        """Whether nothing is left that the profile decides."""
        return all(cost is not None for _, cost in self._stated())

    @property
    def costs(self) -> dict[str, Duration]:
        """What everything costs, by the key that states it; without what is free."""
        known = _profiles()[self.profile]
        durations = {
            name: Duration(round((known.get(name, 0) if cost is None else cost) * self.factor))
            for name, cost in self._stated()
        }
        return {name: cost for name, cost in durations.items() if cost}

    @property
    def sysctls(self) -> dict[str, str]:
        """How the lab kernel is told."""
        texts = {f"{_SYSCTL}{_SYSCTLS[name]}": str(cost.ns) for name, cost in self.costs.items()}
        if self.computing:
            texts[f"{_SYSCTL}user_percent"] = str(round(self.computing * 100))
        return {f"{_SYSCTL}cores": str(self.cores), **texts}

    def __str__(self) -> str:
        """In words: ``moto-g, 2 cores, sent.datagram=20 us``."""
        return ", ".join(self._words())

    def _words(self) -> Iterator[str]:
        yield str(self.profile)
        if self.factor != 1:
            yield f"x {self.factor:g}"
        if self.cores != 1:
            yield f"{self.cores} cores"
        yield from (f"{name}={cost}" for name, cost in self._stated() if cost is not None)
        if self.computing:
            yield f"computing x {self.computing:g}"


_CALLS = ("call", "send_call", "receive_call", "wait_call", "switch")
_SYSCTLS = {
    **{name: f"{name}_ns" for name in _CALLS},
    **{
        f"{way}.{name}": f"{way}_{name}_ns"
        for way in ("sent", "received")
        for name in ("buffer", "packet", "datagram")
    },
    # Nanoseconds for 1000 bytes are picoseconds for one.
    "sent.kilobyte": "sent_byte_ps",
    "received.kilobyte": "received_byte_ps",
}


def derivations() -> dict[ProcessorProfile, str]:
    """The profiles that are another one times a factor: which, and where the factor comes from."""
    return {
        ProcessorProfile(row["profile"]): f"{row['cost']} x {row['value']}: {row['source']}"
        for row in table("headway.study", "data/processors.csv")
        if row["cost"] in set(ProcessorProfile)
    }


@cache
def _profiles() -> Mapping[ProcessorProfile, Mapping[str, Duration]]:
    """Costs of the profiles, from the table that also has their sources."""
    by_processor_profile: dict[ProcessorProfile, dict[str, Duration]] = {
        processor_profile: {} for processor_profile in ProcessorProfile
    }
    for row in table("headway.study", "data/processors.csv"):
        profile, cost, value = ProcessorProfile(row["profile"]), row["cost"], row["value"]
        if cost in set(ProcessorProfile):
            like = by_processor_profile[ProcessorProfile(cost)].items()
            by_processor_profile[profile] |= {
                name: Duration(round(duration * float(value))) for name, duration in like
            }
        else:
            by_processor_profile[profile][cost] = Duration.parse(value)
    return by_processor_profile
