"""Published values beside ours: whether they agree, and what our runs say of why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell, Side
from headway.analysis.compare import Comparison, Contest, Pairing, compare
from headway.analysis.experiment import PublishedValue
from headway.analysis.intervals import Interval
from headway.analysis.numbers import counted, percent, plain, significant
from headway.analysis.sample import Measurements
from headway.analysis.verdict import NEGLIGIBLE, Basis, Verdict, direction
from headway.errors import WrongInputError

TOLERANCE = 0.15
"""Values closer than this share of the published one agree."""
_COVERED = "as our interval holds it"
RELATIVE_UNIT = "%"
"""Unit of relative differences."""
_FACTORS = {"s": {"s": 1.0, "ms": 1e3}, "Mbit/s": {"Mbit/s": 1.0}}
"""For each unit of a metric those that its values are published in, and how many make one."""


class Agreement(StrEnum):
    """How our value relates to a published one."""

    AGREES = "agrees"
    """Within ``TOLERANCE``, or our interval holds the published value and is narrower than that."""
    DIRECTION = "agrees in direction, not in size"
    """Of a relative difference: the same contender is faster, by another share."""
    DISAGREES = "disagrees"
    """Of a relative difference: the other contender is faster, or neither is clearly."""
    DIFFERS = "differs in size"
    """Of a contender's own value, which has no direction."""
    UNDECIDED = "undecided"
    """Our interval holds the published value, but is wider than it: too few runs to tell."""
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Beside:
    """A published value and ours.

    A contender's own value stands beside our mean, a relative difference beside that of our
    medians; goodput at a time beside that of our bulk flows around it.

    Attributes:
        published: what was published.
        title: the cell in words; its name if nothing else is known of it.
        side: what the contender did in our runs of that cell; None if it was not run.
        against: the same of the other, if the value is a relative difference.
        comparison: ours of the two, if the value is a relative difference.
        value: ours, in the published unit; None if it was not measured.
        interval: confidence interval of ours, in the published unit.
        ratio: ours over the published value; None if either is missing or the latter is 0.
        agreement: how they relate.
        words: the same in words, with the size of the disagreement.
    """

    published: PublishedValue
    title: str
    side: Side | None
    against: Side | None
    comparison: Comparison | None
    value: float | None
    interval: Interval | None
    ratio: float | None
    agreement: Agreement
    words: str


@dataclass(frozen=True)
class Order:
    """Two values published for one cell: which is faster there, and which is in our runs.

    Attributes:
        title: the cell in words.
        at_s: as a `PublishedValue` has it.
        comparison: ours.
        published: the two published values, the contender's first, in the metric's unit.
        theirs: what the published values say of the contender: faster, slower or equal.
        ours: what our runs say, as `our_direction` has it.
        same: whether that is the same; values published as equal are matched by a relative
            difference of ours within ``TOLERANCE``. None if ours cannot be compared.
    """

    title: str
    at_s: float | None
    comparison: Comparison
    published: tuple[float, float]
    theirs: Verdict
    ours: Verdict
    same: bool | None


def beside(analysis: Analysis) -> tuple[Beside, ...]:
    """Every value that the experiment names as published of this metric, beside ours.

    Raises:
        WrongInputError: a value's unit is none of the metric.
    """
    return tuple(_beside(analysis, one) for one in _of_metric(analysis))


def orders(analysis: Analysis) -> tuple[Order, ...]:
    """For what the experiment compares: whether ours differ in the published direction."""
    values = {
        (one.at_s, one.cell, one.contender): one.value / _factor(analysis, one)
        for one in _of_metric(analysis)
        if one.against is None
    }
    return tuple(
        _order(analysis, cell, at_s, compared.pairing, (values[first], values[second]))
        for at_s in dict.fromkeys(at_s for at_s, _, _ in values)
        for cell, compared in analysis.comparisons
        if (first := (at_s, cell.name, compared.contender)) in values
        and (second := (at_s, cell.name, compared.against)) in values
    )


def evidence(side: Side) -> str:
    """What our runs say of why they took as long: limits, packets sent again, and senders."""
    limits = ", ".join(f"{name} in {count}" for name, count in side.limited_by)
    told = [f"limited by {limits} of {counted(side.runs, 'run')}"] if limits else []
    if side.retransmits is not None:
        told.append(f"{plain(side.retransmits)} packets lost or sent again (median)")
    return "; ".join([*told, ", ".join(side.senders)])


def _of_metric(analysis: Analysis) -> list[PublishedValue]:
    """The published values of the analysed metric, their units checked."""
    known = analysis.experiment.published
    values = [one for one in known if one.metric == analysis.metric.column]
    for one in values:
        units = [RELATIVE_UNIT] if one.against else [*_factors(analysis)]
        if one.unit not in units:
            raise WrongInputError(
                f"a published value of {one.contender} has the unit {one.unit!r}; "
                f"{one.metric} {'against another contender ' if one.against else ''}"
                f"is in {' or '.join(map(repr, units))}"
            )
    return values


def _factors(analysis: Analysis) -> Mapping[str, float]:
    """The units that values of the metric may be published in, and how many make its own."""
    return _FACTORS.get(analysis.metric.unit, {analysis.metric.unit: 1.0})


