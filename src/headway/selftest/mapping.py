"""Mappings of NATs: whence packets seem to come, beside what the study says of rebindings and idle times.

Written from the meaning of a NAT's fields, as `headway.selftest.ideal`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from headway.contract.counts import Counts
from headway.contract.probe_orders import RECEIVED, SENT, SMALL_FRAME_BYTES, ProbeFlow
from headway.overriding import override
from headway.selftest.check import Check
from headway.selftest.step import CheckStep
from headway.selftest.timeline import Records, Sight, Timeline
from headway.study.nat import Nat
from headway.study.path import Direction, Link, Path, Way

_FEW = 10
_GAP_NS = 1_000_000
_BESIDE_NS = 5_000_000
"""How long before and after a rebinding or the end of an idle time packets are sent."""


def has_nat(path: Path) -> bool:
    """Whether any link has a NAT."""
    return any(link.nat for link in path.links)


def nat_alone(path: Path) -> Path:
    """The path with its NATs and its delays."""
    links = (
        Link(nat=link.nat, down=Direction(delay=link.down.delay), up=Direction(delay=link.up.delay))
        for link in path.links
    )
    return Path(links=tuple(links))


def latest_rebinding_ns(path: Path) -> int:
    """When the last rebinding is, from the start of the workload."""
    nats = filter(None, (link.nat for link in path.links))
    return max((rebinding.at.ns for nat in nats for rebinding in nat.rebindings), default=0)


def mappings(path: Path, origin_ns: int, sent_ns: Sequence[int]) -> list[tuple[int, ...]]:
    """By which mapping of each NAT every packet of one connection goes, numbered from 0.

    Args:
        path: with NATs.
        origin_ns: when the path's own time begins.
        sent_ns: when the packets are sent, in order.
    """
    numbered: list[list[int]] = []
    delay_ns = 0
    for link in path.links:
        if link.nat:
            met_ns = [at + delay_ns for at in sent_ns]
            inside = numbered[-1] if numbered else [0] * len(met_ns)
            numbered.append(list(_of_one(link.nat, origin_ns, met_ns, inside)))
        delay_ns += link.up.delay.ns
    return list(zip(*numbered, strict=True))


def _of_one(
    nat: Nat, origin_ns: int, met_ns: Sequence[int], inside: Sequence[int]
) -> Iterator[int]:
    """What one NAT maps packets to, which come to it by the mappings of another one, or by none."""
    number = 0
    times = [origin_ns + rebinding.at.ns for rebinding in nat.rebindings]
    for place, at_ns in enumerate(met_ns):
        if place:
            before_ns = met_ns[place - 1]
            idle = at_ns - before_ns >= nat.udp_idle.ns
            rebound = any(before_ns < time <= at_ns for time in times)
            number += idle or rebound or inside[place] != inside[place - 1]
        yield number


class MappedFlow(CheckStep):
    """Packets about the end of an idle time and about rebindings; pings, and packets that no mapping is for."""

    def __init__(self, timeline: Timeline, path: Path) -> None:
        self._timeline, self._nats = timeline, path
        start_ns = timeline.now_ns
        few = tuple((start_ns + _GAP_NS * n, 1) for n in range(_FEW))
        timeline.add(Way.DOWN, ProbeFlow(SMALL_FRAME_BYTES, few))
        self._pings = timeline.add(Way.UP, ProbeFlow(SMALL_FRAME_BYTES, few, echo=True))
        timeline.end_step(few[-1][0])
        first_ns = timeline.now_ns
        idle_ns = min(link.nat.udp_idle.ns for link in path.links if link.nat)
        kept_ns, lost_ns = idle_ns - _BESIDE_NS, idle_ns + _BESIDE_NS
        times = [first_ns, first_ns + kept_ns, first_ns + kept_ns + lost_ns]
        timeline.end_step(times[-1])
        self.origin_ns = timeline.now_ns
        times += sorted(
            {
                max(self.origin_ns + rebinding.at.ns + beside, self.origin_ns)
                for link in path.links
                if link.nat
                for rebinding in link.nat.rebindings
                for beside in (-_BESIDE_NS, _BESIDE_NS)
            }
        )
        self._flow = timeline.add(
            Way.UP, ProbeFlow(SMALL_FRAME_BYTES, tuple((at, 1) for at in times))
        )
        timeline.end_step(times[-1])

    @override
    def judge(self, sight: Sight) -> Iterator[Check]:
        path = self._timeline.path
        wanted = self._wanted(sight)
        server = sight.server
        came = server[(server["flow"] == self._flow) & (server["kind"] == RECEIVED)]
        # Each is a port of an address; equal ones are one mapping.
        sources = {
            int(value["number"]): (int(value["source"]), int(value["port"])) for value in came
        }
        wrong = sum(
            (a not in sources or b not in sources)
            or (sources[a] == sources[b]) != (wanted[a] == wanted[b])
            for a, b in zip(range(len(wanted) - 1), range(1, len(wanted)), strict=True)
        )
        note = f"of {len(wanted)} packets, those that do not come from where they should"
        yield Check(f"mapping {Way.UP}", path, 0, wrong, 0, 0, "packets", note)
        strangers = int(np.count_nonzero(sight.passage(Way.DOWN, 0).copies))
        note = f"of {_FEW} packets that belong to no mapping, those that passed"
        yield Check(f"mapping {Way.DOWN}", path, 0, strangers, 0, 0, "packets", note)
        answered = len(sight.round_trips(self._pings)[0])
        note = "pings whose answers found back"
        yield Check("mapping back", path, _FEW, answered, _FEW, _FEW, "pings", note)

    def judge_counts(self, sight: Sight, counts: Mapping[Way, Counts]) -> Iterator[Check]:
        """Checks that NATs count as many mappings as there are, and what belonged to none."""
        path, mapped = self._timeline.path, counts[Way.UP]
        by_nat = zip(*self._wanted(sight), strict=True)
        number = sum(len(set(values)) for values in by_nat)
        words = mapped.mapped + mapped.remapped
        note = "mappings that NATs say they made"
        yield Check(f"counted {Way.UP}", path, number, words, number, number, "mappings", note)
        # Answers of the server's kernel, too, which come when their mapping is forgotten.
        missing = _number(sight.server, SENT) - _number(sight.client, RECEIVED)
        note = "packets that NATs say belonged to no mapping; as many are missing"
        words = counts[Way.DOWN].unmapped
        yield Check(f"counted {Way.DOWN}", path, missing, words, missing, missing, "packets", note)

    def _wanted(self, sight: Sight) -> list[tuple[int, ...]]:
        sent_ns = sight.passage(Way.UP, self._flow).sent_ns.tolist()
        return mappings(self._nats, self.origin_ns, sent_ns)


def _number(records: Records, kind: int) -> int:
    return int(np.count_nonzero(records["kind"] == kind))
