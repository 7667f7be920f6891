"""Gaps to an oracle: how much of its gain each contender, and each simple rule, reaches in a network."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell
from headway.analysis.networks import Network, networks
from headway.instruments.oversites.oracle import (
    FEWEST_REPETITIONS,
    Gain,
    Logs,
    cross_fitted,
    elsewhere_best,
    flattered,
    gains,
)
from headway.instruments.oversites.siteclasses import ALL, SiteClass, site_classes

ORACLE = "best for each site"
FLATTERED = "the same, not cross-fitted"
_ONE_FOR_ALL = "one for all sites"


@dataclass(frozen=True)
class SiteGap:
    """What ways to choose a contender gain over the baseline in a network.

    Attributes:
        network: its title.
        sites: at how many sites every contender was measured often enough.
        baseline: what all are set against.
        contenders: the others.
        ways: by name: every contender but the baseline, one for all sites, one for each class by a trait, and the
            oracle; and what the oracle would tell if it were judged by what it chose by.
    """

    network: str
    sites: int
    baseline: str
    contenders: tuple[str, ...]
    ways: dict[str, Gain]

    @property
    def oracle(self) -> Gain:
        return self.ways[ORACLE]

    @property
    def shown(self) -> bool:
        """Whether choosing by site gains more than chance may."""
        return self.oracle.closed is not None


@lru_cache(maxsize=32)
def gaps(analysis: Analysis) -> tuple[SiteGap, ...]:
    """The gap in each network; none if there are few sites, or few repetitions, or one contender."""
    metric = analysis.metric
    if len(analysis.contenders) < 2 or not metric.less_is_better or metric.best is not None:
        return ()
    site_gaps = (_gap(analysis, network) for network in networks(analysis))
    return tuple(gap for gap in site_gaps if gap)


def _gap(analysis: Analysis, network: Network) -> SiteGap | None:
    tables = {
        site: table
        for site, cell in network.cells.items()
        if (table := _table(cell, analysis.contenders)) is not None
    }
    if len(tables) < 3:
        return None
    base = analysis.contenders.index(analysis.baseline)
    results = [cross_fitted(table) for table in tables.values()]
    medians = np.array([np.median(table, axis=1) for table in tables.values()])
    strategies = np.array([result.strategies for result in results])
    columns = {
        name: strategies[:, place] - strategies[:, base]
        for place, name in enumerate(analysis.contenders)
        if place != base
    }
    for name, chosen in _rules(analysis, medians, tuple(tables)):
        columns[name] = strategies[np.arange(len(chosen)), chosen] - strategies[:, base]
    columns[ORACLE] = np.array([result.oracle for result in results]) - strategies[:, base]
    best = np.array([flattered(table) for table in tables.values()])
    columns[FLATTERED] = best - medians[:, base]
    oracle = list(columns).index(ORACLE)
    ways = gains(np.column_stack(list(columns.values())), oracle)
    others = tuple(name for name in analysis.contenders if name != analysis.baseline)
    words = dict(zip(columns, ways, strict=True))
    return SiteGap(network.title, len(tables), analysis.baseline, others, words)


def _table(cell: Cell, contenders: Sequence[str]) -> Logs | None:
    """Logarithms by contender and repetition, of the repetitions that all of them finished."""
    sides = [cell.side(name) for name in contenders]
    values = [
        {(run.seed, run.rep): run.value for run in side.observations if run.value > 0}
        if side
        else {}
        for side in sides
    ]
    common = sorted(set.intersection(*map(set, values)))
    if len(common) < FEWEST_REPETITIONS:
        return None
    return np.array([[math.log(value[run]) for run in common] for value in values])


def _rules(
    analysis: Analysis, medians: Logs, sites: Sequence[str]
) -> Iterator[tuple[str, list[int]]]:
    """For each rule, which contender each site gets: what is best at the other sites of its class."""
    by_trait: dict[str, list[SiteClass]] = {}
    for site_class in site_classes(analysis):
        by_trait.setdefault(site_class.trait, []).append(site_class)
    for trait, classes in by_trait.items():
        of_site = {
            site: number for number, site_class in enumerate(classes) for site in site_class.sites
        }
        numbers = np.array([of_site[site] for site in sites])
        alike = [numbers == number for number in numbers]
        name = _ONE_FOR_ALL if trait == ALL else f"best by {trait}"
        yield name, elsewhere_best(medians, alike)
