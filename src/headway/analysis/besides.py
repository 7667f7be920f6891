"""What a flow gets beside others, against what it gets in the contender that it is compared with: beside its own kind.

The runs of a cell with the same seed are pairs, as everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from headway.analysis.analysis import Analysis
from headway.analysis.compare import Pairing
from headway.analysis.difference import Difference, differences
from headway.analysis.metric import metric_named
from headway.analysis.shares import EVEN_PART, NameShares, Shares, shares

_GOODPUT = metric_named("goodput_mbit")


class Getting(StrEnum):
    """How what a flow gets in one contender differs from what it gets in another."""

    MORE = "more"
    LESS = "less"
    AS_MUCH = "as much"
    UNCLEAR = "not clear"


@dataclass(frozen=True)
class BesideOthers:
    """What the flows of a name get in two contenders of a cell.

    Attributes:
        pairing: the contenders.
        named: the flows' name.
        one: what the contender's flows got.
        other: what the other's got.
        difference: of what one of them got.
    """

    pairing: Pairing
    named: str
    one: Shares
    other: Shares
    difference: Difference

    @property
    def getting(self) -> Getting:
        """Whether it gets more or less: where the interval of the ratio lies."""
        interval = self.difference.interval
        if interval is None:
            return Getting.UNCLEAR
        if interval.low >= EVEN_PART - 1 and interval.high <= 1 / EVEN_PART - 1:
            return Getting.AS_MUCH
        if interval.low > 0:
            return Getting.MORE
        return Getting.LESS if interval.high < 0 else Getting.UNCLEAR


def besides(analysis: Analysis) -> tuple[BesideOthers, ...]:
    """Of every two contenders that are compared and have flows of the same name, what these get, cell by cell."""
    known = {(share.cell.name, share.contender): share for share in shares(analysis)}
    return tuple(
        BesideOthers(
            pairing, ours.named, one, other, differences(ours.measured, theirs.measured, _GOODPUT)
        )
        for pairing in analysis.pairings
        for cell in analysis.cells
        if (one := known.get((cell.name, pairing.contender)))
        and (other := known.get((cell.name, pairing.against)))
        for ours, theirs in _common(one, other)
    )


def _common(one: Shares, other: Shares) -> list[tuple[NameShares, NameShares]]:
    return [(ours, theirs) for ours in one.names if (theirs := other.of(ours.named))]
