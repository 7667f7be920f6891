"""The sentences of an answer: what each says, how large that is, and the cell that it is tried around."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from headway.analysis.analysis import Analysis, analyse
from headway.analysis.cells import Cell
from headway.analysis.claimruns import ClaimRuns
from headway.analysis.compare import Comparison, compare
from headway.analysis.contest import Contest, Pairing
from headway.analysis.difference import NEGLIGIBLE, Difference
from headway.analysis.headline import headline_parts
from headway.analysis.means import Case
from headway.analysis.metric import Metric
from headway.analysis.partition import AnswerPart, Leaning, leaning, parts
from headway.analysis.result_loading import StudyResults
from headway.analysis.rules import pairs_of
from headway.analysis.summary import by_telling
from headway.errors import WrongInputError

FARTHEST = math.log(20)
"""A difference counts as no larger than this factor, a logarithm: beyond are runs that time out."""


class Claimed(StrEnum):
    """What a sentence says of two contenders."""

    LESS = "less"
    """The contender's values are less than the other's."""
    MORE = "more"
    ALIKE = "alike"
    """They are practically equal, or not shown to differ."""


@dataclass(frozen=True)
class Effect:
    """What a sentence claims at the cell that it is tried around.

    Attributes:
        claimed: its kind.
        log: logarithm of the typical ratio; 0 if they are alike.
        difference: the same with its interval.
        exact: whether all runs of each of the two are one run there, over and over.
    """

    claimed: Claimed
    log: float
    difference: Difference
    exact: bool = False

    @property
    def sign(self) -> int:
        """Of the logarithm that it claims; 0 of alike ones."""
        return {Claimed.LESS: -1, Claimed.MORE: 1, Claimed.ALIKE: 0}[self.claimed]


@dataclass(frozen=True)
class AnswerSentence:
    """A sentence of the answer.

    Attributes:
        experiment: its experiment.
        metric: what is compared.
        pairing: who is compared with whom.
        text: the sentence.
        cell: the cell that it is tried around.
        title: the conditions of that cell which vary in the study.
        effect: what it claims there.
        axes: on which it is tried.
        is_more: whether the cell is one more of the sentence's, beside the one in the middle.
        is_first: whether its metric is the experiment's first.
        claim: what the claim says that it is of; empty of the answer's.
    """

    experiment: str
    metric: Metric
    pairing: Pairing
    text: str
    cell: str
    title: str
    effect: Effect
    axes: frozenset[str]
    is_more: bool = False
    is_first: bool = True
    claim: str = ""


def sentences_of(results: StudyResults, axes: Collection[str]) -> tuple[AnswerSentence, ...]:
    """The sentences of all experiments, each of a comparison by a metric in a part of its conditions, and claims with neighbours.

    Args:
        results: the study's.
        axes: on which those of the answer are tried; claims state their own.

    Raises:
        WrongInputError: there are none; says why.
    """
    reasons: list[str] = []
    sentences: list[AnswerSentence] = []
    for experiment in results.experiments:
        name = experiment.name or "the study"
        if experiment.faults is not None:
            reasons.append(f"{name} has a fault for each packet, and no neighbours")
            continue
        analyses = [analyse(results, experiment, metric) for metric in experiment.metrics]
        analysis = analyses[0]
        if len(analysis.contenders) == 1:
            reasons.append(
                f"{name} has one contender, {analysis.contenders[0]}, and compares nothing"
            )
            continue
        own = [replace(each, axes=frozenset(axes)) for each in _of_experiment(analyses)]
        if not own:
            reasons.append(f"{name} compares nothing of which enough runs ended well")
        sentences += [*_of_claims(results, analysis), *own]
    if not sentences:
        raise WrongInputError(f"no sentence can be tried nearby: {'; '.join(reasons)}")
    return tuple(sentences)


def _of_experiment(analyses: Sequence[Analysis]) -> Iterator[AnswerSentence]:
    """Its sentences around the cells in the middle, metric by metric, then the same around the least and the greatest effects."""
    chosen: set[str] = set()
    more: list[AnswerSentence] = []
    for analysis in analyses:
        for sentence in _by_metric(analysis, chosen):
            own = replace(sentence, is_first=analysis is analyses[0])
            if own.is_more:
                more.append(own)
            else:
                yield own
    yield from more


def _by_metric(analysis: Analysis, chosen: set[str]) -> Iterator[AnswerSentence]:
    """Its sentences by one metric; cells that those of other metrics have are preferred.

    Args:
        analysis: of the metric.
        chosen: the cells in the middle so far; is added to.
    """
    for pairing in by_telling(analysis):
        # Behind the parts may stand a mean over all of them.
        for part, shown in zip(
            parts(analysis, pairing), headline_parts(analysis, pairing), strict=False
        ):
            ordered = _alike(part)
            if not ordered:
                continue
            where = f"{shown.where}, " if shown.where else ""
            text = f"{_subject(analysis, pairing)}: {where}{shown.said}"
            case = _representative(ordered, chosen)
            chosen.add(case[0].name)
            yield _sentence(analysis, pairing, text, case)
            for other in {entry[0].name: entry for entry in (ordered[0], ordered[-1])}.values():
                if other[0].name != case[0].name:
                    yield replace(_sentence(analysis, pairing, text, other), is_more=True)


def _subject(analysis: Analysis, pairing: Pairing) -> str:
    """Who is compared, and by what if that is one of several metrics."""
    several = len(analysis.experiment.metrics) > 1
    return f"{pairing}, by {analysis.metric.label}" if several else str(pairing)


def _sentence(analysis: Analysis, pairing: Pairing, text: str, case: Case) -> AnswerSentence:
    cell, comparison = case
    return AnswerSentence(
        experiment=analysis.experiment.name,
        metric=analysis.metric,
        pairing=pairing,
        text=text,
        cell=cell.name,
        title=cell.title,
        effect=_effect(comparison),
        axes=frozenset(),
    )


def _of_claims(results: StudyResults, analysis: Analysis) -> Iterator[AnswerSentence]:
    """The claims that are meant over neighbours, each around the cell in the middle of its own."""
    for claim in analysis.experiment.claims:
        if not claim.nearby:
            continue
        own = analyse(results, analysis.experiment, claim.metric)
        for names in pairs_of(claim):
            pairing = Pairing(*names)
            cases = [
                (cell, comparison)
                for cell in ClaimRuns(own, claim).cells()
                for comparison in _compared(cell, pairing, own.metric)
                if leaning(comparison) in _KINDS
            ]
            if not cases:
                continue
            ordered = sorted(cases, key=lambda case: (_log(case[1]), case[0].name))
            made = _sentence(own, pairing, f"{pairing}, as claimed: {claim.says}", _middle(ordered))
            yield replace(made, claim=claim.says, axes=frozenset(claim.nearby))


def _compared(cell: Cell, pairing: Pairing, metric: Metric) -> Iterator[Comparison]:
    """Two contenders of a cell, whether the experiment compares them or not; nothing if one is not there."""
    if (known := cell.comparison(pairing)) is not None:
        yield known
        return
    sides = [cell.side(pairing.contender), cell.side(pairing.against)]
    if sides[0] and sides[1]:
        yield from compare([Contest(pairing, sides[0].measured, sides[1].measured)], metric)


_KINDS = {
    Leaning.BETTER: "better",
    Leaning.BETTER_UNTESTED: "better",
    Leaning.WORSE: "worse",
    Leaning.WORSE_UNTESTED: "worse",
    Leaning.SAME: "same",
    Leaning.BOTH_UNTESTED: "same",
}


def _alike(part: AnswerPart) -> list[Case]:
    """The cells that came out as most of a part's did, in the order of their effects."""
    kinds: dict[str, list[Case]] = {}
    for case in part.cases:
        if kind := _KINDS.get(leaning(case[1])):
            kinds.setdefault(kind, []).append(case)
    most = max(kinds.values(), key=len, default=[])
    return sorted(most, key=lambda case: (_log(case[1]), case[0].name))


def _representative(ordered: Sequence[Case], chosen: set[str]) -> Case:
    """The cell in the middle; one that other sentences have, if there is such."""
    return _middle([case for case in ordered if case[0].name in chosen] or ordered)


def _middle(cases: Sequence[Case]) -> Case:
    return cases[(len(cases) - 1) // 2]


def _effect(comparison: Comparison) -> Effect:
    kind, log = _KINDS[leaning(comparison)], _log(comparison)
    # Of less than a trifle nothing could be gone: such a sentence would be so in its own cell.
    if kind == "same" or abs(log) < math.log1p(NEGLIGIBLE):
        return Effect(Claimed.ALIKE, 0.0, comparison.difference, comparison.on_one_path)
    claimed = Claimed.LESS if log < 0 else Claimed.MORE
    return Effect(claimed, log, comparison.difference, comparison.on_one_path)


def _log(comparison: Comparison) -> float:
    return log_of_difference(comparison.difference)


def log_of_difference(difference: Difference) -> float:
    """The logarithm of a typical ratio, none farther than `FARTHEST`."""
    if difference.relative is None or difference.relative <= -1:
        return FARTHEST * (difference.sign or 0)
    return max(-FARTHEST, min(FARTHEST, math.log1p(difference.relative)))
