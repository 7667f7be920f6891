"""The states in which the sender in front of the bottleneck was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from headway.diagnosis.metrics.measure import FinishedRun, measure
from headway.instruments.states.columns import TIME_COLUMNS
from headway.instruments.states.sources import run_state_paths


@measure
def _states(finished: FinishedRun) -> Mapping[str, Any]:
    """None of uploads, whose senders are clients."""
    paths = run_state_paths(finished.directory, finished.transfer) if finished.segments else []
    if not paths:
        return {}
    spent: Counter[str] = Counter()
    steps: Counter[str] = Counter()
    for path in paths:
        spent.update(path.seconds())
        steps.update(f"{before} > {after}" for before, after in pairwise(path.states))
    return {
        **{column: round(spent[state] / len(paths), 9) for state, column in TIME_COLUMNS.items()},
        "state_steps": tuple(steps),
        "state_step_counts": tuple(steps.values()),
    }
