"""The adapter of a real program: how it is started, its knobs, its numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from headway.contract.outcome import Ended
from headway.contract.program import Program
from headway.programs.knob import EARLY_DATA as EARLY_DATA
from headway.programs.knob import RETRY as RETRY
from headway.programs.knob import Adjustment as Adjustment
from headway.programs.knob import Knob as Knob
from headway.programs.measurement import Measurement
from headway.programs.pagehosts import PageHosts
from headway.study.application import Application
from headway.study.capture import Capture
from headway.study.clock import Clock
from headway.study.dns import SERVER_NAME as SERVER_NAME
from headway.study.family import Family, HostAddress
from headway.study.host import USUAL_CONGESTION_CONTROL, Host, Protocol
from headway.study.units import Duration
from headway.study.video import Video
from headway.study.waits import Waits
from headway.study.workload import Download, Parallel, Workload

# A command without a study uses adapters, too, and need not wait for these.
if TYPE_CHECKING:
    from headway.study.discovery import Discovery, Means
    from headway.study.dns import Dns, RecordType
    from headway.study.user_programs import OutsideProgram

CA_FILE = "/lab/pki/ca.pem"
CERTIFICATE_FILE = "/lab/pki/server.pem"
KEY_FILE = "/lab/pki/server.key"
"""The lab's certificate authority, and the certificate of server and proxy with its key."""
KEY_PIN_FILE = "/lab/pki/server.spki"
"""Base64 of the SHA-256 of the server's public key, by which browsers trust it under any name."""
SECRETS_FILE = "tls-secrets.txt"
"""TLS key log that a client writes into the run's directory when packets are captured."""
SITE_DIRECTORY = "/lab/site"
"""Replay tree of the site that servers replay."""
QLOG_DIRECTORY = "/lab/run/qlog"
"""Where senders write qlog files: below it a directory for each host."""
RANDOM_DEVICE = "/usr/lib/headway/random_device.so"
"""Preloaded, makes std::random_device ask the lab's kernel and not the processor."""


@dataclass(frozen=True)
class Started:
    """What a program needs in the guest.

    Attributes:
        programs: its processes, in the order in which they are started.
        files: contents of files by their path.
        bodies: files below ``/tmp`` into which it receives bodies, in the order of its requests.
        root: directory of the lab that is their root tree, if they have one of their own.
        begins_in: where in that they begin.
    """

    programs: tuple[Program, ...]
    files: dict[str, str] = field(default_factory=dict)
    bodies: tuple[str, ...] = ()
    root: str = ""
    begins_in: str = ""


class Reached:
    """What has an address, and the port of HTTP with TLS or without."""

    address: HostAddress
    tls: bool

    @property
    def port(self) -> int:
        return port_of(self.tls)

    @property
    def socket_address(self) -> str:
        """Address and port, as programs read them."""
        return self.address.at(self.port)


@dataclass(frozen=True)
class Listener(Reached):
    """Where a server or proxy listens, and for what: port 443 with TLS, port 80 without.

    With ``site``, it serves that, in `SITE_DIRECTORY`, after ``waits``. With ``application``, requests are for that. With ``revisited``, clients come
    back when their connections are closed. ``quic_port`` is where QUIC is taken. With ``hears_players``, players' words are logged.
    """

    namespace: str
    address: HostAddress
    protocols: frozenset[Protocol]
    tls: bool
    site: bool = False
    more_addresses: tuple[HostAddress, ...] = ()
    seed: int = 0
    revisited: bool = False
    application: Application | None = None
    waits: Waits | None = None
    quic_port: int = 443
    hears_players: bool = False

    @property
    def every_address(self) -> tuple[HostAddress, ...]:
        """All addresses that it listens on, the host's own first."""
        return (self.address, *self.more_addresses)


@dataclass(frozen=True)
class Origin(Reached):
    """What is behind a proxy, the server or the next proxy: where, and how it is spoken to."""

    address: HostAddress
    protocol: Protocol
    tls: bool


@dataclass(frozen=True)
class Resolver:
    """Who answers questions for addresses: where, and what."""

    address: HostAddress
    dns: Dns


