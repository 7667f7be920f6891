"""Lengths of the queue before flows that competed: distributions over a run's time, a panel per cell."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl

from headway.analysis.numbers import significant
from headway.report.chosen import runs_said
from headway.report.evidence import SharedStory
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.plots import Frame, steps, titled_panels, x_axis, y_axis
from headway.report.scale import Scale, written
from headway.report.section import Section
from headway.report.sheet import Sheet

_QUANTILES = (0.5, 0.95)


def _draw(subject: Subject) -> Picture | None:
    stories = [story for story in subject.evidence.shared if story.queue_delay_ms]
    if not stories:
        return None
    return Picture(
        name=picture_name(subject.analysis, "queue-cdf"),
        title="Distribution of the queueing delay",
        caption=(
            "Share of a run's time in which the queue before the narrowest link took at most that long to "
            f"send, by samples every 100 ms. {runs_said([story.run for story in stories])}"
        ),
        drawing=partial(_sheet, subject, stories),
        data=lambda: _data(stories),
        said=told(f"{story.run.contender}: {_quantiles(story)}" for story in stories),
    )


KIND = Kind(place=59, section=Section.WHY, draw=_draw, every_metric=False, of_runs=True)


def _delays(story: SharedStory) -> list[float]:
    return sorted(delay_ms for _, delay_ms in story.queue_delay_ms)


def _quantiles(story: SharedStory) -> str:
    half, most = np.quantile(_delays(story), _QUANTILES)
    return f"median {significant(half)} ms, 95 % of the time at most {significant(most)} ms"


def _data(stories: Sequence[SharedStory]) -> pl.DataFrame:
    rows = [
        {
            "run_id": story.run.run_id,
            "contender": story.run.contender,
            "at_s": at_s,
            "delay_ms": delay_ms,
        }
        for story in stories
        for at_s, delay_ms in story.queue_delay_ms
    ]
    return pl.DataFrame(rows)


def _sheet(subject: Subject, stories: Sequence[SharedStory], width: float) -> Sheet:
    shown = dict.fromkeys(story.run.contender for story in stories)
    styles = {name: subject.styles[name] for name in shown}
    of_cells: dict[str, list[SharedStory]] = {}
    for story in stories:
        of_cells.setdefault(story.run.cell, []).append(story)
    panels = [
        (cell, partial(_panel, subject, shared_stories))
        for cell, shared_stories in of_cells.items()
    ]
    return titled_panels(panels, styles, width, left=42, height=150, upwards="share of time")


def _panel(subject: Subject, stories: Sequence[SharedStory], sheet: Sheet, frame: Frame) -> None:
    longest = max(_delays(story)[-1] for story in stories) or 1.0
    across = Scale(0.0, 1.05 * longest, frame.left, frame.right)
    up = Scale(0.0, 1.0, frame.bottom, frame.top)
    y_axis(sheet, frame, up, (0.0, 0.5, 1.0), ("0", "50 %", "100 %"))
    ticks = across.ticks(5)
    x_axis(
        sheet,
        frame,
        [across(tick) for tick in ticks],
        [written(tick) for tick in ticks],
        "queueing delay [ms]",
    )
    for story in stories:
        style, delays = subject.styles[story.run.contender], _delays(story)
        line = steps(delays, len(delays), across, up)
        sheet.lines([line], colour=style.colour, width=1.7, dash=style.dash)
