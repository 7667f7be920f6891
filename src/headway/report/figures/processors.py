"""Loads of the hosts' processors over time, in chosen runs: a panel per cell and host."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

import polars as pl

from headway.analysis.numbers import significant
from headway.diagnosis.processorload import ProcessorLoad
from headway.report.chosen import runs_said
from headway.report.evidence import Story
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.plots import Frame, titled_panels, x_axis, y_axis
from headway.report.scale import Scale, written
from headway.report.section import Section
from headway.report.sheet import Sheet


def _draw(subject: Subject) -> Picture | None:
    stories = [story for story in subject.evidence.stories if story.series.loads]
    if not stories:
        return None
    return Picture(
        name=picture_name(subject.analysis, "processors"),
        title="Load of the processors",
        caption=(
            "Share of the time between two samples in which a host's processor was busy; of several cores the "
            f"busiest. {runs_said([story.run for story in stories])}"
        ),
        drawing=partial(_sheet, subject, stories),
        data=lambda: _data(stories),
        said=told(_said(stories)),
    )


KIND = Kind(place=62, section=Section.WHY, draw=_draw, every_metric=False, of_runs=True)


def _ends_s(story: Story) -> float:
    return story.series.end_s or max(load.at_s[-1] for load in story.series.loads)


def _said(stories: Sequence[Story]) -> Iterator[str]:
    for story in stories:
        for load in story.series.loads:
            within = [
                (at_s - before_s) * share
                for before_s, at_s, share in zip(
                    (0.0, *load.at_s), load.at_s, load.share, strict=False
                )
                if at_s <= _ends_s(story)
            ]
            mean = math.fsum(within) / _ends_s(story)
            yield f"{story.run.contender}, {load.host}: {significant(100 * mean)} %"


def _data(stories: Sequence[Story]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "run_id": story.run.run_id,
                "contender": story.run.contender,
                "host": load.host,
                "at_s": at_s,
                "busy_share": share,
            }
            for story in stories
            for load in story.series.loads
            for at_s, share in zip(load.at_s, load.share, strict=True)
        ]
    )


_Line = tuple[Story, ProcessorLoad]


def _sheet(subject: Subject, stories: Sequence[Story], width: float) -> Sheet:
    shown = dict.fromkeys(story.run.contender for story in stories)
    styles = {name: subject.styles[name] for name in shown}
    lines: dict[str, list[_Line]] = {}
    for story in stories:
        for load in story.series.loads:
            lines.setdefault(f"{story.run.cell}: {load.host}", []).append((story, load))
    panels = [(title, partial(_panel, subject, line)) for title, line in lines.items()]
    return titled_panels(panels, styles, width, left=42, height=130, upwards="load")


def _panel(subject: Subject, lines: Sequence[_Line], sheet: Sheet, frame: Frame) -> None:
    across = Scale(0.0, max(_ends_s(story) for story, _ in lines), frame.left, frame.right)
    up = Scale(0.0, 1.05, frame.bottom, frame.top)
    y_axis(sheet, frame, up, (0.0, 0.5, 1.0), ("0", "50 %", "100 %"))
    ticks = across.ticks(5)
    x_axis(sheet, frame, [across(t) for t in ticks], [written(t) for t in ticks], "time [s]")
    for story, load in lines:
        style = subject.styles[story.run.contender]
        points = [
            (across(at_s), up(min(share, 1.05)))
            for at_s, share in zip(load.at_s, load.share, strict=True)
            if at_s <= _ends_s(story)
        ]
        sheet.lines([points], colour=style.colour, width=1.5, dash=style.dash)
