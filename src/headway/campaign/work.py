"""The work of labs, as far as anybody knows beforehand: their kind, and how much of it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from headway.planning.boots import Boot
from headway.planning.deploy import deploy
from headway.planning.deployment import DeployedFlow, Deployment, Segment
from headway.planning.maxmin import fair_rates_mbit
from headway.sites.finding import find_outline
from headway.study.host import Protocol
from headway.study.queue import FRAME_BYTES
from headway.study.setting import Setting

_SEGMENT_BYTES = 1448
_INITIAL_WINDOW = 10
_SET_UP_ROUND_TRIPS = 3
"""TCP and TLS 1.3 handshakes, and the request."""
_MATHIS = 1.22
"""Constant of Mathis et al., "The Macroscopic Behavior of the TCP Congestion Avoidance
Algorithm" (1997): rate = 1.22 segments / (RTT * sqrt(loss))."""
_LOSS_AGNOSTIC = frozenset({"bbr", "bbr3"})
"""Congestion controls that random loss does not slow down."""
_UNLIMITED_BIT_S = 1e9
"""About what a bulk flow carries where no link has a rate."""


@dataclass(frozen=True)
class Work:
    """What a lab has to do; its cost is linear in that.

    Attributes:
        requests: of all its runs: requests, flows, or resources of pages.
        megabytes: what they carry.
        virtual_s: how long they last on the lab's clock, seconds.
    """

    requests: float
    megabytes: float
    virtual_s: float

    @property
    def features(self) -> tuple[float, float, float, float]:
        """What its cost is linear in: a lab, and its work."""
        return 1.0, self.requests, self.megabytes, self.virtual_s

    def repeated(self, times: int) -> Work:
        """The work of so many runs like this one."""
        return Work(self.requests * times, self.megabytes * times, self.virtual_s * times)


class WorkOfBoots:
    """Tells the work of labs; what it worked out of a setting it keeps."""

    def __init__(self) -> None:
        # By identity: repetitions share a setting, whose comparison costs as much as its work.
        self._known: dict[int, tuple[Setting, str, Work]] = {}

    def of(self, boot: Boot) -> tuple[str, Work]:
        """The kind of a lab's runs, and its work."""
        setting = boot.runs[0].setting
        if id(setting) not in self._known:
            deployment = deploy(setting)
            self._known[id(setting)] = setting, kind_of(deployment), expected_work(deployment)
        _, kind, work = self._known[id(setting)]
        return kind, work.repeated(len(boot.runs))


def expected_work(deployment: Deployment) -> Work:
    """About what one run has to do."""
    requests = sum(map(_requests, deployment.flows))
    return Work(
        requests,
        _expected_bytes(deployment) / 1e6,
        expected_virtual_s(deployment),
    )


def kind_of(deployment: Deployment) -> str:
    """The kind of a deployment's runs: programs and protocols, ``curl h2 envoy h3 nginx``.

    Of several flows each is named once: ``headway-perf tcp, quic headway-perf``. What changes the cost of every packet
    comes last: ``captured`` at devices, ``merged`` by a host that receives them.
    """
    flows = deployment.flows
    asked = [flow.setting for flow in flows]
    encrypted = all(setting.tls and setting.protocol is not Protocol.UDP for setting in asked)
    proxies = [end.adapter.name for flow in flows for end in flow.proxies]
    upstream = _once(flow.server.protocol.value for flow in flows)
    words = (
        _once(flow.client.name for flow in flows),
        _once(setting.protocol.value for setting in asked),
        *(() if encrypted else ("cleartext",)),
        *((", ".join(proxies), upstream) if proxies else ()),
        _once(flow.server.adapter.name for flow in flows),
        *(("captured",) if deployment.setting.capture.at_devices else ()),
        *(("merged",) if any(map(_merges, asked)) else ()),
    )
    return " ".join(words)


def _merges(setting: Setting) -> bool:
    return any(host.kernel.gro_flush_ns is not None for host in (setting.client, setting.server))


def _once(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(words))


