"""Differences over the sites of a population, each an observation: H3-Delta, shares of sites, and intervals over sites.

A site's difference is that of the medians of its visits over the larger of them (Perna et al. 2022, equation 1).
Intervals resample the sites of each stratum, which is how they were drawn, or all sites together if a stratum has few;
of shares, they are exact. A visit that timed out ranks as the worst. Numbers over several strata are of the sample, or
weighted by how many sites each stratum stands for, if the study says or knows that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell
from headway.analysis.contest import Pairing
from headway.analysis.effects import delta_of
from headway.analysis.intervals import RESAMPLES, percentile_interval
from headway.analysis.networks import Network, networks
from headway.analysis.strata import strata
from headway.instruments.populations.weights import weighted_median, weighted_share_interval
from headway.statistics.interval import Interval

Matrix = NDArray[np.float64]
APART = 0.1
"""Differences beyond it make the classes of Perna et al. 2022, section 5.2."""
_HALF = 0.5
FEWEST_SITES = 6
"""Of fewer sites, no interval has 95 %."""


@dataclass(frozen=True)
class SiteEstimate:
    """A number over sites, and its interval; None of too few sites."""

    value: float
    interval: Interval | None


@dataclass(frozen=True)
class SiteDelta:
    """A site: its name, its stratum, the cell of its visits, and how much longer it took, from -1 to 1."""

    site: str
    stratum: str
    cell: str
    delta: float


@dataclass(frozen=True)
class PopulationDeltas:
    """A contender against another at the sites of a population, in one network.

    Attributes:
        network: what varies beside the site, in words; empty if nothing does.
        pairing: who against whom.
        sites: in ascending order of the difference.
        missing: the strata of the sites without a difference: a contender had no result, or both typically timed out.
        less_is_better: whether a difference below 0 is for the contender.
        stands_for: how many sites each stratum stands for; empty if that is not known.
        is_weighted: whether sites count by that, and not each the same.
    """

    network: str
    pairing: Pairing
    sites: tuple[SiteDelta, ...]
    missing: tuple[str, ...] = ()
    less_is_better: bool = True
    stands_for: tuple[tuple[str, float], ...] = ()
    is_weighted: bool = False

    @property
    def strata(self) -> tuple[str, ...]:
        """The strata, the largest first."""
        names = [site.stratum for site in self.sites]
        return tuple(sorted(dict.fromkeys(names), key=lambda name: (-names.count(name), name)))

    def of(self, strata: Iterable[str]) -> PopulationDeltas:
        """The same of some strata."""
        kept = set(strata)
        return replace(
            self,
            sites=tuple(site for site in self.sites if site.stratum in kept),
            missing=tuple(text for text in self.missing if text in kept),
        )

    @property
    def values(self) -> tuple[float, ...]:
        return tuple(site.delta for site in self.sites)

    @property
    def ahead(self) -> SiteEstimate:
        """The share of sites at which the contender is better; equal sites are on neither side."""
        return self._less if self.less_is_better else self._more

    @property
    def behind(self) -> SiteEstimate:
        """The share of sites at which it is worse."""
        return self._more if self.less_is_better else self._less

    @property
    def majority(self) -> int:
        """1 if the contender is shown to be ahead at most sites, -1 if behind at most, 0 if neither is shown."""
        for share, side in ((self.ahead, 1), (self.behind, -1)):
            if share.interval is not None and share.interval.low > _HALF:
                return side
        return 0

    @property
    def _less(self) -> SiteEstimate:
        return self.share(-1.0, 0.0)

    @property
    def _more(self) -> SiteEstimate:
        return self.share(math.nextafter(0, 1), 2.0)

    @property
    def classes(self) -> tuple[SiteEstimate, SiteEstimate, SiteEstimate]:
        """Shares of sites below -0.1, within 0.1, and above 0.1."""
        edge = np.nextafter(APART, 1)
        return self.share(-1.0, -APART), self.share(-APART, float(edge)), self.share(float(edge), 2)

    def share(self, low: float, high: float) -> SiteEstimate:
        """The share of sites from one difference up to below another, with its exact interval."""
        if not self.sites:
            return SiteEstimate(0.0, None)
        inside, weights = np.array([low <= value < high for value in self.values]), self.weights
        value = float(weights[inside].sum() / weights.sum())
        return SiteEstimate(value, weighted_share_interval(inside, weights))

    @property
    def median(self) -> SiteEstimate:
        """The median difference, with its interval over sites."""
        rows = np.column_stack([self.values, self.weights])
        return over_sites_of(self.strata_of_sites, rows, weighted_median)

    @property
    def weighted(self) -> PopulationDeltas:
        """The same with each site counting for those it stands for; itself if that is not known, or of one stratum."""
        return replace(self, is_weighted=bool(self.stands_for) and len(self.strata) > 1)

    @property
    def weights(self) -> Matrix:
        """What each site counts."""
        names, known = self.strata_of_sites, dict(self.stands_for)
        if not self.is_weighted:
            return np.ones(len(names))
        return np.array([known[name] / names.count(name) for name in names])

    @property
    def strata_of_sites(self) -> tuple[str, ...]:
        return tuple(site.stratum for site in self.sites)


@lru_cache(maxsize=32)
def population_deltas(analysis: Analysis) -> tuple[PopulationDeltas, ...]:
    """The differences of every comparison in every network; nothing if there is no population."""
    if not strata(analysis):
        return ()
    networks_deltas = (
        deltas_of(analysis, network.cells, pairing, network.title)
        for network in networks_as_studied(analysis)
        for pairing in by_importance(analysis)
    )
    return tuple(deltas for deltas in networks_deltas if deltas.sites)


def networks_as_studied(analysis: Analysis) -> list[Network]:
    """The networks in the study's order, in which the first is what the others are compared with."""
    places = {cell.name: place for place, cell in enumerate(analysis.cells_as_studied)}
    result = networks(analysis, least=1)
    return sorted(
        result, key=lambda network: min(places[cell.name] for cell in network.cells.values())
    )


