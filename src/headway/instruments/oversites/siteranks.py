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
    size = next((one for one in traits_of_sites(analysis) if one.name == "size"), None)
    if size is None:
        return ()
    found = []
    for site, points in _points(analysis).items():
        if len(points) >= _FEWEST_POINTS:
            held, metric, loss = zip(*points, strict=True)
            three = _ranks(held, metric), _ranks(metric, loss), _ranks(held, loss)
            found.append(SiteRanks(site, size.of[site], len(points), *three))
    return tuple(sorted(found, key=lambda one: (one.size_bytes, one.site)))


def _points(analysis: Analysis) -> Mapping[str, list[_Point]]:
    found: dict[str, list[_Point]] = {}
    columns = ("hol_bytes", analysis.metric.column)
    of = [medians(analysis, name) for name in columns]
    loss = medians(analysis, "loss_pct")
    for network in networks(analysis):
        for site, cell in network.cells.items():
            for name in analysis.contenders:
                one, other = (cell.name, name), (cell.name, analysis.baseline)
                if one != other and all(one in known and other in known for known in of):
                    held, metric = (difference_of(known[one], known[other]) for known in of)
                    found.setdefault(site, []).append(_Point(held, metric, loss[one]))
    return found


def _ranks(one: Sequence[float], other: Sequence[float]) -> Ranks | None:
    if len(set(one)) < 2 or len(set(other)) < 2:
        return None
    from scipy import stats

    told = stats.spearmanr(one, other)
    return Ranks(float(told.statistic), float(told.pvalue))
