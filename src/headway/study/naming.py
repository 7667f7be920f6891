"""Names of cells and contenders, fit for directories."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from headway.study.experiment import Experiment
from headway.study.tracekey import without_traces

_LONGEST_CELL = 120
_LONGEST_CONTENDER = 80
"""With a repetition's number behind both, the name of a run's directory has at most 255 bytes."""


def cell_name(experiment: Experiment, coordinates: Mapping[str, Any]) -> str:
    """A short name, fit for a directory and unique in its study, that tells the coordinates."""
    parts = [f"{axis.split('.')[-1]}_{slug(value)}" for axis, value in coordinates.items()]
    if experiment.name:
        parts = [experiment.name, *parts]
    return _shortened("-".join(parts), _LONGEST_CELL) or "cell"


def run_name(cell: str, contender: str, rep: int) -> str:
    """The name of a repetition's directory."""
    return f"{cell}-{_shortened(slug(contender), _LONGEST_CONTENDER)}-{rep:03d}"


def _shortened(name: str, longest: int) -> str:
    """A name whose end, if there is too much of it, is a digest of the whole."""
    if len(name) <= longest:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: longest - len(digest) - 1]}-{digest}"


def slug(value: Any) -> str:
    """A value of a study file as part of a name."""
    if isinstance(value, dict):
        return ".".join(f"{key}{slug(part)}" for key, part in without_traces(value).items())
    if isinstance(value, list):
        return ".".join(slug(part) for part in value)
    return re.sub(r"[^A-Za-z0-9.]+", "", str(value).replace("%", "pct"))
