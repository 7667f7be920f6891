"""Parts of a paper's study: what results of one leave to the whole."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from headway.cli.plan_tables import duration
from headway.errors import counted

if TYPE_CHECKING:
    from headway.analysis import StudyResults
    from headway.study.experiment import Experiment, Study


def left_to_the_whole(results: StudyResults, whole: Study) -> Iterator[str]:
    """Where the claims are if these experiments have none, and how long the whole study takes; nothing of the whole.

    The time is that of these runs, experiment by experiment.

    Args:
        results: of the study, of its short form, or of some of its experiments.
        whole: the study.
    """
    with_claims = [experiment for experiment in whole.experiments if experiment.claims]
    if with_claims and not any(
        experiment.claims for experiment in results.manifest.study.experiments
    ):
        count = sum(len(with_claim.claims) for with_claim in with_claims)
        names = ", ".join(with_claim.name for with_claim in with_claims)
        yield f"{whole.name} names {counted(count, 'claim')}, none of them about these experiments: they are of {names}."
    runs = {experiment.name: _runs(experiment) for experiment in whole.experiments}
    if results.manifest.runs < (most := sum(runs.values())):
        text = f"The whole study has {counted(most, 'run')}"
        seconds = _processor_s(results, runs)
        takes = f", about {duration(seconds)} of processor time" if seconds else ""
        yield f"{text}{takes}: `headway reproduce {whole.name}`."


def _runs(experiment: Experiment) -> int:
    """How many runs an experiment has at most."""
    there = sum(
        not experiment.excludes({**cell, "contender": name})
        for cell in experiment.grid()
        for name in experiment.contenders
    )
    return there * experiment.repetitions.most


def _processor_s(results: StudyResults, runs: dict[str, int]) -> float:
    """What so many runs take, if each takes what those of its experiment took in the mean; else what all did."""
    import polars as pl

    took = results.runs.drop_nulls("processor_s")
    usual = took["processor_s"].mean()
    if not isinstance(usual, float):
        return 0.0
    means = took.group_by("experiment").agg(pl.col("processor_s").mean())
    by_experiment: dict[str, float] = dict(means.iter_rows())
    return math.fsum(count * by_experiment.get(name, usual) for name, count in runs.items())
