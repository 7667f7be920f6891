"""Disturbances that the paths of a run name, and how many packets met each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from headway.contract.counts import Counts
from headway.contract.outcome import Outcome
from headway.planning.topology import Leg, bottlenecks
from headway.study.contacts import Window
from headway.study.host import Protocol
from headway.study.loss import RandomLoss
from headway.study.middlebox import UdpVerdict
from headway.study.packetnumbers import packet_words
from headway.study.path import Direction, Link, Path, Way

_MOST_WINDOWS = 3
"""More blackouts than this are counted, not listed."""


class Disturbance(StrEnum):
    """What a path can name."""

    LOSS = "loss"
    BLACKOUT = "blackout"
    NAMED_DROPS = "named drops"
    REORDERING = "reordering"
    DUPLICATION = "duplication"
    CORRUPTION = "corruption"
    POLICER = "policer"
    UDP = "udp"
    REBINDING = "rebinding"
    ECN = "ecn"


_COUNTED = {
    Disturbance.LOSS: "lost",
    Disturbance.BLACKOUT: "blacked_out",
    Disturbance.NAMED_DROPS: "dropped_by_number",
    Disturbance.REORDERING: "reordered",
    Disturbance.DUPLICATION: "duplicated",
    Disturbance.CORRUPTION: "corrupted",
    Disturbance.POLICER: "policed",
    Disturbance.UDP: "udp_stopped",
    Disturbance.REBINDING: "remapped",
    Disturbance.ECN: "ecn_changed",
}

_ONE_WAY = {"mapped": Way.UP, "remapped": Way.UP, "unmapped": Way.DOWN}
"""What NATs count: they map from one side only."""

_OF_TWO_QUEUES = {"step_marked", "sojourns_c", "sojourns_l"}
"""Which are no counts of all links (`headway.diagnosis.dualqueue`)."""


@dataclass(frozen=True)
class Named:
    """A disturbance that the links of one direction name: ``loss down: 1 %``."""

    kind: Disturbance
    way: Way
    value: str

    def __str__(self) -> str:
        """As the record has it."""
        return f"{self.kind} {self.way}: {self.value}"

    @classmethod
    def parse(cls, text: str) -> Named:
        """Of what the record has."""
        what, _, value = text.partition(": ")
        kind, _, way = what.rpartition(" ")
        return cls(Disturbance(kind), Way(way), value)

    @property
    def column(self) -> str:
        """The record's column that tells how many packets met it."""
        return f"{_COUNTED[self.kind]}_{self.way}"

    @property
    def other_way(self) -> Named | None:
        """The same in the other direction, if it took place where only one of both was met.

        Where nothing passes one way, nothing comes back; and what answers a flow that a policer cuts down is small.
        """
        stops = self.kind is Disturbance.UDP and self.value.startswith(tuple(UdpVerdict))
        if not stops and self.kind is not Disturbance.POLICER:
            return None
        return replace(self, way=Way.UP if self.way is Way.DOWN else Way.DOWN)


def count_columns(legs: Sequence[Leg], outcome: Outcome) -> dict[str, Any]:
    """The columns of a record that count packets on these legs; none if the lab did not count."""
    if not outcome.counts:
        return {}
    return {
        f"{name}_{way}": count
        for way in (Way.DOWN, Way.UP)
        for name, count in asdict(
            Counts.total(outcome.counts[place.queue_device] for place in bottlenecks(legs, way))
        ).items()
        if _ONE_WAY.get(name, way) is way and name not in _OF_TWO_QUEUES
    }


def named_disturbances(paths: Iterable[Path], asked: Iterable[Protocol]) -> tuple[str, ...]:
    """What paths between clients and servers name, as ``loss down: 1 %``.

    What becomes of UDP is only named if a client is told to speak over it.

    Args:
        paths: as the study states them.
        asked: what clients are told to speak.
    """
    over_udp = any(protocol.transport == "udp" for protocol in asked)
    texts: dict[tuple[Disturbance, Way], list[str]] = {}
    for path in paths:
        for link in path.links:
            for way, direction in ((Way.DOWN, link.down), (Way.UP, link.up)):
                for kind, value in _named(path, link, direction, over_udp=over_udp):
                    texts.setdefault((kind, way), []).append(value)
            if link.nat and link.nat.rebindings:
                rebindings = ", ".join(map(str, link.nat.rebindings))
                texts.setdefault((Disturbance.REBINDING, Way.UP), []).append(rebindings)
    return tuple(
        str(Named(*what, ", ".join(dict.fromkeys(values)))) for what, values in texts.items()
    )


def _named(
    path: Path, link: Link, direction: Direction, *, over_udp: bool
) -> Iterator[tuple[Disturbance, str]]:
    changed = [change.loss for change in direction.changes if change.loss is not None]
    losses = [_loss(loss) for loss in (direction.loss, *changed) if loss.mean]
    if losses:
        yield Disturbance.LOSS, f"{path.profile}" if path.profile else " then ".join(losses)
    windows = [blackout for blackout in direction.blackouts if blackout not in _outages(link)]
    if windows:
        yield Disturbance.BLACKOUT, _windows(windows)
    if direction.contacts and not direction.keeps:
        yield Disturbance.BLACKOUT, f"between contacts from {_windows(direction.contacts.spans)}"
    if direction.drop_packets:
        yield Disturbance.NAMED_DROPS, packet_words(direction.drop_packets)
    if direction.reordering:
        yield Disturbance.REORDERING, str(direction.reordering)
    jitters = [direction.jitter, *(change.jitter for change in direction.changes if change.jitter)]
    if direction.jitter_reorders and any(jitters):
        yield Disturbance.REORDERING, f"jitter {max(filter(None, jitters))}"
    if direction.duplication:
        yield Disturbance.DUPLICATION, str(direction.duplication)
    if direction.corruption:
        yield Disturbance.CORRUPTION, str(direction.corruption)
    udp = direction.udp if over_udp else None
    for policer in filter(None, (direction.policer, udp.policer if udp else None)):
        yield Disturbance.POLICER, f"{policer.rate}, {policer.burst}"
    if udp and not udp.policer and (udp.loss is None or udp.loss):
        yield Disturbance.UDP, str(udp)
    if direction.ecn:
        yield Disturbance.ECN, str(direction.ecn)


def _loss(loss: RandomLoss) -> str:
    return f"{loss.mean} in bursts of {loss.burst:g}" if loss.burst > 1 else str(loss.mean)


def _outages(link: Link) -> tuple[Window, ...]:
    """Blackouts that nobody named, since they follow from a satellite's orbit."""
    if link.satellite is None:
        return ()
    carriers = link.satellite.forward, link.satellite.return_
    pairs = [outage for carrier in carriers for outage in link.satellite.over_time(carrier).outages]
    return tuple(Window.model_validate(outage) for outage in pairs)


def _windows(windows: Sequence[Window]) -> str:
    shown = [f"{window.start} to {window.end}" for window in windows[:_MOST_WINDOWS]]
    more = len(windows) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