def by_importance(analysis: Analysis) -> list[Pairing]:
    """The comparisons, HTTP/3 against HTTP/2 first."""
    return sorted(analysis.pairings, key=lambda pairing: not analysis.is_h3_delta(pairing))


def main_deltas(analysis: Analysis) -> tuple[PopulationDeltas, ...]:
    """Those of the most important comparison, network by network."""
    networks_deltas = population_deltas(analysis)
    return tuple(
        deltas for deltas in networks_deltas if deltas.pairing == networks_deltas[0].pairing
    )


def weighted_deltas(analysis: Analysis) -> tuple[PopulationDeltas, ...]:
    """The same, of the sites that the sample stands for, as far as that is known."""
    return tuple(main_delta.weighted for main_delta in main_deltas(analysis))


def over_sites_of(
    strata_of_sites: Sequence[str],
    rows: Sequence[float] | Sequence[tuple[float, ...]] | Matrix,
    statistic: Callable[[Matrix], float],
) -> SiteEstimate:
    """A statistic of the sites, and its interval by resampling the sites.

    Args:
        strata_of_sites: the stratum of every site.
        rows: of every site a value, or several.
        statistic: of such rows.
    """
    table = np.asarray(rows, dtype=float)
    value = float(statistic(table))
    if len(table) < FEWEST_SITES:
        return SiteEstimate(value, None)
    groups = _resampled_together(strata_of_sites)
    draw = np.random.default_rng((len(table), len(groups)))
    resampled = []
    for _ in range(RESAMPLES):
        places = np.concatenate([draw.choice(group, len(group)) for group in groups])
        resampled.append(float(statistic(table[places])))
    usable = np.asarray([estimate for estimate in resampled if np.isfinite(estimate)])
    return SiteEstimate(value, percentile_interval(usable, len(table)) if len(usable) else None)


def pearson(rows: Matrix) -> float:
    """Pearson's correlation of two columns; not a number if one does not vary."""
    if not (rows.std(axis=0) > 0).all():
        return float("nan")
    return float(np.corrcoef(rows[:, 0], rows[:, 1])[0, 1])


def _resampled_together(strata_of_sites: Sequence[str]) -> list[NDArray[np.intp]]:
    """The places of the sites of each stratum; of all sites if a stratum has too few to vary as its provider's do."""
    names = np.asarray(strata_of_sites)
    groups = [np.flatnonzero(names == name) for name in sorted(set(strata_of_sites))]
    if min(len(group) for group in groups) < FEWEST_SITES:
        return [np.arange(len(names))]
    return groups


def deltas_of(
    analysis: Analysis, cells: Mapping[str, Cell], pairing: Pairing, network: str = ""
) -> PopulationDeltas:
    """The differences of two contenders at sites, whose cells in a network are given by site."""
    known, less = strata(analysis), analysis.metric.less_is_better
    sites: list[SiteDelta] = []
    missing: list[str] = []
    for site, cell in cells.items():
        stratum, value = known.get(cell.name, ""), _delta(cell, pairing, less_is_better=less)
        if value is None:
            missing.append(stratum)
        else:
            sites.append(SiteDelta(site, stratum, cell.name, value))
    ordered = sorted(sites, key=lambda site_delta: (site_delta.delta, site_delta.site))
    population = analysis.experiment.population
    stands_for = tuple(population.stands_for.items()) if population else ()
    return PopulationDeltas(
        network, pairing, tuple(ordered), tuple(sorted(missing)), less, stands_for
    )


def _delta(cell: Cell, pairing: Pairing, *, less_is_better: bool) -> float | None:
    """Difference of the medians of all visits; of one that typically timed out, as far as it can be."""
    worst = math.inf if less_is_better else 0.0
    sides = cell.side(pairing.contender), cell.side(pairing.against)
    first, other = (side.measured.typical(worst) if side else None for side in sides)
    if first is None or other is None or first == other == worst:
        return None
    if math.inf in (first, other):
        return 1.0 if first > other else -1.0
    return delta_of(first, other)
