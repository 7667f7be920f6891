"""Sentences about the sites of a population together: by how much, at how many of them, and where not."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from headway.analysis.analysis import Analysis
from headway.analysis.numbers import MINUS, listed
from headway.errors import counted
from headway.instruments.populations.deltas import PopulationDeltas, weighted_deltas

_ONLY = "the only network"
_MOST_NAMED = 3
"""More networks than these are told together."""


def population_sentences(analysis: Analysis) -> tuple[str, ...]:
    """The answer over sites; nothing if there is no population."""
    networks_deltas = weighted_deltas(analysis)
    if not networks_deltas:
        return ()
    better, worse = words = analysis.metric.words
    parts = [
        f"{text} {_told(group, len(networks_deltas), words)}"
        for side, text in (
            (1, f"{better} at most sites"),
            (-1, f"{worse} at most sites"),
            (0, "no majority is shown"),
        )
        if (
            group := [
                population_deltas
                for population_deltas in networks_deltas
                if population_deltas.majority == side
            ]
        )
    ]
    sites = counted(
        max(len(population_deltas.sites) for population_deltas in networks_deltas), "site"
    )
    start = f"{networks_deltas[0].pairing} over {sites}, by {analysis.metric.label}"
    return (
        f"{start}: {'; '.join(parts)}.",
        *_missing(networks_deltas),
        *_of_what(networks_deltas),
    )


def delta_text(value: float) -> str:
    """A difference from -1 to 1."""
    return f"{value:.3f}".replace("-", MINUS)


def share_text(value: float) -> str:
    """A share in percent."""
    return f"{100 * value:.0f} %"


def _missing(networks_deltas: Sequence[PopulationDeltas]) -> tuple[str, ...]:
    """How many sites are left out, where most are."""
    deltas = max(networks_deltas, key=lambda population_deltas: len(population_deltas.missing))
    if not deltas.missing:
        return ()
    count, every = len(deltas.missing), len(deltas.missing) + len(deltas.sites)
    where = f" in {deltas.network}" if deltas.network else ""
    return (f"Without a difference{where}: {count} of {counted(every, 'site')}.",)


def _of_what(networks_deltas: Sequence[PopulationDeltas]) -> tuple[str, ...]:
    """What the sites stand for; of several strata that may be the sample alone, which is not what it was drawn from."""
    if all(len(population_deltas.strata) < 2 for population_deltas in networks_deltas):
        return ()
    if not any(population_deltas.is_weighted for population_deltas in networks_deltas):
        return ("This is of the sample, whose strata are not weighted.",)
    known = dict(networks_deltas[0].stands_for)
    total = math.fsum(known.values())
    texts = [f"{name} {share_text(count / total)}" for name, count in known.items()]
    return (f"Strata are weighted by how many sites they stand for: {listed(texts)}.",)


def _told(group: Sequence[PopulationDeltas], of: int, words: tuple[str, str]) -> str:
    """Where, at what share of the sites the contender was ahead or behind, and by how much in the median."""
    if len(group) > _MOST_NAMED:
        return f"in {len(group)} of {of} networks ({_numbers(group, words)})"
    return f"in {listed([f'{population_deltas.network or _ONLY} ({_numbers([population_deltas], words)})' for population_deltas in group])}"


def _numbers(group: Sequence[PopulationDeltas], words: tuple[str, str]) -> str:
    """The shares of the side that has most sites, or of both, and the medians."""
    better, worse = words
    shares = {
        better: [
            population_deltas.ahead.value
            for population_deltas in group
            if population_deltas.majority >= 0
        ],
        worse: [
            population_deltas.behind.value
            for population_deltas in group
            if population_deltas.majority <= 0
        ],
    }
    texts = [f"{word} at {_span(its, share_text)}" for word, its in shares.items() if its]
    medians = _span([population_deltas.median.value for population_deltas in group], delta_text)
    return f"{' and '.join(texts)} of them, median delta {medians}"


def _span(values: Sequence[float], text: Callable[[float], str]) -> str:
    """The least and the greatest, or the only one."""
    return " to ".join(dict.fromkeys(text(end) for end in (min(values), max(values))))
