"""From an experiment with budgets to one that has them as claims."""

from __future__ import annotations

from pydantic_core import PydanticCustomError

from headway.columns import METRICS
from headway.errors import WrongInputError
from headway.study.budget import MetricBudget
from headway.study.experiment import Experiment
from headway.study.metricnames import no_metric
from headway.study.source import Source


def budgeted(experiment: Experiment, source: Source) -> Experiment:
    """The same experiment, of which budgets are claims, and their metrics measured.

    Raises:
        WrongInputError: a budget is of no metric, or its limit no value of it.
    """
    claims, metrics = list(experiment.claims), list(experiment.metrics)
    contenders = tuple(experiment.contenders)
    for metric, stated in experiment.budget.items():
        where = source.where(f"budget.{metric}", experiment=experiment.name)
        if metric not in METRICS:
            raise WrongInputError(no_metric(metric, [*METRICS]), where=where)
        budgets = (stated,) if isinstance(stated, MetricBudget) else stated
        try:
            claims += [claim for budget in budgets for claim in budget.claims(metric, contenders)]
        except PydanticCustomError as error:
            key = (error.context or {}).get("key")
            raise WrongInputError(f"{key}: {error.message()}", where=where) from None
        metrics += [metric] if metric not in metrics else []
    return experiment.model_copy(update={"claims": tuple(claims), "metrics": tuple(metrics)})
