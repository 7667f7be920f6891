"""Explanations of missed published values, by the runs of another experiment in which something was changed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from headway.analysis.analysis import Analysis
from headway.analysis.numbers import significant
from headway.analysis.published import Agreement, Beside, beside, beside_ours
from headway.records.manifest import ArchivedPublished
from headway.study.published import Explanation

_CLOSER = 0.1
"""Of the difference, as a share: what changes it by less is not called a part of the reason."""


def explained(
    everything: Sequence[Sequence[Analysis]],
) -> tuple[tuple[Analysis, ...], ...]:
    """The analyses, the reasons of whose missed values are those that runs of other experiments show.

    Args:
        everything: of each experiment, the analyses of its metrics.
    """
    by_experiment = {analyses[0].experiment.name: analyses for analyses in everything if analyses}
    of_name = {
        explanation.experiment: (analyses, explanation)
        for analyses in by_experiment.values()
        if (explanation := analyses[0].experiment.explains)
    }
    return tuple(
        _with_reasons(analyses, *of_name[analyses[0].experiment.name])
        if analyses and analyses[0].experiment.name in of_name
        else tuple(analyses)
        for analyses in everything
    )


def _with_reasons(
    analyses: Sequence[Analysis], changed: Sequence[Analysis], explanation: Explanation
) -> tuple[Analysis, ...]:
    reasons = dict(_reasons(analyses, changed, explanation))
    experiment = analyses[0].experiment
    published = tuple(
        value.model_copy(update={"why": reasons[number]}) if number in reasons else value
        for number, value in enumerate(experiment.published)
    )
    experiment = experiment.model_copy(update={"published": published})
    return tuple(replace(analysis, experiment=experiment) for analysis in analyses)


def _reasons(
    analyses: Sequence[Analysis], changed: Sequence[Analysis], explanation: Explanation
) -> Iterator[tuple[int, str]]:
    """Numbers of missed values, and what the changed runs say of them."""
    numbers = {id(value): number for number, value in enumerate(analyses[0].experiment.published)}
    for analysis in analyses:
        other = next(
            (
                explanation
                for explanation in changed
                if explanation.metric.column == analysis.metric.column
            ),
            None,
        )
        for ours in beside(analysis) if other else ():
            theirs = (
                beside_ours(other, _elsewhere(ours.published, analysis, other)) if other else None
            )
            if ours.agreement.is_missed and theirs and theirs.ratio and ours.ratio:
                text = reason(ours, theirs, explanation)
                yield numbers[id(ours.published)], text


def _elsewhere(
    published: ArchivedPublished, analysis: Analysis, other: Analysis
) -> ArchivedPublished:
    """A published value as one of the same cell of another experiment."""
    at = analysis.experiment.coordinates.get(published.cell)
    cells = other.experiment.coordinates.items()
    return published.model_copy(
        update={"cell": next((name for name, place in cells if place == at), "")}
    )


def reason(ours: Beside, theirs: Beside, explanation: Explanation) -> str:
    """Why a value is missed, by the same value of changed runs.

    Args:
        ours: the value that is missed.
        theirs: the same of the changed runs.
        explanation: what was changed.
    """
    assert ours.ratio
    assert theirs.ratio
    what, rest = explanation.what, ours.published.why
    becomes = f"with that ours is {significant(theirs.ratio)} times theirs"
    if theirs.agreement is Agreement.AGREES:
        return f"{_sentence(what)}: {becomes}."
    if theirs.agreement is Agreement.UNDECIDED:
        return f"Not known; too few runs to tell whether {what} is the reason: {becomes}."
    share = share_explained(ours.ratio, theirs.ratio)
    if share is None or share < _CLOSER:
        return f"{rest or 'Not known.'} It is not {what}: {becomes}."
    return f"In part ({share:.0%}) {what}: {becomes}. The rest is not known."


def share_explained(before: float, after: float) -> float | None:
    """How much of a factor between two values is gone, on a scale of logarithms.

    Args:
        before: a ratio to the published value.
        after: the same with something changed; on the other side of 1 only what is not beyond the first counts.

    Returns:
        None if a ratio is none that has a logarithm, or if there was no difference.
    """
    if before <= 0 or after <= 0 or before == 1:
        return None
    return 1 - abs(math.log(after)) / abs(math.log(before))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
