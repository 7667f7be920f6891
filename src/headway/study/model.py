"""The study: settings crossed by axes, repetitions, limits, and what is compared."""

from __future__ import annotations

import copy
from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from headway.study.path import Part, Path
from headway.study.units import Duration, Size


class Protocol(StrEnum):
    """HTTP version: RFC 9112, RFC 9113 and RFC 9114."""

    H1 = "h1"
    H2 = "h2"
    H3 = "h3"


class Clock(StrEnum):
    """How the lab's time passes.

    ``virtual``: computing takes no time and idle time is skipped. ``cpu``: computing takes as
    long as it takes on the host, idle time is skipped. ``real``: the host's time.
    """

    VIRTUAL = "virtual"
    CPU = "cpu"
    REAL = "real"


class CongestionControl(StrEnum):
    """Congestion control of the lab kernel's TCP."""

    RENO = "reno"
    CUBIC = "cubic"
    BBR = "bbr"
    HYBLA = "hybla"
    VEGAS = "vegas"
    WESTWOOD = "westwood"
    ILLINOIS = "illinois"
    DCTCP = "dctcp"


class Host(Part):
    """A host at one end of the path: its program, and its TCP."""

    program: str
    congestion_control: CongestionControl = CongestionControl.CUBIC
    initial_window: int | None = Field(
        default=None, ge=1, le=1000, description="segments; the kernel's 10 if not given"
    )
    knobs: dict[str, str] = Field(
        default_factory=dict, description="settings of the program that differ from the adapter's"
    )


class Download(Part):
    """One request for one body of this size."""

    kind: Literal["download"] = "download"
    size: Size

    def __str__(self) -> str:
        return f"download {self.size}"


class Limits(Part):
    """When a run is given up: after this much time of the lab's clock, and of the wall's."""

    virtual: Duration = Duration(600 * 10**9)
    wall: Duration = Duration(300 * 10**9)


class Capture(Part):
    """What is kept of the packets: pcapng files at both ends, with the TLS secrets."""

    packets: bool = False


DEFAULT_PROGRAMS = {"client": "curl", "server": "nginx"}


class Setting(Part):
    """All conditions of a run but its seed."""

    protocol: Protocol = Protocol.H2
    tls: bool = True
    clock: Clock = Clock.VIRTUAL
    client: Host = Host(program=DEFAULT_PROGRAMS["client"])
    server: Host = Host(program=DEFAULT_PROGRAMS["server"])
    path: Path = Path()
    workload: Download = Download(size=Size(1_000_000))
    limits: Limits = Limits()
    capture: Capture = Capture()

    @model_validator(mode="before")
    @classmethod
    def _usual_programs(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        hosts = {
            role: {"program": program, **value[role]}
            for role, program in DEFAULT_PROGRAMS.items()
            if isinstance(value.get(role), dict)
        }
        return value | hosts

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if not self.tls and self.protocol is not Protocol.H1:
            raise ValueError(f"{self.protocol} without TLS is not offered; only h1 is")
        return self


class Study(Part):
    """A question, and the experiment that answers it."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    question: str = ""
    repetitions: int = Field(default=1, ge=1)
    seed: int = Field(default=1, ge=0, lt=2**32, description="seed of the first repetition")
    baseline: Protocol = Protocol.H2
    metric: Literal["total_s", "ttfb_s", "connect_s", "tls_s"] = "total_s"
    axes: dict[str, tuple[Any, ...]] = Field(
        default_factory=dict, description="values of settings, by dotted name, that are crossed"
    )
    conditions: dict[str, Any] = Field(
        default_factory=dict, description="the rest of the setting, as written in the file"
    )

    @field_validator("axes")
    @classmethod
    def _axes_have_values(cls, axes: dict[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
        for name, values in axes.items():
            if not values:
                raise ValueError(f"axis {name} has no values")
            if len({str(value) for value in values}) < len(values):
                raise ValueError(f"axis {name} has a value twice")
        return axes

    def setting(self, coordinates: dict[str, Any]) -> Setting:
        """The conditions with the axes at these coordinates.

        Raises:
            pydantic.ValidationError: the combination is not a valid setting.
        """
        raw = copy.deepcopy(self.conditions)
        for dotted, value in coordinates.items():
            _put(raw, dotted.split("."), value)
        return Setting.model_validate(raw)


def _put(raw: dict[str, Any], keys: list[str], value: Any) -> None:
    *tables, last = keys
    for table in tables:
        if not isinstance(raw.get(table), dict):
            raw[table] = {}
        raw = raw[table]
    raw[last] = value
