"""Packets that pass policers, MTUs and rules for UDP: of several sizes and kinds, held against an ideal path.

Written from the meaning of a path's fields, as `headway.selftest.ideal`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from headway.contract.counts import Counts
from headway.contract.probe_orders import (
    OTHER_FLOW,
    RECEIVED,
    SENT,
    SMALL_FRAME_BYTES,
    ProbeFlow,
)
from headway.overriding import override
from headway.selftest.check import Check
from headway.selftest.ideal import Course
from headway.selftest.intervals import share_interval
from headway.selftest.linkcounts import ECHO
from headway.selftest.step import CheckStep, both_ways
from headway.selftest.timeline import Records, Sight, Timeline
from headway.study.middlebox import Policer, Udp
from headway.study.path import Direction, Link, Path, Way
from headway.study.queue import ETHERNET_HEADER_BYTES, FRAME_BYTES

_FEW, _MANY, _MOST = 20, 2000, 400
_GAP_NS = 1_000_000
_BESIDE_NS = 5_000_000
"""How long before and after a rule begins or ends packets are sent."""


def has_rules(path: Path) -> bool:
    """Whether any link has a policer, an MTU, or rules for UDP."""
    ways = (way for link in path.links for way in (link.down, link.up))
    return any(way.has_rules for way in ways)


def without_rules(path: Path) -> Path:
    """The path with all that it does but these."""
    return _mapped(path, lambda direction: direction.model_copy(update=dict.fromkeys(_RULES)))


def rules_alone(path: Path) -> Path:
    """The path with these and its delays."""
    return _mapped(
        path,
        lambda direction: Direction(
            delay=direction.delay, **{key: getattr(direction, key) for key in _RULES}
        ),
    )


def latest_rule_ns(path: Path) -> int:
    """When the last rule begins or ends, from the start of the workload."""
    ways = (way.udp for link in path.links for way in (link.down, link.up) if way.udp)
    return max((int(time) for udp in ways for time in (udp.start, udp.end) if time), default=0)


_RULES = ("mtu", "policer", "udp", "tunnel")


def _mapped(path: Path, change: Callable[[Direction], Direction]) -> Path:
    links = [Link(down=change(link.down), up=change(link.up)) for link in path.links]
    return Path(links=tuple(links), profile=path.profile)


@dataclass(frozen=True)
class ProbePacket:
    """A packet that a probe sent.

    Attributes:
        at_ns: when.
        frame_bytes: its size on the wire.
        udp: whether it is one of UDP.
    """

    at_ns: int
    frame_bytes: int
    udp: bool


class _Bucket:
    """A policer's: full at the beginning."""

    def __init__(self, policer: Policer) -> None:
        self._policer = policer
        self._bytes, self._at_ns = float(policer.burst), 0

    def takes(self, packet: ProbePacket) -> bool:
        """Whether the packet conforms; its bytes are then taken out."""
        since_ns = packet.at_ns - self._at_ns
        grown = self._bytes + since_ns * int(self._policer.rate) / 8e9
        self._bytes, self._at_ns = min(grown, float(self._policer.burst)), packet.at_ns
        if packet.frame_bytes > self._bytes:
            return False
        self._bytes -= packet.frame_bytes
        return True


class _IdealLink:
    """What one link lets pass, of packets in the order of their times."""

    def __init__(self, direction: Direction, origin_ns: int) -> None:
        self._direction, self._origin_ns = direction, origin_ns
        udp = direction.udp
        self._of_udp = _Bucket(udp.policer) if udp and udp.policer else None
        self._every = _Bucket(direction.policer) if direction.policer else None

    def passes(self, packet: ProbePacket) -> bool:
        udp, mtu = self._direction.udp, self._direction.carries
        ruled = udp if packet.udp and udp and self._is_on(udp, packet.at_ns) else None
        if ruled and self._of_udp and not self._of_udp.takes(packet):
            return False
        if self._every and not self._every.takes(packet):
            return False
        packet_bytes = packet.frame_bytes - ETHERNET_HEADER_BYTES
        if ruled and (ruled.verdict or (ruled.longest and packet_bytes > ruled.longest)):
            return False
        return mtu is None or packet_bytes <= mtu.size

    def _is_on(self, udp: Udp, at_ns: int) -> bool:
        begins_ns = self._origin_ns + udp.start if udp.start else 0
        ends_ns = None if udp.end is None else self._origin_ns + udp.end
        return at_ns >= begins_ns and (ends_ns is None or at_ns < ends_ns)


