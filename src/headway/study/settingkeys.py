"""The keys of a setting: all conditions of a run, as a study file states them."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from functools import cache, cached_property
from operator import not_

from pydantic import Field

from headway.study.base_model import Part
from headway.study.capture import Capture
from headway.study.clock import Clock
from headway.study.control import Control
from headway.study.discovery import Discovery
from headway.study.dns import Dns
from headway.study.dualstack import DualStack
from headway.study.family import Family
from headway.study.fault import Fault
from headway.study.flow import CLIENTS, SERVERS, CompetingFlow
from headway.study.hop import Hop, Proxy
from headway.study.host import Host, Protocol
from headway.study.kernel import TUNED, RewriteCalls
from headway.study.limits import Limits
from headway.study.netlink import NetworkLink
from headway.study.network import CLIENT, PROXY, SERVER
from headway.study.origin import OriginServer
from headway.study.path import Path
from headway.study.units import Size
from headway.study.user_programs import OutsideProgram
from headway.study.workload import Download, Workload


class Routing(StrEnum):
    """How hosts choose the way of packets: by delays alone, or by the plan of contacts, too."""

    DELAY = "delay"
    CONTACTS = "contacts"


class Variation(StrEnum):
    """What of a path differs between repetitions, beyond what it states: see `headway.study.variation`.

    ``phases``: small differences of its delays, a processing time of each packet, and when the workload
    starts. ``none``: nothing, so that without losses all repetitions are equal.
    """

    PHASES = "phases"
    NONE = "none"


DEFAULT_PROGRAMS = {"client": "curl", "server": "nginx"}
_CLIENT, _SERVER = (Host(program=program) for program in DEFAULT_PROGRAMS.values())


@cache
def _before_origins() -> Hop:
    """The router that paths to the servers of a page's hosts begin at."""
    return Hop(name=SERVERS)


class SettingKeys(Part):
    """The keys of a setting, as a study file has them."""

    protocol: Protocol = Protocol.H2
    tls: bool = True
    certificate_chain: Size | None = Field(
        default=None,
        exclude_if=lambda size: size is None,
        description="size of the certificates that server and proxy send, made larger by additional names; by default 1.7 kB",
    )
    clock: Clock = Clock.VIRTUAL
    rewrite_calls: RewriteCalls = True
    # Of a default that cannot be hashed, pydantic makes a copy for every setting.
    client: Host = Field(default_factory=lambda: _CLIENT)
    server: Host = Field(default_factory=lambda: _SERVER)
    proxy: Proxy | None = None
    hops: dict[str, Hop] = Field(
        default_factory=dict,
        description="hosts between client and server, from the client on, by name",
    )
    bypass: tuple[str, ...] = Field(
        default=(), description="hops that only route, whatever programs they have"
    )
    path: Path = Path()
    hosts: dict[str, Hop] = Field(
        default_factory=dict,
        exclude_if=not_,
        description="by name, more hosts, which the study joins by links",
    )
    links: dict[str, NetworkLink] = Field(
        default_factory=dict,
        exclude_if=not_,
        description="paths between hosts, beside those that other keys state",
    )
    via: tuple[str, ...] = Field(
        default=(),
        exclude_if=not_,
        description="names of hosts and links that are on the client's way to the server, in this order; by default the way "
        "of least delay",
    )
    routing: Routing = Field(
        default=Routing.DELAY,
        exclude_if=lambda routing: routing is Routing.DELAY,
        description="by which way packets go whose flow has no `via`: that of least delay, or always that by which they "
        "arrive soonest by the links' contacts",
    )
    family: Family = Field(
        default=Family.IPV4,
        exclude_if=lambda family: family is Family.IPV4,
        description="the family of all hosts' addresses, and so the version of IP on the path",
    )
    dns: Dns | None = Field(
        default=None,
        exclude_if=lambda dns: dns is None,
        description="a resolver that the client asks for the server's address; without one, the client knows it",
    )
    dual_stack: DualStack | None = Field(
        default=None,
        exclude_if=lambda dual_stack: dual_stack is None,
        description="client and server have addresses of both families; `family` is that of `path`",
    )
    discovery: Discovery | None = Field(
        default=None,
        exclude_if=lambda discovery: discovery is None,
        description="the client finds out which version of HTTP to speak, of all up to `protocol`",
    )
    offload: bool = Field(
        default=False,
        description="segmentation offload: packets of up to 64 kB cross the path, are queued and lost whole, as in test beds that forget to switch it off",
    )
    workload: Workload = Download(size=Size(1_000_000))
    fault: Fault | None = Field(
        default=None,
        exclude_if=lambda fault: fault is None,
        description='what happens to single packets of the client\'s path: "lose down 3"',
    )
    variation: Variation = Variation.NONE
    flows: dict[str, CompetingFlow] = Field(
        default_factory=dict,
        description="by name, flows that share the path, each between hosts of its own",
    )
    origins: dict[str, OriginServer] = Field(
        default_factory=dict,
        exclude_if=not_,
        description="by name, servers for some hosts of a page, each behind a path of its own",
    )
    limits: Limits = Limits()
    capture: Capture = Field(default=Capture(), validate_default=True)
    control: Control | None = Field(
        default=None, description="pings before the workload, which measure the path"
    )
    programs: tuple[OutsideProgram, ...] = Field(
        default=(),
        exclude_if=not_,
        description="the file that declares programs from outside",
    )

    @property
    def has_origins(self) -> bool:
        """Whether hosts of a page have servers of their own."""
        return bool(self.origins) or self.workload.replay.mixes_versions

    @property
    def ends(self) -> tuple[str, str]:
        """Names of the hosts at both ends of the path: of client and server, or of the routers that flows share."""
        return (CLIENTS, SERVERS) if self.flows else (CLIENT, SERVER)

    @cached_property
    def middleboxes(self) -> tuple[Hop, ...]:
        """The hosts of the chain between client and server, the client's neighbour first: hops, and a proxy behind them."""
        if self.has_origins:
            return (*self.hops.values(), _before_origins())
        if self.proxy is None:
            return tuple(self.hops.values())
        proxy = self.proxy.model_copy(update={"kernel": TUNED})
        path, kernel = self.proxy.upstream.path, self.proxy.kernel
        behind = Hop(name=PROXY, proxy=proxy, path=path, kernel=kernel)
        return (*self.hops.values(), behind)

    @property
    def hosts_between(self) -> tuple[Hop, ...]:
        """The hosts that are no end of a flow."""
        return (*self.middleboxes, *self.hosts.values())

    @property
    def tables(self) -> Iterator[tuple[str, Host | Proxy | Hop]]:
        """What is said of hosts, by keys in a study file."""
        yield from (("client", self.client), ("server", self.server))
        yield from [("proxy", self.proxy)] if self.proxy else []
        yield from ((f"hops.{name}", hop) for name, hop in self.hops.items())
        yield from ((f"hosts.{name}", hop) for name, hop in self.hosts.items())
        yield from (
            (f"origins.{name}.server", origin.server) for name, origin in self.origins.items()
        )
        for name, flow in self.flows.items():
            yield from ((f"flows.{name}.{role}", getattr(flow, role)) for role in DEFAULT_PROGRAMS)
