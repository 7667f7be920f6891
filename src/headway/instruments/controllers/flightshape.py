"""The shape of the bytes that a congestion controller keeps in flight at a bottleneck: it tells them apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from itertools import pairwise

import numpy as np

from headway.diagnosis.flight import Flight, Series

_BEGINNING = 0.15
"""Share of the time that is slow start's, and left out."""
_APART_S = 0.6
"""Drops that are closer together belong to one cut of the window."""
_PLACES = (0.2, 0.4, 0.6, 0.8)
"""Shares of the time between two cuts at which the shape is read."""
_SETTLED_ROUNDS = (1.0, 3.0)
"""Round trips after the last drop of a cut in which its depth is read: a second cut is a round trip after the first."""
_TWICE = 1.5
"""Power of a cut's share that divides one cut from two, which leave its square."""
_LEAST_S = 15.0
"""Less does not show how a window grows between its cuts."""
_DIP, _PEAK = 0.6, 1.2
"""Of the median, what is below or above."""


@dataclass(frozen=True)
class FlightShape:
    """Numbers without units that path and queue change little.

    Attributes:
        lowest: second percentile, in bandwidth-delay products: what BBR goes down to, to see the least RTT.
        level: median, as a part of the way from an empty queue to the most that there was.
        range: from the tenth percentile to the ninetieth, over that way.
        rarity: time between cuts over what Reno would need, as a logarithm; a large number without cuts.
        after_0 to after_3: between two cuts, how much is in flight over what was before the cut.
        bend: by how much the middle of the growth is above a straight line between its ends.
        growth: packets that the window grows by in a round trip, as a logarithm.
        dips: times per ten seconds that little is in flight.
        peaks: times per second that much more is in flight than usual.
        trend: how much more is in flight in the last third of the time than in the first, over that way.
    """

    lowest: float
    level: float
    range: float
    rarity: float
    after_0: float
    after_1: float
    after_2: float
    after_3: float
    bend: float
    growth: float
    dips: float
    peaks: float
    trend: float

    @property
    def numbers(self) -> Series:
        return np.array(astuple(self))


FEATURES = tuple(field.name for field in fields(FlightShape))
_NO_CUTS = 3.0
Span = tuple[int, int]
"""Where a time between two cuts begins and ends."""


def shape_of(flight: Flight) -> FlightShape | None:
    """The shape of a flow that was alone on its link; None if it was too short."""
    if flight.seconds < _LEAST_S:
        return None
    first = int(len(flight.bdps) * _BEGINNING)
    later, drops = flight.bdps[first:-1], flight.drops[first:-1]
    spans = [pair for pair in pairwise(_cuts(drops, flight.every_s)) if pair[1] - pair[0] >= 8]
    once = _cut_once(later, spans, flight)
    grown = [later[begin:end] for begin, end in once]
    if len(once) < len(spans):
        later = np.concatenate(grown)
    low, median, high, most = np.quantile(later, (0.1, 0.5, 0.9, 0.995))
    above, third = max(most - 1.0, 0.1), len(later) // 3
    return FlightShape(
        lowest=min(float(np.quantile(later, 0.02)), 1.0),
        level=float(np.clip((median - 1) / above, -1, 1)),
        range=float((high - low) / above),
        **_between_cuts(grown, flight),
        dips=_times(later < _DIP * median) / (len(later) * flight.every_s) * 10,
        peaks=_times(later > _PEAK * median) / (len(later) * flight.every_s),
        trend=float((later[-third:].mean() - later[:third].mean()) / above),
    )


def _cuts(drops: Series, every_s: float) -> Iterator[int]:
    """Where groups of drops end."""
    places = np.flatnonzero(drops > 0)
    apart = int(_APART_S / every_s)
    last = np.diff(places, append=len(drops) + apart + 1) > apart
    yield from places[last].tolist()


def _cut_once(later: Series, spans: list[Span], flight: Flight) -> list[Span]:
    """Those times between cuts that begin with a single cut of the window.

    Losses of one overshoot may cut it twice: HAProxy finds them late, and takes what it lost before its recovery
    period for another congestion event (RFC 9002, section 7.3.2, does not). Two cuts leave the square of what one does,
    so the controller shows in the shallowest ones.
    """
    left = [_left_by_cut(later[begin:end], flight) for begin, end in spans]
    return [span for span, share in zip(spans, left, strict=True) if share >= max(left) ** _TWICE]


def _left_by_cut(part: Series, flight: Flight) -> float:
    """How much is in flight after a cut, over the most before the next."""
    round_s = flight.rtt_s * float(part.max())
    begin, end = (int(rounds * round_s / flight.every_s) for rounds in _SETTLED_ROUNDS)
    return float(np.median(part[begin : end + 1]) / part.max()) if begin < len(part) else 1.0


def _times(there: np.ndarray) -> int:
    """How often something begins."""
    return int(np.count_nonzero(np.diff(there.astype(int)) == 1))


def _between_cuts(grown: list[Series], flight: Flight) -> dict[str, float]:
    if not grown:
        after = {f"after_{place}": 1.0 for place in range(len(_PLACES))}
        return {**after, "rarity": _NO_CUTS, "bend": 0.0, "growth": 0.0}
    shapes, bends, growths, rarities = [], [], [], []
    for part in grown:
        top = float(part.max())
        at = [float(part[int(share * (len(part) - 1))]) for share in _PLACES]
        shapes.append([value / top for value in at])
        bends.append((at[1] + at[2] - at[0] - at[3]) / 2 / top)
        seconds = len(part) * flight.every_s
        rtt_s = flight.rtt_s * max(float(part.mean()), 1.0)
        reno_s = top / 2 * flight.bdp_packets * rtt_s
        rarities.append(np.log(seconds / reno_s))
        packets = (at[-1] - at[0]) * flight.bdp_packets
        rounds = (_PLACES[-1] - _PLACES[0]) * seconds / rtt_s
        growths.append(np.log(max(packets / rounds, 0.05)))
    after = np.median(np.array(shapes), axis=0)
    return {
        **{f"after_{place}": float(value) for place, value in enumerate(after)},
        "rarity": float(np.median(rarities)),
        "bend": float(np.median(bends)),
        "growth": float(np.median(growths)),
    }
