"""Counting what becomes of packets: lost, reordered, duplicated, corrupted, marked, dropped.

Most is told by queueing disciplines (tc_netem_xstats and its like in linux/pkt_sched.h). Reading
takes no virtual time.
"""

import re
import struct
import subprocess
from typing import NamedTuple

from headway.contract.orders import Counted, Counts
from headway.guest.netlink import DisciplineReader, DisciplineStats, attributes
from headway.guest.network import Network
from headway.guest.tracelink import TraceProcess

_NETEM = struct.Struct("=8x5Q")  # delayed; dropped, corrupted, duplicated, reordered, ecn_marked
_MARKS = {
    "codel": struct.Struct("=24xI"),  # tc_codel_xstats
    "fq_codel": struct.Struct("=12xI"),  # tc_fq_codel_xstats, of the discipline
    "red": struct.Struct("=12xI"),  # tc_red_xstats
}
_U32 = struct.Struct("=I")
_CAKE_TINS, _CAKE_TIN_MARKED = 10, 8  # TCA_CAKE_STATS_TIN_STATS, TCA_CAKE_TIN_STATS_ECN_...
_SHAPER, _LINE = "htb", "netem"
_DROPPED_BY_RULE = re.compile(r"counter packets (\d+)")


class _Line(NamedTuple):
    """What netem tells."""

    lost: int
    corrupted: int
    duplicated: int
    reordered: int
    marked: int


class DirectionCounter:
    """Counts in one direction of a link."""

    def __init__(self, counted: Counted, network: Network, trace: TraceProcess | None) -> None:
        self._counted, self._network, self._trace = counted, network, trace
        with network.inside(counted.namespace):
            self._queue = DisciplineReader(counted.name)
        with network.inside(counted.line_namespace):
            self._line = DisciplineReader(counted.line)
        self._blackout = False
        self._lost_before = 0
        self._blacked_out = 0

    def turn(self, blackout: bool) -> None:
        """From now on every packet is lost, or no longer."""
        lost = self._of_line().lost
        if self._blackout:
            self._blacked_out += lost - self._lost_before
        self._blackout, self._lost_before = blackout, lost

    def read(self) -> Counts:
        """The counts so far."""
        self.turn(self._blackout)
        line, queues = self._of_line(), [one for one in self._queue.read() if _is_queue(one)]
        dropped = sum(one.dropped for one in queues)
        return Counts(
            lost=line.lost - self._blacked_out,
            blacked_out=self._blacked_out,
            dropped_by_number=self._by_number(),
            queue_dropped=dropped + (self._trace.dropped if self._trace else 0),
            reordered=line.reordered,
            duplicated=line.duplicated,
            corrupted=line.corrupted,
            marked=line.marked + sum(map(_marked, queues)),
        )

    def _of_line(self) -> _Line:
        own = next((one.own for one in self._line.read() if one.kind == _LINE), None)
        if own is None:
            return _Line(0, 0, 0, 0, 0)
        lost, corrupted, duplicated, reordered, marked = _NETEM.unpack_from(own)
        return _Line(lost, corrupted, duplicated, reordered, marked)

    def _by_number(self) -> int:
        if not self._counted.named_drops:
            return 0
        with self._network.inside(self._counted.namespace):
            told = subprocess.run(
                ["nft", "list", "table", "netdev", self._counted.named_drops],
                capture_output=True,
                text=True,
                check=True,
            )
        return sum(map(int, _DROPPED_BY_RULE.findall(told.stdout)))


def _is_queue(one: DisciplineStats) -> bool:
    """HTB counts the drops of the discipline below it once more."""
    return one.kind not in (_SHAPER, _LINE)


def _marked(one: DisciplineStats) -> int:
    if one.kind == "cake":
        return sum(
            _U32.unpack(value)[0]
            for tins in attributes(one.own, _CAKE_TINS)
            for tin in attributes(tins)
            for value in attributes(tin, _CAKE_TIN_MARKED)
        )
    layout = _MARKS.get(one.kind)
    return int(layout.unpack_from(one.own)[0]) if layout else 0
