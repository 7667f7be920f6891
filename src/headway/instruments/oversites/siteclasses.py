"""Classes of sites by what their pages are made of, as the runs tell it."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from headway.analysis.analysis import Analysis
from headway.analysis.networks import medians, networks
from headway.analysis.numbers import data_size

_LEAST_SITES = 3
"""Of fewer, a class says nothing."""
ALL = "all sites"
SHARING = "what sharing puts before what is seen"


@dataclass(frozen=True)
class SiteTrait:
    """Something that sites differ in.

    Attributes:
        name: what it is, in a word or two.
        of: its value at each site.
        text: a value in words.
    """

    name: str
    of: Mapping[str, float]
    text: Callable[[float], str]


@dataclass(frozen=True)
class SiteClass:
    """Sites that are alike.

    Attributes:
        trait: in what; ``ALL`` of the class of all sites.
        title: which of them they are, in words.
        sites: their names.
    """

    trait: str
    title: str
    sites: tuple[str, ...]


def traits_of_sites(analysis: Analysis) -> tuple[SiteTrait, ...]:
    """Size, number of resources, what shares of a page block rendering and are images, and what sharing does to its order.

    A value is the median over the contenders and networks of a site of the medians of its runs; of the last, which
    depends on when a browser asked for something, of the baseline's. What some site's runs do not tell is left out.
    """
    size, count = _by_site(analysis, "page_bytes"), _by_site(analysis, "objects")
    base = (analysis.baseline,)
    shares = [
        SiteTrait(name, _share(_by_site(analysis, column), size), lambda share: f"{share:.0%}")
        for name, column in (("blocking", "blocking_bytes"), ("images", "image_bytes"))
    ]
    traits = (
        SiteTrait("size", size, lambda value: data_size(_rounded(value))),
        SiteTrait("resources", count, lambda value: f"{value:.0f}"),
        *shares,
        SiteTrait(
            SHARING,
            _share(*(_by_site(analysis, name, base) for name in ("shared_bytes", "ordered_bytes"))),
            lambda ratio: f"{ratio:.2f}",
        ),
    )
    sites = _sites(analysis)
    return tuple(trait for trait in traits if sites and set(trait.of) == sites)


def site_classes(analysis: Analysis) -> tuple[SiteClass, ...]:
    """All sites; then for each trait those up to its median, and those beyond."""
    everything = SiteClass(ALL, ALL, tuple(sorted(_sites(analysis))))
    halves = (half for trait in traits_of_sites(analysis) for half in _halves(trait))
    return (everything, *halves) if everything.sites else ()


_SAID = {
    "size": "up to {} | over {}",
    "resources": "up to {} resources | over {} resources",
    "blocking": "up to {} block rendering | over {} block rendering",
    "images": "up to {} images | over {} images",
    SHARING: "where sharing puts up to {} times as much before what is seen | where sharing puts over {} times as much before what is seen",
}


def _halves(trait: SiteTrait) -> tuple[SiteClass, ...]:
    """Two classes; none if too many sites are alike for that."""
    middle = statistics.median(trait.of.values())
    below = tuple(sorted(site for site, value in trait.of.items() if value <= middle))
    above = tuple(sorted(site for site, value in trait.of.items() if value > middle))
    if min(len(below), len(above)) < _LEAST_SITES:
        return ()
    low, high = (
        part.format(trait.text(middle).replace("%", " %"))
        for part in _SAID[trait.name].split(" | ")
    )
    return SiteClass(trait.name, low, below), SiteClass(trait.name, high, above)


def _sites(analysis: Analysis) -> set[str]:
    return {site for network in networks(analysis) for site in network.cells}


def _by_site(analysis: Analysis, column: str, contenders: Sequence[str] = ()) -> dict[str, float]:
    """Medians over these contenders and all networks; over all contenders if none is named."""
    values = medians(analysis, column)
    result: dict[str, list[float]] = {}
    for network in networks(analysis):
        for site, cell in network.cells.items():
            result.setdefault(site, []).extend(
                values[cell.name, name]
                for name in contenders or analysis.contenders
                if (cell.name, name) in values
            )
    return {site: statistics.median(those) for site, those in result.items() if those}


def _share(of: Mapping[str, float], whole: Mapping[str, float]) -> dict[str, float]:
    return {site: value / whole[site] for site, value in of.items() if whole.get(site)}


def _rounded(value: float) -> int:
    """To two digits."""
    return int(float(f"{value:.1e}"))


def ordered_by(trait: SiteTrait) -> Sequence[str]:
    """The sites, the least first."""
    return sorted(trait.of, key=lambda site: (trait.of[site], site))
