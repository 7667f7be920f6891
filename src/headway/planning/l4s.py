"""Senders and queues of L4S (RFC 9330) that do not go together, for a reader of a study's results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from headway.planning.accurate_ecn import accurate_segments
from headway.planning.deployment import DeployedFlow, Deployment, Endpoint, Segment
from headway.study.controllers import OF_L4S, WITH_ACCURATE_ECN
from headway.study.ecnchange import Codepoint
from headway.study.path import Direction, Way
from headway.study.queue import FRAME_BYTES, Discipline
from headway.study.units import Duration

_TCP_ECN = "net.ipv4.tcp_ecn"
_ASKS = {"3"}
_TAKES = {"3", "4", "5"}
"""Values with which a host offers Accurate ECN on what it opens, and takes it on what it accepts."""
_WITHOUT_ECT1 = {
    False: "the queue takes them for classic traffic",
    True: "its receiver finds that something is wrong, and the sender may give ECN up",
}
"""What comes of it, behind the queue or not."""
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
        for way in self.ways:
            yield from _too_short_a_step(way, control)
            yield from self._taken_away(way)
        if self.disciplines and not (
            self._is_marked or marking | self.disciplines & {Discipline.DUALPI2}
        ):
            yield (
                f"no queue on the way of {self.end.where}'s packets marks: {control} goes by losses alone, as Reno does, and "
                "fills the queue"
            )

    @property
    def _is_marked(self) -> bool:
        """Whether a link marks packets for a while, whatever its queue does."""
        return any(way.ecn and Codepoint.CE in way.ecn.written.values() for way in self.ways)

    def _taken_away(self, way: Direction) -> Iterator[str]:
        control, change = self.end.congestion_control, way.ecn
        if change is None:
            return
        if change.takes(Codepoint.ECT1):
            where = "behind" if change.after_queue else "before"
            yield (
                f"ECT(1) of {self.end.where}'s packets becomes {change.written[Codepoint.ECT1]} {where} the queue (ecn): "
                f"{_WITHOUT_ECT1[change.after_queue]}"
            )
        if change.takes(Codepoint.CE) and change.after_queue:
            yield f"marks of {self.end.where}'s packets are taken away behind the queue (ecn): {control} does not hear of them"


def _too_short_a_step(way: Direction, control: str) -> Iterator[str]:
    rate, step = way.lowest_rate, way.queue.times.get("step")
    if not rate or step is None:
        return
    packet = Duration(FRAME_BYTES * 8 * 10**9 // int(rate))
    if packet > step:
        yield (
            f"a packet takes {packet} at {rate}, and dualpi2 marks what was in the low-latency queue for {step}: {control} gets "
            f'less than its share; queue.step = "{2 * packet.ms:.2g} ms" has room for two packets'
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
                    yield _Sending(end, tuple(_met(flow, segment, way)))


def _met(flow: DeployedFlow, segment: Segment, way: Way) -> Iterator[Direction]:
    """The directions of links that a segment's packets may cross; other ways, by contacts, from either end."""
    yield from (getattr(link, way) for link in segment.path.links)
    for leg in flow.crossed_legs[len(flow.legs) :]:
        for link, _ in leg.links:
            yield from (link.down, link.up)


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