@dataclass(frozen=True)
class Flow(Reached):
    """Who asks whom, by what, for what, from when.

    Attributes:
        name: what it is called beside others; empty if it is the only one.
        namespace: of the host that asks.
        server: name of the host with the origin server.
        host: its program, and how that is set.
        address: of whom it asks.
        protocol: by which it asks.
        tls: whether that is encrypted.
        workload: what it asks for.
        capture: what is kept of it.
        limit: when it is given up.
        at_ns: when it begins, from the start of the workload.
        ends_at_ns: when it is ended; None if it ends by itself.
        seed: of the run.
        clock: how the lab's time passes.
        background: whether it is only there to load the path for others.
        elsewhere: hosts of its page that have servers of their own.
        resolver: whom it asks for addresses; None if it is told them.
        discovery: if it finds out the version of HTTP by itself; ``protocol`` is the newest one then.
        other_address: the same host's of the other family; None if it has none.
        second_address: the client's own at its second interface; None if it has one interface.
        origins_from: number of the first address of its page's hosts, where each has one of its own.
    """

    name: str
    namespace: str
    server: str
    host: Host
    address: HostAddress
    protocol: Protocol
    tls: bool
    workload: Workload
    capture: Capture
    limit: Duration
    at_ns: int = 0
    ends_at_ns: int | None = None
    seed: int = 0
    clock: Clock = Clock.VIRTUAL
    background: bool = False
    elsewhere: tuple[PageHosts, ...] = ()
    resolver: Resolver | None = None
    discovery: Discovery | None = None
    other_address: HostAddress | None = None
    second_address: HostAddress | None = None
    origins_from: int = 0

    @property
    def addresses(self) -> tuple[HostAddress, ...]:
        """All addresses of whom it asks, that of IPv6 first, as programs prefer it (RFC 6724, section 2.1)."""
        known = (self.address, self.other_address) if self.other_address else (self.address,)
        return tuple(sorted(known, key=lambda host_address: -host_address.family.version))

    @property
    def body_bytes(self) -> int:
        """Size of each body that is asked for; of workloads that ask for such."""
        size = self.workload.payload.body
        assert size is not None, "it asks for no bodies of one size"
        return int(size)

    @property
    def urls(self) -> tuple[str, ...]:
        """URLs of the workload's bodies; several of the same size differ in their query."""
        server = f"{'https' if self.tls else 'http'}://{SERVER_NAME}"
        if application := self.workload.payload.application:
            return (f"{server}/{application.path}",)
        if isinstance(self.workload, Video):
            return (f"{server}/",)
        url = f"{server}/{self.body_bytes}.bin"
        count = self.workload.requests
        return (url,) if count == 1 else tuple(f"{url}?{number}" for number in range(1, count + 1))

    @property
    def compares_bodies(self) -> bool:
        """Whether bodies are compared with what was asked for: unless a study says so, only where that takes no time."""
        is_free = self.clock is not Clock.CPU and self.host.kernel.processor is None
        asked = self.capture.bodies
        return self.workload.payload.has_known_bodies and is_free if asked is None else asked

    @property
    def body_files(self) -> tuple[str, ...]:
        """Files of the guest that the bodies are received into; empty if they are to be discarded."""
        if not self.compares_bodies or self.workload.payload.body is None:
            return ()
        return tuple(f"/tmp/body-{number}" for number in range(1, self.workload.requests + 1))


class Adapter(ABC):
    """A real program."""

    name: str
    package: str = ""
    """Debian package or Python distribution that it comes in and that tells its version."""
    also: tuple[str, ...] = ()  # other packages that it needs, of layers of their own
    version: str = ""
    """Its version, if no package of the image tells it."""
    extra: str | None = None
    """Name of the optional extra that it comes in, if it is not part of every image."""
    protocols: frozenset[Protocol]
    quic_congestion_controls: tuple[str, ...] = ()
    """Congestion controls that its QUIC has; if it has no cubic, the one it uses unasked first."""
    sets_quic_initial_window: bool = False
    """Whether its QUIC begins with the initial window that the study asks for."""
    most_quic_frames: int | None = None
    """How many frames its QUIC holds at most before it ends a connection as a flood, if losses alone reach that."""
    writes_qlog: bool = False
    """Whether its QUIC writes qlog."""
    reads_tsc: bool = False
    """Whether it reads the processor's time stamp counter, so that the lab must keep that, too."""
    families: frozenset[Family] = frozenset(Family)
    """Of addresses that it can be given."""
    memory_mib: int = 0
    """Memory that a lab with it needs, if more than usual."""
    outside: OutsideProgram | None = None
    """What it was declared as, if it is from outside."""
    shows: Mapping[str, Path] = MappingProxyType({})
    """Directories of this machine that its lab shows as ``/lab/extras/NAME``, by name."""
    knobs: tuple[Knob, ...] = ()
    adjustments: tuple[Adjustment, ...] = ()

    def knob(self, name: str, host: Host) -> str:
        """Value of a knob: the study's, or the adapter's default."""
        default = next(knob.default for knob in self.knobs if knob.name == name)
        return host.knobs.get(name, default)

    def early_data(self, host: Host) -> bool | None:
        """Whether it tries 0-RTT data, or takes them, on a host; None if it cannot."""
        known = any(knob.name == EARLY_DATA for knob in self.knobs)
        return self.knob(EARLY_DATA, host) == "on" if known else None

    def check(self, host: Host, workload: Workload) -> None:  # noqa: B027
        """Refuse what a study asks of it on one of its sides that it cannot do; by default nothing.

        Args:
            host: what is asked of that side: congestion control, initial window and knobs.
            workload: what its connections carry.

        Raises:
            WrongInputError: it cannot; `where` is the key in the program's table, as ``knobs.pacing``.
        """

    def quic_congestion_control(self, host: Host) -> str:
        """Congestion control of its QUIC: what the study asks for, which it has; else cubic, or its own if it has none."""
        wanted = host.congestion_control.quic or USUAL_CONGESTION_CONTROL
        choices = self.quic_congestion_controls or ("unknown",)
        return str(wanted) if wanted in choices else choices[0]


