"""What the sites of a population say together, in a sentence: by how much, at how many of them, and where not."""

from __future__ import annotations

from collections.abc import Sequence

from headway.analysis.analysis import Analysis
from headway.analysis.numbers import MINUS, listed
from headway.analysis.populations import PopulationDeltas, main_deltas
from headway.errors import counted

_HALF = 0.5
_MOST_NAMED = 3
"""More networks than these are told together."""


def population_sentences(analysis: Analysis) -> tuple[str, ...]:
    """The answer over sites; nothing if there is no population."""
    found = main_deltas(analysis)
    if not found:
        return ()
    better, worse = analysis.metric.words
    sides: dict[str, list[PopulationDeltas]] = {"most": [], "few": [], "open": []}
    for one in found:
        sides[_side(one)].append(one)
    sooner, later = (better, worse) if analysis.metric.less_is_better else (worse, better)
    parts = [
        f"{words} {_told(sides[side], len(found))}"
        for side, words in (
            ("most", f"{sooner} at most sites"),
            ("few", f"{later} at most sites"),
            ("open", "no majority is shown"),
        )
        if sides[side]
    ]
    sites = counted(max(len(one.sites) for one in found), "site")
    start = f"{found[0].pairing} over {sites}, by {analysis.metric.label}"
    return (f"{start}: {'; '.join(parts)}.",)


def delta_text(value: float) -> str:
    """A difference from -1 to 1."""
    return f"{value:.3f}".replace("-", MINUS)


def share_text(value: float) -> str:
    """A share in percent."""
    return f"{100 * value:.0f} %"


def _side(one: PopulationDeltas) -> str:
    interval = one.faster.interval
    if interval is None or interval.low <= _HALF <= interval.high:
        return "open"
    return "most" if interval.low > _HALF else "few"


def _told(group: Sequence[PopulationDeltas], of: int) -> str:
    """Where, at what share of the sites the contender was ahead, and by how much in the median."""
    shares = [one.faster.value for one in group]
    medians = [one.median.value for one in group]
    if len(group) > _MOST_NAMED:
        return (
            f"in {len(group)} of {of} networks (faster at {share_text(min(shares))} to {share_text(max(shares))} of "
            f"them, median delta {delta_text(min(medians))} to {delta_text(max(medians))})"
        )
    told = [
        f"{one.network or 'the only network'} (faster at {share_text(share)} of them, median delta {delta_text(median)})"
        for one, share, median in zip(group, shares, medians, strict=True)
    ]
    return f"in {listed(told)}"
