"""Families: which comparisons of a study are adjusted for their number together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.analysis.cells import ContenderRuns, sides_by_cell
from headway.analysis.contenders import ordered_contenders, pairings_of
from headway.analysis.contest import Contest, Pairing
from headway.analysis.decision import deciding
from headway.analysis.fault_runs import apart
from headway.analysis.metric import Metric, metric_named
from headway.analysis.result_loading import StudyResults
from headway.analysis.significance import TestResult
from headway.errors import counted
from headway.records.manifest import ArchivedExperiment
from headway.study.adjusting import AdjustedTogether


def contests(sides: Sequence[ContenderRuns], pairings: Sequence[Pairing]) -> Iterator[Contest]:
    """Who meets whom in a cell."""
    measured = {side.contender: side.measured for side in sides}
    for pairing in pairings:
        if pairing.contender in measured and pairing.against in measured:
            yield Contest(pairing, measured[pairing.contender], measured[pairing.against])


def tests_beside(
    results: StudyResults, experiment: ArchivedExperiment, metric: Metric
) -> list[TestResult]:
    """The tests of other metrics and experiments that are of the same family, each by itself.

    Args:
        results: of the study, which says what is adjusted together.
        experiment: the experiment that is analysed.
        metric: the metric by which it is.
    """
    return [
        test
        for other, column in _members(results, experiment)
        if (other.name, column) != (experiment.name, metric.column)
        for test in _tests(results, other, column)
    ]


def _members(
    results: StudyResults, experiment: ArchivedExperiment
) -> Iterator[tuple[ArchivedExperiment, str]]:
    """The experiments and metrics whose comparisons are adjusted together with those of an experiment."""
    together = results.manifest.study.adjust
    if together is AdjustedTogether.METRIC:
        return
    every = results.experiments if together is AdjustedTogether.STUDY else (experiment,)
    yield from ((other, column) for other in every for column in other.metrics)


def _tests(
    results: StudyResults, experiment: ArchivedExperiment, column: str
) -> tuple[TestResult, ...]:
    key = experiment.name, column
    if key not in results.tests:
        results.tests[key] = tuple(_deciding(results, experiment, column))
    return results.tests[key]


def _deciding(
    results: StudyResults, experiment: ArchivedExperiment, column: str
) -> Sequence[TestResult]:
    runs, _ = apart(experiment, results.runs_of(experiment))
    if column not in runs.columns:
        return ()
    metric = metric_named(column)
    names = ordered_contenders(experiment, runs)
    pairings = pairings_of(experiment, names)
    sides_of = sides_by_cell(runs, metric, names, experiment.number_of_looks)
    return deciding(
        [met for sides in sides_of.values() for met in contests(sides, pairings)], metric
    )


def family_sentence(results: StudyResults, experiment: ArchivedExperiment, size: int) -> str:
    """What verdicts are adjusted for, in a sentence; empty of a single comparison in the whole study.

    Args:
        results: of the study.
        experiment: an experiment of it.
        size: how many comparisons its family has.
    """
    comparing = [
        told_experiment
        for told_experiment in results.experiments
        if len(told_experiment.contenders) > 1 or told_experiment.comparisons
    ]
    families = sum(len(told_experiment.metrics) for told_experiment in comparing)
    several = len(comparing) > 1
    match results.manifest.study.adjust:
        case AdjustedTogether.STUDY:
            of, others = ("the study" if families > 1 else "this study"), 1
        case AdjustedTogether.EXPERIMENT:
            of, others = "this experiment by all its metrics", len(comparing)
        case _:
            of, others = "this experiment by this metric", families
    if size < 1 or (size == 1 and others < 2):
        return ""
    start = f"Verdicts and intervals are adjusted for {counted(size, 'comparison')} together, those of {of}"
    if others < 2:
        return f"{start}; that is all of the study."
    metrics = sorted(
        {column for told_experiment in comparing for column in told_experiment.metrics}
    )
    made_of = " and ".join(
        [
            *([counted(len(comparing), "experiment")] if several else []),
            *([counted(len(metrics), "metric")] if len(metrics) > 1 else []),
        ]
    )
    return (
        f"{start}; the study has {others} such families ({made_of}), which are not adjusted for one another "
        '(`adjust = "study"` does that).'
    )