def expected_virtual_s(deployment: Deployment) -> float:
    """About how long a run takes on the lab's clock, seconds: until its last flow ends.

    Connection set-up, slow start and the bodies at the rate of the slowest path: its own, what its
    loss leaves to loss-based congestion control, or a fair share of what flows have in common. Bulk
    flows may say themselves how long.
    """
    ends = (flow.start_s + _takes_s(flow, share) for flow, share in _shares_bit_s(deployment))
    return min(max(ends), deployment.setting.limits.virtual.s)


def _shares_bit_s(deployment: Deployment) -> list[tuple[DeployedFlow, float]]:
    """Each flow, and its fair share of the links on its way; infinite if nobody can tell beforehand."""
    flows = deployment.flows
    rates = fair_rates_mbit(flows) or (math.inf,) * len(flows)
    return [(flow, rate * 1e6) for flow, rate in zip(flows, rates, strict=True)]


def _takes_s(flow: DeployedFlow, share_bit_s: float) -> float:
    workload, segments = flow.setting.workload, flow.segments
    set_up = math.fsum(_SET_UP_ROUND_TRIPS * segment.path.rtt.s for segment in segments)
    if (sends := workload.offered_load.sends) is not None:
        transfer_s = sends.s
    else:
        size = _flow_bytes(flow, share_bit_s)
        carried = (_carried_bit_s(segment, workload.uploads) for segment in segments)
        transfer_s = max(
            _transfer_s(segment, size, min(bit_s, share_bit_s))
            for segment, bit_s in zip(segments, carried, strict=True)
        )
    end_s = math.inf if flow.end_s is None else flow.end_s - flow.start_s
    return min(set_up + transfer_s, end_s)


def _expected_bytes(deployment: Deployment) -> float:
    return math.fsum(_flow_bytes(flow, share) for flow, share in _shares_bit_s(deployment))


def _requests(flow: DeployedFlow) -> int:
    workload = flow.setting.workload
    each = 1 if workload.replay.site is None else find_outline(workload.replay.site).resources
    return workload.requests * each


def _flow_bytes(flow: DeployedFlow, share_bit_s: float) -> float:
    """About how much a flow carries; one that lasts for a time, what the slowest path lets through."""
    workload = flow.setting.workload
    if workload.replay.site is not None:
        return find_outline(workload.replay.site).size_bytes
    if workload.amount is not None:
        return int(workload.amount) * workload.requests
    assert workload.offered_load.sends is not None, "a workload has either an amount or a time"
    rates = [_carried_bit_s(segment, workload.uploads) for segment in flow.segments]
    most = math.inf if workload.offered_load.rate is None else float(workload.offered_load.rate)
    return min(*rates, share_bit_s, most, _UNLIMITED_BIT_S) * workload.offered_load.sends.s / 8


def _transfer_s(segment: Segment, size: float, bit_s: float) -> float:
    windows = math.log2(1 + size / (_INITIAL_WINDOW * _SEGMENT_BYTES))
    slow_start_s = segment.path.rtt.s * windows
    on_wire = size * 8 * FRAME_BYTES / _SEGMENT_BYTES
    return slow_start_s if math.isinf(bit_s) else max(slow_start_s, on_wire / bit_s)


def _carried_bit_s(segment: Segment, uploads: bool) -> float:
    """What a path lets through: its least rate, or what its loss leaves to the sender; else infinite."""
    path, sender = segment.path, segment.near if uploads else segment.far
    directions = [link.up if uploads else link.down for link in path.links]
    rates = [float(direction.capacity) for direction in directions if direction.capacity]
    bit_s = min(rates, default=math.inf)
    passed = math.prod(1 - direction.loss.mean for direction in directions)
    if passed < 1 and path.rtt.s and sender.congestion_control not in _LOSS_AGNOSTIC:
        lossy = _MATHIS * _SEGMENT_BYTES * 8 / (path.rtt.s * math.sqrt(1 - passed))
        bit_s = min(bit_s, lossy)
    return bit_s
