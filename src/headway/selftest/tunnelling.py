"""The overhead of a tunnel: trains of packets of two sizes, spaced by their bytes and the overhead."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from headway.contract.probe_orders import SMALL_FRAME_BYTES, ProbeFlow
from headway.overriding import override
from headway.selftest.check import Check
from headway.selftest.ideal import directions
from headway.selftest.rate import AHEAD_NS
from headway.selftest.step import CheckStep, both_ways
from headway.selftest.timeline import Sight, Timeline
from headway.study.path import Direction, Link, Path, Way
from headway.study.queue import ETHERNET_HEADER_BYTES, FRAME_BYTES, Queue

_TRAIN = 100
_PRECISION = 1e-3


def has_tunnel(path: Path) -> bool:
    """Whether any link with a rate has a tunnel, in any direction."""
    ways = (way for link in path.links for way in (link.down, link.up))
    return any(way.tunnel and way.first_rate for way in ways)


def tunnels_alone(path: Path) -> Path:
    """The path with its first rates, its delays and its tunnels, and with queues that hold every train."""

    def alone(direction: Direction) -> Direction:
        given = {key: getattr(direction, key) for key in ("delay", "mtu", "tunnel")}
        return Direction.model_validate(
            given | {"rate": direction.first_rate, "queue": Queue(packets=2 * _TRAIN)}
        )

    links = [Link(down=alone(link.down), up=alone(link.up)) for link in path.links]
    return Path(links=tuple(links))


class TunnelledTrains(CheckStep):
    """Packets at once: the link that takes longest for one of them spaces them."""

    def __init__(self, timeline: Timeline, path: Path) -> None:
        self._timeline, self._path = timeline, path
        self._flows: dict[tuple[Way, int], int] = {}
        for way in Way:
            for frame_bytes in (SMALL_FRAME_BYTES, self._largest(way)):
                start_ns = timeline.now_ns
                flow = ProbeFlow(frame_bytes, ((start_ns, _TRAIN),))
                self._flows[way, frame_bytes] = timeline.add(way, flow)
                timeline.end_step(start_ns)

    def _largest(self, way: Way) -> int:
        sizes = [
            int(mtu.size) for direction in directions(self._path, way) if (mtu := direction.carries)
        ]
        return min([FRAME_BYTES, *(size + ETHERNET_HEADER_BYTES for size in sizes)])

    def _spacing_ns(self, way: Way, frame_bytes: int) -> float:
        return max(
            (frame_bytes + direction.overhead_bytes) * 8e9 / direction.first_rate
            for direction in directions(self._path, way)
            if direction.first_rate
        )

    @override
    def judge(self, sight: Sight) -> Iterator[Check]:
        for way in both_ways():
            if not any(
                direction.tunnel and direction.first_rate
                for direction in directions(self._path, way)
            ):
                continue
            for (its_way, frame_bytes), flow in self._flows.items():
                if its_way is way:
                    times = np.sort(sight.passage(way, flow).arrived_ns)
                    yield self._judge(way, frame_bytes, times.tolist())

    def _judge(self, way: Way, frame_bytes: int, times: list[int]) -> Check:
        expected = self._spacing_ns(way, frame_bytes) / 1e3
        whole = len(times) == _TRAIN
        slack = _PRECISION * expected
        return Check(
            f"tunnel {frame_bytes} B {way}",
            self._timeline.path,
            expected,
            (times[-1] - times[0]) / (_TRAIN - 1) / 1e3 if whole else None,
            expected - max(slack, AHEAD_NS / 1e3 / (_TRAIN - 1)),
            expected + slack,
            "us",
            f"between {_TRAIN} packets of {frame_bytes} bytes at once, within {100 * _PRECISION:.2g} %",
        )
