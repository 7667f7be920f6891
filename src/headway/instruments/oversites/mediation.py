"""Explanation by regression: whether what a strategy does to the transfer explains what it does to the page, other things held equal."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import polars as pl

from headway.analysis.analysis import Analysis
from headway.analysis.networks import medians, networks
from headway.instruments.oversites.regression import Fit, Matrix, Term, fit
from headway.instruments.oversites.siteclasses import SHARING, SiteTrait, traits_of_sites

HELD_BACK = "bytes held back"
BURST = "responses that a burst of losses touches"
FIRST = "share of bandwidth of what blocks rendering"
_ROUND_ROBIN = re.compile(r"(?:priorities|scheduler)=(?:batched-round-robin:(\d+)|round-robin\b)")


@dataclass(frozen=True)
class _Row:
    """A contender against the baseline at a site in a network."""

    site: str
    network: str
    contender: str
    log_ratio: float
    changes: Mapping[str, float | None]


@lru_cache(maxsize=32)
def explained(analysis: Analysis) -> Fit | None:
    """What explains the differences from the baseline, site by site; None if there are too few.

    Explained is the logarithm of the ratio of the medians. What may explain it are changes from the baseline in

    - bytes held back, as a share of the page's bytes;
    - the number of responses that a burst of losses of mean length touches, if strategies change the response every so
      many packets (as a logarithm);
    - the share of what had come when nothing blocked rendering any more that had blocked it;

    and how the site is made. Networks and contenders are held equal. p-values are adjusted for the number of terms by Holm.
    """
    rows = list(_rows(analysis))
    if not rows:
        return None
    changes = {
        name: np.array([row.changes[name] for row in rows], dtype=float)
        for name in (HELD_BACK, BURST, FIRST)
        if all(row.changes[name] is not None for row in rows)
    }
    made = {
        trait.name: np.array([_scaled(trait, row.site) for row in rows])
        for trait in traits_of_sites(analysis)
    }
    result = fit(
        np.array([row.log_ratio for row in rows]),
        [*changes.items(), *made.items()],
        np.column_stack(
            [*_dummies([row.network for row in rows]), *_dummies([row.contender for row in rows])]
        ),
        np.unique([row.site for row in rows], return_inverse=True)[1],
    )
    return _adjusted(result) if result else None


def _rows(analysis: Analysis) -> Iterator[_Row]:
    columns = ("hol_bytes", "page_bytes", "blocking_first_share", "loss_burst")
    of = {name: medians(analysis, name) for name in columns}
    values = medians(analysis, analysis.metric.column)
    batches = _batches(analysis)
    base = analysis.baseline
    for network in networks(analysis):
        for site, cell in network.cells.items():
            for name in analysis.contenders:
                first, other = values.get((cell.name, name)), values.get((cell.name, base))
                if name == base or not first or not other:
                    continue
                key, its = (cell.name, name), (cell.name, base)
                changes = {
                    HELD_BACK: _over(_change(of["hol_bytes"], key, its), of["page_bytes"].get(its)),
                    BURST: _touched(batches, name, base, of["loss_burst"].get(its)),
                    FIRST: _change(of["blocking_first_share"], key, its),
                }
                yield _Row(site, network.title, name, math.log(first / other), changes)


Place = tuple[str, str]


def _change(of: Mapping[Place, float], place: Place, other: Place) -> float | None:
    return of[place] - of[other] if place in of and other in of else None


def _over(value: float | None, whole: float | None) -> float | None:
    return None if value is None or not whole else value / whole


def _touched(
    batches: Mapping[str, int], text: str, other: str, burst: float | None
) -> float | None:
    """How much the number of responses in a burst of losses changes, as a logarithm to base 2."""
    if text not in batches or other not in batches or burst is None:
        return None
    ours, theirs = (max(1.0, burst / batches[name]) for name in (text, other))
    return math.log2(ours / theirs)


def _batches(analysis: Analysis) -> dict[str, int]:
    """After how many packets a contender goes on to the next response, of those that do so by number."""
    table = analysis.runs.group_by("contender").agg(pl.col("knobs").drop_nulls().first())
    by_value = {name: _ROUND_ROBIN.search(knobs or "") for name, knobs in table.iter_rows()}
    return {name: int(match[1] or 1) for name, match in by_value.items() if match}


def _scaled(trait: SiteTrait, site: str) -> float:
    """Sizes, counts and ratios as logarithms: what matters is how many times as large."""
    value = trait.of[site]
    return math.log(value) if trait.name in ("size", "resources", SHARING) else value


def _dummies(names: list[str]) -> list[Matrix]:
    """A column for each name but the first: 1 where it is the row's."""
    others = list(dict.fromkeys(names))[1:]
    result = [np.array([float(text == name) for text in names]) for name in others]
    return result or [np.ones(len(names))]


def _adjusted(results: Fit) -> Fit:
    """With p-values adjusted by Holm (1979)."""
    order = sorted(range(len(results.terms)), key=lambda place: results.terms[place].p)
    highest, terms = 0.0, list[Term](results.terms)
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * results.terms[place].p))
        terms[place] = replace(results.terms[place], p=highest)
    return replace(results, terms=tuple(terms))
