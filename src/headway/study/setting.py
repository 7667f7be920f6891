"""The setting: all conditions of a run."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from operator import not_
from typing import Any, Self

from pydantic import Field, ValidationInfo, field_serializer, field_validator, model_validator

from headway.errors import nearest
from headway.study.capture import Capture
from headway.study.clock import Clock
from headway.study.control import Control, check_pings_pass
from headway.study.discovery import Discovery, check_discovery
from headway.study.dns import Dns
from headway.study.dualstack import DualStack, check_dual_stack
from headway.study.family import Family
from headway.study.fault import Fault, check_fault
from headway.study.fits import check_fits
from headway.study.flow import SERVERS, CompetingFlow, check_flows, with_usual_values
from headway.study.givingup import Limits
from headway.study.hop import Hop, Proxy, described, named_hops, that_is_there
from headway.study.host import Host, Protocol, check_tls
from headway.study.kernel import TUNED, RewriteCalls, check_charges
from headway.study.origin import OriginServer, check_origins, with_usual_server
from headway.study.outside import OutsideProgram
from headway.study.pagechecks import begins_with_workload, check_page, is_remembered
from headway.study.part import Part, wrong
from headway.study.path import Path
from headway.study.pathrules import check_rules
from headway.study.roundtrips import check_round_trips, check_transfer
from headway.study.units import Size
from headway.study.workload import (
    Download,
    Page,
    Workload,
    check_carried,
    check_ends,
    check_kept,
)


class Variation(StrEnum):
    """What of a path differs between repetitions, beyond what it states: see `headway.study.variation`.

    ``phases``: small differences of its delays, a processing time of each packet, and when the workload
    starts. ``none``: nothing, so that without losses all repetitions are equal.
    """

    PHASES = "phases"
    NONE = "none"


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

    @model_validator(mode="before")
    @classmethod
    def _usual_programs(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        inherited = bool(value.get("flows") or value.get("origins"))
        hosts: dict[str, Any] = {
            role: {"program": program, **value.get(role, {})}
            for role, program in DEFAULT_PROGRAMS.items()
            if isinstance(value.get(role, {} if inherited else None), dict)
        }
        return with_usual_values(with_usual_server(value | hosts))

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
        check_fits(self._parts)
        self._check_hops()
        self._check_rtt()
        ipv6, both = self.family is Family.IPV6, bool(self.dual_stack)
        limit = self.limits.virtual
        check_rules(self._path_by_key, limit, ipv6=ipv6, both=both, offload=self.offload)
        check_charges({key: host.kernel for key, host in self.hosts}, self.clock)
        if self.fault:
            check_fault(self.fault, self.path, self.clock, pings=bool(self.control))
        if self.flows:
            self._check_flows()
            return self
        if self.discovery:
            check_discovery(self.discovery, self.workload, self.every_path, tls=self.tls)
        if self.dual_stack:
            check_dual_stack(self.workload)
        check_carried(self.workload, self.protocol)
        check_transfer(self._chain, self.workload, self.limits.virtual)
        check_ends(self.workload, self.limits.virtual, "workload")
        if self.capture.bodies:
            check_kept(self.workload)
        self._check_page()
        if self.control:
            check_pings_pass(self.control, self.paths, self.clock)
        return self

    @property
    def _parts(self) -> dict[str, object]:
        """What there is or is not, by the keys of `headway.study.fits`."""
        return {
            **vars(self),
            "hops.programs": any(hop.splits for hop in self.middleboxes),
            "hops.proxy": any(hop.proxy for hop in self.middleboxes),
            "workload.second_path": self.workload.path_beside,
        }

    @property
    def hosts(self) -> Iterator[tuple[str, Host | Proxy | Hop]]:
        """All hosts by their keys in a study file."""
        yield from (("client", self.client), ("server", self.server))
        yield from [("proxy", self.proxy)] if self.proxy else []
        yield from ((f"hops.{name}", hop) for name, hop in self.hops.items())
        yield from ((f"origins.{name}.server", one.server) for name, one in self.origins.items())
        for name, flow in self.flows.items():
            yield from ((f"flows.{name}.{role}", getattr(flow, role)) for role in DEFAULT_PROGRAMS)

    def _check_rtt(self) -> None:
        """A run that is given up before a round trip is over tells nothing."""
        farther = {f"origins.{name}.path": one.path for name, one in self.origins.items()}
        check_round_trips(self._chain, farther, self.dns, self.limits.virtual)

    def _check_page(self) -> None:
        if self.has_origins:
            check_origins(
                self.origins,
                self.workload,
                self.protocol,
                self.hops,
                proxy=bool(self.proxy),
                tls=self.tls,
            )
        if isinstance(self.workload, Page):
            check_page(
                self.workload,
                self.protocol,
                self.every_path,
                direct=not any(hop.splits for hop in self.middleboxes),
                tls=self.tls,
            )

    @field_validator("certificate_chain")
    @classmethod
    def _chain_is_possible(cls, size: Size | None, told: ValidationInfo) -> Size | None:
        if size is not None and not told.data.get("tls"):
            raise ValueError("certificates need tls = true")
        if size is not None and not _LEAST_CHAIN <= size <= _LARGEST_CHAIN:
            raise ValueError(f"a chain of certificates has {_LEAST_CHAIN} to {_LARGEST_CHAIN}")
        return size

    def _check_hops(self) -> None:
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
        for name, flow in self.flows.items():
            if self.capture.bodies:
                check_kept(flow.workload)
            check_ends(flow.workload, self.limits.virtual, f"flows.{name}.workload")
            for key, time in (("start", flow.start), ("end", flow.end)):
                if time is not None and time >= self.limits.virtual:
                    told = f"{time} is beyond limits.virtual ({self.limits.virtual})"
                    raise wrong(f"flows.{name}.{key}", told)

    @field_serializer("programs")
    def _by_key(self, programs: tuple[OutsideProgram, ...]) -> list[str]:
        return [f"{program.directory}: {program.key}" for program in programs]

    @property
    def named(self) -> frozenset[tuple[str, str]]:
        """The programs at the ends of its flows: role and name."""
        ends = self.flows.values() or [self]
        hosts = [
            (role, host)
            for end in ends
            for role, host in (("server", end.server), ("client", end.client))
        ]
        hosts += [("server", origin.server) for origin in self.origins.values()]
        return frozenset((role, host.program) for role, host in hosts)

    @property
    def has_origins(self) -> bool:
        """Whether hosts of a page have servers of their own."""
        return bool(self.origins) or self.workload.mixes_versions

    @property
    def middleboxes(self) -> tuple[Hop, ...]:
        """The hosts between client and server, the client's neighbour first."""
        if self.has_origins:
            return (*self.hops.values(), Hop(name=SERVERS))
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
        chain = self.hops or self.has_origins
        paths = (self.path, *(hop.path for hop in self.middleboxes))
        return tuple(None if chain and path == _NOTHING_SAID else path for path in paths)

    @property
    def every_path(self) -> tuple[Path | None, ...]:
        return tuple(self._path_by_key.values())

    @property
    def _path_by_key(self) -> dict[str, Path | None]:
        """All paths by their keys in a study file; None where there is none."""
        return {
            **self._chain,
            **{f"origins.{name}.path": origin.path for name, origin in self.origins.items()},
            "dns.path": self.dns.path if self.dns else None,
            "dual_stack.path": self.dual_stack.path if self.dual_stack else None,
            "workload.second_path": self.workload.path_beside,
        }

    @property
    def _chain(self) -> dict[str, Path | None]:
        """Those between neighbouring hosts."""
        behind = ["proxy.upstream"] if self.proxy else [f"hops.{h.name}" for h in self.middleboxes]
        return dict(zip(["path", *(f"{hop}.path" for hop in behind)], self.paths, strict=True))

    @property
    def other_path(self) -> Path | None:
        """The path over the other family, where hosts have both."""
        return (self.dual_stack.path or self.path) if self.dual_stack else None

    @property
    def visited_before(self) -> bool:
        """Whether a browser was there before what is measured."""
        return self.workload.visited_before or bool(self.discovery and self.discovery.visit > 1)

    @property
    def may_share_a_boot(self) -> bool:
        """Whether its repetitions may be carried out one after the other in the same lab.

        That is for pages, since a browser starts slowly; the path is made anew for each, which is not possible for
        everything. A reverse proxy would keep its connections to the server, a server draws waits by one seed, and a
        browser that finds out what a server speaks knows it from the load before.
        """
        if self.workload.replayed is None or self.flows or self.workload.draws_waits:
            return False
        paths = self.every_path
        lasting = self.fault or any(
            begins_with_workload(one) or is_remembered(one) for one in paths
        )
        kept = self.capture.at_devices or self.capture.qlog or self.control
        direct = not self.proxy and not any(hop.proxy for hop in self.hops.values())
        return direct and not lasting and not kept and not self.discovery and not self.dns

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
        """Sizes of the bodies that servers must have, or clients send, bytes."""
        sizes = (size for one in self.workloads for size in (*one.body_sizes, one.content_size))
        return tuple(dict.fromkeys(int(size) for size in sizes if size is not None))


def _check_declared(name: str, hops: list[str]) -> None:
    if name not in hops:
        known = f"hops: {', '.join(hops)}" if hops else "hops are tables [[hops]] with a name"
        raise ValueError(f"no hop {name!r}{nearest(name, hops, then=known)}")
