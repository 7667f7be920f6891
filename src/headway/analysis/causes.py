"""A difference without its cause: how much of it is left."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from headway.analysis.claim_estimate import Finding
from headway.analysis.claimruns import ClaimRuns, Group, Place
from headway.analysis.intervals import percentile_interval, resampled_means
from headway.planning.region import Region
from headway.study.cause import ClaimedCause

_FEWEST = 2
"""With fewer pairs there is nothing to draw from."""


def rest_without(runs: ClaimRuns, place: Place, cause: ClaimedCause) -> Finding:
    """The share of a difference that is left where contenders stand that lack the cause.

    The difference is the mean logarithm of the pairs' ratios, so that twice and half are as far from
    nothing; its share has a percentile bootstrap over seeds, which all four samples share. A difference that
    turns around without the cause has a negative share.

    Args:
        runs: of the claim.
        place: of the difference.
        cause: what is taken away.
    """
    region = Region(high=cause.leaves)
    what = f"{place.what}: left of it without {cause.what}"
    bare = replace(place, one=_without(place.one, cause), other=_without(place.other, cause))
    there, gone = _differences(runs, place), _differences(runs, bare)
    shared = sorted(set(there) & set(gone))
    if len(shared) < _FEWEST:
        return Finding(what, None, None, region, len(shared), "%")
    rows = np.array([(gone[key], there[key]) for key in shared])
    left, whole = rows.mean(axis=0)
    if whole == 0:
        return Finding(what, None, None, region, len(shared), "%")
    drawn = resampled_means(rows, stream=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = 100 * drawn[:, 0] / drawn[:, 1]
    interval = percentile_interval(np.nan_to_num(shares, nan=math.inf), len(shared))
    return Finding(what, float(100 * left / whole), interval, region, len(shared), "%")


def _without(
    side: tuple[Group, tuple[str, ...]], cause: ClaimedCause
) -> tuple[Group, tuple[str, ...]]:
    group, names = side
    return group, tuple(cause.without.get(name, name) for name in names)


def _differences(runs: ClaimRuns, place: Place) -> dict[tuple[int, int], float]:
    """Logarithms of the ratios of runs that share a seed."""
    first, other = (
        {(run.seed, run.rep): run.value for run in runs.measured(*side).observations}
        for side in (place.one, place.other)
    )
    return {
        key: math.log(first[key] / other[key])
        for key in first.keys() & other.keys()
        if first[key] > 0 and other[key] > 0
    }
