"""Quality of videos against their stalls, a panel per cell, as Puffer shows it: better is up and to the right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import polars as pl

from headway.analysis import Analysis, Cell, ContenderRuns
from headway.analysis.numbers import significant
from headway.analysis.video_quality import WatchedVideos
from headway.report.cellpanels import CellPanels, sides_frame
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.plots import Frame, titled_panels, x_axis, y_axis
from headway.report.scale import Scale, written
from headway.report.section import Section
from headway.report.sheet import Sheet
from headway.report.theme import Style

_HEIGHT, _LEFT = 190.0, 46.0
_MARGIN = 0.08
_LEAST_STALLED, _LEAST_MBIT = 1.0, 0.2
"""Least lengths of the axes, percent of the time and Mbit/s: differences that nobody sees fill no panel."""


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    panels = CellPanels.of(analysis, lambda side: side.watched)
    if panels is None:
        return None
    text = (
        "Mean bitrate of the videos over the part of the time in which the picture stood still, which grows to the left: "
        "better is up and to the right (Puffer's plot). Lines are 95 % intervals of the means, by the t distribution. "
        "Panels have axes of their own."
    )
    return Picture(
        name=picture_name(analysis, "quality"),
        title="Quality and stalls",
        caption=text + panels.left_out(),
        drawing=partial(_sheet, subject, panels.cells),
        data=partial(_data, analysis),
        said=told(
            f"{cell.title}, {side.contender}: {significant(side.watched.quality.mean)} Mbit/s, stalled for "
            f"{significant(100 * side.watched.stalled.mean)} %"
            for cell, side in panels.sides
            if side.watched
        ),
    )


KIND = Kind(place=47, section=Section.RESULTS, draw=_draw, every_metric=False)


def _data(analysis: Analysis) -> pl.DataFrame:
    return sides_frame(analysis, _rows)


def _rows(side: ContenderRuns) -> Iterator[dict[str, Any]]:
    if side.watched:
        yield {
            "bitrate_mbit": side.watched.quality.mean,
            "bitrate_low_mbit": side.watched.quality.low,
            "bitrate_high_mbit": side.watched.quality.high,
            "stalled_share": side.watched.stalled.mean,
            "stalled_low_share": side.watched.stalled.low,
            "stalled_high_share": side.watched.stalled.high,
        }


def _sheet(subject: Subject, cells: Sequence[Cell], width: float) -> Sheet:
    styles = subject.styles_here
    panels = [(cell.title, partial(_panel, styles, cell)) for cell in cells]
    name = "bitrate of the video, Mbit/s"
    return titled_panels(panels, styles, width, left=_LEFT, height=_HEIGHT, upwards=name)


def _panel(styles: dict[str, Style], cell: Cell, sheet: Sheet, frame: Frame) -> None:
    shown = [(styles[side.contender], side.watched) for side in cell.sides if side.watched]
    across, up = _scales([watched for _, watched in shown], frame)
    ticks = up.ticks(5)
    y_axis(sheet, frame, up, ticks, [*map(written, ticks)])
    stalled = Scale(0.0, across.low, 0.0, 1.0).ticks(4)[::-1]
    x_axis(
        sheet, frame, [*map(across, stalled)], [written(value, "%") for value in stalled], "stalled"
    )
    for style, watched in shown:
        quality, still = watched.quality, watched.stalled
        x, y = across(100 * still.mean), up(quality.mean)
        ends = (across(min(100 * still.high, across.low)), across(100 * max(still.low, 0.0)))
        sheet.line((ends[0], y), (ends[1], y), colour=style.colour, width=1.6)
        sheet.line((x, up(quality.low)), (x, up(quality.high)), colour=style.colour, width=1.6)
        sheet.dots([(x, y)], style.colour, style.marker, size=7, halo=True)


def _scales(shown: Sequence[WatchedVideos], frame: Frame) -> tuple[Scale, Scale]:
    """Stalled time grows to the left, quality upwards."""
    most = max(_LEAST_STALLED, *(100 * watched_videos.stalled.high for watched_videos in shown)) * (
        1 + _MARGIN
    )
    low = min(watched_videos.quality.low for watched_videos in shown)
    high = max(watched_videos.quality.high for watched_videos in shown)
    room = max(_MARGIN * (high - low), (_LEAST_MBIT - (high - low)) / 2)
    across = Scale(most, 0.0, frame.left, frame.right - 6)
    return across, Scale(max(0.0, low - room), high + room, frame.bottom, frame.top)
