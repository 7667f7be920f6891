"""Metrics that a study compares its clients by: whether they tell them."""

from __future__ import annotations

from collections.abc import Sequence

from headway.errors import WrongInputError
from headway.planning.runs import Run
from headway.study.experiment import Study


def check_told(study: Study, runs: Sequence[Run]) -> None:
    """Some run of each experiment has a client that tells each of its metrics.

    Args:
        study: the study.
        runs: of every contender in every cell.

    Raises:
        WrongInputError: none has; names the metric's place, and why the clients do not tell it.
    """
    source = study.place
    for experiment in study.experiments:
        own = [run for run in runs if run.experiment == experiment.name]
        for metric in experiment.metrics:
            reasons = [_untold(run, metric) for run in own]
            if reasons and all(reasons):
                why = "; ".join(dict.fromkeys(reasons))
                where = source.where("metrics", experiment=experiment.name)
                raise WrongInputError(f"{metric} is not measured here: {why}", where=where)


def _untold(run: Run, metric: str) -> str:
    """Why none of a run's clients tells a metric; empty if one does."""
    reasons = {}
    for flow in run.deployment.flows:
        end = flow.programs[0]
        why = flow.client.untold(metric, end.host, end.protocol)
        if not why:
            return ""
        reasons[f"{flow.client.name} {why}"] = True
    return "; ".join(reasons)
