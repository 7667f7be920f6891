"""Values that a network is made of: queueing disciplines, addresses, routes, rules, changes.

`headway.lab.commands` writes them as lines for ``tc``, ``ip`` and ``nft``.
"""

from __future__ import annotations

from dataclasses import dataclass

from headway.study.ecnchange import EcnChange
from headway.study.family import Family, HostAddress
from headway.study.kernel import HostDiscipline
from headway.study.loss import RandomLoss
from headway.study.middlebox import Policer, Udp
from headway.study.path import Jitter
from headway.study.queue import Discipline
from headway.study.units import Duration, Rate, Ratio


@dataclass(frozen=True)
class Shaper:
    """The rate of a link's direction, on a device of its queue's router.

    Attributes:
        device: the device.
        rate: on the wire.
        overhead_bytes: what each packet has there beside its own bytes; it cannot change.
    """

    device: str
    rate: Rate
    overhead_bytes: int = 0


@dataclass(frozen=True)
class Queue:
    """What waits for a shaper's rate.

    Attributes:
        device: the shaper's.
        discipline: what becomes of packets that wait.
        limit_bytes: how much may wait, on the wire.
        packets: how many packets may wait, if the study counts them so.
        rate: the shaper's first rate.
        ecn: whether it marks packets where it can, instead of dropping them.
        gated: whether it is one that can be closed, and is open at first.
        times: those of its active queue management that differ from Linux's, by their names in studies.
    """

    device: str
    discipline: Discipline
    limit_bytes: int
    packets: int | None
    rate: Rate
    ecn: bool
    gated: bool = False
    times: tuple[tuple[str, Duration], ...] = ()


@dataclass(frozen=True)
class Gate:
    """Whether a gated queue lets packets go.

    Attributes:
        device: the queue's.
        is_open: whether it does; otherwise they wait.
    """

    device: str
    is_open: bool


@dataclass(frozen=True)
class DelayLine:
    """Delay, loss and what else happens to packets on the way, on a device behind the queue.

    Attributes:
        device: the device.
        delay: of every packet.
        jitter: how far delays vary; None if they do not.
        distribution: of the jitter.
        keeps_order: whether packets stay in order, whatever their delays.
        loss: by chance.
        black: whether every packet is lost.
        duplication: share of packets that arrive twice.
        corruption: share of packets with a wrong bit.
        reordering: share of packets that are sent on without delay.
        seed: of its random draws.
    """

    device: str
    delay: Duration
    jitter: Duration | None
    distribution: Jitter
    keeps_order: bool
    loss: RandomLoss
    black: bool
    duplication: Ratio
    corruption: Ratio
    reordering: Ratio
    seed: int


@dataclass(frozen=True)
class CableCounter:
    """Counts packets sent into a cable, and holds none back."""

    device: str


@dataclass(frozen=True)
class HostQueue:
    """What holds the packets that a host gives to its device."""

    device: str
    discipline: HostDiscipline


@dataclass(frozen=True)
class Policing:
    """What drops packets that come faster than a rate, where they arrive; what passes, passes at once.

    Attributes:
        device: on which they arrive.
        every: the policer of all packets, if there is one.
        udp: that of UDP, if there is one; what passes it meets the other one.
        family: of the packets.
    """

    device: str
    every: Policer | None
    udp: Policer | None
    family: Family


Shaping = Shaper | Queue | DelayLine | CableCounter | HostQueue | Policing


@dataclass(frozen=True)
class UdpRules:
    """What becomes of UDP packets on arrival.

    Attributes:
        table: name of what decides that.
        device: on which they arrive.
        udp: what becomes of them.
    """

    table: str
    device: str
    udp: Udp


@dataclass(frozen=True)
class EcnRules:
    """What becomes of packets' ECN fields on arrival.

    Attributes:
        table: name of what decides that.
        device: on which they arrive.
        change: what becomes of the fields.
    """

    table: str
    device: str
    change: EcnChange


@dataclass(frozen=True)
class Turn:
    """Rules, or a policer for UDP, switched on or off."""

    what: UdpRules | EcnRules | Policing
    on: bool


