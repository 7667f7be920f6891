"""An edge: a path between two hosts of a network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from headway.study.family import Family
from headway.study.leastcost import Cost
from headway.study.path import Path
from headway.study.units import Duration


class Interface(StrEnum):
    """Where an edge begins at a host that has several: names in a record."""

    FIRST = ""
    OTHER_FAMILY = "other family"
    SECOND = "second path"


@dataclass(frozen=True)
class Edge:
    """A path between two hosts.

    Attributes:
        name: tells it, and the random draws of its path, apart from others of the network.
        left: name of the host at its first end; for a chain, the one nearer to the client.
        right: name of the other one.
        path: as the study states it; None for a cable.
        key: of the path in the study file.
        family: of the addresses at its ends.
        interface: to which of its hosts' interfaces it leads.
        aside: whether its devices have numbers, so that it gives no device of others another name.
        whose: whose path it is, in words, if it does not lie between a client and a server: ``resolver's``.
        turned: whether it is seen from its other end.
    """

    name: str
    left: str
    right: str
    path: Path | None
    key: str
    family: Family
    interface: Interface = Interface.FIRST
    aside: bool = False
    whose: str = ""
    turned: bool = False

    @property
    def is_link(self) -> bool:
        """Whether the study states it as a link, beside the usual keys."""
        return self.key.startswith("links.")

    @property
    def rtt(self) -> Duration:
        """As the study states it."""
        return self.path.rtt if self.path else Duration(0)

    def is_apart_from(self, others: Iterable[Edge]) -> bool:
        """Whether it is none of others, from whichever end they are seen."""
        return all(self.name != other.name for other in others)

    @property
    def turned_around(self) -> Edge:
        """The same, seen from the other end."""
        path = self.path.turned_around if self.path else None
        return replace(self, left=self.right, right=self.left, path=path, turned=not self.turned)


def cost_of(edge: Edge, number: int) -> Cost:
    """What crossing an edge costs, by its number in the network."""
    return edge.rtt.ns, 1, 1 << number


class NoWayError(Exception):
    """Two hosts have no way between them."""
