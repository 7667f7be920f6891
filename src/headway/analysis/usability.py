"""The soundness of a study's results, for those who look at the exit status only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from headway.analysis.analysis import analyse
from headway.analysis.claim_estimate import Judgement
from headway.analysis.claimwords import judged, ours
from headway.analysis.fault_runs import apart, of_its_fault
from headway.analysis.published import Beside, beside
from headway.analysis.result_loading import StudyResults, load_results
from headway.analysis.validated import validated, validation_warning
from headway.columns import Status
from headway.errors import counted

_MOST_TOLD = 10
"""Of claims that are not met, so many are named."""


def complaints(directory: Path, *, allow_failures: bool, strict: bool) -> list[str]:
    """What is wrong with the results in a directory, a line each; empty if nothing is.

    Args:
        directory: of the results.
        allow_failures: whether some runs may have failed.
        strict: whether published values have to be met, and claims have to hold.

    Raises:
        WrongInputError: there are no results.
    """
    results = load_results(directory)
    texts = [
        warning for warning in (results.manifest.warning, _validity(directory, results)) if warning
    ]
    if not allow_failures:
        texts += _failures(results)
    if strict:
        texts += (*_missed(results), *unmet_claims(results))
    return texts


def _validity(directory: Path, results: StudyResults) -> str:
    if results.runs["validation"].null_count() == len(results.runs):
        return ""
    analyses = [analyse(results, experiment) for experiment in results.experiments]
    return validation_warning(validated(directory, results, analyses))


def _failures(results: StudyResults) -> Iterator[str]:
    # That a run does not survive its fault is what the study asks for.
    compared = pl.concat(
        [apart(experiment, results.runs_of(experiment))[0] for experiment in results.experiments]
    )
    failed = compared.filter((pl.col("status") != Status.OK.value) & ~of_its_fault())
    if not failed.is_empty():
        first = failed.row(0, named=True)
        yield (
            f"{len(failed)} of {len(compared)} runs failed, such as {first['run_id']}: "
            f"{first['error']}; --allow-failures accepts that"
        )


def _missed(results: StudyResults) -> Iterator[str]:
    values = [
        (experiment.name, comparison)
        for experiment in results.experiments
        if experiment.published
        for metric in experiment.metrics
        for comparison in beside(analyse(results, experiment, metric))
    ]
    missed = [(name, comparison) for name, comparison in values if comparison.agreement.is_missed]
    if missed:
        name, first = missed[0]
        yield (
            f"our runs contradict {len(missed)} of {len(values)} published values, such as "
            f"{_words(name, first)}"
        )


def unmet_claims(results: StudyResults) -> Iterator[str]:
    """That claims do not hold, are undecided or were not measured, in a line; nothing if all hold."""
    claims = [
        (experiment.name, judged_claim)
        for experiment in results.experiments
        if experiment.claims
        for judged_claim in judged(
            [analyse(results, experiment, metric) for metric in experiment.metrics]
        )
    ]
    unmet = [
        (name, judged_claim)
        for name, judged_claim in claims
        if judged_claim.judgement is not Judgement.HOLDS
    ]
    if not unmet:
        return
    texts = [
        f"{judged_claim.claim.says!r}{f' ({name})' if name else ''}: {judged_claim.judgement}: {ours(judged_claim)}"
        for name, judged_claim in unmet[:_MOST_TOLD]
    ]
    verb = "does" if len(unmet) == 1 else "do"
    yield f"{len(unmet)} of {counted(len(claims), 'claim')} {verb} not hold, such as {texts[0]}"
    yield from texts[1:]
    if (more := len(unmet) - len(texts)) > 0:
        yield f"and {more} more: `headway claims` shows all"


def _words(experiment: str, comparison: Beside) -> str:
    published = comparison.published
    value = f"{published.metric} of {published.contender}"
    against = f" against {published.against}" if published.against else ""
    place = ", ".join(filter(None, (experiment, comparison.title)))
    return f"{value}{against} ({place}): {comparison.words}"
