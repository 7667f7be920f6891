"""The setting: all conditions of a run."""

from __future__ import annotations

from enum import StrEnum
from operator import not_
from typing import Any, Self

from pydantic import Field, ValidationInfo, field_serializer, field_validator, model_validator

from headway.errors import nearest
from headway.study.clock import Clock
from headway.study.control import Control, check_pings_pass
from headway.study.family import Family
from headway.study.fault import AXIS, Fault, check_fault
from headway.study.flow import CompetingFlow, check_flows, with_usual_values
from headway.study.hop import Hop, Proxy, described, named_hops, that_is_there
from headway.study.host import Host, Protocol, check_tls
from headway.study.kernel import TUNED
from headway.study.outside import OutsideProgram
from headway.study.part import Part, wrong
from headway.study.path import Direction, Path
from headway.study.pathrules import check_rules
from headway.study.rates import TraceRate
from headway.study.units import Duration, Size
from headway.study.workload import (
    Cache,
    Connections,
    Download,
    Origins,
    Page,
    Workload,
    check_carried,
)


class Variation(StrEnum):
    """What of a path differs between repetitions, beyond what it states: see `headway.study.variation`.

    ``phases``: small differences of its delays, a processing time of each packet, and when the workload
    starts. ``none``: nothing, so that without losses all repetitions are equal.
    """

    PHASES = "phases"
    NONE = "none"


class Limits(Part):
    """When a run is given up.

    ``virtual``: after this much time of the lab's clock. ``cpu``: after its lab has used this much
    processor time of the host.
    """

    virtual: Duration = Duration(600 * 10**9)
    cpu: Duration = Duration(300 * 10**9)

    @model_validator(mode="before")
    @classmethod
    def _counts_no_wall_time(cls, given: Any) -> Any:
        if isinstance(given, dict) and "wall" in given:
            raise ValueError(
                "`wall` is no limit, since a busy host would reach it; `cpu` limits processor time"
            )
        return given


class Capture(Part):
    """What is kept of a run beside its record.

    ``packets``: pcapng files at both ends, with the TLS secrets. ``secrets``: these alone. ``qlog``: what programs log of
    QUIC, whole. ``bodies``: every body is received into a file and compared byte for byte. ``pacing``: when the packets
    of responses left their sender, and came to the narrowest link.
    """

    packets: bool = False
    secrets: bool = Field(default=False, exclude_if=not_)
    qlog: bool = False
    bodies: bool = False
    pacing: bool = Field(default=False, exclude_if=not_)

    @property
    def at_devices(self) -> bool:
        """Whether packets are captured at devices."""
        return self.packets or self.pacing

    @property
    def keeps_secrets(self) -> bool:
        """Whether the client writes its TLS secrets, which decrypt what packets carry."""
        return self.packets or self.secrets


_MOST_NETWORKS = 256
"""Between all neighbours, routers of links included: of IPv4, 10.0.0.0/24 to 10.0.255.0/24."""

DEFAULT_PROGRAMS = {"client": "curl", "server": "nginx"}


_LEAST_CHAIN, _LARGEST_CHAIN = Size(2_500), Size(60_000)
"""A message of TLS has 16 MB at most, but OpenSSL takes no chain of more than 100 kB."""
_NOTHING_SAID = Path()
_CLIENT, _SERVER = (Host(program=program) for program in DEFAULT_PROGRAMS.values())


