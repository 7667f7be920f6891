"""The path between client and server in a test case, and what happens there to which packets."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass

from headway.contract.faults import PacketFault
from headway.study.family import Family
from headway.study.fault import FaultKind
from headway.study.path import Way

_LONGEST_DRAW = 40_000
"""Packets of a direction for which a fate is drawn; none of the cases has so many."""
SPOILT_BYTES = 51
"""Corruption is within so many first bytes of what a datagram carries, where headers are."""


@dataclass(frozen=True)
class RandomFate:
    """What befalls packets at random.

    Attributes:
        kind: ``lose`` or ``corrupt``.
        rate: the share of packets, in each direction.
        burst: after so many in a row the next packet passes, since endpoints would else give up for want of any.
    """

    kind: FaultKind
    rate: float
    burst: int = 3


@dataclass(frozen=True)
class Scenario:
    """A path between client and server.

    Attributes:
        delay_ms: one-way delay.
        rate_mbit: rate of each direction in Mbit/s.
        queue_packets: length of each direction's droptail queue.
        families: of addresses that both hosts have.
        fate: what befalls packets at random, if anything does.
        lost_up: numbers of the packets towards the server that are lost, from 1.
        blackouts: how long the path carries packets, and how long it then loses them all, in s, over and over.
        rebindings: the first time and the interval in s at which a NAT forgets its mappings.
        rebinds_address: whether the NAT then has another address, too.
        cross_traffic: whether a TCP connection (CUBIC) competes.
        certificate_bytes: size of the server's certificate chain; None for the usual one.
    """

    delay_ms: int = 15
    rate_mbit: int = 10
    queue_packets: int = 25
    families: tuple[Family, ...] = (Family.IPV4,)
    fate: RandomFate | None = None
    lost_up: tuple[int, ...] = ()
    blackouts: tuple[float, float] | None = None
    rebindings: tuple[float, float] | None = None
    rebinds_address: bool = False
    cross_traffic: bool = False
    certificate_bytes: int | None = None

    def packet_fault(self, way: Way, seed: int) -> PacketFault | None:
        """What happens to which packets of a direction in a run of a seed; None if nothing does."""
        if self.fate is not None:
            return drawn(self.fate, way, seed)
        if self.lost_up and way is Way.UP:
            return PacketFault(FaultKind.LOSE, self.lost_up)
        return None

    @property
    def meets_packets(self) -> bool:
        """Whether something happens to single packets."""
        return self.fate is not None or bool(self.lost_up)


def drawn(fate: RandomFate, way: Way, seed: int) -> PacketFault:
    """The packets that a fate befalls in a direction: the same for equal seeds, whoever talks."""
    draw = draws(seed, f"{fate.kind} {fate.rate} {way}")
    numbers = tuple(_numbers(fate, draw))
    if fate.kind is not FaultKind.CORRUPT:
        return PacketFault(fate.kind, numbers)
    flips = tuple((draw.randrange(SPOILT_BYTES), draw.randrange(1, 256)) for _ in numbers)
    return PacketFault(fate.kind, numbers, flips=flips)


def _numbers(fate: RandomFate, draw: random.Random) -> Iterator[int]:
    row = 0
    for number in range(1, _LONGEST_DRAW + 1):
        befalls = draw.random() < fate.rate and row < fate.burst
        row = row + 1 if befalls else 0
        if befalls:
            yield number


def draws(seed: int, purpose: str) -> random.Random:
    """Random numbers of their own for each seed and purpose, the same on every machine."""
    return random.Random(hashlib.sha256(f"{seed} {purpose}".encode()).digest())
