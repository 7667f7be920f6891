"""The sites of a population together: differences by network and stratum, and what tells the classes apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import polars as pl

from headway.analysis import Analysis
from headway.instruments.populations.deltas import (
    PopulationDeltas,
    SiteEstimate,
    main_deltas,
    population_deltas,
)
from headway.instruments.populations.sentences import delta_text, population_sentences, share_text
from headway.instruments.populations.traits import (
    CLASSES,
    FEWEST_OF_CLASS,
    HOW,
    PageTraits,
    Tree,
    can_grow_trees,
    decision_tree,
    page_traits,
)
from headway.report.section import Section
from headway.report.tables.kind import KeptFile, Matter, TableKind
from headway.report.tables.table import NONE, Table

FILE, TRAITS_FILE = "populations.csv", "traits.csv"
_ALL, _WEIGHTED = "all", "all, weighted"


def _parts(
    networks_deltas: Sequence[PopulationDeltas],
) -> Iterator[tuple[str, PopulationDeltas]]:
    for deltas in networks_deltas:
        yield _ALL, deltas
        if deltas.weighted.is_weighted:
            yield _WEIGHTED, deltas.weighted
        for stratum in deltas.strata if len(deltas.strata) > 1 else ():
            yield stratum, deltas.of((stratum,))


def _table(matter: Matter) -> Table:
    networks_deltas = main_deltas(matter.first)
    groups = [[*_parts([deltas])] for deltas in networks_deltas]
    rows = tuple(tuple(_row(deltas, stratum) for stratum, deltas in group) for group in groups)
    ahead = f"{matter.first.metric.words[0]} at"
    headings = ("network", "stratum", "sites", ahead, "interval", "median delta", "interval")
    classes = ("below \N{MINUS SIGN}0.1", "within 0.1", "above 0.1")
    return Table((*headings, *classes), rows, labels=2)


def _row(deltas: PopulationDeltas, stratum: str) -> tuple[str, ...]:
    ahead, median = deltas.ahead, deltas.median
    return (
        deltas.network or NONE,
        stratum,
        _sites(deltas),
        share_text(ahead.value),
        _ends(ahead, share_text),
        delta_text(median.value),
        _ends(median, delta_text),
        *(share_text(part.value) for part in deltas.classes),
    )


def _sites(deltas: PopulationDeltas) -> str:
    sites = str(len(deltas.sites))
    return f"{sites} of {len(deltas.sites) + len(deltas.missing)}" if deltas.missing else sites


def _ends(site_estimate: SiteEstimate, text: Callable[[float], str]) -> str:
    return (
        f"{text(site_estimate.interval.low)} to {text(site_estimate.interval.high)}"
        if site_estimate.interval
        else NONE
    )


def _frame(matter: Matter) -> pl.DataFrame:
    rows = [
        {
            "experiment": analysis.experiment.name,
            "metric": analysis.metric.column,
            "network": deltas.network,
            "contender": deltas.pairing.contender,
            "against": deltas.pairing.against,
            "stratum": stratum,
            "sites": len(deltas.sites),
            "missing": len(deltas.missing),
            **_numbers("ahead", deltas.ahead),
            **_numbers("behind", deltas.behind),
            **_numbers("median_delta", deltas.median),
            **dict(
                zip(("below", "within", "above"), (c.value for c in deltas.classes), strict=True)
            ),
        }
        for analysis in matter.metrics
        for stratum, deltas in _parts(population_deltas(analysis))
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _numbers(name: str, site_estimate: SiteEstimate | None) -> dict[str, float | None]:
    interval = site_estimate.interval if site_estimate else None
    return {
        name: site_estimate.value if site_estimate else None,
        f"{name}_low": interval.low if interval else None,
        f"{name}_high": interval.high if interval else None,
    }


def _traits(analysis: Analysis) -> list[tuple[PopulationDeltas, PageTraits]]:
    pairs = (
        (main_delta, page_traits(analysis, main_delta)) for main_delta in main_deltas(analysis)
    )
    return [(deltas, traits) for deltas, traits in pairs if traits is not None]


def _traits_table(matter: Matter) -> Table:
    analysis = matter.first
    rows = tuple(
        tuple(_trait_row(analysis, deltas, traits, place) for place in range(len(traits.names)))
        for deltas, traits in _traits(analysis)
    )
    headings = ("network", "trait", "Spearman with the delta", "interval", "weight in the tree")
    return Table((*headings, "the tree's accuracy at other sites"), rows, labels=2)


def _trait_row(
    analysis: Analysis, deltas: PopulationDeltas, traits: PageTraits, place: int
) -> tuple[str, ...]:
    rho, tree = traits.spearman(place), decision_tree(analysis, deltas)
    return (
        deltas.network or NONE,
        traits.names[place],
        delta_text(rho.value) if rho else NONE,
        _ends(rho, delta_text) if rho else NONE,
        share_text(tree.weights[place]) if tree and tree.tells else NONE,
        _quality(traits, tree) if place == 0 else "",
    )


def _quality(traits: PageTraits, tree: Tree | None) -> str:
    """How well a tree tells the classes apart, or that it does not, or why there is none."""
    if tree is None:
        if not can_grow_trees():
            return NONE
        sizes = " / ".join(str(traits.classes.count(number)) for number in range(CLASSES))
        return f"no tree: classes of {sizes} sites, and two with {FEWEST_OF_CLASS} are needed"
    text = f"{share_text(tree.quality)} ± {share_text(tree.spread)} (guessing: {share_text(tree.chance)})"
    if tree.tells:
        return text
    return f"says nothing: {text}, no better than with shuffled classes (p = {tree.p:.2f})"


def _traits_frame(matter: Matter) -> pl.DataFrame:
    rows = []
    for analysis in matter.firsts:
        for deltas, traits in _traits(analysis):
            tree = decision_tree(analysis, deltas)
            for place, name in enumerate(traits.names):
                rows.append(
                    {
                        "experiment": analysis.experiment.name,
                        "network": deltas.network,
                        "trait": name,
                        "sites": len(traits.deltas.sites),
                        **_numbers("spearman", traits.spearman(place)),
                        **_numbers("pearson_connections_domains", traits.pearson_of(0, 1)),
                        "tree_weight": tree.weights[place] if tree else None,
                        "tree_accuracy": tree.quality if tree else None,
                        "tree_chance": tree.chance if tree else None,
                        "tree_p": tree.p if tree else None,
                    }
                )
    return pl.DataFrame(rows, infer_schema_length=None)


def _traits_remark(matter: Matter) -> str:
    text = (
        "By the visits of the contender that is compared. Accuracy is balanced over the classes, by trees of three "
        "levels that were grown on four fifths of the sites and judged by the rest, twenty times. A tree says nothing if "
        "one in twenty trees of shuffled classes does as well."
    )
    both = [(deltas, traits.pearson_of(0, 1)) for deltas, traits in _traits(matter.first)]
    known = [site_estimate.value for _, site_estimate in both if site_estimate]
    if known:
        ends = (delta_text(end) for end in (min(known), max(known)))
        text += f" Pearson's correlation of connections and domains: {' to '.join(ends)}."
    return text if can_grow_trees() else f"{text} No tree was grown: {HOW}."


KIND = TableKind(
    place=10,
    section=Section.POPULATION,
    caption="Differences over the sites, by network and stratum",
    remark=(
        'A site is one observation, by the medians of its visits, of which those that timed out are the worst. "All" is '
        'of the sample; "all, weighted" counts each stratum as the sites that it stands for. The delta is their difference over the larger of them; '
        "of HTTP/3 against HTTP/2 it is H3-Delta (Perna et al. 2022). Intervals of shares are exact, of weighted ones those of Korn and Graubard (1998); those of medians "
        "resample the sites of each stratum, or all together if one has fewer than six. populations.csv has every metric and comparison."
    ),
    table=_table,
    said=lambda matter: population_sentences(matter.first),
    file=FILE,
    frame=_frame,
    most=40,
    kept=KeptFile("populations", "the differences over sites, by network and stratum"),
    answers=True,
)
TRAITS = TableKind(
    place=20,
    section=Section.POPULATION,
    caption="What tells sites that gain from those that do not",
    remark=_traits_remark,
    table=_traits_table,
    file=TRAITS_FILE,
    frame=_traits_frame,
    most=40,
)
