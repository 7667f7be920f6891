"""What an adapter of a real program offers: how it is started, its knobs, its numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from headway.guest.orders import Program
from headway.study.model import Protocol, Setting

CLIENT, SERVER = "client", "server"
"""Names of the end hosts' network namespaces."""
SERVER_NAME = "server.test"
"""Name that clients ask for; the server's certificate holds it."""
SECRETS_FILE = "tls-secrets.txt"
"""TLS key log that a client writes into the run's directory when packets are captured."""


@dataclass(frozen=True)
class Adjustment:
    """A setting of a program that Headway changes so that the comparison is fair, and why."""

    program: str
    setting: str
    value: str
    why: str


@dataclass(frozen=True)
class Knob:
    """A setting of a program that a study may change: ``knobs.NAME = "VALUE"``."""

    name: str
    default: str
    meaning: str


@dataclass(frozen=True)
class Started:
    """What a program needs in the guest: its process, and files by their path."""

    program: Program
    files: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Measurement:
    """What a client measured of one request; seconds from its start."""

    error: str | None = None
    connect_s: float | None = None
    tls_s: float | None = None
    ttfb_s: float | None = None
    total_s: float | None = None
    bytes: int | None = None


class Adapter(ABC):
    """A real program."""

    name: ClassVar[str]
    package: ClassVar[str]
    """Debian package that tells its version."""
    protocols: ClassVar[frozenset[Protocol]]
    quic_congestion_control: ClassVar[str | None] = None
    """Congestion control of its QUIC, if it sends by QUIC and cannot choose."""
    knobs: ClassVar[tuple[Knob, ...]] = ()
    adjustments: ClassVar[tuple[Adjustment, ...]] = ()

    def knob(self, name: str, chosen: dict[str, str]) -> str:
        """Value of a knob: the study's, or the adapter's default."""
        default = next(knob.default for knob in self.knobs if knob.name == name)
        return chosen.get(name, default)


class Server(Adapter):
    """A program that serves the bodies in ``/lab/www``."""

    @abstractmethod
    def serve(
        self, protocols: frozenset[Protocol], *, tls: bool, knobs: dict[str, str], address: str
    ) -> Started:
        """How to serve protocols at an address.

        Args:
            protocols: HTTP versions that the server offers.
            tls: on port 443 over TLS, or in cleartext on port 80.
            knobs: settings that differ from the adapter's defaults.
            address: IPv4 address of the server.
        """


class Client(Adapter):
    """A program that fetches a body and tells how long it took."""

    @abstractmethod
    def start(self, setting: Setting, address: str) -> Started:
        """How to fetch the workload's body from the server at an address."""

    @abstractmethod
    def measure(self, setting: Setting, run_directory: Path) -> Measurement:
        """Read what the program printed into the run's directory."""


def url(setting: Setting) -> str:
    """URL of the workload's body."""
    scheme = "https" if setting.tls else "http"
    return f"{scheme}://{SERVER_NAME}/{int(setting.workload.size)}.bin"


def port(setting: Setting) -> int:
    """Port of the server: the scheme's."""
    return 443 if setting.tls else 80
