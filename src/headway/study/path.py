"""The path between two hosts: a chain of links, each with two directions.

In a file a link may be given by shorthand: what is said of the link holds for both directions,
``rtt`` is split evenly between them, and the tables ``down`` (towards the client) and ``up``
(towards the server) refine it.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, ClassVar, Self

from pydantic import (
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core.core_schema import ValidationInfo

from headway.study.access import CarrierAccess
from headway.study.base_model import Part, wrong
from headway.study.changes import Change, check_changes
from headway.study.contacts import Contacts, Window
from headway.study.ecnchange import EcnSource
from headway.study.loss import Loss, RandomLoss
from headway.study.middlebox import Mtu, MtuSource, Policer, UdpSource
from headway.study.nat import NatSource
from headway.study.packetnumbers import PacketNumbers
from headway.study.queue import FRAME_BYTES, Discipline, Queue
from headway.study.rates import RandomRate, RateSchedule, RateSource, TraceRate, is_trace
from headway.study.satellite import CarrierCourse, Satellite
from headway.study.tunnel import TunnelSource, carried
from headway.study.units import Duration, Rate, Ratio, UnitError


class Way(StrEnum):
    """A direction: towards the server, or towards the client."""

    UP = "up"
    DOWN = "down"


class Jitter(StrEnum):
    """Shape of the jitter's distribution."""

    UNIFORM = "uniform"
    NORMAL = "normal"


def _is_none(value: object) -> bool:
    return value is None


