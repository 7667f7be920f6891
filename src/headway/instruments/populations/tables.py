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


def _parts(found: Sequence[PopulationDeltas]) -> Iterator[tuple[str, PopulationDeltas]]:
    for one in found:
        yield _ALL, one
        if one.weighted.is_weighted:
            yield _WEIGHTED, one.weighted
        for stratum in one.strata if len(one.strata) > 1 else ():
            yield stratum, one.of((stratum,))


def _table(matter: Matter) -> Table:
    found = main_deltas(matter.first)
    groups = [[*_parts([one])] for one in found]
    rows = tuple(tuple(_row(one, stratum) for stratum, one in group) for group in groups)
    ahead = f"{matter.first.metric.words[0]} at"
    headings = ("network", "stratum", "sites", ahead, "interval", "median delta", "interval")
    classes = ("below \N{MINUS SIGN}0.1", "within 0.1", "above 0.1")
    return Table((*headings, *classes), rows, labels=2)


def _row(one: PopulationDeltas, stratum: str) -> tuple[str, ...]:
    ahead, median = one.ahead, one.median
    return (
        one.network or NONE,
        stratum,
        _sites(one),
        share_text(ahead.value),
        _ends(ahead, share_text),
        delta_text(median.value),
        _ends(median, delta_text),
        *(share_text(part.value) for part in one.classes),
    )


def _sites(one: PopulationDeltas) -> str:
    sites = str(len(one.sites))
    return f"{sites} of {len(one.sites) + len(one.missing)}" if one.missing else sites


def _ends(told: SiteEstimate, text: Callable[[float], str]) -> str:
    return f"{text(told.interval.low)} to {text(told.interval.high)}" if told.interval else NONE


def _frame(matter: Matter) -> pl.DataFrame:
    rows = [
        {
            "experiment": analysis.experiment.name,
            "metric": analysis.metric.column,
            "network": one.network,
            "contender": one.pairing.contender,
            "against": one.pairing.against,
            "stratum": stratum,
            "sites": len(one.sites),
            "missing": len(one.missing),
            **_numbers("ahead", one.ahead),
            **_numbers("behind", one.behind),
            **_numbers("median_delta", one.median),
            **dict(zip(("below", "within", "above"), (c.value for c in one.classes), strict=True)),
        }
        for analysis in matter.metrics
        for stratum, one in _parts(population_deltas(analysis))
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _numbers(name: str, told: SiteEstimate | None) -> dict[str, float | None]:
    interval = told.interval if told else None
    return {
        name: told.value if told else None,
        f"{name}_low": interval.low if interval else None,
        f"{name}_high": interval.high if interval else None,
    }


def _traits(analysis: Analysis) -> list[tuple[PopulationDeltas, PageTraits]]:
    found = ((one, page_traits(analysis, one)) for one in main_deltas(analysis))
    return [(one, traits) for one, traits in found if traits is not None]


def _traits_table(matter: Matter) -> Table:
    analysis = matter.first
    rows = tuple(
        tuple(_trait_row(analysis, one, traits, place) for place in range(len(traits.names)))
        for one, traits in _traits(analysis)
    )
    headings = ("network", "trait", "Spearman with the delta", "interval", "weight in the tree")
    return Table((*headings, "the tree's accuracy at other sites"), rows, labels=2)


def _trait_row(
    analysis: Analysis, one: PopulationDeltas, traits: PageTraits, place: int
) -> tuple[str, ...]:
    rho, tree = traits.spearman(place), decision_tree(analysis, one)
    return (
        one.network or NONE,
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
        sizes = " / ".join(str(traits.classes.count(one)) for one in range(CLASSES))
        return f"no tree: classes of {sizes} sites, and two with {FEWEST_OF_CLASS} are needed"
    told = f"{share_text(tree.quality)} ± {share_text(tree.spread)} (guessing: {share_text(tree.chance)})"
    if tree.tells:
        return told
    return f"says nothing: {told}, no better than with shuffled classes (p = {tree.p:.2f})"


def _traits_frame(matter: Matter) -> pl.DataFrame:
    rows = []
    for analysis in matter.firsts:
        for one, traits in _traits(analysis):
            tree = decision_tree(analysis, one)
            for place, name in enumerate(traits.names):
                rows.append(
                    {
                        "experiment": analysis.experiment.name,
                        "network": one.network,
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
    told = (
        "By the visits of the contender that is compared. Accuracy is balanced over the classes, by trees of three "
        "levels that were grown on four fifths of the sites and judged by the rest, twenty times. A tree says nothing if "
        "one in twenty trees of shuffled classes does as well."
    )
    both = [(one, traits.pearson_of(0, 1)) for one, traits in _traits(matter.first)]
    known = [told.value for _, told in both if told]
    if known:
        ends = (delta_text(end) for end in (min(known), max(known)))
        told += f" Pearson's correlation of connections and domains: {' to '.join(ends)}."
    return told if can_grow_trees() else f"{told} No tree was grown: {HOW}."


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
