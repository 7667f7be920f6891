"""The rules of claims about sites: a share of them, a median over them, a correlation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from headway.analysis.cells import Cell
from headway.analysis.claim_estimate import Finding
from headway.analysis.claimruns import ClaimRuns, Group
from headway.analysis.contest import Pairing
from headway.analysis.strata import strata
from headway.instruments.populations.deltas import SiteEstimate, deltas_of, over_sites_of, pearson
from headway.planning.region import Region
from headway.study.population import SITES_AXIS
from headway.study.siterules import ColumnPair, SiteMedian, SiteShare

SiteRule = SiteShare | SiteMedian | ColumnPair


def _findings(runs: ClaimRuns, groups: Sequence[Group], rule: SiteRule) -> list[list[Finding]]:
    rows = runs.rows(groups, SITES_AXIS)
    return [[_site_finding(runs, rule, [cell for (cell,) in row])] for row in rows]


FINDINGS = dict.fromkeys((SiteShare, SiteMedian, ColumnPair), _findings)
"""By rule, what has to lie where in each network."""


def _site_finding(runs: ClaimRuns, rule: SiteRule, cells: Sequence[Cell]) -> Finding:
    """What the sites of a network, whose cells are given, show for such a rule."""
    of_share = isinstance(rule, SiteShare)  # More than `low`, less than `high`.
    region = Region.of(rule.value, rule.low, rule.high, has_edges=not of_share)
    if isinstance(rule, ColumnPair):
        return _columns(runs, rule, cells, region)
    pairing = Pairing(rule.contender, rule.against)
    deltas = deltas_of(runs.analysis, {cell.name: cell for cell in cells}, pairing).weighted
    weighted = ", weighted" if deltas.is_weighted else ""
    n = len(deltas.sites)
    if isinstance(rule, SiteMedian):
        what = f"{_where(runs, cells)}{pairing}, median delta{weighted}"
        return _finding(what, deltas.median if n else None, region, n, "")
    low = -1.0 if rule.above is None else float(np.nextafter(rule.above, 1))
    share = deltas.share(low, 2.0 if rule.below is None else rule.below)
    what = f"{_where(runs, cells)}{pairing}, sites with a delta {_range(rule)}{weighted}"
    return _finding(what, _percent(share) if n else None, region, n, "%")


def _columns(runs: ClaimRuns, rule: ColumnPair, cells: Sequence[Cell], region: Region) -> Finding:
    known = strata(runs.analysis)
    names: list[str] = []
    rows: list[tuple[float, ...]] = []
    for cell in cells:
        values = [runs.column(cell, rule.contender, name) for name in rule.columns]
        there = tuple(value for value in values if value is not None)
        if len(there) == len(values):
            names.append(known.get(cell.name, ""))
            rows.append(there)
    what = f"{_where(runs, cells)}{rule.contender}, {' and '.join(rule.columns)}"
    table = np.asarray(rows, dtype=float)
    if len(rows) < 3 or not (table.std(axis=0) > 0).all():
        return Finding(what, None, None, region, len(rows), "", "site")
    site_estimate = over_sites_of(names, table, pearson)
    return _finding(what, site_estimate, region, len(rows), "")


def _finding(
    what: str, site_estimate: SiteEstimate | None, region: Region, n: int, unit: str
) -> Finding:
    if site_estimate is None:
        return Finding(what, None, None, region, n, unit, "site")
    return Finding(what, site_estimate.value, site_estimate.interval, region, n, unit, "site")


def _percent(share: SiteEstimate) -> SiteEstimate:
    interval = share.interval.scaled(100) if share.interval else None
    return replace(share, value=100 * share.value, interval=interval)


def _range(rule: SiteShare) -> str:
    ends = (("above", rule.above), ("below", rule.below))
    return " and ".join(f"{name} {end:g}" for name, end in ends if end is not None)


def _where(runs: ClaimRuns, cells: Sequence[Cell]) -> str:
    """What the cells have in common beside the site, and how many they are; of which strata."""
    conditions = runs.analysis.conditions
    shared = [
        factor.titles[first]
        for factor, first, *others in zip(
            conditions.factors, *(cell.levels for cell in cells), strict=True
        )
        if set(others) <= {first} and len(factor.levels) > 1
    ]
    text = ", ".join([*shared, *runs.claim.strata])
    return f"{text}: " if text else ""
