"""Cumulative distribution of the delta over cells: in how many a contender is ahead, and how far."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from functools import partial

from headway.analysis import Analysis, Pairing
from headway.analysis.numbers import significant
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.legend import legend_height, style_legend
from headway.report.most_telling import telling_pairings
from headway.report.plots import Tiles, steps, x_axis, y_axis
from headway.report.scale import Scale
from headway.report.section import Section
from headway.report.sheet import Sheet
from headway.report.styles import pairing_styles
from headway.report.tables.comparisons import comparisons_frame
from headway.report.theme import INK, MUTED

_LEAST_CELLS = 12
_MOST_CURVES = 15
_HEIGHT = 180.0
_LEFT = 44.0
_TICKS = (-1.0, -0.5, 0.0, 0.5, 1.0)


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    deltas = _deltas(analysis, telling_pairings(analysis, _MOST_CURVES))
    if len(analysis.cells) < _LEAST_CELLS or not deltas:
        return None
    only_h3 = all(analysis.is_h3_delta(pairing) for pairing in deltas)
    return Picture(
        name=picture_name(analysis, "delta-cdf"),
        title=f"{'H3-Delta' if only_h3 else 'Delta'} over all cells",
        caption=_caption(analysis, only_h3, len(deltas)),
        drawing=partial(_sheet, subject, deltas),
        data=lambda: comparisons_frame([analysis], words=False),
        said=_said(deltas),
    )


KIND = Kind(place=35, section=Section.RESULTS, draw=_draw)


def _deltas(analysis: Analysis, pairings: Sequence[Pairing]) -> dict[Pairing, tuple[float, ...]]:
    """The deltas of each comparison in ascending order; those without any are left out."""
    by_pairing: dict[Pairing, list[float]] = {pairing: [] for pairing in pairings}
    for _, comparison in analysis.comparisons:
        if comparison.delta is not None and comparison.pairing in by_pairing:
            by_pairing[comparison.pairing].append(comparison.delta)
    return {pairing: tuple(sorted(deltas)) for pairing, deltas in by_pairing.items() if deltas}


def _caption(analysis: Analysis, only_h3: bool, shown: int) -> str:
    text = (
        "Difference of the medians over the larger of them, from −1 to 1; "
        f"left of 0 the contender compared is {_left_and_right(analysis)[0]}. "
        "A curve is the share of cells with at most that value, chance or not."
    )
    if only_h3:
        text += " Of HTTP/3 against HTTP/2 this is H3-Delta (Perna et al. 2022)."
    if shown < len(analysis.pairings):
        text += f" {shown} of {len(analysis.pairings)} comparisons."
    return text


def _left_and_right(analysis: Analysis) -> tuple[str, str]:
    better, worse = analysis.metric.words
    return (better, worse) if analysis.metric.less_is_better else (worse, better)


def _said(deltas: Mapping[Pairing, Sequence[float]]) -> str:
    return told(
        f"{pairing}: median {significant(statistics.median(values))}, "
        f"{significant(values[0])} to {significant(values[-1])}, below 0 in "
        f"{sum(delta < 0 for delta in values)} of {len(values)} cells"
        for pairing, values in deltas.items()
    )


def _sheet(subject: Subject, deltas: Mapping[Pairing, Sequence[float]], width: float) -> Sheet:
    analysis, styles = subject.analysis, pairing_styles(subject.styles, tuple(deltas))
    head = legend_height(tuple(styles), width)
    tile = Tiles(1, 1, _LEFT, _HEIGHT, gap=0)
    sheet = Sheet(width, head + tile.total_height)
    style_legend(sheet, styles, 0, 0)
    frame = tile.frames(width, head)[0]
    across, up = Scale(-1, 1, frame.left, frame.right - 16), Scale(0, 1, frame.bottom, frame.top)
    y_axis(sheet, frame, up, (0, 0.25, 0.5, 0.75, 1), ("0", "25 %", "50 %", "75 %", "100 %"))
    name = f"Delta of the {analysis.metric.label}"
    x_axis(sheet, frame, [across(tick) for tick in _TICKS], ("−1", "−0.5", "0", "0.5", "1"), name)
    sheet.line((across(0), frame.top), (across(0), frame.bottom), colour=INK)
    first, last = _left_and_right(analysis)
    sheet.text(across(0) - 8, frame.top - 10, f"← {first}", MUTED, anchor="end")
    sheet.text(across(0) + 8, frame.top - 10, f"{last} →", MUTED)
    for pairing, delta in deltas.items():
        style = styles[str(pairing)]
        run = steps(delta, len(delta), across, up)
        sheet.lines([run], colour=style.colour, width=1.8, dash=style.dash)
    return sheet
