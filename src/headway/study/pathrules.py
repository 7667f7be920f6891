"""Rules of a path's MTUs, policers, rules for UDP and NATs: what they need of the packets that cross it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from headway.study.contacts import Contacts
from headway.study.edge import Edge
from headway.study.family import Family
from headway.study.middlebox import SMALLEST_MTU_IPV6
from headway.study.path import Direction, Path
from headway.study.rates import RandomRate, RateSchedule, TraceRate
from headway.study.rulerow import RuleRow, RuleTable
from headway.study.units import Duration

_LARGEST_PACKET = 65_535
"""With segmentation offload."""
_MOST_CHANGES = 200_000
"""Of a direction, about 300 bytes each in what a lab is told."""


@dataclass(frozen=True)
class PathsView:
    """The paths of a setting.

    Attributes:
        edges: all of its network.
        limit: when a run is given up.
        offload: whether packets of up to 64 kB cross the paths.
    """

    edges: Sequence[Edge]
    limit: Duration
    offload: bool

    @property
    def families(self) -> set[Family]:
        return {edge.family for edge in self.edges}

    @property
    def ipv6(self) -> bool:
        return Family.IPV6 in self.families


@dataclass(frozen=True)
class _Path:
    """A path between two hosts."""

    key: str
    path: Path
    view: PathsView

    @property
    def has_nat(self) -> bool:
        return any(link.nat for link in self.path.links)

    @property
    def left_out(self) -> str:
        both = len(self.view.families) > 1
        return "leave out dual_stack, or the NAT" if both else 'leave out family = "ipv6"'

    @property
    def late_rebinding(self) -> Duration | None:
        moments = (
            rebinding.at
            for link in self.path.links
            if link.nat
            for rebinding in link.nat.rebindings
        )
        return next((moment for moment in moments if moment >= self.view.limit), None)


class _ChangeCount(NamedTuple):
    """How often a key's value changes before a run is given up."""

    times: int
    key: str


@dataclass(frozen=True)
class _Way:
    """A direction of one of a path's links."""

    key: str
    name: str
    direction: Direction
    view: PathsView

    @property
    def mtu_key(self) -> str:
        return "mtu" if self.direction.mtu else "tunnel"

    @property
    def carried(self) -> int | None:
        """The largest packet that it carries, if there is one, bytes."""
        return self.direction.carries.size if self.direction.carries else None

    @property
    def of_single_packets(self) -> str | None:
        """The key of a rule that takes a packet of 64 kB for one that is too long, or would never let it pass."""
        udp, policer = self.direction.udp, self.direction.policer
        if self.carried:
            return self.mtu_key
        if policer and policer.burst < _LARGEST_PACKET:
            return "policer"
        if udp and (udp.longest or udp.loss or (udp.burst and udp.burst < _LARGEST_PACKET)):
            return "udp"
        return None

    @property
    def changing(self) -> dict[str, RateSchedule | RandomRate | Contacts]:
        """What is planned to change again and again, by its key."""
        rate, contacts = self.direction.rate, self.direction.contacts
        changing: dict[str, RateSchedule | RandomRate | Contacts] = {}
        if isinstance(rate, RateSchedule | RandomRate):
            changing["rate"] = rate
        if contacts:
            changing["contacts"] = contacts
        return changing

    @property
    def changes(self) -> _ChangeCount:
        """Of the key whose value changes most often."""
        limit = self.view.limit
        return max(
            _ChangeCount(part.changes_until(limit), key) for key, part in self.changing.items()
        )

    @property
    def first_opportunity(self) -> Duration:
        rate = self.direction.rate
        times = rate.opportunities_ms if isinstance(rate, TraceRate) else ()
        return Duration(times[0] * 10**6 if times else 0)


def _paths(view: PathsView) -> Iterator[_Path]:
    return (_Path(edge.key, edge.path, view) for edge in view.edges if edge.path)


def _ways(view: PathsView) -> Iterator[_Way]:
    for path in _paths(view):
        for link in path.path.links:
            yield from (_Way(path.key, name, getattr(link, name), view) for name in ("down", "up"))


def _changing_ways(view: PathsView) -> Iterator[_Way]:
    return (way for way in _ways(view) if way.changing)


_BEYOND = "beyond limits.virtual ({it.view.limit})"
CHANGE_RULES = RuleTable[PathsView, _Way](
    "a direction of a path",
    _changing_ways,
    (
        RuleRow(
            f"changes {_MOST_CHANGES:,} times at most before `limits.virtual`",
            "{it.key}.{it.name}.{it.changes.key}",
            lambda way: way.changes.times > _MOST_CHANGES,
            f"{{it.changes.times:,}} changes before limits.virtual ({{it.view.limit}}), and {_MOST_CHANGES:,} at most can be",
            "let it change less often, or lower limits.virtual",
        ),
    ),
)
"""Those of what has to be known for whole runs in advance."""
PATH_RULES: tuple[RuleTable[PathsView, Any], ...] = (
    CHANGE_RULES,
    RuleTable[PathsView, _Path](
        "a path",
        _paths,
        (
            RuleRow(
                "with a NAT has IPv4 alone",
                "{it.key}.nat",
                lambda path: path.has_nat and path.view.ipv6,
                "a NAT translates IPv4",
                "{it.left_out}",
            ),
            RuleRow(
                "has no rebinding of its NAT after `limits.virtual`",
                "{it.key}.nat.rebindings",
                lambda path: path.late_rebinding is not None,
                f"{{it.late_rebinding}} is {_BEYOND}",
            ),
        ),
    ),
    RuleTable[PathsView, _Way](
        "a direction of a path",
        _ways,
        (
            RuleRow(
                f"carries packets of {SMALLEST_MTU_IPV6} B over IPv6 (RFC 8200)",
                "{it.key}.{it.mtu_key}",
                lambda way: way.carried and way.carried < SMALLEST_MTU_IPV6 and way.view.ipv6,
                f"every link carries {SMALLEST_MTU_IPV6} B of IPv6 (RFC 8200), not {{it.carried}} only",
            ),
            RuleRow(
                "has no rule of single packets, as of `mtu`, `policer` and `udp`, with `offload`",
                "{it.key}.{it.of_single_packets}",
                lambda way: way.view.offload and way.of_single_packets,
                "packets of up to 64 kB cross the path",
                "leave out offload",
            ),
            RuleRow(
                "with a trace has its first opportunity before `limits.virtual`",
                "{it.key}.{it.name}.rate.trace",
                lambda way: way.first_opportunity >= way.view.limit,
                f"its first opportunity is after {{it.first_opportunity}}, {_BEYOND}, after which a run is given up",
            ),
        ),
    ),
)
"""Those of paths."""
