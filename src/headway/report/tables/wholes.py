"""Comparisons over all cells together, with every number."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from headway.analysis import Analysis
from headway.analysis.answer import whole_sentence
from headway.analysis.whole import Whole, wholes

FILE = "overall.csv"


def wholes_frame(analyses: Sequence[Analysis]) -> pl.DataFrame:
    """A row per experiment, metric and comparison that has two cells at least."""
    rows = [_row(analysis, one) for analysis in analyses for one in wholes(analysis)]
    return pl.DataFrame(rows, infer_schema_length=None)


def _row(analysis: Analysis, one: Whole) -> dict[str, object]:
    interval, test = one.difference.interval, one.test
    return {
        "experiment": analysis.experiment.name,
        "metric": analysis.metric.column,
        "contender": one.pairing.contender,
        "against": one.pairing.against,
        "cells": one.cells,
        "opposite_cells": one.opposite,
        "pairs_least": one.pairs[0],
        "pairs_most": one.pairs[1],
        "repetitions": len(one.difference.logs),
        "relative_difference": one.difference.relative,
        "relative_low": interval.low if interval else None,
        "relative_high": interval.high if interval else None,
        "relative_level": interval.level if interval and interval.reaches_level else None,
        "equivalent": one.difference.equivalent,
        "deciding_test": test.name if test else None,
        "deciding_p": test.p if test else None,
        "deciding_p_adjusted": test.adjusted if test else None,
        "verdict": one.verdict.value,
        "in_words": analysis.metric.said(whole_sentence(one)),
    }