def _factor(analysis: Analysis, published: PublishedValue) -> float:
    """What makes a value of ours one in the published unit."""
    return 100.0 if published.against else _factors(analysis)[published.unit]


def _cell(analysis: Analysis, name: str) -> Cell | None:
    return next((cell for cell in analysis.cells if cell.name == name), None)


def _beside(analysis: Analysis, published: PublishedValue) -> Beside:
    cell = _cell(analysis, published.cell)
    side = cell.side(published.contender) if cell else None
    against = cell.side(published.against) if cell and published.against else None
    comparison = None
    if cell and side and against:
        comparison = _comparison(analysis, cell, published.at_s, side, against)
    value, interval = _ours(side, comparison, published, _factor(analysis, published))
    agreement = _agreement(published, value, interval, comparison)
    ratio = value / published.value if value is not None and published.value else None
    return Beside(
        published=published,
        title=cell.title if cell else published.cell,
        side=side,
        against=against,
        comparison=comparison,
        value=value,
        interval=interval,
        ratio=ratio,
        agreement=agreement,
        words=_words(published, agreement, ratio),
    )


def _comparison(
    analysis: Analysis, cell: Cell, at_s: float | None, side: Side, against: Side
) -> Comparison:
    """The experiment's own comparison of the two, or one that it does not make."""
    pairing = Pairing(side.contender, against.contender)
    made = cell.comparison(pairing) if at_s is None else None
    contest = Contest(pairing, _measured(side, at_s), _measured(against, at_s))
    return made or compare([contest], analysis.metric)[0]


def _measured(side: Side, at_s: float | None) -> Measurements:
    """The metric in every run, or its goodput at a time."""
    if at_s is None:
        return side.measured
    return side.received.goodput_at(at_s) if side.received else Measurements(())


def _ours(
    side: Side | None, comparison: Comparison | None, published: PublishedValue, factor: float
) -> tuple[float | None, Interval | None]:
    """Our value and its interval, in the published unit."""
    if published.against is None:
        sample = _measured(side, published.at_s).sample if side else None
        value, interval = (sample.mean, sample.mean_interval) if sample else (None, None)
    else:
        value = comparison.relative if comparison else None
        interval = comparison.relative_interval if comparison else None
    if value is None:
        return None, None
    return value * factor, interval.scaled(factor) if interval else None


def _agreement(
    published: PublishedValue,
    value: float | None,
    interval: Interval | None,
    comparison: Comparison | None,
) -> Agreement:
    if value is None:
        return Agreement.NOT_MEASURED
    close = abs(value - published.value) <= TOLERANCE * abs(published.value)
    if close:
        return Agreement.AGREES
    if interval and interval.holds(published.value):
        narrow = interval.high - interval.low <= abs(published.value)
        return Agreement.AGREES if narrow else Agreement.UNDECIDED
    if comparison is None:
        return Agreement.DIFFERS
    clear = our_direction(comparison) in (Verdict.FASTER, Verdict.SLOWER)
    same = clear and value * published.value > 0
    return Agreement.DIRECTION if same else Agreement.DISAGREES


def _words(published: PublishedValue, agreement: Agreement, ratio: float | None) -> str:
    """The agreement in words, with its size where it has one."""
    if published.against is not None or ratio is None:
        return agreement
    off = abs(ratio - 1)
    if agreement is Agreement.AGREES:
        return f"agrees within {percent(off)}" if off <= TOLERANCE else f"agrees, {_COVERED}"
    if agreement is Agreement.DIFFERS and ratio:
        return f"differs by a factor of {significant(max(ratio, 1 / ratio))}"
    return agreement


def _order(
    analysis: Analysis,
    cell: Cell,
    at_s: float | None,
    pairing: Pairing,
    published: tuple[float, float],
) -> Order:
    one, other = published
    sides = {side.contender: side for side in cell.sides}
    comparison = _comparison(analysis, cell, at_s, sides[pairing.contender], sides[pairing.against])
    equal = abs(one - other) < NEGLIGIBLE * max(abs(one), abs(other)) or one == other
    theirs = Verdict.EQUAL if equal else direction(one - other, analysis.metric)
    ours = our_direction(comparison)
    same = ours is theirs
    if theirs is Verdict.EQUAL and comparison.relative is not None:
        same = abs(comparison.relative) <= TOLERANCE
    compared = None if ours is Verdict.INCOMPARABLE else same
    return Order(cell.title, at_s, comparison, published, theirs, ours, compared)


def our_direction(comparison: Comparison) -> Verdict:
    """The direction of our difference, where others published theirs.

    The verdict; where the tests leave it open, how the medians lean if the interval of their
    relative difference does not hold 0, and of single runs how they lean. Practically equal is
    equal.
    """
    interval = comparison.relative_interval
    clear = interval is not None and not interval.holds(0)
    decided = comparison.verdict in (Verdict.FASTER, Verdict.SLOWER)
    if comparison.leaning and (decided or clear or comparison.basis is Basis.TOO_FEW):
        return Verdict.EQUAL if comparison.negligible else comparison.leaning
    return comparison.verdict
