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
    found = weighted_deltas(analysis)
    if not found:
        return ()
    better, worse = words = analysis.metric.words
    parts = [
        f"{said} {_told(group, len(found), words)}"
        for side, said in (
            (1, f"{better} at most sites"),
            (-1, f"{worse} at most sites"),
            (0, "no majority is shown"),
        )
        if (group := [one for one in found if one.majority == side])
    ]
    sites = counted(max(len(one.sites) for one in found), "site")
    start = f"{found[0].pairing} over {sites}, by {analysis.metric.label}"
    return (f"{start}: {'; '.join(parts)}.", *_missing(found), *_of_what(found))


def delta_text(value: float) -> str:
    """A difference from -1 to 1."""
    return f"{value:.3f}".replace("-", MINUS)


def share_text(value: float) -> str:
    """A share in percent."""
    return f"{100 * value:.0f} %"


def _missing(found: Sequence[PopulationDeltas]) -> tuple[str, ...]:
    """How many sites are left out, where most are."""
    one = max(found, key=lambda one: len(one.missing))
    if not one.missing:
        return ()
    count, every = len(one.missing), len(one.missing) + len(one.sites)
    where = f" in {one.network}" if one.network else ""
    return (f"Without a difference{where}: {count} of {counted(every, 'site')}.",)


def _of_what(found: Sequence[PopulationDeltas]) -> tuple[str, ...]:
    """What the sites stand for; of several strata that may be the sample alone, which is not what it was drawn from."""
    if all(len(one.strata) < 2 for one in found):
        return ()
    if not any(one.is_weighted for one in found):
        return ("This is of the sample, whose strata are not weighted.",)
    known = dict(found[0].stands_for)
    total = math.fsum(known.values())
    told = [f"{name} {share_text(count / total)}" for name, count in known.items()]
    return (f"Strata are weighted by how many sites they stand for: {listed(told)}.",)


def _told(group: Sequence[PopulationDeltas], of: int, words: tuple[str, str]) -> str:
    """Where, at what share of the sites the contender was ahead or behind, and by how much in the median."""
    if len(group) > _MOST_NAMED:
        return f"in {len(group)} of {of} networks ({_numbers(group, words)})"
    return f"in {listed([f'{one.network or _ONLY} ({_numbers([one], words)})' for one in group])}"


def _numbers(group: Sequence[PopulationDeltas], words: tuple[str, str]) -> str:
    """The shares of the side that has most sites, or of both, and the medians."""
    better, worse = words
    shares = {
        better: [one.ahead.value for one in group if one.majority >= 0],
        worse: [one.behind.value for one in group if one.majority <= 0],
    }
    told = [f"{word} at {_span(its, share_text)}" for word, its in shares.items() if its]
    medians = _span([one.median.value for one in group], delta_text)
    return f"{' and '.join(told)} of them, median delta {medians}"


def _span(values: Sequence[float], text: Callable[[float], str]) -> str:
    """The least and the greatest, or the only one."""
    return " to ".join(dict.fromkeys(text(end) for end in (min(values), max(values))))
