"""Published values beside ours: whether they agree, and what our runs say of why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell, ContenderRuns
from headway.analysis.compare import Comparison, compare
from headway.analysis.contest import Contest, Pairing
from headway.analysis.difference import NEGLIGIBLE
from headway.analysis.effects import relative_difference, relative_interval, relative_means
from headway.analysis.numbers import percent, plain, significant
from headway.analysis.verdict import Basis, Verdict
from headway.errors import counted
from headway.records.manifest import ArchivedPublished
from headway.statistics.interval import Interval
from headway.study.published import UNITS, RunInterval, Statistic

TOLERANCE = 0.15
"""Values closer than this share of the published one agree."""
_COVERED = "because our interval holds it"


class Agreement(StrEnum):
    """How our value relates to a published one."""

    AGREES = "agrees"
    """Within ``TOLERANCE``, or our interval holds the published value and is narrower than that."""
    DIRECTION = "agrees in direction, not in size"
    """The same contender is faster, by another share; only a relative difference has a direction."""
    DISAGREES = "disagrees"
    """The other contender is faster, or neither is clearly."""
    DIFFERS = "differs in size"
    """A contender's own value is another one; it has no direction."""
    UNDECIDED = "undecided"
    """Our interval holds the published value, but is wider than it: too few runs to tell."""
    NOT_MEASURED = "not measured"

    @property
    def is_missed(self) -> bool:
        """Whether our runs say that the value is another one."""
        return self in (Agreement.DIRECTION, Agreement.DISAGREES, Agreement.DIFFERS)


@dataclass(frozen=True)
class Beside:
    """A published value and ours.

    A mean stands beside our mean and a median beside our median, a relative difference beside that
    of ours; goodput of an interval of time beside that of our bulk flows.

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

    published: ArchivedPublished
    title: str
    side: ContenderRuns | None
    against: ContenderRuns | None
    comparison: Comparison | None
    value: float | None
    interval: Interval | None
    ratio: float | None
    agreement: Agreement
    words: str


def beside(analysis: Analysis) -> tuple[Beside, ...]:
    """Every value that the experiment names as published of this metric, beside ours."""
    return tuple(beside_ours(analysis, published) for published in of_metric(analysis))


def agreement_sentence(analyses: Sequence[Analysis]) -> str:
    """How many of the values published of these metrics agree; empty if nothing was published."""
    counts = Counter(
        comparison.agreement for analysis in analyses for comparison in beside(analysis)
    )
    if not counts:
        return ""
    text = "; ".join(f"{kind.value}: {counts[kind]}" for kind in Agreement if counts[kind])
    return f"{counted(counts.total(), 'published value')} beside ours ({text})."


def evidence(side: ContenderRuns) -> str:
    """What our runs say of why they took as long: limits, packets sent again, and senders."""
    limits = ", ".join(f"{name} in {count}" for name, count in side.limited_by)
    texts = [f"limited by {limits} of {counted(side.runs, 'run')}"] if limits else []
    if side.retransmits is not None:
        texts.append(f"{plain(side.retransmits)} packets lost or sent again (median)")
    return "; ".join([*texts, ", ".join(side.senders)])


def of_metric(analysis: Analysis) -> list[ArchivedPublished]:
    """The published values of the analysed metric."""
    known = analysis.experiment.published
    return [
        told_published
        for told_published in known
        if told_published.metric == analysis.metric.column
    ]


def factor_of(analysis: Analysis, published: ArchivedPublished) -> float:
    """What makes a value of ours one in the published unit."""
    return (
        100.0 if published.against else UNITS.get(analysis.metric.unit, {}).get(published.unit, 1.0)
    )


def _cell(analysis: Analysis, name: str) -> Cell | None:
    return next((cell for cell in analysis.cells if cell.name == name), None)


def beside_ours(analysis: Analysis, published: ArchivedPublished) -> Beside:
    """A published value beside ours of its cell."""
    cell = _cell(analysis, published.cell)
    side = cell.side(published.contender) if cell else None
    against = cell.side(published.against) if cell and published.against else None
    comparison = None
    if cell and side and against:
        comparison = comparison_of(analysis, cell, published.span, side, against)
    value, interval = _ours(published, side, against, comparison)
    factor = factor_of(analysis, published)
    value = None if value is None else value * factor
    interval = interval.scaled(factor) if interval else None
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


def comparison_of(
    analysis: Analysis,
    cell: Cell,
    span: RunInterval | None,
    side: ContenderRuns,
    against: ContenderRuns,
) -> Comparison:
    """The experiment's own comparison of the two, or one that it does not make."""
    pairing = Pairing(side.contender, against.contender)
    made = cell.comparison(pairing) if span is None else None
    contest = Contest(pairing, side.measured_in(span), against.measured_in(span))
    return made or compare([contest], analysis.metric)[0]


def _ours(
    published: ArchivedPublished,
    side: ContenderRuns | None,
    against: ContenderRuns | None,
    comparison: Comparison | None,
) -> tuple[float | None, Interval | None]:
    """The same statistic of our runs and its interval, in the metric's unit or as a share."""
    if side is None:
        return None, None
    mean = published.statistic is Statistic.MEAN
    if published.against is None:
        sample = side.measured_in(published.span).sample
        if sample is None:
            return None, None
        return (sample.mean, sample.mean_interval) if mean else (sample.median, sample.interval)
    if comparison is None or against is None:
        return None, None
    first, other = side.measured_in(published.span), against.measured_in(published.span)
    if mean:
        return relative_means(first, other)
    return relative_difference(first.sample, other.sample), relative_interval(first, other)


def _agreement(
    published: ArchivedPublished,
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
    same = _is_clear(value, interval, comparison) and value * published.value > 0
    return Agreement.DIRECTION if same else Agreement.DISAGREES


def _is_clear(percent_: float, interval: Interval | None, comparison: Comparison) -> bool:
    """Whether a relative difference of ours is neither chance nor a trifle."""
    if interval is None or interval.low == interval.high:
        return our_direction(comparison) in (Verdict.FASTER, Verdict.SLOWER)
    return not interval.holds(0) and abs(percent_) >= 100 * NEGLIGIBLE


def _words(published: ArchivedPublished, agreement: Agreement, ratio: float | None) -> str:
    """The agreement in words, with its size where it has one."""
    if published.against is not None or ratio is None:
        return agreement
    off = abs(ratio - 1)
    if agreement is Agreement.AGREES:
        return f"agrees within {percent(off)}" if off <= TOLERANCE else f"agrees, {_COVERED}"
    if agreement is Agreement.DIFFERS and ratio:
        return f"differs by a factor of {significant(max(ratio, 1 / ratio))}"
    return agreement


def our_direction(comparison: Comparison) -> Verdict:
    """The direction of our difference, where others published theirs.

    The verdict; where the tests leave it open, how the medians lean if the interval of their
    relative difference does not hold 0, and of single runs how they lean. Practically equal is
    equal.
    """
    interval = comparison.relative_interval
    clear = interval is not None and not interval.holds(0)
    decided = comparison.verdict in (Verdict.FASTER, Verdict.SLOWER)
    single = comparison.basis is Basis.TOO_FEW and interval is None
    if comparison.leaning and (decided or clear or single):
        return Verdict.EQUAL if comparison.negligible else comparison.leaning
    return comparison.verdict
