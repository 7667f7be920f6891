"""Rank correlations of bytes held back, a metric and loss at each site, as in Sander et al. 2022, Figure 7."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from headway.analysis.analysis import Analysis
from headway.analysis.networks import medians, networks
from headway.instruments.oversites.oversites import difference_of
from headway.instruments.oversites.siteclasses import traits_of_sites

_FEWEST_POINTS = 6


class Ranks(NamedTuple):
    """Spearman's rank correlation, and how often chance alone gives one as large."""

    rho: float
    p: float


@dataclass(frozen=True)
class SiteRanks:
    """Rank correlations at a site, over contenders and networks.

    Attributes:
        site: its name.
        size_bytes: of its page.
        points: how many contenders in networks there are.
        held_metric: of the differences from the baseline in bytes held back and in the metric; None if one does not vary.
        metric_loss: of the metric's difference and the paths' loss, likewise.
        held_loss: of the difference in bytes held back and the paths' loss, likewise.
    """

    site: str
    size_bytes: float
    points: int
    held_metric: Ranks | None
    metric_loss: Ranks | None
    held_loss: Ranks | None


class _Point(NamedTuple):
    held: float
    metric: float
    loss: float


@lru_cache(maxsize=32)
def site_ranks(analysis: Analysis) -> tuple[SiteRanks, ...]:
    """The correlations at each site, the smallest page first; none if nothing tells what was held back."""
    size = next((trait for trait in traits_of_sites(analysis) if trait.name == "size"), None)
    if size is None:
        return ()
    networks_ranks = []
    for site, points in _points(analysis).items():
        if len(points) >= _FEWEST_POINTS:
            values, metric, loss = zip(*points, strict=True)
            three = _ranks(values, metric), _ranks(metric, loss), _ranks(values, loss)
            networks_ranks.append(SiteRanks(site, size.of[site], len(points), *three))
    return tuple(sorted(networks_ranks, key=lambda ranks: (ranks.size_bytes, ranks.site)))


def _points(analysis: Analysis) -> Mapping[str, list[_Point]]:
    points: dict[str, list[_Point]] = {}
    columns = ("hol_bytes", analysis.metric.column)
    of = [medians(analysis, name) for name in columns]
    loss = medians(analysis, "loss_pct")
    for network in networks(analysis):
        for site, cell in network.cells.items():
            for name in analysis.contenders:
                first, other = (cell.name, name), (cell.name, analysis.baseline)
                if first != other and all(first in known and other in known for known in of):
                    value, metric = (difference_of(known[first], known[other]) for known in of)
                    points.setdefault(site, []).append(_Point(value, metric, loss[first]))
    return points


def _ranks(values: Sequence[float], other: Sequence[float]) -> Ranks | None:
    if len(set(values)) < 2 or len(set(other)) < 2:
        return None
    from scipy import stats

    significance_result = stats.spearmanr(values, other)
    return Ranks(float(significance_result.statistic), float(significance_result.pvalue))
