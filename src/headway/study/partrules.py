"""Rules of parts beside paths and flows: processors, certificates, faults, control pings, discovery, two families."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headway.errors import counted
from headway.study.beginnings import counts_from_workload
from headway.study.clock import Clock
from headway.study.control import PING_FRAME_BYTES, Control
from headway.study.discovery import Discovery
from headway.study.fault import Fault
from headway.study.kernel import Kernel
from headway.study.networkrules import Asking, NetworkView
from headway.study.path import Direction, Link, Path
from headway.study.rulerow import RuleRow, RuleTable
from headway.study.settingkeys import SettingKeys
from headway.study.units import Duration
from headway.study.workload import Workload


@dataclass(frozen=True)
class _Kernel:
    """The kernel of a host that a study states."""

    key: str
    kernel: Kernel
    keys: SettingKeys


@dataclass(frozen=True)
class _Faulted:
    """A fault, and the client's path, which has it."""

    fault: Fault
    path: Path
    keys: SettingKeys

    @property
    def links(self) -> str:
        return counted(len(self.path.links), "link")

    @property
    def link(self) -> Link:
        return self.path.links[self.fault.link - 1]

    @property
    def is_counted_otherwise(self) -> bool:
        """Whether something else on its link counts packets, or hands them to a process."""
        ways = (self.link.down, self.link.up)
        return any(way.has_process or way.drop_packets for way in ways)


