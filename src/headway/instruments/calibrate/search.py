"""Searching a program's knobs until its runs agree with a target."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

from headway.errors import WrongInputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Values = tuple[int | str, ...]
"""A value of each knob, in their order."""
Residuals = Sequence[float]
"""By how much a run differs from the target, at each time or in each metric, over the target's mean."""
Measure = Callable[[Collection[Values], Sequence[Values]], Sequence[Residuals]]
"""Carries out runs with values; it knows what was tried before."""

GENERATION = 12
"""Values that are tried at a time."""
_NEAR = 0.02
"""Nearer than this a target is reached."""
_EXACT = 1e-6
"""Nearer than this are runs that are equal to the target."""
_STARTS, _APART = 4, 0.2
"""Values that least squares begin from, the nearest first, and how far apart they are in a knob at least."""
_REACH, _LEAST_REACH = 0.08, 0.01
"""Shares of a range by which a knob is moved to see what it does, at first and at last."""
_DAMPINGS = (1e-5, 1e-2)
"""Of steps of least squares, over the largest curvature."""
_WORTH, _HOPELESS = 4.0, 1e3
"""How much farther than the best values may be to be gone on from; and what differs by more has failed."""
_PATIENCE = 3
"""Generations without progress after which the search goes on near the best."""
_MOST_LOG = 8
"""Ranges whose ends are farther apart are searched by ratios."""


@dataclass(frozen=True)
class KnobRange:
    """A key of the study, and the values that it may have: whole numbers from one to another, or some words.

    Attributes:
        key: dotted, as ``server.knobs.max_window``.
        low: least number.
        high: greatest number.
        words: the values, if they are no numbers.
    """

    key: str
    low: int = 0
    high: int = 0
    words: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> KnobRange:
        """Read ``KEY=LOW..HIGH`` or ``KEY=WORD,WORD``.

        Raises:
            WrongInputError: it is neither.
        """
        key, _, values = (part.strip() for part in text.partition("="))
        low, dots, high = values.partition("..")
        words = tuple(word.strip() for word in values.split(","))
        if key and dots and low.isdecimal() and high.isdecimal() and int(low) < int(high):
            return cls(key, int(low), int(high))
        if key and not dots and len(words) > 1 and all(words):
            return cls(key, words=words)
        raise WrongInputError(
            f"{text!r} is no range; write KEY=LOW..HIGH, such as server.knobs.max_window=50..500, "
            "or KEY=ONE,OTHER",
            where="--knobs",
        )

    @property
    def name(self) -> str:
        """Its last part."""
        return self.key.rpartition(".")[2]

    @property
    def ends(self) -> tuple[int | str, ...]:
        """The least and the greatest number; or all words, of which none is between others."""
        return self.words or (self.low, self.high)

    def at(self, share: float) -> int | str:
        """The value at a place from 0 to 1."""
        if self.words:
            return self.words[min(int(share * len(self.words)), len(self.words) - 1)]
        if self._by_ratio:
            return round(self.low * math.pow(self.high / self.low, share))
        return round(self.low + share * (self.high - self.low))

    def share(self, value: int | str) -> float:
        """The place of a value, from 0 to 1."""
        if self.words:
            return self.words.index(str(value)) / len(self.words)
        if self._by_ratio:
            return math.log(int(value) / self.low) / math.log(self.high / self.low)
        return (int(value) - self.low) / (self.high - self.low)

    @property
    def _by_ratio(self) -> bool:
        return self.low > 0 and self.high / self.low > _MOST_LOG

    def steps(self, value: int | str, reach: float) -> list[int | str]:
        """Values beside one, a share of it away, at least 1; of words all others."""
        if self.words:
            return [word for word in self.words if word != value]
        number = int(value)
        step = max(1, round(number * reach))
        beside = (max(self.low, number - step), min(self.high, number + step))
        return [neighbour for neighbour in dict.fromkeys(beside) if neighbour != number]

    def is_end(self, value: int | str) -> bool:
        """Whether a number is the least or the greatest."""
        return not self.words and value in (self.low, self.high)


