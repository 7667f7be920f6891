"""Comparisons part by part, as the answer tells them, and their means where cells are alike."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from headway.analysis import Analysis
from headway.analysis.condition_phrases import words
from headway.analysis.headline import headline
from headway.analysis.overall_effect import Whole, wholes
from headway.analysis.partition import AnswerPart, Leaning, parts
from headway.report.section import Section
from headway.report.tables.kind import TableKind

FILE = "overall.csv"


def wholes_frame(analyses: Sequence[Analysis]) -> pl.DataFrame:
    """A row per experiment, metric, comparison that has two cells at least, and part of it."""
    rows = [
        _row(analysis, part, means.get(pairing))
        for analysis in analyses
        if len(analysis.cells) > 1
        for means in [{whole.pairing: whole for whole in wholes(analysis) if whole.alike}]
        for pairing in analysis.pairings
        for part in parts(analysis, pairing)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _row(analysis: Analysis, part: AnswerPart, mean: Whole | None) -> dict[str, object]:
    pairing = part.cases[0][1].pairing
    sizes = [comparison.relative for _, comparison in part.cases if comparison.relative is not None]
    interval = mean.difference.interval if mean else None
    test = mean.test if mean else None
    return {
        "experiment": analysis.experiment.name,
        "metric": analysis.metric.column,
        "contender": pairing.contender,
        "against": pairing.against,
        "where": " ".join(map(words, part.where)),
        "cells": len(part.cases),
        **{f"cells_{kind.name.lower()}": len(part.of(kind)) for kind in Leaning},
        "least_difference": min(sizes, default=None),
        "most_difference": max(sizes, default=None),
        "mean_difference": mean.difference.relative if mean else None,
        "mean_low": interval.low if interval else None,
        "mean_high": interval.high if interval else None,
        "mean_level": interval.level if interval and interval.reaches_level else None,
        "mean_p": test.p if test else None,
        "mean_p_adjusted": test.adjusted if test else None,
        "mean_verdict": mean.verdict.value if mean else None,
        "in_words": analysis.metric.said(headline(analysis, pairing)),
    }


KIND = TableKind(
    place=10,
    section=Section.RESULTS,
    caption="Comparisons in the parts of their answer",
    file=FILE,
    frame=lambda matter: wholes_frame(matter.everything),
)
