"""Rules of a run's time: round trips, answers and transfers that end before it is given up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from headway.study.edge import Edge
from headway.study.network import StatedFlow
from headway.study.networkrules import NetworkView
from headway.study.path import Link
from headway.study.rulerow import RuleRow, RuleTable
from headway.study.units import Duration, Size
from headway.study.workload import Workload


@dataclass(frozen=True)
class _RoundTrip:
    """What a flow's packets cross to the farthest host that answers them, and back."""

    flow: StatedFlow
    limit: Duration

    @cached_property
    def crossed(self) -> list[Edge]:
        origins = self.flow.origins.values()
        farthest = max(origins, key=lambda edge: edge.rtt, default=None)
        return [*self.flow.route, *([farthest] if farthest else [])]

    @property
    def rtt(self) -> Duration:
        return Duration(sum(edge.rtt for edge in self.crossed))

    @property
    def longest(self) -> Edge:
        return max(self.crossed, key=lambda edge: edge.rtt)


@dataclass(frozen=True)
class _ResolverAnswer:
    """A resolver's answer to the client that is farthest from it."""

    delay: Duration
    rtt: Duration
    limit: Duration

    @property
    def key(self) -> str:
        return "dns.delay" if self.delay else "dns.path.rtt"


@dataclass(frozen=True)
class _Carrying:
    """A link that carries a whole workload."""

    edge: Edge
    link: Link
    workload: Workload
    amount: Size
    limit: Duration

    @cached_property
    def passing(self) -> Size | None:
        """What can pass in time, bytes; None if that is not known."""
        way = self.link.up if self.workload.uploads else self.link.down
        passing = way.most_bytes(self.limit)
        return None if passing is None else Size(passing)


@dataclass(frozen=True)
class _TimedWorkload:
    """A workload, which may end by itself."""

    key: str
    workload: Workload
    limit: Duration


@dataclass(frozen=True)
class _Moment:
    """When a flow begins or is ended."""

    flow: str
    key: str
    at: Duration
    limit: Duration


def _round_trips(view: NetworkView) -> Iterator[_RoundTrip]:
    return (_RoundTrip(flow, view.limit) for flow in view.network.flows)


def _answers(view: NetworkView) -> Iterator[_ResolverAnswer]:
    if view.keys.dns:
        farthest = max(sum(edge.rtt for edge in flow.resolving) for flow in view.network.flows)
        yield _ResolverAnswer(view.keys.dns.delay, Duration(farthest), view.limit)


def _carrying(view: NetworkView) -> Iterator[_Carrying]:
    """Nothing is known of a workload that ends by itself, or that has two paths."""
    for asking in view.asking:
        workload = asking.workload
        if (
            workload.amount is None
            or workload.offered_load.ends is not None
            or workload.path_beside is not None
        ):
            continue
        amount = Size(workload.amount * workload.requests)
        for edge in (edge for flow in asking.flows for edge in flow.certain):
            for link in edge.path.links if edge.path else ():
                yield _Carrying(edge, link, workload, amount, view.limit)


def _timed(view: NetworkView) -> Iterator[_TimedWorkload]:
    for asking in view.asking:
        yield _TimedWorkload(f"{asking.key}workload", asking.workload, view.limit)


def _moments(view: NetworkView) -> Iterator[_Moment]:
    for name, flow in view.keys.flows.items():
        yield _Moment(name, "start", flow.start, view.limit)
        if flow.end is not None:
            yield _Moment(name, "end", flow.end, view.limit)


_GIVEN_UP = "limits.virtual ({it.limit}), after which a run is given up"
ROUND_TRIP_RULES: tuple[RuleTable[NetworkView, Any], ...] = (
    RuleTable[NetworkView, _RoundTrip](
        "a flow",
        _round_trips,
        (
            RuleRow(
                "has an RTT below `limits.virtual`",
                "{it.longest.key}.rtt",
                lambda trip: trip.rtt >= trip.limit,
                f"an RTT of {{it.rtt}} in all is beyond {_GIVEN_UP}",
                shown="path.rtt",
            ),
        ),
    ),
    RuleTable[NetworkView, _ResolverAnswer](
        "a resolver (`dns`)",
        _answers,
        (
            RuleRow(
                "answers before `limits.virtual`",
                "{it.key}",
                lambda answer: answer.rtt + answer.delay >= answer.limit,
                f"an answer would come beyond {_GIVEN_UP}",
                shown="dns.delay",
            ),
        ),
    ),
)
"""Those of single packets."""
TRANSFER_RULES: tuple[RuleTable[NetworkView, Any], ...] = (
    RuleTable[NetworkView, _Carrying](
        "a link that carries a whole workload",
        _carrying,
        (
            RuleRow(
                "lets it pass before `limits.virtual`",
                "{it.edge.key}.rate",
                lambda link: link.passing is not None and link.passing < link.amount,
                "lets {it.passing} pass until limits.virtual ({it.limit}), when a run is given up; "
                "the workload has {it.amount}",
                shown="path.rate",
            ),
        ),
    ),
    RuleTable[NetworkView, _TimedWorkload](
        "a workload",
        _timed,
        (
            RuleRow(
                "that takes a stated time ends before `limits.virtual`",
                "{it.key}",
                lambda timed: timed.workload.offered_load.least >= timed.limit,
                f"it takes {{it.workload.offered_load.least}}, beyond {_GIVEN_UP}",
                shown="workload",
            ),
        ),
    ),
    RuleTable[NetworkView, _Moment](
        "a flow among others",
        _moments,
        (
            RuleRow(
                "has `start` and `end` before `limits.virtual`",
                "flows.{it.flow}.{it.key}",
                lambda moment: moment.at >= moment.limit,
                "{it.at} is beyond limits.virtual ({it.limit})",
            ),
        ),
    ),
)
"""Those of workloads."""