@dataclass(frozen=True)
class Calibrated:
    """What a search has found.

    Attributes:
        values: the nearest ones.
        distance: of their run from the target, as a share.
        tried: how many values were tried.
        sensitivity: by how much the distance grows if one knob alone is moved by a quarter, or to another word; None
            if that was not tried.
    """

    values: Values
    distance: float
    tried: int
    sensitivity: tuple[float | None, ...]

    @property
    def is_reached(self) -> bool:
        return self.distance <= _NEAR


def distance(residuals: Residuals) -> float:
    """How far a run is from the target, as a share: the root of the mean square."""
    return math.sqrt(math.fsum(residual * residual for residual in residuals) / len(residuals))


@dataclass
class Search:
    """Differential evolution over all ranges, then least squares from the best, then single steps.

    Storn and Price 1997, scipy's; Marquardt 1963. Runs are carried out several at a time.

    Attributes:
        knobs: what may be changed.
        measure: carries out runs.
        most: how many values may be tried.
    """

    knobs: Sequence[KnobRange]
    measure: Measure
    most: int
    known: dict[Values, Residuals] = field(default_factory=dict)

    def run(self) -> Calibrated:
        """Search until the target is met exactly, nothing near is nearer, or enough was tried."""
        self._evolve()
        self._descend()
        for reach in (0.06, 0.02):
            while self._step(reach):
                pass
        return Calibrated(self.best, self._away(self.best), len(self.known), self._sensitivity())

    @property
    def best(self) -> Values:
        return min(self.known, key=self._away)

    def _away(self, values: Values) -> float:
        return distance(self.known[values]) if values in self.known else math.inf

    @property
    def _is_over(self) -> bool:
        """Whether nothing can be nearer, or no more may be tried."""
        return self._left <= 0 or self._away(self.best) < _EXACT

    @property
    def _left(self) -> int:
        return self.most - len(self.known)

    def _try(self, wanted: Iterable[Values]) -> None:
        """Carry out what is new, as far as more may be tried."""
        new = [point for point in dict.fromkeys(wanted) if point not in self.known][
            : max(0, self._left)
        ]
        if new:
            self.known.update(zip(new, self.measure(self.known, new), strict=True))

    def _values(self, place: Sequence[float]) -> Values:
        return tuple(knob.at(share) for knob, share in zip(self.knobs, place, strict=True))

    def _evolve(self) -> None:
        # It takes half a second to load.
        from scipy.optimize import Bounds, differential_evolution

        progress: list[float] = []

        def batch(_: object, places: Iterable[Sequence[float]]) -> list[float]:
            wanted = [self._values(place) for place in places]
            self._try(wanted)
            return [self._away(point) for point in wanted]

        def is_over(_: object, convergence: float) -> bool:
            progress.append(self._away(self.best))
            stuck = len(progress) > _PATIENCE and progress[-1] >= progress[-1 - _PATIENCE] * 0.98
            return stuck or progress[-1] <= _NEAR or self._left < self.most * 2 // 3

        options: dict[str, Any] = {"workers": batch, "callback": is_over, "updating": "deferred"}
        count = len(self.knobs)
        differential_evolution(
            math.fsum,
            Bounds([0.0] * count, [1.0] * count),
            init=_spread(count),
            polish=False,
            maxiter=self.most,
            rng=1,
            **options,
        )

    def _descend(self) -> None:
        """Least squares from the best few, all at a time: damped steps, of which each keeps the best (Marquardt 1963)."""
        free = [place for place, knob in enumerate(self.knobs) if not knob.words]
        points, reach = self._apart(), _REACH
        while free and points and reach > _LEAST_REACH and not self._is_over:
            moved = {
                point: [self._moved(point, place, reach) for place in free] for point in points
            }
            self._try(chain.from_iterable(moved.values()))
            steps = {point: self._damped(point, moved[point], free) for point in points}
            self._try(chain.from_iterable(steps.values()))
            result = [
                min([point, *moved[point], *steps[point]], key=self._away) for point in points
            ]
            if set(result) <= set(points):
                reach /= 2
            limit = max(_NEAR, _WORTH * self._away(self.best))
            points = [point for point in dict.fromkeys(result) if self._away(point) <= limit]

    def _apart(self) -> list[Values]:
        """The best values of which no two are near each other."""
        chosen: list[Values] = []
        for first in sorted(self.known, key=self._away):
            shares = [self._shares(other) - self._shares(first) for other in chosen]
            if all(abs(apart).max() > _APART for apart in shares):
                chosen.append(first)
        return chosen[:_STARTS]

    def _shares(self, values: Values) -> NDArray[np.float64]:
        import numpy as np

        return np.array([knob.share(value) for knob, value in zip(self.knobs, values, strict=True)])

    def _moved(self, values: Values, place: int, reach: float) -> Values:
        """With one knob moved by a share of its range, and by 1 at least."""
        knob, number = self.knobs[place], int(values[place])
        share = knob.share(number)
        other = int(knob.at(share + reach if share + reach <= 1 else share - reach))
        if other == number:
            other = number + 1 if number < knob.high else number - 1
        return (*values[:place], other, *values[place + 1 :])

    def _damped(self, values: Values, moved: Sequence[Values], free: Sequence[int]) -> list[Values]:
        """Where the differences would be least if they were linear in the knobs, and on the way there."""
        import numpy as np

        if any(
            point not in self.known or self._away(point) >= _HOPELESS for point in (values, *moved)
        ):
            return []
        begin, shares = np.asarray(self.known[values]), self._shares(values)
        slopes = np.column_stack(
            [
                (np.asarray(self.known[point]) - begin) / (self._shares(point) - shares)[place]
                for point, place in zip(moved, free, strict=True)
            ]
        )
        square = slopes.T @ slopes
        largest = float(square.diagonal().max())
        result = []
        for damping in _DAMPINGS if largest else ():
            damped = square + damping * largest * np.eye(len(free))
            place = shares.copy()
            place[free] -= np.linalg.solve(damped, slopes.T @ begin)
            to = self._values(place.clip(0, 1).tolist())
            kept = [to[n] if n in free else value for n, value in enumerate(values)]
            result.append(tuple(kept))
        return result

    def _beside(self, reach: float) -> list[tuple[int, Values]]:
        """The best values with one knob moved, and which."""
        best = self.best
        return [
            (place, (*best[:place], step, *best[place + 1 :]))
            for place, knob in enumerate(self.knobs)
            for step in knob.steps(best[place], reach)
        ]

    def _step(self, reach: float) -> bool:
        """Try a step of every knob, then of every two, since one may make up for another; whether anything is nearer."""
        before = self._away(self.best)
        if self._is_over:
            return False
        singles = self._beside(reach)
        self._try(values for _, values in singles)
        if self._away(self.best) == before:
            self._try(self._pairs(singles))
        return self._away(self.best) < before

    def _pairs(self, singles: Sequence[tuple[int, Values]]) -> list[Values]:
        """The best values with two knobs moved, those first whose single moves cost least."""
        ordered = sorted(singles, key=lambda single: self._away(single[1]))
        return [
            tuple(point[place] if place == first else value for place, value in enumerate(two))
            for (first, point), (second, two) in combinations(ordered, 2)
            if first != second
        ]

    def _sensitivity(self) -> tuple[float | None, ...]:
        """Tried beyond what may be tried for the search: it takes two runs for each knob."""
        best, beside = self._away(self.best), self._beside(0.25)
        self.most = len(self.known) + len(beside)
        self._try(values for _, values in beside)
        grown: dict[int, float] = {}
        for place, values in beside:
            if values in self.known:
                grown[place] = max(grown.get(place, 0.0), self._away(values) - best)
        return tuple(grown.get(place) for place in range(len(self.knobs)))


def _spread(dimensions: int) -> NDArray[np.float64]:
    """Places of the first generation, which leave no large gaps (Sobol 1967)."""
    from scipy.stats.qmc import Sobol

    return Sobol(dimensions, rng=1).random_base2(4)[:GENERATION]


def named(knobs: Sequence[KnobRange], values: Values) -> str:
    """Values in a line, which names their contender."""
    return ", ".join(f"{knob.name} {value}" for knob, value in zip(knobs, values, strict=True))


def assigned(knobs: Sequence[KnobRange], values: Values) -> Mapping[str, int | str]:
    """Values by the keys of their knobs."""
    return {knob.key: value for knob, value in zip(knobs, values, strict=True)}
