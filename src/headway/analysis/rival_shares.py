"""A flow's share beside others, against its share in the contender that it is compared with: beside its own kind.

The runs of a cell with the same seed are pairs, and all such comparisons are judged together, as everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from headway.analysis.analysis import Analysis
from headway.analysis.compare import Comparison, compare
from headway.analysis.contest import Contest, Pairing
from headway.analysis.difference import Difference
from headway.analysis.metric import metric_named
from headway.analysis.shares import EVEN_PART, NameShares, Shares, shares
from headway.analysis.verdict import Basis

_GOODPUT = metric_named("goodput_mbit")


class Getting(StrEnum):
    """How what a flow gets in one contender differs from what it gets in another."""

    MORE = "more"
    LESS = "less"
    AS_MUCH = "as much"
    UNCLEAR = "not clear"
    TOO_FEW = "too few runs"


@dataclass(frozen=True)
class BesideOthers:
    """What the flows of a name get in two contenders of a cell.

    Attributes:
        pairing: the contenders.
        named: the flows' name.
        one: what the contender's flows got.
        other: what the other's got.
        found: the comparison of what one of them got.
    """

    pairing: Pairing
    named: str
    one: Shares
    other: Shares
    found: Comparison

    @property
    def difference(self) -> Difference:
        """Of what one of them got."""
        return self.found.difference

    @property
    def getting(self) -> Getting:
        """Whether it gets more or less: where the interval of the ratio lies."""
        interval = self.difference.interval
        if self.found.basis is Basis.TOO_FEW:
            return Getting.TOO_FEW
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
    met = [
        (pairing, left, other, ours, theirs)
        for pairing in analysis.pairings
        for cell in analysis.cells
        if (left := known.get((cell.name, pairing.contender)))
        and (other := known.get((cell.name, pairing.against)))
        for ours, theirs in _common(left, other)
    ]
    contests = [
        Contest(pairing, ours.measured, theirs.measured) for pairing, _, _, ours, theirs in met
    ]
    return tuple(
        BesideOthers(pairing, ours.named, first, other, comparison)
        for (pairing, first, other, ours, _), comparison in zip(
            met, compare(contests, _GOODPUT), strict=True
        )
    )


def _common(shares: Shares, other: Shares) -> list[tuple[NameShares, NameShares]]:
    return [(ours, theirs) for ours in shares.names if (theirs := other.of(ours.named))]
