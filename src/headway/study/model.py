"""The setting: all conditions of a run."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Self

from pydantic import Field, model_validator

from headway.study.path import Part, Path
from headway.study.units import Duration, Size
from headway.study.workload import Download, Workload


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
    """A host: its program, and its TCP."""

    program: str
    congestion_control: CongestionControl = CongestionControl.CUBIC
    initial_window: int | None = Field(
        default=None, ge=1, le=1000, description="segments; the kernel's 10 if not given"
    )
    knobs: dict[str, str] = Field(
        default_factory=dict, description="settings of the program that differ from the adapter's"
    )


def _check_tls(protocol: Protocol, tls: bool) -> None:
    if not tls and protocol is not Protocol.H1:
        raise ValueError(f"{protocol} without TLS is not offered; only h1 is")


class Upstream(Part):
    """Between a proxy and the server behind it."""

    protocol: Protocol = Protocol.H1
    tls: bool = True
    path: Path = Path()

    @model_validator(mode="after")
    def _possible(self) -> Self:
        _check_tls(self.protocol, self.tls)
        return self


class Proxy(Host):
    """A reverse proxy between client and server: each side has its own path."""

    upstream: Upstream = Upstream()


class Limits(Part):
    """When a run is given up: after this much time of the lab's clock, and of the wall's."""

    virtual: Duration = Duration(600 * 10**9)
    wall: Duration = Duration(300 * 10**9)


class Capture(Part):
    """What is kept of a run beside its record.

    ``packets``: pcapng files at both ends, with the TLS secrets. ``qlog``: what programs log of
    QUIC, whole. ``bodies``: every body is received into a file and compared byte for byte.
    """

    packets: bool = False
    qlog: bool = False
    bodies: bool = False


DEFAULT_PROGRAMS = {"client": "curl", "server": "nginx"}


class Setting(Part):
    """All conditions of a run but its seed."""

    protocol: Protocol = Protocol.H2
    tls: bool = True
    clock: Clock = Clock.VIRTUAL
    client: Host = Host(program=DEFAULT_PROGRAMS["client"])
    server: Host = Host(program=DEFAULT_PROGRAMS["server"])
    proxy: Proxy | None = None
    path: Path = Path()
    offload: bool = Field(
        default=False,
        description="segmentation offload: packets of up to 64 kB cross the path, are queued and "
        "lost whole, as in test beds that forget to switch it off",
    )
    workload: Workload = Download(size=Size(1_000_000))
    limits: Limits = Limits()
    capture: Capture = Capture()

    @model_validator(mode="before")
    @classmethod
    def _usual_programs(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        hosts: dict[str, Any] = {
            role: {"program": program, **value[role]}
            for role, program in DEFAULT_PROGRAMS.items()
            if isinstance(value.get(role), dict)
        }
        if isinstance(value.get("proxy"), dict) and "program" not in value["proxy"]:
            # It says what a proxy would be like; contenders that have one name its program.
            hosts["proxy"] = None
        return value | hosts

    @model_validator(mode="after")
    def _possible(self) -> Self:
        _check_tls(self.protocol, self.tls)
        return self

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths between neighbouring hosts, the client's first."""
        return (self.path, self.proxy.upstream.path) if self.proxy else (self.path,)

    @property
    def draws_path(self) -> bool:
        """Whether every seed has another path, drawn of a profile."""
        return any(path.profile is not None for path in self.paths)