class HttpEnd(Adapter):
    """A program that ends the HTTP of clients."""

    offers_several: ClassVar[bool] = False
    """Whether it can serve several versions of HTTP at once."""
    offers_elsewhere: ClassVar[bool] = False
    """Whether it can take QUIC on another port than TCP."""
    has_several_addresses: ClassVar[bool] = False
    """Whether it can listen on several addresses."""


class Server(HttpEnd):
    """A program that serves the bodies in ``/lab/www``."""

    replays: ClassVar[bool] = False
    """Whether it can serve a recorded site instead."""
    takes_uploads: ClassVar[bool] = False
    """Whether it takes content of requests, and says how much came."""
    has_application: ClassVar[bool] = False
    """Whether an application answers what is asked of it, or one behind it."""
    talks: ClassVar[bool] = False  # that application answers messages while the request goes on
    takes_websockets: ClassVar[frozenset[Protocol]] = frozenset()  # whose messages it answers, too
    gives_tickets: ClassVar[bool] = False  # clients that come back can resume a TLS session

    @abstractmethod
    def serve(self, listener: Listener, host: Host, capture: Capture) -> Started:
        """How to serve.

        Args:
            listener: where, and which protocols.
            host: congestion control and knobs that the study asks for.
            capture: whether to write qlog, which some always do (``docs/why.md``).
        """


class ReverseProxy(HttpEnd):
    """A program that passes requests on to a server; it caches nothing and tries nothing twice."""

    upstream_protocols: ClassVar[frozenset[Protocol]]
    passes_websockets: ClassVar[frozenset[Protocol]] = frozenset()  # which goes on over HTTP/1.1

    @abstractmethod
    def forward(self, listener: Listener, origin: Origin, host: Host, capture: Capture) -> Started:
        """How to forward requests from a listener to an origin."""


class Client(Adapter):
    """A program that fetches bodies and tells how long that took."""

    workloads: tuple[type, ...] = (Download, Parallel)
    """Kinds of workload that it can carry out."""
    start_grid_ns: ClassVar[int] = 500_000_000
    """It starts at a multiple of this; a program with a period of its own always at the same point of it."""
    expects: ClassVar[bool] = False
    """Whether it waits with content until the server wants it (Expect: 100-continue), if it is told to."""
    discovers_by: ClassVar[frozenset[Means]] = frozenset()
    """How it can find out by itself that a server has HTTP/3; by nothing if it has to be told."""
    chooses_family: ClassVar[bool] = False
    """Whether it tries addresses of both families (RFC 8305), and tells which one it came to."""
    asks_for: ClassVar[frozenset[RecordType]] = frozenset()
    """Types of records that it asks a resolver for if a study has one; none if it asks nobody."""
    chooses_interface: ClassVar[bool] = True
    """Whether, if it migrates, it does so to the address that it is told."""
    asks_over: ClassVar[frozenset[str]] = frozenset({"udp", "tcp"})
    """Over what it can be told to ask."""
    plays_files: ClassVar[bool] = False  # the server must have a video's files for it, not bodies
    digests: ClassVar[bool] = (
        False  # it tells the digests of bodies itself, and leaves no files of them
    )
    rehearses: ClassVar[bool] = False
    """Whether it has to be told beforehand when its address will change: by a run before, equal until then."""

    @abstractmethod
    def start(self, flow: Flow) -> Started:
        """How to carry out a flow's workload: the last of the programs is the client itself."""

    def can(self, workload: Workload, protocol: Protocol) -> bool:
        """Whether it can carry out a workload over a protocol."""
        return type(workload) in self.workloads and protocol in self.protocols

    def untold(self, metric: str, host: Host, protocol: Protocol) -> str:
        """Why it does not tell a metric of its workloads, as the end of a sentence; empty if it does, or others do."""
        return "does not count what it sends" if metric == "content_sent_bytes" else ""

    def after_rehearsal(self, program: Program, directory: Path, migrated_ns: int) -> Program:
        """The client for the run itself, once a rehearsal has told when the address changes.

        Args:
            program: the client as it was in the rehearsal.
            directory: of the rehearsal.
            migrated_ns: when the address changed there.
        """
        return program

    @abstractmethod
    def measure(self, flow: Flow, directory: Path, ended: Ended) -> Measurement:
        """What it measured.

        Args:
            flow: what it was asked to do.
            directory: of the run, with the program's output in ``NAME.out`` and ``NAME.err``.
            ended: how and when its process ended.
        """


def port_of(tls: bool) -> int:
    """Port of HTTP with TLS or without."""
    return 443 if tls else 80


def served_on(listener: Listener) -> tuple[str, ...]:
    """Sockets that a server must have open: ``tcp:443``, ``udp:443``, ``tcp:80``."""
    transports = {protocol.transport for protocol in listener.protocols}
    ports = {"tcp": listener.port, "udp": listener.quic_port if listener.tls else listener.port}
    return tuple(
        f"{transport}:{ports[transport]}" for transport in sorted(transports, reverse=True)
    )
