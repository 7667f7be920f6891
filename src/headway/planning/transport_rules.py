"""Rules of paths, and faults, for packets of one kind, of UDP or with ECN, where no run sends such packets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from headway.planning.deployment import Endpoint, Segment
from headway.planning.runs import Run
from headway.planning.stated_part import StatedPart, without_effect
from headway.study.ecnchange import Codepoint
from headway.study.fault import FaultKind
from headway.study.path import Direction
from headway.study.setting import Setting
from headway.study.workload import Page

_TCP_ECN = "net.ipv4.tcp_ecn"
_ASKING = {"1", "3", "4"}
"""Values of it with which a host asks for ECN on what it opens; what the kernel has by default only accepts it."""
_NEED_ECN = {"dctcp", "prague"}
"""Controllers of the kernel that ask for it whatever the sysctl says."""


@dataclass(frozen=True)
class _Rule:
    """What a path may do with packets of a kind.

    Attributes:
        key: as a study states it.
        is_asked: whether a setting has it, on a way of these directions.
        may_meet: whether it may meet a packet of what crosses the path. Browsers open connections of either
            transport, and programs over QUIC decide on ECN by themselves.
        lacking: what no run has.
    """

    key: str
    is_asked: Callable[[Setting, Sequence[Direction]], bool]
    may_meet: Callable[[Segment], bool]
    lacking: str


def _has_datagrams(segment: Segment) -> bool:
    return segment.protocol.transport != "tcp"


def _may_have_ecn(segment: Segment) -> bool:
    return (
        _has_datagrams(segment) or _asks(segment.near) or segment.far.congestion_control == "prague"
    )


def _asks(client: Endpoint) -> bool:
    stated = client.host.kernel.all_sysctls.get(_TCP_ECN)
    return stated in _ASKING or client.congestion_control in _NEED_ECN


_NO_ECN = f"no sender has ECN; TCP asks for it with {_TCP_ECN} = 1 in the client's kernel.sysctls"


def _any(has: Callable[[Direction], bool]) -> Callable[[Setting, Sequence[Direction]], bool]:
    return lambda _, ways: any(map(has, ways))


_RULES = (
    _Rule(
        "path.udp",
        _any(lambda way: way.udp is not None),
        _has_datagrams,
        "no run sends UDP over it",
    ),
    _Rule(
        "path.ecn",
        _any(lambda way: way.ecn is not None and Codepoint.NOT_ECT not in way.ecn.written),
        _may_have_ecn,
        _NO_ECN,
    ),
    _Rule(
        "path.queue.ecn",
        _any(lambda way: way.queue.ecn and way.rate is not None),
        _may_have_ecn,
        _NO_ECN,
    ),
    _Rule(
        "fault",
        lambda setting, _: setting.fault is not None and setting.fault.kind is FaultKind.MARK,
        _may_have_ecn,
        _NO_ECN,
    ),
)


def unmet_rules(runs: Iterable[Run]) -> Iterator[str]:
    """Keys of paths that can meet no packet, in no run that has them."""
    return without_effect(part for run in runs for part in _ruled(run))


def _ruled(run: Run) -> Iterator[StatedPart]:
    """The rules of the paths that are crossed, each beside what crosses it."""
    is_open = run.setting.dns is not None or any(
        isinstance(workload, Page) for workload in run.setting.workloads
    )
    for flow in run.deployment.flows:
        for segment in flow.segments:
            ways = [way for link in segment.path.links for way in (link.down, link.up)]
            for rule in _RULES:
                if rule.is_asked(run.setting, ways):
                    yield StatedPart(rule.key, is_open or rule.may_meet(segment), rule.lacking)
