"""Metrics of the main thread in studies whose pages cost it nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.planning.runs import Run
from headway.study.experiment import Study
from headway.study.workload import Page

_OF_TASKS = ("tbt_ms", "longest_task_ms", "interactive_s")


def free_computing(study: Study, runs: Sequence[Run]) -> Iterator[str]:
    """That scripts take no time, where a study compares by how long they take."""
    for experiment in study.experiments:
        asked = [metric for metric in experiment.metrics if metric in _OF_TASKS]
        own = (run for run in runs if run.experiment == experiment.name)
        pages = {
            workload
            for run in own
            for workload in run.setting.workloads
            if isinstance(workload, Page)
        }
        if asked and pages and not any(page.computing for page in pages):
            name = f"{experiment.name}: " if experiment.name else ""
            yield (
                f"{name}{asked[0]} tells little: scripts, style sheets and documents take no time here, unless "
                'the study says workload.computing = "recorded" or "almanac"'
            )
