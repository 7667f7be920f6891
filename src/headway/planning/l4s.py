"""Senders and queues of L4S (RFC 9330) that do not go together, for a reader of a study's results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from headway.planning.accurate_ecn import accurate_segments
from headway.planning.deployment import Deployment, Endpoint
from headway.study.controllers import OF_L4S, WITH_ACCURATE_ECN
from headway.study.path import Direction, Way
from headway.study.queue import Discipline

_TCP_ECN = "net.ipv4.tcp_ecn"
_ASKS = {"3"}
_TAKES = {"3", "4", "5"}
"""Values with which a host offers Accurate ECN on what it opens, and takes it on what it accepts."""
_FOR_EACH_FLOW = (Discipline.FQ_CODEL, Discipline.FQ_PIE, Discipline.CAKE)
"""What has a queue for each flow."""


def mismatched_l4s(deployment: Deployment) -> Iterator[str]:
    """Queues for L4S that nobody sends to, L4S senders before other queues, and TCP without the feedback that they need."""
    sendings = tuple(_sendings(deployment))
    yield from _unused(deployment, sendings)
    for sending in sendings:
        yield from sending.remarks()
    yield from _without_feedback(deployment)


@dataclass(frozen=True)
class _Sending:
    """An end whose packets are ECT(1), and the queues that they meet."""

    end: Endpoint
    ways: tuple[Direction, ...]

    @property
    def disciplines(self) -> set[Discipline]:
        return {way.queue.discipline for way in self.ways if way.rate is not None}

    def remarks(self) -> Iterator[str]:
        control = self.end.congestion_control
        marking = {way.queue.discipline for way in self.ways if _marks_as_of_old(way)}
        for discipline in sorted(marking):
            if discipline in _FOR_EACH_FLOW:
                yield (
                    f"{discipline} marks ECT(1) as seldom as ECT(0) (RFC 3168), and {control} takes a mark for one of "
                    "many: its own queue stays as long as those of other flows, or becomes longer (RFC 9331, section 4.3)"
                )
            else:
                yield (
                    f"{discipline} with ecn marks ECT(1) as ECT(0) (RFC 3168), and {control} takes a mark for one of many: "
                    "beside it others get less than their share (RFC 9331, section 4.3)"
                )
        if self.disciplines and not marking | self.disciplines & {Discipline.DUALPI2}:
            yield (
                f"no queue on the way of {self.end.where}'s packets marks: {control} goes by losses alone, as Reno does, and "
                "fills the queue"
            )


def _marks_as_of_old(way: Direction) -> bool:
    """Whether a queue marks, all packets that can ECN alike (RFC 3168)."""
    queue = way.queue
    return way.rate is not None and (queue.ecn or queue.discipline is Discipline.CAKE)


def _sendings(deployment: Deployment) -> Iterator[_Sending]:
    for flow in deployment.flows:
        for segment in flow.segments:
            for end, way in ((segment.far, Way.DOWN), (segment.near, Way.UP)):
                if end.congestion_control in OF_L4S:
                    links = segment.path.links
                    yield _Sending(end, tuple(getattr(link, way) for link in links))


def _unused(deployment: Deployment, sendings: tuple[_Sending, ...]) -> Iterator[str]:
    offered = any(
        way.queue.discipline is Discipline.DUALPI2 and way.rate is not None
        for path in deployment.network.paths
        for link in path.links
        for way in (link.down, link.up)
    )
    if offered and not any(Discipline.DUALPI2 in sending.disciplines for sending in sendings):
        yield (
            "where no sender marks ECT(1) (RFC 9331), dualpi2 has no L4S traffic: all packets, DCTCP's too, go through "
            f"its classic queue; congestion control that marks: {', '.join(sorted(OF_L4S))}"
        )


def _without_feedback(deployment: Deployment) -> Iterator[str]:
    for segment in accurate_segments(deployment):
        ends = (segment.near, segment.far)
        control = next(
            e.congestion_control for e in ends if e.congestion_control in WITH_ACCURATE_ECN
        )
        for end, enough in zip(ends, (_ASKS, _TAKES), strict=True):
            stated = end.host.kernel.all_sysctls.get(_TCP_ECN)
            if stated is not None and stated not in enough:
                yield (
                    f"{end.where}.kernel.sysctls has {_TCP_ECN} = {stated}: its TCP has no Accurate ECN (RFC 9768), "
                    f"without which {control} is Reno without ECN"
                )
