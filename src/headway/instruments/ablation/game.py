"""Parts of a difference by cause: Shapley values over sets of causes, seed by seed."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from headway.analysis.paired import typical, typical_interval
from headway.statistics.interval import Interval

Causes = frozenset[str]
"""The causes that are as they are of the contender; all others are as they are of the other one."""
Logs = Mapping[Causes, Mapping[int, float]]
"""Logarithm of what was measured with some causes, by seed."""
MOST_EXACT = 4
"""Causes of which all sets are tried; of more, those that some orders pass through."""
_ORDERS = 6
"""Orders in which more causes are switched, each with its reverse."""


@dataclass(frozen=True)
class Share:
    """What goes with a cause, as a logarithm of a ratio.

    Attributes:
        name: of the cause.
        log: its Shapley value, that of the typical seed.
        interval: of that; None of too few seeds.
        first: the same if it is switched before all others.
        last: if it is switched after all others.
    """

    name: str
    log: float
    interval: Interval | None
    first: float
    last: float

    @property
    def is_shown(self) -> bool:
        """Whether it is more than chance."""
        return self.interval is not None and not self.interval.holds(0)


def orders(names: Sequence[str]) -> list[tuple[str, ...]]:
    """The orders in which causes are switched: all, or of many some, each with its reverse (Castro et al. 2009)."""
    if len(names) <= MOST_EXACT:
        return list(permutations(names))
    shuffler = random.Random(1)
    chosen: list[tuple[str, ...]] = []
    for _ in range(_ORDERS):
        order = tuple(shuffler.sample(list(names), len(names)))
        chosen += [order, order[::-1]]
    return chosen


def sets_of(names: Sequence[str]) -> list[Causes]:
    """The sets of causes that have to be tried, the fewest first; each cause is switched first and last, too."""
    tried = {frozenset(order[:count]) for order in orders(names) for count in range(len(order) + 1)}
    whole = frozenset(names)
    ends = {frozenset({name}) for name in names} | {whole - {name} for name in names}
    return sorted(
        tried | ends | {whole, frozenset()}, key=lambda causes: (len(causes), *sorted(causes))
    )


def shares(names: Sequence[str], logs: Logs) -> tuple[Share, ...]:
    """What goes with each cause. Over all causes, the shares of a seed sum to its whole difference (Shapley 1953).

    Args:
        names: of the causes.
        logs: what was measured, of all sets of `sets_of`.
    """
    every = orders(names)
    seeds = common_seeds(logs)
    whole, nothing = frozenset(names), Causes()
    result = []
    for name in names:
        steps = [
            (before | {name}, before)
            for order in every
            for before in [frozenset(order[: order.index(name)])]
        ]
        by_seed = [
            math.fsum(logs[after][seed] - logs[before][seed] for after, before in steps)
            / len(steps)
            for seed in seeds
        ]
        first = [logs[Causes({name})][seed] - logs[nothing][seed] for seed in seeds]
        last = [logs[whole][seed] - logs[whole - {name}][seed] for seed in seeds]
        result.append(share_of(name, by_seed, typical(first) or 0.0, typical(last) or 0.0))
    return tuple(result)


def share_of(name: str, by_seed: Sequence[float], first: float, last: float) -> Share:
    """A share of its values by seed: typical as differences of pairs are, so that a seed which is unlike all others decides nothing."""
    interval = typical_interval(by_seed)
    kept = interval if interval is not None and interval.reaches_level else None
    return Share(name, typical(by_seed) or 0.0, kept, first, last)


def common_seeds(logs: Logs) -> list[int]:
    """The seeds of which all sets were measured."""
    every = [set(by_seed) for by_seed in logs.values()]
    return sorted(set.intersection(*every)) if every else []


def interactions(names: Sequence[str], logs: Logs) -> dict[tuple[str, str], float]:
    """How much more two causes do together than each alone, of those of which all sets were tried."""
    nothing = Causes()
    seeds = common_seeds(logs)
    together = {}
    for first, second in combinations(names, 2):
        both = Causes({first, second})
        if both in logs:
            together[first, second] = statistics.fmean(
                logs[both][seed]
                - logs[Causes({first})][seed]
                - logs[Causes({second})][seed]
                + logs[nothing][seed]
                for seed in seeds
            )
    return together
