"""Data of figures, for those who draw them themselves, and in words for those who cannot see them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from headway.analysis import Analysis, Cell, Pairing
from headway.analysis.numbers import signed_percent
from headway.report.evidence import PageStory, Story
from headway.report.flowpanels import Curve, Flows
from headway.report.tables.comparisons import comparisons_frame
from headway.report.tables.wholes import wholes_frame

_MOST_SAID = 60
"""Longer lists are left to the table: nobody listens to more."""


def told(parts: Iterable[str], start: str = "") -> str:
    """Parts as a sentence; of many the first, and that there are more."""
    texts = list(parts)
    if not texts:
        return ""
    more = f"; and {len(texts) - _MOST_SAID} more" if len(texts) > _MOST_SAID else ""
    return f"{start}{'; '.join(texts[:_MOST_SAID])}{more}."


def medians_said(analysis: Analysis, cells: Sequence[Cell]) -> str:
    """The medians of the contenders in cells."""
    return told(
        f"{cell.title}: "
        + ", ".join(
            f"{side.contender} {analysis.metric.text(side.sample.median)}{analysis.metric.distance(side.measured)}"
            if side.sample
            else f"{side.contender} not measured"
            for side in cell.sides
        )
        for cell in cells
    )


def differences_said(pairings: Sequence[Pairing], cells: Sequence[Cell]) -> str:
    """The differences of comparisons in cells, those in brackets that are not significant."""
    return " ".join(
        told(
            (
                f"{cell.title} {size if comparison.matters else f'({size})'}"
                for cell in cells
                if (comparison := cell.comparison(pairing)) and comparison.relative is not None
                for size in [f"{signed_percent(comparison.relative)} %".replace("× %", "×")]
            ),
            start=f"{pairing}: ",
        )
        for pairing in pairings
    )


def runs_data(analysis: Analysis) -> pl.DataFrame:
    """What every finished run measured; runs that failed are in ``failures.csv``."""
    rows = [
        {
            "cell": cell.name,
            "title": cell.title,
            "contender": side.contender,
            "seed": run.seed,
            "repetition": run.rep,
            analysis.metric.column: run.value,
        }
        for cell in analysis.cells
        for side in cell.sides
        for run in side.observations
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def differences_data(analysis: Analysis) -> pl.DataFrame:
    """Every comparison: over all cells (those rows have no cell), then cell by cell."""
    over_all = wholes_frame([analysis])
    return pl.concat([over_all, comparisons_frame([analysis], words=False)], how="diagonal_relaxed")


def flows_data(flows: Flows) -> pl.DataFrame:
    """The curves of ratios and of goodput; a ratio's row has the contender compared with."""
    rows = []
    for cell in flows.cells:
        here = {"cell": cell.cell.name, "title": cell.cell.title}
        for pairing, curve in cell.ratios.items():
            whose = {"contender": pairing.contender, "against": pairing.against}
            rows += [{**here, **whose, "quantity": "ratio", **row} for row in _points(curve)]
        for name, curve in cell.goodput.items():
            whose = {"contender": name, "against": ""}
            rows += [{**here, **whose, "quantity": "goodput_mbit", **row} for row in _points(curve)]
    return pl.DataFrame(rows, infer_schema_length=None)


def _points(curve: Curve) -> list[dict[str, float]]:
    columns = (curve.at_s, curve.values, curve.low, curve.high)
    names = ("at_s", "value", "low", "high")
    points = zip(*(column.tolist() for column in columns), strict=True)
    return [dict(zip(names, point, strict=True)) for point in points]


def series_data(stories: Sequence[Story]) -> pl.DataFrame:
    """Every sample of runs over time, of each section of the way."""
    return pl.concat(
        [
            segment.frame().select(
                pl.lit(story.run.run_id).alias("run_id"),
                pl.lit(story.run.contender).alias("contender"),
                pl.lit(segment.sender).alias("sender"),
                pl.lit(segment.receiver).alias("receiver"),
                pl.lit(segment.evidence.value).alias("known_from"),
                pl.all(),
            )
            for story in stories
            for segment in story.series.segments
        ]
    )


def progress_data(stories: Sequence[PageStory]) -> pl.DataFrame:
    """How complete pages were, from each moment of change on."""
    rows = [
        {
            "run_id": story.run.run_id,
            "contender": story.run.contender,
            "at_ms": at_ms,
            "complete": share,
        }
        for story in stories
        for at_ms, share in story.progress.steps
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def resources_data(stories: Sequence[PageStory]) -> pl.DataFrame:
    """The resources of page loads, in the order in which the browser asked for them."""
    rows = [
        {
            "run_id": story.run.run_id,
            "contender": story.run.contender,
            "url": resource.url,
            "protocol": resource.protocol,
            "connection": resource.connection_id,
            "status": resource.status,
            "media_type": resource.mime_type,
            "priority": resource.priority,
            "initiator_type": resource.initiator_type,
            "initiator": resource.initiator_url,
            "render_blocking": resource.render_blocking,
            "started_ms": resource.started_ms,
            "sent_ms": resource.sent_ms,
            "response_start_ms": resource.response_start_ms,
            "ended_ms": resource.ended_ms,
            "body_bytes": resource.body_bytes,
            "error": resource.error,
        }
        for story in stories
        for resource in story.load.resources
    ]
    return pl.DataFrame(rows, infer_schema_length=None)
