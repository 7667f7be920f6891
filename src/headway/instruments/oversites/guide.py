"""The best contender at the sites of a class in a network: a site is one observation.

Of a site there is the median of a contender's runs; two contenders are compared by the ratios of these medians
over the class' sites, as the pairs of a cell are: Wilcoxon's signed ranks, Hodges and Lehmann's typical ratio. Chance is
which sites a class has, so that what is said holds for other sites like these.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from headway.analysis.analysis import Analysis
from headway.analysis.difference import NEGLIGIBLE, Difference, of_pairs
from headway.analysis.networks import Network, medians, networks
from headway.analysis.paired import log_ratio, typical
from headway.analysis.significance import TestResult, adjusted, interval_level, wilcoxon
from headway.instruments.oversites.siteclasses import SiteClass, site_classes

Values = Mapping[str, Mapping[str, float]]
"""Of each contender, the medians by site."""


@dataclass(frozen=True)
class Best:
    """The best contender at the sites of a class in a network.

    Attributes:
        network: its title.
        sites: the class.
        count: its sites at which every contender was measured.
        contender: the best at these sites, by its typical ratio to the baseline.
        leaders: it, and those that are not clearly worse, in the study's order.
        against: what it is set against: the baseline, or if it is that itself, the next best.
        difference: from that, typically.
        test: the same, adjusted for all pairs of contenders in all networks and classes by this trait.
        decided: whether chance is not why: the baseline is clearly worse, or all others are clearly worse
            than the baseline, by 1 % at least.
    """

    network: str
    sites: SiteClass
    count: int
    contender: str
    leaders: tuple[str, ...]
    against: str
    difference: Difference
    test: TestResult | None
    decided: bool


@lru_cache(maxsize=32)
def guide(analysis: Analysis) -> tuple[Best, ...]:
    """The best contender in each network and class of sites; nothing if there are few sites."""
    if len(analysis.contenders) < 2:
        return ()
    values = medians(analysis, analysis.metric.column)
    classes = itertools.groupby(site_classes(analysis), key=lambda site_class: site_class.trait)
    return tuple(best for _, alike in classes for best in _of_trait(analysis, values, list(alike)))


@dataclass(frozen=True)
class _Contest:
    """What is measured of all contenders at the sites of a class in a network."""

    network: str
    sites: SiteClass
    values: Values

    @property
    def count(self) -> int:
        return len(next(iter(self.values.values())))

    def logs(self, text: str, other: str) -> list[float]:
        ours, theirs = self.values[text], self.values[other]
        return [log_ratio(ours[site], theirs[site]) for site in ours]


def _of_trait(
    analysis: Analysis, values: Mapping[tuple[str, str], float], classes: Sequence[SiteClass]
) -> Iterator[Best]:
    """Those of the classes by one trait, which are one family of tests."""
    contests = [
        result
        for network in networks(analysis)
        for sites in classes
        if (result := _contest(analysis.contenders, values, network, sites)).count > 1
    ]
    pairs = list(itertools.combinations(analysis.contenders, 2))
    tests = adjusted(wilcoxon([contest.logs(*pair) for contest in contests for pair in pairs]))
    level = interval_level([test for test in tests if test])
    for place, contest in enumerate(contests):
        own = tests[place * len(pairs) : (place + 1) * len(pairs)]
        yield _best(analysis, contest, dict(zip(pairs, own, strict=True)), level)


def _contest(
    contenders: Iterable[str],
    values: Mapping[tuple[str, str], float],
    network: Network,
    sites: SiteClass,
) -> _Contest:
    names = list(contenders)
    cells = {site: network.cells[site].name for site in sites.sites if site in network.cells}
    known = {site: cell for site, cell in cells.items() if all((cell, n) in values for n in names)}
    own = {name: {site: values[cell, name] for site, cell in known.items()} for name in names}
    return _Contest(network.title, sites, own)


Pair = tuple[str, str]


def _best(
    analysis: Analysis,
    contest: _Contest,
    tests: Mapping[Pair, TestResult | None],
    level: float,
) -> Best:
    """The contender that comes first, whom it leads, and whether that says anything."""
    sign = 1 if analysis.metric.less_is_better else -1
    base = analysis.baseline
    place = {name: sign * typical(contest.logs(name, base)) for name in analysis.contenders}
    first, second, *_ = sorted(analysis.contenders, key=lambda name: place[name])

    def test(text: str, other: str) -> TestResult | None:
        return tests.get((text, other)) or tests.get((other, text))

    def clearly(other: str) -> bool:
        test_result = test(first, other)
        return test_result is not None and test_result.significant

    leaders = tuple(n for n in analysis.contenders if n == first or not clearly(n))
    against = base if first != base else second
    difference = of_pairs(contest.logs(first, against), level=level)
    matters = abs(difference.relative or 0) >= NEGLIGIBLE
    clear = base not in leaders or leaders == (base,)
    return Best(
        network=contest.network,
        sites=contest.sites,
        count=contest.count,
        contender=first,
        leaders=leaders,
        against=against,
        difference=difference,
        test=test(first, against),
        decided=clear and matters,
    )