class Setting(Part):
    """All conditions of a run but its seed."""

    protocol: Protocol = Protocol.H2
    tls: bool = True
    certificate_chain: Size | None = Field(
        default=None,
        exclude_if=lambda size: size is None,
        description="size of the certificates that server and proxy send, grown by names; the usual ones have 1.7 kB",
    )
    clock: Clock = Clock.VIRTUAL
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
    family: Family = Field(
        default=Family.IPV4,
        exclude_if=lambda family: family is Family.IPV4,
        description="of the addresses of all hosts: the version of IP that crosses the path",
    )
    offload: bool = Field(
        default=False,
        description="segmentation offload: packets of up to 64 kB cross the path, are queued and "
        "lost whole, as in test beds that forget to switch it off",
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
    limits: Limits = Limits()
    capture: Capture = Field(default=Capture(), validate_default=True)
    control: Control | None = Field(
        default=None, description="pings before the workload, which tell what the path is like"
    )
    programs: tuple[OutsideProgram, ...] = Field(
        default=(),
        exclude_if=not_,
        description="the file that declares programs from outside, read",
    )

    @model_validator(mode="before")
    @classmethod
    def _usual_programs(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        flows = bool(value.get("flows"))
        hosts: dict[str, Any] = {
            role: {"program": program, **value.get(role, {})}
            for role, program in DEFAULT_PROGRAMS.items()
            if isinstance(value.get(role, {} if flows else None), dict)
        }
        return with_usual_values(value | hosts)

    @field_validator("capture")
    @classmethod
    def _opens_packets(cls, capture: Capture, told: ValidationInfo) -> Capture:
        # What a packet carried is a part of what a fault is.
        return capture.model_copy(update={"secrets": True}) if told.data.get("fault") else capture

    @field_validator("proxy", mode="before")
    @classmethod
    def _without_program(cls, value: Any) -> Any:
        return described(value)

    @field_validator("proxy")
    @classmethod
    def _that_is_there(cls, proxy: Proxy | None) -> Proxy | None:
        return that_is_there(proxy)

    @field_validator("hops", mode="before")
    @classmethod
    def _hops_are_declared(cls, value: Any) -> Any:
        hops = named_hops(value)
        if not isinstance(hops, dict):
            return hops
        # Contenders and axes refer to hops by name, which makes no hop.
        declared = [
            name for name, hop in hops.items() if not isinstance(hop, dict) or "name" in hop
        ]
        for name in hops:
            _check_declared(name, declared)
        return hops

    @model_validator(mode="after")
    def _possible(self) -> Self:
        check_tls(self.protocol, self.tls)
        self._check_hops()
        rtt = Duration(sum(path.rtt for path in self.paths if path))
        if rtt >= self.limits.virtual:
            raise wrong(
                "path.rtt",
                f"an RTT of {rtt} in all is beyond limits.virtual ({self.limits.virtual}), after "
                "which a run is given up",
            )
        for path in filter(None, self.paths):
            check_rules(path, ipv6=self.family is Family.IPV6, offload=self.offload)
        if self.fault:
            check_fault(self.fault, self.path, self.clock, pings=bool(self.control))
        if self.flows:
            self._check_flows()
            return self
        check_carried(self.workload, self.protocol)
        if not self.workload.over_http and self.capture.bodies:
            raise wrong(
                "capture.bodies", "bulk flows have no bodies: capture.bodies is for downloads"
            )
        if isinstance(self.workload, Page):
            self._check_page(self.workload)
        if self.control and self.clock is not Clock.VIRTUAL:
            raise wrong(
                "clock", 'control pings are for clock = "virtual", in which computing takes no time'
            )
        if self.control:
            check_pings_pass(self.control, self.paths)
        return self

    @field_validator("certificate_chain")
    @classmethod
    def _chain_is_possible(cls, size: Size | None, told: ValidationInfo) -> Size | None:
        if size is not None and not told.data.get("tls"):
            raise ValueError("certificates are TLS's: it needs tls = true")
        if size is not None and not _LEAST_CHAIN <= size <= _LARGEST_CHAIN:
            raise ValueError(f"certificates take {_LEAST_CHAIN} to {_LARGEST_CHAIN}")
        return size

    def _check_hops(self) -> None:
        if self.proxy and self.hops:
            raise wrong("proxy", "with [[hops]], a reverse proxy is the proxy of one of them")
        for name in self.bypass:
            _check_declared(name, list(self.hops))
        for name, hop in self.hops.items():
            if hop.name != name:
                raise wrong("hops", f"the hop {name!r} cannot have another name")
        if sum(2 * len(path.links) + 1 if path else 1 for path in self.paths) > _MOST_NETWORKS:
            raise wrong("hops", f"too many hops and links: more than {_MOST_NETWORKS} networks")

    def _check_flows(self) -> None:
        """What is said of one flow beside them is only what they have in common."""
        check_flows(self.flows, self.hops)
        for key in ("proxy", "control", "certificate_chain", AXIS):
            if getattr(self, key):
                raise wrong(key, f"{key} is for a study of one flow, without [flows]")
        if self.capture.bodies:
            raise wrong("capture.bodies", "bodies of flows that compete are not kept")
        for name, flow in self.flows.items():
            for key, time in (("start", flow.start), ("end", flow.end)):
                if time is not None and time >= self.limits.virtual:
                    told = f"{time} is beyond limits.virtual ({self.limits.virtual})"
                    raise wrong(f"flows.{name}.{key}", told)

    def _check_page(self, page: Page) -> None:
        if self.capture.bodies:
            raise wrong(
                "capture.bodies", "a browser keeps no bodies: capture.bodies is for downloads"
            )
        if page.origins is Origins.OWN_ADDRESSES and self.middleboxes:
            raise wrong(
                "workload.origins",
                'origins = "own-addresses" is for paths without proxies and hops',
            )
        if page.connections is Connections.ONE:
            self._check_one_connection(page)
        if page.cache is Cache.TICKETS and not self.tls:
            raise wrong("workload.cache", 'cache = "tickets" is about TLS: it needs tls = true')
        if page.cache is not Cache.COLD and any(_begins_with_workload(path) for path in self.paths):
            raise wrong(
                "workload.cache",
                f'cache = "{page.cache}" loads the page before the workload begins, with which the '
                "packets of drop_packets are counted and a trace begins",
            )

    def _check_one_connection(self, page: Page) -> None:
        """Hosts share a connection if it is encrypted, multiplexed, and to the same address."""
        why = {
            'HTTP/1.1 has several connections to a host: it is for protocol = "h2" and "h3"': (
                self.protocol is Protocol.H1
            ),
            'origins = "own-addresses" gives each host a connection of its own': (
                page.origins is Origins.OWN_ADDRESSES
            ),
        }
        for reason, applies in why.items():
            if applies:
                raise wrong("workload.connections", f'connections = "one": {reason}')

    @field_serializer("programs")
    def _by_key(self, programs: tuple[OutsideProgram, ...]) -> list[str]:
        return [f"{program.directory}: {program.key}" for program in programs]

    @property
    def named(self) -> frozenset[tuple[str, str]]:
        """The programs at the ends of its flows: role and name."""
        ends = self.flows.values() or [self]
        return frozenset(
            (role, host.program)
            for end in ends
            for role, host in (("server", end.server), ("client", end.client))
        )

    @property
    def middleboxes(self) -> tuple[Hop, ...]:
        """The hosts between client and server, the client's neighbour first."""
        if self.proxy is None:
            return tuple(self.hops.values())
        proxy = self.proxy.model_copy(update={"kernel": TUNED})
        path, kernel = self.proxy.upstream.path, self.proxy.kernel
        return (Hop(name="proxy", proxy=proxy, path=path, kernel=kernel),)

    @property
    def paths(self) -> tuple[Path | None, ...]:
        """The paths between neighbouring hosts, the client's first.

        In a chain of hops, None where nothing is said of a path: a cable.
        """
        paths = (self.path, *(hop.path for hop in self.middleboxes))
        return tuple(None if self.hops and path == _NOTHING_SAID else path for path in paths)

    @property
    def may_share_a_boot(self) -> bool:
        """Whether its repetitions may be carried out one after the other in the same lab.

        That is for pages, since a browser starts slowly; the path is made anew for each, which is
        not possible for everything. A reverse proxy would keep its connections to the server.
        """
        # Most are no pages, and plans ask often.
        if self.workload.replayed is None or self.flows:
            return False
        lasting = self.fault or any(
            _begins_with_workload(path) or _is_remembered(path) for path in self.paths
        )
        kept = self.capture.at_devices or self.capture.qlog or self.control
        direct = not self.proxy and not any(hop.proxy for hop in self.hops.values())
        return direct and not lasting and not kept

    @property
    def workloads(self) -> tuple[Workload, ...]:
        """What is asked for; if flows compete, by each of them."""
        return tuple(flow.workload for flow in self.flows.values()) or (self.workload,)

    @property
    def page(self) -> Page | None:
        """The page that is loaded, if one is; flows that compete load the same one."""
        pages = (workload for workload in self.workloads if isinstance(workload, Page))
        return next(pages, None)

    @property
    def served_sizes(self) -> tuple[int, ...]:
        """Sizes of the bodies that the server must have, bytes."""
        sizes = (workload.body_size for workload in self.workloads)
        return tuple(dict.fromkeys(int(size) for size in sizes if size is not None))


def _check_declared(name: str, hops: list[str]) -> None:
    if name not in hops:
        known = f"hops: {', '.join(hops)}" if hops else "hops are tables [[hops]] with a name"
        raise ValueError(f"no hop {name!r}{nearest(name, hops, then=known)}")


def _is_remembered(path: Path | None) -> bool:
    """Whether hosts or routers keep something of what a path did: path MTUs that they learned, counts of rules."""
    return any(way.mtu or way.udp for way in _ways(path))


def _ways(path: Path | None) -> list[Direction]:
    return [way for link in path.links for way in (link.down, link.up)] if path else []


def _begins_with_workload(path: Path | None) -> bool:
    """Whether part of a path only begins with the workload."""
    return any(
        isinstance(way.rate, TraceRate) or way.drop_packets or (way.udp and way.udp.lasts)
        for way in _ways(path)
    )
