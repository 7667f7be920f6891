"""Names of cells and contenders, fit for directories."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from headway.study.experiment import Experiment
from headway.study.tracekey import without_traces


def cell_name(experiment: Experiment, coordinates: Mapping[str, Any]) -> str:
    """A short name, fit for a directory and unique in its study, that tells the coordinates."""
    parts = [f"{axis.split('.')[-1]}_{slug(value)}" for axis, value in coordinates.items()]
    if experiment.name:
        parts = [experiment.name, *parts]
    return "-".join(parts) or "cell"


def slug(value: Any) -> str:
    """A value of a study file as part of a name."""
    if isinstance(value, dict):
        return ".".join(f"{key}{slug(item)}" for key, item in without_traces(value).items())
    if isinstance(value, list):
        return ".".join(slug(item) for item in value)
    return re.sub(r"[^A-Za-z0-9.]+", "", str(value).replace("%", "pct"))
