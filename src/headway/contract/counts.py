"""Counts of a lab's packets: where, and what became of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from headway.contract.sojourns import added
from headway.contract.text import omitted


@dataclass(frozen=True)
class Counted:
    """One direction of a link, or of a cable: where to count what becomes of its packets.

    ``name`` is that of the device with the queue, which is in ``namespace``; ``line`` is the device
    with the delay line, in ``line_namespace``. ``named_drops`` is the nftables table that drops packets
    by their number, ``udp_rules`` that which decides on UDP, ``ecn_rules`` that in ``ecn_namespace`` which changes ECN fields, ``trace`` the trace link that has the queue,
    and ``policed`` the device whose policers drop packets; all are empty if there are none. With
    ``has_mtu``, packets may be too long for the link. With ``maps``, a NAT in ``namespace`` maps connections
    of the direction; with ``maps_back`` one in ``line_namespace`` drops what belongs to none.
    """

    name: str
    namespace: str
    line: str
    line_namespace: str
    named_drops: str = ""
    trace: str = ""
    policed: str = omitted("")
    udp_rules: str = omitted("")
    ecn_rules: str = omitted("")
    ecn_namespace: str = omitted("")
    has_mtu: bool = omitted(False)
    maps: bool = omitted(False)
    maps_back: bool = omitted(False)


@dataclass(frozen=True)
class Counts:
    """What became of packets; each of them may be in several of the counts.

    ``lost`` is by the loss model and ``blacked_out`` by blackouts; ``dropped_by_number`` by named
    drops and ``queue_dropped`` by queues. ``reordered`` are those that left a link after one which had
    come to it later (RFC 4737, 3.3). ``duplicated`` are copies, which may be lost like others.
    ``marked`` are those whose queue said "Congestion Experienced" (RFC 3168). ``policed`` were dropped by
    policers, ``udp_stopped`` are UDP packets that were blocked, rejected or lost as such, ``too_long`` were
    longer than the link's MTU and dropped, and ``fragmented`` left in fragments.

    Of a NAT, ``mapped`` are the packets for which it made a mapping before its first rebinding, ``remapped``
    those after it, and ``unmapped`` those that came from outside, belonged to none, and were dropped.

    ``ecn_changed`` are packets whose ECN field a link changed. ``step_marked`` are those of the marks that DualPI2 made because a packet had been in its low-latency queue for too
    long. ``sojourns_c`` and ``sojourns_l`` are the packets that left the classic and the low-latency queue of DualPI2,
    by the class of their time there (`headway.contract.sojourns`); empty of other queues.
    """

    lost: int = 0
    blacked_out: int = 0
    dropped_by_number: int = 0
    queue_dropped: int = 0
    reordered: int = 0
    duplicated: int = 0
    corrupted: int = 0
    marked: int = 0
    policed: int = 0
    udp_stopped: int = 0
    too_long: int = 0
    fragmented: int = 0
    mapped: int = 0
    remapped: int = 0
    unmapped: int = 0
    ecn_changed: int = 0
    step_marked: int = 0
    sojourns_c: tuple[int, ...] = ()
    sojourns_l: tuple[int, ...] = ()

    @property
    def path_dropped(self) -> int:
        """Packets that did not arrive, but for those that queues dropped."""
        by_chance = self.lost + self.blacked_out + self.dropped_by_number
        return by_chance + self.policed + self.udp_stopped + self.too_long + self.unmapped

    @classmethod
    def total(cls, counts: Iterable[Counts]) -> Counts:
        """The sums."""
        rows = [dataclasses.astuple(count) for count in (cls(), *counts)]
        return cls(
            *(
                reduce(added, column) if isinstance(column[0], tuple) else sum(column)
                for column in zip(*rows, strict=True)
            )
        )
