"""Carriers: packets alone and in trains over frames and grants, held against the ideal carrier, and lost frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from headway.contract.probe_orders import SMALL_FRAME_BYTES, ProbeFlow
from headway.overriding import override
from headway.selftest.check import Check
from headway.selftest.granted import arrivals, lost_share
from headway.selftest.ideal import directions
from headway.selftest.intervals import share_interval
from headway.selftest.step import CheckStep, both_ways
from headway.selftest.timeline import Flags, Sight, Timeline
from headway.study.access import CarrierAccess, LossUnit
from headway.study.path import Direction, Link, Path, Way
from headway.study.queue import FRAME_BYTES, Queue
from headway.study.rates import RateSchedule

_ALONE, _TRAIN = 8, 30
_MOST_LOSSES, _LONGEST_NS = 1500, 60 * 10**9
_TOLERANCE_US = 50.0
"""As behind a trace, where a process hands on packet after packet, too."""
_APART = 0.37
"""Where in a superframe packets are sent: none comes close to its beginning."""


def without_access(path: Path) -> Path:
    """The path with all that it does but that, its losses being of packets."""
    return _mapped(path, lambda direction: direction.model_copy(update={"access": None}))


def access_alone(path: Path) -> Path | None:
    """The path's links with their first rates, frames and demand alone, and with queues that hold every train.

    Returns:
        None if no link has frames or demand.
    """
    if not any(way.access for link in path.links for way in (link.down, link.up)):
        return None

    def alone(direction: Direction) -> Direction:
        if direction.access is None:
            return Direction()
        lost = {"loss": direction.loss} if direction.access.lost is LossUnit.FRAMES else {}
        return Direction.model_validate(
            {
                "rate": direction.first_rate,
                "access": direction.access,
                "queue": Queue(packets=2 * _MOST_LOSSES),
                **lost,
            }
        )

    return _mapped(path, alone)


def _mapped(path: Path, change: Callable[[Direction], Direction]) -> Path:
    links = [Link(down=change(link.down), up=change(link.up)) for link in path.links]
    return Path(links=tuple(links), profile=path.profile)


def _carrier(path: Path, way: Way) -> tuple[CarrierAccess, int, float] | None:
    """Of the only carrier of a direction: its access, its rate and its frames' loss; None without one, or with several."""
    carriers = [direction for direction in directions(path, way) if direction.access]
    if len(carriers) != 1:
        return None
    (direction,) = carriers
    assert direction.access
    assert isinstance(direction.rate, RateSchedule)
    return direction.access, int(direction.rate.steps[0].rate), direction.loss.mean


class CarriedPackets(CheckStep):
    """Small packets alone, a train of full-size ones, and as many more as show how many frames are lost."""

    def __init__(self, timeline: Timeline, path: Path) -> None:
        self._timeline, self._path = timeline, path
        self._flows: dict[Way, list[tuple[int, ProbeFlow]]] = {}
        start_ns = timeline.now_ns
        ends = [start_ns]
        for way in Way:
            if carrier := _carrier(path, way):
                flows = list(_flows(*carrier, start_ns))
                self._flows[way] = [(timeline.add(way, flow), flow) for flow in flows]
                access, rate, _ = carrier
                ends.append(
                    flows[-1].sends[-1][0] + 2 * _drained_ns(access, rate, _losses(*carrier))
                )
        timeline.end_step(max(ends))

    @override
    def judge(self, sight: Sight) -> Iterator[Check]:
        for way in both_ways():
            if carrier := _carrier(self._path, way):
                yield from self._judge(sight, way, *carrier)

    def _judge(
        self, sight: Sight, way: Way, access: CarrierAccess, rate: int, loss: float
    ) -> Iterator[Check]:
        passages = [(sight.passage(way, number), flow) for number, flow in self._flows[way]]
        sent = sorted(
            (int(at), flow.frame_bytes, index, number)
            for index, (passage, flow) in enumerate(passages)
            for number, at in enumerate(passage.sent_ns)
        )
        ideal = arrivals(access, rate, [(at, size) for at, size, _, _ in sent], 10**15)
        expected = {
            (index, number): ideal[place] for place, (_, _, index, number) in enumerate(sent)
        }
        for index, name in enumerate(("carried alone", "carried train")):
            passage, _ = passages[index]
            late = [
                arrived - expected[index, number]
                for number, arrived in zip(
                    passage.numbers.tolist(), passage.arrived_ns.tolist(), strict=True
                )
            ]
            yield Check(
                f"{name} {way}",
                self._timeline.path,
                0,
                float(np.median(late)) / 1e3 if late else None,
                -_TOLERANCE_US,
                _TOLERANCE_US,
                "us",
                f"median of {len(late)} packets against the ideal carrier",
            )
        if loss:
            yield self._losses(way, access, loss, passages[-1][0].lost)

    def _losses(self, way: Way, access: CarrierAccess, loss: float, lost: Flags) -> Check:
        share = lost_share(access, loss, FRAME_BYTES, len(lost))
        # Packets that share a frame are lost together.
        together = 1 + int(access.frame) // FRAME_BYTES
        low, high = share_interval(share, len(lost) / (1 + together))
        return Check(
            f"lost with frames {way}",
            self._timeline.path,
            100 * share,
            100 * float(lost.mean()),
            100 * low,
            100 * high,
            "%",
            f"binomial interval, {len(lost)} packets in frames of {access.frame}, up to {together + 1} lost together",
        )


def _flows(access: CarrierAccess, rate: int, loss: float, start_ns: int) -> Iterator[ProbeFlow]:
    """The flows of a direction, one after the other has gone."""
    span = access.demand.superframe.ns if access.demand else 10_000_000
    apart = _rounded(_drained_ns(access, rate, 1), span)
    first = _rounded(start_ns, span) + int(_APART * span)
    yield ProbeFlow(SMALL_FRAME_BYTES, tuple((first + n * apart, 1) for n in range(_ALONE)))
    first += _ALONE * apart
    yield ProbeFlow(FRAME_BYTES, ((first, _TRAIN),))
    first += _rounded(_drained_ns(access, rate, _TRAIN), span)
    if loss:
        yield ProbeFlow(FRAME_BYTES, ((first, _losses(access, rate, loss)),))


def _losses(access: CarrierAccess, rate: int, loss: float) -> int:
    """How many packets show the loss of frames, if that does not take too long."""
    slowest = _least_rate(access, rate)
    return min(_MOST_LOSSES, _LONGEST_NS * slowest // (FRAME_BYTES * 8 * 10**9)) if loss else 0


def _least_rate(access: CarrierAccess, rate: int) -> int:
    """Bits per second that are granted at least while many packets wait."""
    demand = access.demand
    if demand is None:
        return rate
    span = demand.every * demand.superframe.ns
    volume = int(demand.volume_based or 0) * 8 * 10**9 // span
    return min(rate, int(demand.constant or 0) + int(demand.rate_based or 0) + volume)


def _drained_ns(access: CarrierAccess, rate: int, packets: int) -> int:
    """Within which so many packets have gone, and the grants for them have ended."""
    demand = access.demand
    sent = (packets * FRAME_BYTES + int(access.frame)) * 8 * 10**9 // _least_rate(access, rate)
    if demand is None:
        return 2 * sent + 1_000_000
    beginnings = demand.latency_superframes + 2 * demand.every + 2
    return 2 * sent + 3 * beginnings * demand.superframe.ns


def _rounded(at_ns: int, span_ns: int) -> int:
    return -(-at_ns // span_ns) * span_ns
