"""Traits of pages that tell sites apart that gain from those that do not: five, and a decision tree over them."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from headway.analysis.analysis import Analysis
from headway.analysis.metric import Metric
from headway.analysis.networks import medians
from headway.instruments.populations.deltas import (
    APART,
    Matrix,
    PopulationDeltas,
    SiteEstimate,
    over_sites_of,
    pearson,
)
from headway.statistics.ranks import mean_ranks

CLASSES = 3
"""Below, within and above what sets differences apart."""
_FOLDS, _SHUFFLES, _DEPTH = 5, 20, 3
_PERMUTATIONS, _P = 99, 0.05
FEWEST_OF_CLASS = 5
"""Sites of a class, below which no tree is grown: each fold has to have one."""
HOW = "`make populations` installs scikit-learn, as does pip install '.[populations]' in Headway's directory"
"""How to get what grows trees."""

Medians = Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class PageTraits:
    """The traits of the sites of a network, by the visits of the contender compared (Perna et al. 2022, section 5.2).

    Attributes:
        deltas: the differences of these sites.
        names: of the traits.
        values: a row for each site, a column for each trait.
    """

    deltas: PopulationDeltas
    names: tuple[str, ...]
    values: Matrix

    @property
    def classes(self) -> tuple[int, ...]:
        """Of every site the number of its class."""
        return tuple(class_of(site.delta) for site in self.deltas.sites)

    @property
    def scaled(self) -> Matrix:
        """The values in unit variance."""
        spread = self.values.std(axis=0)
        return np.asarray(self.values / np.where(spread > 0, spread, 1))

    def pearson_of(self, number: int, other: int) -> SiteEstimate | None:
        """Of two traits."""
        return _correlation(self, self.values[:, [number, other]], pearson)

    def spearman(self, trait: int) -> SiteEstimate | None:
        """Of a trait and the difference."""
        rows = np.column_stack([self.values[:, trait], self.deltas.values])
        return _correlation(self, rows, _spearman)


@dataclass(frozen=True)
class Tree:
    """A decision tree that tells the classes apart, and how well.

    Attributes:
        quality: balanced accuracy at sites that did not grow it: mean and standard deviation over repeated folds.
        spread: that deviation.
        chance: what guessing reaches.
        p: how often trees reach as much whose sites had their classes shuffled (Ojala and Garriga 2010).
        rules: the tree over all sites, line by line.
        weights: of the traits.
    """

    quality: float
    spread: float
    chance: float
    p: float
    rules: str
    weights: tuple[float, ...]

    @property
    def tells(self) -> bool:
        """Whether it does better than one that knows nothing of the sites."""
        return self.p < _P


def class_names(metric: Metric) -> tuple[str, str, str]:
    """The classes by what a contender is there, in the metric's words."""
    better, worse = metric.words
    return (better, "similar", worse) if metric.less_is_better else (worse, "similar", better)


def class_of(delta: float) -> int:
    """Number of a difference's class."""
    return 0 if delta < -APART else 1 if delta <= APART else 2


@lru_cache(maxsize=64)
def page_traits(analysis: Analysis, deltas: PopulationDeltas) -> PageTraits | None:
    """The traits of the sites that have all of them; None if there are none."""
    columns = ("connections", "domains", "largest_share", "h3_objects", "objects", "page_bytes")
    known = {name: medians(analysis, name) for name in columns}
    rows = {
        site: row
        for site in deltas.sites
        if (row := _row(known, (site.cell, deltas.pairing.contender))) is not None
    }
    if not rows:
        return None
    kept = replace(deltas, sites=tuple(rows))
    names = (
        "connections",
        "domains",
        "objects on the largest connection",
        "objects over HTTP/3",
        "page size",
    )
    return PageTraits(kept, names, np.asarray(list(rows.values()), dtype=float))


def _row(known: Mapping[str, Medians], place: tuple[str, str]) -> tuple[float, ...] | None:
    result = {name: values.get(place) for name, values in known.items()}
    if any(value is None for value in result.values()) or not result["objects"]:
        return None
    words = {name: float(value or 0) for name, value in result.items()}
    share = words["h3_objects"] / words["objects"]
    return (
        words["connections"],
        words["domains"],
        words["largest_share"],
        share,
        words["page_bytes"],
    )


def can_grow_trees() -> bool:
    """Whether the package that grows them is here."""
    return find_spec("sklearn") is not None


@lru_cache(maxsize=64)
def decision_tree(analysis: Analysis, deltas: PopulationDeltas) -> Tree | None:
    """A tree over the traits; None if fewer than two classes have enough sites, or the package is not here."""
    traits = page_traits(analysis, deltas)
    if traits is None or not can_grow_trees():
        return None
    classes = np.asarray(traits.classes)
    there = [number for number in range(CLASSES) if (classes == number).sum() >= FEWEST_OF_CLASS]
    kept = np.isin(classes, there)
    if len(there) < 2:
        return None
    return _grown(traits, traits.values[kept], classes[kept], class_names(analysis.metric))


def _grown(
    traits: PageTraits, values: Matrix, classes: NDArray[np.int64], names: Sequence[str]
) -> Tree:
    from sklearn.model_selection import (
        RepeatedStratifiedKFold,
        StratifiedKFold,
        cross_val_score,
        permutation_test_score,
    )
    from sklearn.tree import DecisionTreeClassifier, export_text

    tree = DecisionTreeClassifier(
        max_depth=_DEPTH, min_samples_leaf=FEWEST_OF_CLASS, class_weight="balanced", random_state=0
    )
    folds = RepeatedStratifiedKFold(n_splits=_FOLDS, n_repeats=_SHUFFLES, random_state=0)
    scores = cross_val_score(tree, values, classes, cv=folds, scoring="balanced_accuracy")
    by_shuffle = scores.reshape(_SHUFFLES, _FOLDS).mean(axis=1)
    _, _, p = permutation_test_score(
        tree,
        values,
        classes,
        cv=StratifiedKFold(_FOLDS, shuffle=True, random_state=0),
        scoring="balanced_accuracy",
        n_permutations=_PERMUTATIONS,
        random_state=0,
    )
    tree.fit(values, classes)
    rules = export_text(
        tree,
        feature_names=list(traits.names),
        class_names=[names[value] for value in tree.classes_],
        decimals=2,
    )
    weights = tuple(float(feature_importance) for feature_importance in tree.feature_importances_)
    mean = statistics.fmean(by_shuffle)
    return Tree(
        mean,
        statistics.stdev(by_shuffle),
        1 / len(tree.classes_),
        float(p),
        rules.rstrip(),
        weights,
    )


def _correlation(
    traits: PageTraits, rows: Matrix, statistic: Callable[[Matrix], float]
) -> SiteEstimate | None:
    if len(rows) < 3 or not (rows.std(axis=0) > 0).all():
        return None
    return over_sites_of(traits.deltas.strata_of_sites, rows, statistic)


def _spearman(rows: Matrix) -> float:
    return pearson(mean_ranks(rows.T).T)