def ideal(course: Course, origin_ns: int, packets: Sequence[ProbePacket]) -> list[bool]:
    """Whether each packet arrives, if none is lost by chance.

    Args:
        course: the links that they meet.
        origin_ns: when the path's own time begins.
        packets: in the order of their times.
    """
    arrive = [True] * len(packets)
    delay_ns = 0
    for stage in course.stages:
        link = _IdealLink(stage.direction, origin_ns)
        for number, packet in enumerate(packets):
            later = ProbePacket(packet.at_ns + delay_ns, packet.frame_bytes, packet.udp)
            arrive[number] = arrive[number] and link.passes(later)
        delay_ns += stage.delay_at(0)
    return arrive


class Passing(CheckStep):
    """Small packets, some at the limits of sizes, bursts beyond policers, and some at the times of changes."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._lost_flows: dict[Way, int] = {}
        self._policers: dict[Way, int] = {}
        for way, course in timeline.courses.items():
            self._plan_kinds(way)
            self._plan_sizes(way, course)
            self._policers[way] = self._plan_bursts(way, course)
            self._plan_chances(way, course)
        self.origin_ns = timeline.now_ns
        for way, course in timeline.courses.items():
            self._plan_times(way, course)

    def _plan_kinds(self, way: Way) -> None:
        self._send(way, SMALL_FRAME_BYTES, _FEW)
        if way is Way.UP:
            self._send(way, SMALL_FRAME_BYTES, _FEW, echo=True)

    def _plan_sizes(self, way: Way, course: Course) -> None:
        limits = {int(mtu.size) for stage in course.stages if (mtu := stage.direction.carries)}
        udp = (stage.direction.udp for stage in course.stages)
        limits |= {int(law.longest) for law in udp if law and law.longest}
        for limit in sorted(limits):
            for frame_bytes in (limit, limit + 1):
                if SMALL_FRAME_BYTES <= frame_bytes + ETHERNET_HEADER_BYTES <= FRAME_BYTES:
                    self._send(way, frame_bytes + ETHERNET_HEADER_BYTES, 3)

    def _plan_bursts(self, way: Way, course: Course) -> int:
        policers = [policer for stage in course.stages for policer in _policers_of(stage.direction)]
        for policer in policers:
            full_ns = int(policer.burst) * 8 * 10**9 // int(policer.rate)
            self._timeline.now_ns += full_ns
            count = int(policer.burst) // FRAME_BYTES + _FEW
            gap_ns = FRAME_BYTES * 4 * 10**9 // int(policer.rate)  # At twice its rate.
            start_ns = self._timeline.now_ns
            steady = tuple((start_ns + gap_ns * n, 1) for n in range(1, _MOST // 2))
            self._timeline.add(way, ProbeFlow(FRAME_BYTES, ((start_ns, count), *steady)))
            self._timeline.end_step(steady[-1][0] + full_ns)
        return len(policers)

    def _plan_chances(self, way: Way, course: Course) -> None:
        if any(stage.direction.udp and stage.direction.udp.loss for stage in course.stages):
            self._lost_flows[way] = self._send(way, SMALL_FRAME_BYTES, _MANY)

    def _plan_times(self, way: Way, course: Course) -> None:
        times = {
            self.origin_ns + int(time)
            for stage in course.stages
            if (udp := stage.direction.udp)
            for time in (udp.start, udp.end)
            if time
        }
        sends = sorted(at + beside for at in times for beside in (-_BESIDE_NS, _BESIDE_NS))
        if sends:
            late = tuple((max(at, self.origin_ns), 1) for at in sends)
            self._timeline.add(way, ProbeFlow(SMALL_FRAME_BYTES, late))
            self._timeline.end_step(sends[-1])

    def _send(self, way: Way, frame_bytes: int, count: int, *, echo: bool = False) -> int:
        start_ns = self._timeline.now_ns
        sends = tuple((start_ns + _GAP_NS * n, 1) for n in range(count))
        flow = self._timeline.add(way, ProbeFlow(frame_bytes, sends, echo))
        self._timeline.end_step(sends[-1][0])
        return flow

    @override
    def judge(self, sight: Sight) -> Iterator[Check]:
        for way in both_ways():
            yield from self._judge(way, sight)

    def _judge(self, way: Way, sight: Sight) -> Iterator[Check]:
        sent, got = _crossing(way, sight)
        course = self._timeline.courses[way]
        wanted = ideal(course, self.origin_ns, [_packet(packet) for packet in sent])
        by_chance = self._lost_flows.get(way)
        keys = [_key(packet) for packet in sent]
        judged = [
            (want, key in got)
            for want, key in zip(wanted, keys, strict=True)
            if key[1] not in (OTHER_FLOW, by_chance)
            # Of UDP that passes all else, some is lost by chance.
            and not (by_chance is not None and want and key[0] == SENT)
        ]
        yield self._fates(way, judged)
        if by_chance is not None:
            arrived = [key in got for key in keys if key[1] == by_chance]
            yield self._losses(way, course, arrived)

    def _fates(self, way: Way, judged: Sequence[tuple[bool, bool]]) -> Check:
        wrong = sum(want != came for want, came in judged)
        slack = self._policers[way]
        passing = sum(want for want, _ in judged)
        note = (
            f"of {len(judged)} packets, {passing} of which are to pass, those with another fate"
            + (", one at most for each policer" if slack else "")
        )
        return Check(f"rules {way}", self._timeline.path, 0, wrong, 0, slack, "packets", note)

    def _losses(self, way: Way, course: Course, arrived: Sequence[bool]) -> Check:
        losses = [stage.direction.udp.loss for stage in course.stages if stage.direction.udp]
        share = 1 - float(np.prod([1 - float(loss) for loss in losses if loss is not None]))
        low, high = share_interval(share, len(arrived))
        lost = 1 - sum(arrived) / len(arrived)
        note = f"binomial interval, {len(arrived)} packets of UDP"
        path = self._timeline.path
        return Check(
            f"udp loss {way}", path, 100 * share, 100 * lost, 100 * low, 100 * high, "%", note
        )


def judge_rule_counts(path: str, sight: Sight, counts: Mapping[Way, Counts]) -> Iterator[Check]:
    """Checks that the links count what they dropped by rules, as many as are missing."""
    for way in both_ways():
        sent, got = _crossing(way, sight)
        keys = [_key(packet) for packet in sent]
        missing = sum(key[1] != OTHER_FLOW and key not in got for key in keys)
        number, note = counts[way].path_dropped, "packets that links say they dropped by rules"
        yield Check(f"counted {way}", path, missing, number, missing, missing, "packets", note)


def _policers_of(direction: Direction) -> Iterator[Policer]:
    of_udp = direction.udp.policer if direction.udp else None
    yield from filter(None, (direction.policer, of_udp))


_Key = tuple[int, int, int]
"""What kind of packet it is, of which flow, and its number there."""


def _crossing(way: Way, sight: Sight) -> tuple[Records, set[_Key]]:
    """The packets that left one end, in order, and which came to the other."""
    sender, receiver = sight.ends(way)
    kinds = (SENT, ECHO[way])
    sent = sender[np.isin(sender["kind"], kinds)]
    came = receiver[np.isin(receiver["kind"], (RECEIVED, ECHO[way]))]
    return np.sort(sent, order="at_ns", kind="stable"), {_key(value) for value in came}


def _key(record: np.void) -> _Key:
    kind = SENT if record["kind"] == RECEIVED else int(record["kind"])
    return kind, int(record["flow"]), int(record["number"])


def _packet(record: np.void) -> ProbePacket:
    udp = record["kind"] == SENT and record["flow"] != OTHER_FLOW
    return ProbePacket(int(record["at_ns"]), int(record["bytes"]), bool(udp))