@dataclass(frozen=True)
class _PingedWay:
    """A direction of a link that control pings cross."""

    direction: Direction
    control: Control

    @property
    def process(self) -> str:
        return "access" if self.direction.access else "a trace"

    @property
    def rate(self) -> object:
        return self.direction.lowest_rate

    @property
    def shortest(self) -> Duration:
        """The interval in which a ping has left the link before the next one comes."""
        rate = self.direction.lowest_rate
        return Duration(PING_FRAME_BYTES * 8 * 10**9 // rate if rate else 0)


@dataclass(frozen=True)
class _Discovering:
    """A client that finds out versions of HTTP."""

    discovery: Discovery
    asking: Asking

    @property
    def workload(self) -> Workload:
        return self.asking.workload

    @property
    def key(self) -> str:
        """Of what does not go with discovery: of it itself, beside one workload."""
        return f"{self.asking.key}workload" if self.asking.key else "discovery"

    @property
    def tls_key(self) -> str:
        return f"{self.asking.key}tls" if self.asking.key else "discovery"

    @property
    def comes_again(self) -> bool:
        return self.discovery.visit > 1


def _kernels(view: NetworkView) -> Iterator[_Kernel]:
    return (_Kernel(key, host.kernel, view.keys) for key, host in view.keys.tables)


def _faulted(view: NetworkView) -> Iterator[_Faulted]:
    if view.keys.fault:
        yield _Faulted(view.keys.fault, view.network.flows[0].paths[0] or Path(), view.keys)


def _pinged(view: NetworkView) -> Iterator[SettingKeys]:
    if view.keys.control:
        yield view.keys


def _pinged_ways(view: NetworkView) -> Iterator[_PingedWay]:
    if view.keys.control:
        for link in (link for path in view.network.flows[0].paths if path for link in path.links):
            yield from (_PingedWay(way, view.keys.control) for way in (link.down, link.up))


def _discovering(view: NetworkView) -> Iterator[_Discovering]:
    """The clients of flows of HTTP; others beside these find nothing out."""
    if view.keys.discovery:
        of_http = [asking for asking in view.asking if asking.workload.over_http]
        for asking in of_http or view.asking[:1]:
            yield _Discovering(view.keys.discovery, asking)


def _dual_stacked(view: NetworkView) -> Iterator[Workload]:
    if view.keys.dual_stack and not view.keys.flows:
        yield view.keys.workload


def _loads(workload: Workload) -> bool:
    """Whether it is a page or a download."""
    return workload.over_http and workload.payload.content is None and not workload.migrates


PART_RULES: tuple[RuleTable[NetworkView, Any], ...] = (
    RuleTable[NetworkView, NetworkView](
        "a `certificate_chain`",
        lambda view: [view] if view.keys.certificate_chain is not None else [],
        (
            RuleRow(
                "is for TLS",
                "certificate_chain",
                lambda view: not any(asking.said.tls for asking in view.asking),
                "certificates need tls = true",
            ),
        ),
    ),
    RuleTable[NetworkView, _Kernel](
        "a host's kernel",
        _kernels,
        (
            RuleRow(
                'has a `processor` in `clock = "virtual"` only',
                "{it.key}.kernel.processor",
                lambda host: host.kernel.processor and host.keys.clock is not Clock.VIRTUAL,
                'states what computing costs, and clock = "{it.keys.clock}" takes the machine\'s time',
                "leave one of them out",
                shown="client.kernel.processor",
            ),
        ),
    ),
    RuleTable[NetworkView, _Faulted](
        "a `fault`",
        _faulted,
        (
            RuleRow(
                'is for `clock = "virtual"`',
                "fault",
                lambda faulted: faulted.keys.clock is not Clock.VIRTUAL,
                'packets have the same numbers in every run only with clock = "virtual", not "{it.keys.clock}"',
            ),
            RuleRow(
                "is on a link of the client's path",
                "fault.link",
                lambda faulted: faulted.fault.link > len(faulted.path.links),
                "the client's path has {it.links}",
            ),
            RuleRow(
                "is on a link without a trace, `access` or `drop_packets`",
                "fault",
                lambda faulted: faulted.is_counted_otherwise,
                "a link with a trace, access or drop_packets cannot have faults; leave those out",
            ),
            RuleRow(
                "has no control pings beside it",
                "control",
                lambda faulted: faulted.keys.control,
                "control pings would be counted among the packets of a fault",
            ),
        ),
    ),
    RuleTable[NetworkView, SettingKeys](
        "`control`",
        _pinged,
        (
            RuleRow(
                'is for `clock = "virtual"`',
                "clock",
                lambda keys: keys.clock is not Clock.VIRTUAL,
                'control pings need clock = "virtual"',
                "computing takes no time",
            ),
        ),
    ),
    # What pings measure is there before the workload, and the same after them; none waits for another one.
    RuleTable[NetworkView, _PingedWay](
        "a direction that control pings cross",
        _pinged_ways,
        (
            RuleRow(
                "has no trace and no `access`",
                "control",
                lambda way: way.direction.has_process,
                "control pings cannot pass {it.process}, which begins with the workload",
            ),
            RuleRow(
                "has no `drop_packets`",
                "control",
                lambda way: way.direction.drop_packets,
                "control pings would be counted among the packets of drop_packets",
            ),
            RuleRow(
                "carries each ping within the interval between two",
                "control.interval",
                lambda way: way.control.interval < way.shortest,
                "the interval of control pings must be {it.shortest} at least, which one takes at {it.rate}",
            ),
        ),
    ),
    RuleTable[NetworkView, _Discovering](
        "`discovery`",
        _discovering,
        (
            RuleRow(
                "is for TLS",
                "{it.tls_key}",
                lambda client: not client.asking.said.tls,
                "clients find out the version of HTTP by TLS",
                "this needs tls = true",
                shown="discovery",
            ),
            RuleRow(
                "has earlier visits (`visit` above 1) only if a page is loaded",
                "discovery.visit",
                lambda client: client.comes_again and client.workload.replay.site is None,
                "only browsers make earlier visits",
                "this is for pages",
            ),
            RuleRow(
                "is for pages and downloads; other flows beside these need not be HTTP",
                "{it.key}",
                lambda client: not _loads(client.workload),
                "[discovery] is for pages and downloads",
                shown="discovery",
            ),
            RuleRow(
                "is not for pages whose hosts speak several versions of HTTP",
                "{it.asking.key}workload.versions",
                lambda client: client.workload.replay.mixes_versions,
                "the server of [discovery] offers every version",
                shown="workload.versions",
            ),
            RuleRow(
                "has no earlier visits over a path with a trace or `drop_packets`, which begin with the workload",
                "discovery.visit",
                lambda client: (
                    client.comes_again and any(map(counts_from_workload, client.asking.paths))
                ),
                "earlier visits come before the workload, but a trace and the count of drop_packets begin with the workload",
            ),
            RuleRow(
                "states earlier visits by `visit`, not by `workload.cache`",
                "{it.asking.key}workload.cache",
                lambda client: client.workload.replay.visited_before,
                "discovery.visit states the earlier visits",
                shown="workload.cache",
            ),
        ),
    ),
    RuleTable[NetworkView, Workload](
        "`dual_stack`",
        _dual_stacked,
        (
            RuleRow(
                "is for pages and downloads",
                "dual_stack",
                lambda workload: not _loads(workload),
                "it is for pages and downloads",
            ),
            RuleRow(
                "has no page whose hosts have addresses of their own",
                "workload.origins",
                lambda workload: workload.replay.site is not None and workload.replay.own_addresses,
                "hosts with addresses of their own have one family",
                "leave out this key",
            ),
        ),
    ),
)
"""Those of parts that a setting has or has not."""
