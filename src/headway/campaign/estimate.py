"""How long a study will take on this machine, from the measured cost of runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from headway.campaign.costs import Cost, CostModel, kind_of
from headway.planning.deploy import deploy
from headway.planning.deployment import DeployedFlow, Deployment, Segment
from headway.planning.maxmin import fair_rates_mbit
from headway.planning.runs import Run, distinct_paths
from headway.sites.finding import find_outline
from headway.study.clock import Clock
from headway.study.path import FRAME_BYTES
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
_SELF_TEST_S = 1.0
"""Wall time of one path's self-test."""


@dataclass(frozen=True)
class Estimate:
    """How long runs take.

    Attributes:
        lab_s: wall time of all labs together, seconds.
        labs: how many run at a time.
        self_tests: paths whose emulation is measured first.
        kinds: kinds of runs.
        unmeasured: those of them that this machine has not carried out yet.
        runs_measured: runs of these kinds that it has.
    """

    lab_s: float
    labs: int
    self_tests: int
    kinds: tuple[str, ...]
    unmeasured: tuple[str, ...]
    runs_measured: int

    @property
    def wall_s(self) -> float:
        """Wall time of the study, seconds."""
        return (self.lab_s + self.self_tests * _SELF_TEST_S) / self.labs

    @property
    def basis(self) -> str:
        """What it rests on, in words."""
        shipped = "figures that come with Headway"
        if not self.runs_measured:
            return f"{shipped}; this machine has not carried out such runs yet"
        own = f"{self.runs_measured} runs of this machine"
        if not self.unmeasured:
            return own
        return f"{own}; for {_some(self.unmeasured)} {shipped}, scaled to this machine"


class Estimator:
    """Estimates the wall time of runs; what it worked out of a setting it keeps.

    Args:
        labs: how many labs run at a time.
        model: costs of runs.
    """

    def __init__(self, labs: int, model: CostModel) -> None:
        self._labs, self._model = labs, model
        self._costs: dict[str, Cost] = {}
        # By identity: repetitions share a setting, whose comparison costs as much as its estimate.
        self._settings: dict[int, tuple[Setting, str, float]] = {}

    def of(self, runs: Sequence[Run]) -> Estimate:
        """How long these runs take."""
        priced = [self._priced(run.setting) for run in runs]
        kinds = tuple(dict.fromkeys(kind for _, kind, _ in priced))
        return Estimate(
            lab_s=math.fsum(lab_s for _, _, lab_s in priced),
            labs=self._labs,
            self_tests=len(distinct_paths(runs)),
            kinds=kinds,
            unmeasured=tuple(kind for kind in kinds if not self._model.is_measured(kind)),
            runs_measured=self._model.runs_measured(kinds),
        )

    def _priced(self, setting: Setting) -> tuple[Setting, str, float]:
        known = self._settings.get(id(setting))
        if known is None:
            deployment = deploy(setting)
            kind = kind_of(deployment)
            if kind not in self._costs:
                self._costs[kind] = self._model.cost(kind)
            known = setting, kind, _lab_s(deployment, self._costs[kind])
            self._settings[id(setting)] = known
        return known


def _lab_s(deployment: Deployment, cost: Cost) -> float:
    virtual_s = expected_virtual_s(deployment)
    wall_s = cost.wall_s(_expected_bytes(deployment) / 1e6, virtual_s)
    return wall_s if deployment.setting.clock is Clock.VIRTUAL else wall_s + virtual_s


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
    set_up = sum(_SET_UP_ROUND_TRIPS * segment.path.rtt.s for segment in segments)
    if (sends := workload.sends) is not None:
        transfer_s = sends.s
    else:
        size = _flow_bytes(flow, share_bit_s)
        carried = (_carried_bit_s(one, workload.uploads) for one in segments)
        transfer_s = max(
            _transfer_s(one, size, min(bit_s, share_bit_s))
            for one, bit_s in zip(segments, carried, strict=True)
        )
    end_s = math.inf if flow.end_s is None else flow.end_s - flow.start_s
    return min(set_up + transfer_s, end_s)


def _expected_bytes(deployment: Deployment) -> float:
    """About how much the flows of a run carry."""
    return math.fsum(_flow_bytes(flow, share) for flow, share in _shares_bit_s(deployment))


def _flow_bytes(flow: DeployedFlow, share_bit_s: float) -> float:
    """About how much a flow carries; one that lasts for a time, what the slowest path lets through."""
    workload = flow.setting.workload
    if workload.replayed is not None:
        return find_outline(workload.replayed).size_bytes
    if workload.amount is not None:
        return int(workload.amount) * workload.requests
    assert workload.sends is not None, "a workload has either an amount or a time"
    rates = [_carried_bit_s(segment, workload.uploads) for segment in flow.segments]
    most = math.inf if workload.most is None else float(workload.most)
    return min(*rates, share_bit_s, most, _UNLIMITED_BIT_S) * workload.sends.s / 8


def _transfer_s(segment: Segment, size: float, bit_s: float) -> float:
    windows = math.log2(1 + size / (_INITIAL_WINDOW * _SEGMENT_BYTES))
    slow_start_s = segment.path.rtt.s * windows
    on_wire = size * 8 * FRAME_BYTES / _SEGMENT_BYTES
    return slow_start_s if math.isinf(bit_s) else max(slow_start_s, on_wire / bit_s)


def _carried_bit_s(segment: Segment, uploads: bool) -> float:
    """What a path lets through: its least rate, or what its loss leaves to the sender; else infinite."""
    path, sender = segment.path, segment.near if uploads else segment.far
    directions = [link.up if uploads else link.down for link in path.links]
    rates = [float(one.capacity) for one in directions if one.capacity]
    bit_s = min(rates, default=math.inf)
    passed = math.prod(1 - one.loss.mean for one in directions)
    if passed < 1 and path.rtt.s and sender.congestion_control not in _LOSS_AGNOSTIC:
        lossy = _MATHIS * _SEGMENT_BYTES * 8 / (path.rtt.s * math.sqrt(1 - passed))
        bit_s = min(bit_s, lossy)
    return bit_s


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:2])
    return shown if len(names) <= 2 else f"{shown} and {len(names) - 2} more kinds"
