"""Families of comparisons: those of a study that are adjusted for their number together."""

from __future__ import annotations

from enum import StrEnum


class AdjustedTogether(StrEnum):
    """The comparisons that are one family."""

    METRIC = "metric"
    """Those of an experiment by one metric."""
    EXPERIMENT = "experiment"
    """Those of an experiment by all its metrics."""
    STUDY = "study"
    """All."""
