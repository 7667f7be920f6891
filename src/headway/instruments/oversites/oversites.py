"""Differences over many sites in each setting, by the rule of Sander et al. 2022 beside our own.

Their difference is that of the medians, relative to the other's; it is significant if the Mann-Whitney U test of a site's
runs says so at p < 0.005, whatever the number of sites (section V).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell
from headway.analysis.compare import Comparison
from headway.analysis.contest import Pairing
from headway.analysis.networks import networks

_EPSILON = 1e-10
"""Of both medians, so that none divides by zero."""
_ALPHA = 0.005


@dataclass(frozen=True)
class SiteDifference:
    """A contender against another at a site.

    Attributes:
        site: the level of the factor.
        relative: difference of the medians over the other's median.
        significant: by the U test alone.
    """

    site: str
    relative: float
    significant: bool


@dataclass(frozen=True)
class OverSites:
    """A contender against another at all sites of a setting, in ascending order of the difference."""

    setting: str
    pairing: Pairing
    sites: tuple[SiteDifference, ...]

    def below(self, share: float) -> int:
        """At how many sites the contender's median is lower by more than that share."""
        return sum(site.relative < -share for site in self.sites)

    def above(self, share: float) -> int:
        """At how many it is higher by more."""
        return sum(site.relative > share for site in self.sites)


def over_sites(analysis: Analysis, pairings: Sequence[Pairing]) -> tuple[OverSites, ...]:
    """For each setting and comparison, the differences at all sites; nothing if there are few sites."""
    site_groups = []
    for network in networks(analysis):
        for pairing in pairings:
            sites = (_at(site, cell, pairing) for site, cell in network.cells.items())
            known = sorted(
                (site_difference for site_difference in sites if site_difference),
                key=lambda site_difference: site_difference.relative,
            )
            if known:
                site_groups.append(OverSites(network.title, pairing, tuple(known)))
    return tuple(site_groups)


def _at(site: str, cell: Cell, pairing: Pairing) -> SiteDifference | None:
    comparison = cell.comparison(pairing)
    if comparison is None or comparison.sample is None or comparison.against_sample is None:
        return None
    apart = difference_of(comparison.sample.median, comparison.against_sample.median)
    return SiteDifference(site, apart, _is_significant(comparison))


def difference_of(value: float, other: float) -> float:
    """Of two medians, over the other, as Sander et al. 2022 have it."""
    return (value + _EPSILON) / (other + _EPSILON) - 1


def _is_significant(comparison: Comparison) -> bool:
    return comparison.mann_whitney is not None and comparison.mann_whitney.p < _ALPHA