class Direction(Part):
    """One direction of a link.

    Order on the way: policers, named drops, what becomes of UDP, MTU, queue and rate, then delay and loss.
    """

    rate: RateSource | None = None
    delay: Duration = Duration(0)
    jitter: Duration = Duration(0)
    jitter_distribution: Jitter = Jitter.UNIFORM
    jitter_reorders: bool = Field(
        default=False, description="whether a packet with less jitter overtakes its predecessor"
    )
    reordering: Ratio = Field(
        default=Ratio(0), description="share of packets that are sent on without delay"
    )
    loss: Loss = RandomLoss(mean=Ratio(0))
    drop_packets: PacketNumbers = ()
    blackouts: tuple[Window, ...] = Field(
        default=(), description="spans in which every packet is lost"
    )
    contacts: Contacts | None = Field(
        default=None,
        exclude_if=_is_none,
        description="spans in which the link is up; all the time without them",
    )
    duplication: Ratio = Ratio(0)
    corruption: Ratio = Ratio(0)
    mtu: MtuSource | None = Field(default=None, exclude_if=_is_none)
    policer: Policer | None = Field(default=None, exclude_if=_is_none)
    udp: UdpSource | None = Field(default=None, exclude_if=_is_none)
    ecn: EcnSource | None = Field(default=None, exclude_if=_is_none)
    tunnel: TunnelSource = Field(default=None, exclude_if=_is_none)
    queue: Queue = Queue(bdp=1)
    access: CarrierAccess | None = Field(
        default=None, exclude_if=_is_none, description="frames of the link, capacity on demand"
    )
    changes: tuple[Change, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _with_room_for_bursts(cls, value: Any) -> Any:
        """Give a trace a queue that its bursts do not overflow, unless one is stated."""
        if isinstance(value, dict) and "queue" not in value and is_trace(value.get("rate")):
            return {**value, "queue": {"size": "1 BDP", "bursts": True}}
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.queue.bursts and not isinstance(self.rate, TraceRate):
            raise wrong("queue.bursts", "only a trace has bursts; leave it out")
        if self.rate is None and any(change.rate for change in self.changes):
            raise ValueError("changes give a rate, but the direction has none to begin with")
        carried(self.mtu, self.tunnel)
        if self.keeps:
            self._can_keep()
        if isinstance(self.rate, TraceRate):
            if self.tunnel:
                raise wrong("tunnel", "a trace counts whole packets; a tunnel needs a rate")
            if self.queue.discipline is not Discipline.DROPTAIL:
                raise ValueError('a trace-driven link has a droptail queue; leave out "discipline"')
            if any(change.rate for change in self.changes):
                raise ValueError("a trace cannot be changed to a rate")
        if self.access:
            others = {"tunnel": self.tunnel, "contacts.meanwhile": self.keeps}
            self.access.check_beside(self.rate, self.queue, self.loss, others, self.changes)
        check_changes(self.changes)
        if self.jitter > self.delay:
            raise ValueError(f"jitter of {self.jitter} is more than the delay of {self.delay}")
        if self.reordering and not self.delay:
            raise ValueError("reordering needs a delay that packets can skip")
        return self

    def _can_keep(self) -> None:
        """Refuse a queue that cannot keep packets between contacts."""
        if self.rate is None or isinstance(self.rate, TraceRate):
            raise wrong(
                "contacts.meanwhile", "packets are kept before a rate; state one, as 10 Mbit/s"
            )
        if self.queue.discipline is not Discipline.DROPTAIL or self.queue.packets is not None:
            raise wrong(
                "queue",
                'packets are kept in a droptail queue of bytes; write it as "64 kB" or "1 BDP"',
            )

    @property
    def has_process(self) -> bool:
        """Whether a process, and no queueing discipline, has its queue: for a trace, or for frames."""
        return isinstance(self.rate, TraceRate) or self.access is not None

    @property
    def keeps(self) -> bool:
        """Whether packets that come between contacts wait for the next one."""
        return self.contacts is not None and self.contacts.keeps

    @property
    def is_interrupted(self) -> bool:
        """Whether packets are lost, or wait, because of when they come."""
        return bool(self.blackouts or self.contacts)

    def outages(self, until: Duration) -> Iterator[Window]:
        """Spans, begun before a time, in which every packet is lost: blackouts, then those between contacts."""
        yield from self.blackouts
        if self.contacts and not self.keeps:
            yield from self.contacts.between(until)

    def closures(self, until: Duration) -> Iterator[Window]:
        """Spans, begun before a time, in which packets wait in the queue for the next contact; in order."""
        if self.contacts and self.keeps:
            yield from self.contacts.between(until)

    @property
    def carries(self) -> Mtu | None:
        """The largest packet that it carries, in its tunnel if it has one; None if any that hosts send."""
        return carried(self.mtu, self.tunnel)

    @property
    def overhead_bytes(self) -> int:
        """What its tunnel adds to each packet."""
        return int(self.tunnel.each) if self.tunnel else 0

    @property
    def has_rules(self) -> bool:
        """Whether packets are dropped by their size, by their transport, or because they come too fast."""
        return bool(self.carries or self.policer or self.udp)

    @property
    def capacity(self) -> Rate | None:
        """What gets through at most at the start, whatever its transport; None if unlimited."""
        rates = [self.first_rate, self.policer.rate if self.policer else None]
        return min((rate for rate in rates if rate is not None), default=None)

    def most_bytes(self, span: Duration) -> int | None:
        """Bytes that can pass within a span from the start; None if unlimited. Never too few."""
        match self.rate:
            case None:
                return None
            case RateSchedule(steps=steps):
                rates = [step.rate for step in steps]
            case RandomRate(high=high):
                rates = [high]
            case TraceRate(opportunities_ms=times):
                whole, rest = divmod(int(span.ms), times[-1] or 1) if times else (0, 0)
                passed = whole * len(times) + sum(time <= rest for time in times)
                return passed * FRAME_BYTES
        rates += [change.rate for change in self.changes if change.rate]
        return int(max(rates) * span.s / 8)

    @property
    def keeps_order(self) -> bool:
        """Whether packets wait for those before them where their delay becomes shorter."""
        varies = self.jitter or any(
            change.delay is not None or change.jitter for change in self.changes
        )
        return bool(varies) and not self.jitter_reorders

    @property
    def first_rate(self) -> Rate | None:
        """Rate at the start; a trace's and a random rate's mean; None if unlimited."""
        match self.rate:
            case None:
                return None
            case RateSchedule(steps=steps):
                return steps[0].rate
            case RandomRate(low=low, high=high):
                return Rate((low + high) // 2)
            case TraceRate(opportunities_ms=times):
                return Rate(len(times) * 1500 * 8 * 1000 // times[-1]) if times else Rate(1)

    def queue_bytes(self, rtt: Duration) -> int | None:
        """Size of its queue on the wire; None without a rate, as nothing ever queues then.

        Args:
            rtt: of the path: a BDP is what its rate lets pass within it.
        """
        rate = self.first_rate
        if rate is None:
            return None
        best = self.rate.best(rtt) if isinstance(self.rate, TraceRate) else None
        return self.queue.limit_bytes(rate, rtt, best)

    @property
    def highest_rate(self) -> Rate | None:
        """Highest rate at any time; None if unlimited, or not known because a trace gives it."""
        return max(self._rates, default=None)

    @property
    def lowest_rate(self) -> Rate | None:
        """Lowest rate at any time; None likewise."""
        return min(self._rates, default=None)

    @property
    def _rates(self) -> list[Rate]:
        """The rates that it may have, or the least and the greatest of them; none if not known."""
        changed = [change.rate for change in self.changes if change.rate is not None]
        match self.rate:
            case RateSchedule(steps=steps):
                return [step.rate for step in steps] + changed
            case RandomRate(low=low, high=high):
                return [low, high, *changed]
            case _:
                return []


def _states_bdp(way: Direction) -> bool:
    """Whether somebody stated a queue in BDP, which is not the one that a trace has without any."""
    return "queue" in way.model_fields_set and bool(way.queue.bdp) and not way.queue.bursts


def _valid(raw: dict[str, Any]) -> Direction | None:
    """A direction; None if it cannot be, which is told where it is validated in its place."""
    try:
        return Direction.model_validate(raw)
    except ValidationError:
        return None


class Link(Part):
    """A link with its two directions; by satellite, they are computed from its description."""

    keys_of = Direction
    more_keys: ClassVar = {"rtt": Duration.json_schema()}

    satellite: Satellite | None = None
    nat: NatSource = Field(
        default=None,
        exclude_if=_is_none,
        description="at the link's end towards the client, before the queue",
    )
    down: Direction = Direction()
    up: Direction = Direction()

    @model_validator(mode="before")
    @classmethod
    def _expand_shorthand(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        raw = dict(value)
        shared = {key: raw.pop(key) for key in list(raw) if key in Direction.model_fields}
        if "rtt" in raw:
            if "delay" in shared:
                raise ValueError('give either "rtt" or "delay", not both')
            try:
                rtt = Duration.parse(raw.pop("rtt"))
            except UnitError as error:
                raise wrong("rtt", str(error)) from error
            shared["delay"] = f"{rtt.ns / 2} ns"
        if not raw.keys() & {"satellite", "down", "up"} and (both := _valid(shared)):
            return {**raw, "down": both, "up": both}
        for way in ("down", "up"):
            own = raw.get(way, {})
            if isinstance(own, dict):
                raw[way] = {**shared, **own}
        return raw

    @field_validator("down", "up", mode="before")
    @classmethod
    def _by_satellite(cls, value: Any, info: ValidationInfo) -> Any:
        satellite = info.data.get("satellite")
        if satellite is None or not isinstance(value, dict):
            return value
        carrier = satellite.forward if info.field_name == "down" else satellite.return_
        return _refined(satellite.over_time(carrier), value)


class _Timed(Part):
    """What a file may say over time of a direction by satellite, beside what follows from that."""

    changes: tuple[Change, ...] = ()
    blackouts: tuple[Window, ...] = ()


def _refined(by_satellite: CarrierCourse, own: dict[str, Any]) -> dict[str, Any]:
    """A direction by satellite, with what the file says of it otherwise."""
    timed = _Timed.model_validate({key: own[key] for key in _Timed.model_fields if key in own})
    changes = [*timed.changes]
    for key in ("rate", "delay"):
        if key in own or any(getattr(change, key) is not None for change in changes):
            raise ValueError(f"the satellite gives the {key}; leave it out here")
    if by_satellite.access and "access" in own:
        raise wrong("access", "the satellite gives it; leave it out here")
    (_, delay), *later = by_satellite.delays
    changes += [Change(at=at, delay=then) for at, then in later]
    return {
        **own,
        "rate": {"steps": [{"at": at, "rate": rate} for at, rate in by_satellite.rates]},
        "delay": delay,
        "changes": sorted(changes, key=lambda change: change.at),
        "blackouts": [*by_satellite.outages, *timed.blackouts],
        **({"access": by_satellite.access} if by_satellite.access else {}),
    }


class Path(Part):
    """What lies between two hosts: one link or a chain, the first one next to the client."""

    keys_of = Link

    links: tuple[Link, ...] = Field(default=(Link(),), min_length=1)
    profile: str | None = Field(default=None, description="the profile that the links come from")

    @model_validator(mode="before")
    @classmethod
    def _single_link(cls, value: Any) -> Any:
        if isinstance(value, dict) and "links" not in value:
            return {"links": [value]}
        return value

    @model_validator(mode="after")
    def _bdp_is_one(self) -> Self:
        for link in self.links:
            ways = link.down, link.up
            if not any(_states_bdp(way) for way in ways):
                continue
            if all(way.rate is None for way in ways):
                raise wrong("queue", "a queue in BDP needs a rate; write it in kB or packets")
            if not self.rtt:
                raise wrong("queue", "a queue in BDP needs an RTT; write it in kB or packets")
        return self

    @property
    def rtt(self) -> Duration:
        """Propagation delay there and back, without queueing and serialisation."""
        return Duration(sum(link.down.delay + link.up.delay for link in self.links))

    @property
    def turned_around(self) -> Path:
        """The same path, seen from its other end."""
        links = tuple(
            link.model_copy(update={"down": link.up, "up": link.down})
            for link in reversed(self.links)
        )
        return self.model_copy(update={"links": links})
