"""Orders of a page's responses: what sizes alone say that sharing does to it, beside what orders did."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import polars as pl

from headway.analysis.analysis import Analysis
from headway.analysis.correlation import rank_correlation
from headway.analysis.networks import medians, networks
from headway.statistics.interval import Interval

_SHOWN = frozenset(
    {"speed_index_s", "fvc_s", "lvc_s", "vc85_s", "vc95_s", "vc99_s", "fcp_s", "lcp_s"}
)
_IN_ORDER = re.compile(r"(?:priorities=chrome|scheduler=sequential)\b")


@dataclass(frozen=True)
class OrderedSite:
    """A site in a network.

    Attributes:
        site: its name.
        told: `shared_bytes` over `ordered_bytes`, of the baseline's loads.
        measured: by contender, its median over the baseline's.
    """

    site: str
    told: float
    measured: Mapping[str, float]


@lru_cache(maxsize=32)
def ordered_sites(analysis: Analysis) -> Mapping[str, tuple[OrderedSite, ...]]:
    """Sites by network, of a metric of what is shown.

    None unless the baseline sends one response after the other, and loads tell what is seen.
    """
    base = analysis.baseline
    if analysis.metric.column not in _SHOWN or not _is_in_order(analysis, base):
        return {}
    values = medians(analysis, analysis.metric.column)
    shared, ordered = (medians(analysis, name) for name in ("shared_bytes", "ordered_bytes"))
    result = {}
    for network in networks(analysis):
        sites = []
        for site, cell in network.cells.items():
            its = cell.name, base
            if not (values.get(its) and shared.get(its) and ordered.get(its)):
                continue
            measured = {
                name: values[cell.name, name] / values[its]
                for name in analysis.contenders
                if name != base and values.get((cell.name, name))
            }
            if measured:
                sites.append(OrderedSite(site, shared[its] / ordered[its], measured))
        if sites:
            result[network.title] = tuple(sites)
    return result


def rank_agreement(
    sites: tuple[OrderedSite, ...], contender: str
) -> tuple[float | None, Interval | None]:
    """Spearman's rank correlation of what is told and what was measured, over sites."""
    return rank_correlation(
        [(site.told, site.measured[contender]) for site in sites if contender in site.measured]
    )


def _is_in_order(analysis: Analysis, contender: str) -> bool:
    knobs = analysis.runs.filter(pl.col("contender") == contender)["knobs"].drop_nulls()
    return any(_IN_ORDER.search(value) for value in knobs.unique())
