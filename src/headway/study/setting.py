"""The setting: all conditions of a run."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

from pydantic import ValidationInfo, field_serializer, field_validator, model_validator

from headway.errors import nearest
from headway.study.base_model import wrong
from headway.study.beginnings import begins_with_workload, is_remembered
from headway.study.capture import Capture
from headway.study.exclusions import check_fits
from headway.study.flow import with_usual_values
from headway.study.flowrules import FLOW_RULES
from headway.study.hop import Proxy, described, that_is_there
from headway.study.host import check_tls
from headway.study.hostrules import HOST_RULES
from headway.study.limitrules import ROUND_TRIP_RULES, TRANSFER_RULES
from headway.study.named import NAMED, by_name
from headway.study.network import StatedNetwork
from headway.study.networkrules import NETWORK_RULES, NetworkView
from headway.study.origin import with_usual_server
from headway.study.pagerules import PAGE_RULES
from headway.study.partrules import PART_RULES
from headway.study.pathrules import PATH_RULES, PathsView
from headway.study.rulerow import check_all
from headway.study.settingkeys import DEFAULT_PROGRAMS, SettingKeys
from headway.study.spelling import network_of
from headway.study.units import Size
from headway.study.user_programs import OutsideProgram
from headway.study.workload import Page, Workload
from headway.study.workloadrules import WORKLOAD_RULES

_LEAST_CHAIN, _LARGEST_CHAIN = Size(2_500), Size(60_000)
"""A message of TLS has 16 MB at most, but OpenSSL takes no chain of more than 100 kB."""


class Setting(SettingKeys):
    """All conditions of a run but its seed."""

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
    def _opens_packets(cls, capture: Capture, validation_info: ValidationInfo) -> Capture:
        # What a packet carried is a part of what a fault is.
        return (
            capture.model_copy(update={"secrets": True})
            if validation_info.data.get("fault")
            else capture
        )

    @field_validator("proxy", mode="before")
    @classmethod
    def _without_program(cls, value: Any) -> Any:
        return described(value)

    @field_validator("proxy")
    @classmethod
    def _that_is_there(cls, proxy: Proxy | None) -> Proxy | None:
        return that_is_there(proxy)

    @field_validator(*NAMED, mode="before")
    @classmethod
    def _members_are_declared(cls, value: Any, field: ValidationInfo) -> Any:
        key = str(field.field_name)
        members = by_name(key, value)
        if not isinstance(members, dict):
            return members
        # Contenders and axes refer to members by name, which makes none.
        declared = [
            name
            for name, member in members.items()
            if not isinstance(member, dict) or "name" in member
        ]
        for name in members:
            _check_declared(key, name, declared)
        return members

    @field_validator("hosts", mode="before")
    @classmethod
    def _hosts_have_their_names(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {
            name: {**host, "name": name} if isinstance(host, dict) else host
            for name, host in value.items()
        }

    @model_validator(mode="after")
    def _possible(self) -> Self:
        check_tls(self.protocol, self.tls)
        check_fits(self._parts)
        self._check_hops()
        check_all(FLOW_RULES + HOST_RULES, self)
        view = NetworkView(self, self.network)
        check_all(NETWORK_RULES + ROUND_TRIP_RULES, view)
        check_all(PATH_RULES, PathsView(view.network.edges, view.limit, self.offload))
        check_all(PART_RULES + WORKLOAD_RULES + TRANSFER_RULES + PAGE_RULES, view)
        return self

    @cached_property
    def network(self) -> StatedNetwork:
        """Its hosts, the paths between them, and the flows, as it states them."""
        return network_of(self)

    @property
    def _parts(self) -> dict[str, object]:
        """What there is or is not, by the keys of `headway.study.exclusions`."""
        return {
            **vars(self),
            "hops.programs": any(hop.splits for hop in self.hosts_between),
            "hops.proxy": any(hop.proxy for hop in self.hosts_between),
            "workload.second_path": self.workload.path_beside,
        }

    @field_validator("certificate_chain")
    @classmethod
    def _chain_is_possible(cls, size: Size | None) -> Size | None:
        if size is not None and not _LEAST_CHAIN <= size <= _LARGEST_CHAIN:
            raise ValueError(f"a chain of certificates has {_LEAST_CHAIN} to {_LARGEST_CHAIN}")
        return size

    def _check_hops(self) -> None:
        for name in self.bypass:
            _check_declared("hops", name, [*self.hops, *self.hosts])
        for key, members in (("hops", self.hops), ("links", self.links)):
            for name, member in members.items():
                if member.name != name:
                    raise wrong(key, f"{name!r} cannot have another name")

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
    def visited_before(self) -> bool:
        """Whether a browser was there before what is measured."""
        return self.workload.replay.visited_before or bool(
            self.discovery and self.discovery.visit > 1
        )

    @property
    def may_share_a_boot(self) -> bool:
        """Whether its repetitions may be carried out one after the other in the same lab.

        That is for pages, since a browser starts slowly; the path is made anew for each, which is not possible for
        everything. A reverse proxy would keep its connections to the server, a server draws waits by one seed, and a
        browser that finds out what a server speaks knows it from the load before.
        """
        if self.workload.replay.site is None or self.flows or self.workload.replay.draws_waits:
            return False
        paths = self.network.paths
        lasting = self.fault or any(
            begins_with_workload(path) or is_remembered(path) for path in paths
        )
        kept = self.capture.at_devices or self.capture.qlog or self.control
        direct = not self.proxy and not any(hop.proxy for hop in self.hosts_between)
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
        sizes = (size for workload in self.workloads for size in workload.payload.sizes)
        return tuple(dict.fromkeys(map(int, sizes)))


def _check_declared(key: str, name: str, declared: list[str]) -> None:
    if name not in declared:
        what = NAMED[key]
        usual = f"{key} are tables [[{key}]] with a name"
        known = f"{key}: {', '.join(declared)}" if declared else usual
        raise ValueError(f"no {what} {name!r}{nearest(name, declared, then=known)}")