@dataclass(frozen=True)
class TimedChange:
    """A shaper, gate or delay line that is another one from a time on, what becomes of UDP, of ECN fields or of mappings from then on, or a route.

    Attributes:
        at: from the start of the workload.
        namespace: where it is.
        what: what it is from then on.
        line: name by which a delay line's packets are counted.
    """

    at: Duration
    namespace: str
    what: Shaper | Gate | DelayLine | Turn | NewMappings | Route
    line: str = ""


@dataclass(frozen=True)
class NamedDrops:
    """Packets that are dropped by their number on arrival, before the queue.

    Attributes:
        table: name of what drops them.
        device: on which they arrive.
        numbers: of the packets, from 1.
    """

    table: str
    device: str
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class SilentRouter:
    """A router that tells nobody that a packet was too long for the next link."""


@dataclass(frozen=True)
class Mapper:
    """What maps connections that go out to an address of the host's own, and drops what belongs to none.

    Attributes:
        outside: the device by which they go out, and on which answers come.
        unseen: a device whose packets are looked at only when they come again from a process; None without one.
    """

    outside: str
    unseen: str | None


@dataclass(frozen=True)
class NewMappings:
    """All mappings are forgotten, and those of what comes are others.

    Attributes:
        mapper: what maps.
        number: how often that has happened, this time included.
        old: the address that it has.
        new: the one that it has from then on.
        passing: an address that it has for the moment in which it forgets, if the new one is the old one.
        routes: of the host, some of which go with an address.
    """

    mapper: Mapper
    number: int
    old: Address
    new: Address
    passing: Address
    routes: tuple[Route, ...]


PacketFilter = NamedDrops | UdpRules | EcnRules | SilentRouter | Mapper


@dataclass(frozen=True)
class Address:
    """An address of a device, with the prefix of its wire's network or as a network of its own."""

    address: HostAddress
    device: str
    alone: bool = False


@dataclass(frozen=True)
class Up:
    """A device that is switched on."""

    device: str
    queue_packets: int | None = None


@dataclass(frozen=True)
class Quiet:
    """A device that asks for no neighbours, and so joins no multicast groups in which it would be asked for itself."""

    device: str


@dataclass(frozen=True)
class Neighbour:
    """A neighbour whose hardware address is known for ever: nobody has to ask for it."""

    address: str
    mac: str
    device: str


@dataclass(frozen=True)
class Route:
    """Where packets for a network go, and what TCP is like that goes there.

    Attributes:
        network: the network.
        via: address of the next host; None if it is at the other end of the device.
        device: by which they leave; None if ``via`` tells.
        source: address that they leave with, if it has to be said.
        initial_window: of TCP, segments.
        congestion_control: of TCP.
        table: routing table; None for the main one.
        local: whether packets are delivered to the host itself.
        metric: which of several to a network is taken, the lowest; None for the usual one.
        replaces: whether there is one already.
        mtu: of the packets that are routed, bytes; None for that of the device.
    """

    network: str
    via: str | None = None
    device: str | None = None
    source: str | None = None
    initial_window: int | None = None
    congestion_control: str | None = None
    table: int | None = None
    local: bool = False
    metric: int | None = None
    replaces: bool = False
    mtu: int | None = None


@dataclass(frozen=True)
class RoutingRule:
    """Packets that a routing table of their own decides on.

    Attributes:
        device: on which they come.
        table: the table.
        family: of the packets.
        port: TCP port, if only that of a server: towards it, or from it with ``answers``.
        answers: whether they come from the port.
    """

    device: str
    table: int
    family: Family
    port: int | None = None
    answers: bool = False


@dataclass(frozen=True)
class SourceRule:
    """Packets from an address of the host's, on whose way a routing table of their own decides."""

    address: HostAddress
    table: int


@dataclass(frozen=True)
class Tun:
    """A device whose packets a process reads and writes."""

    device: str


@dataclass(frozen=True)
class OnePacket:
    """A device that is handed no more than one packet of TCP at once."""

    device: str


IpValue = Address | Up | Quiet | Neighbour | Route | RoutingRule | SourceRule | Tun | OnePacket
