"""Gains of ways of choosing a contender over the baseline, and an oracle's: a panel for each network."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from headway.analysis.numbers import signed_percent
from headway.instruments.oversites.oracle_gaps import FLATTERED, SiteGap, gaps
from headway.instruments.oversites.tables import gains_frame
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.plots import Frame, Tiles, x_axis
from headway.report.scale import Scale, written
from headway.report.section import Section
from headway.report.sheet import Sheet, text_width
from headway.report.theme import BLUE, GREEN, GREY, INK, MUTED, Colour

_MOST_PANELS = 12
_PANEL_WIDTH = 330.0
_ROW, _GAP, _PAD = 19.0, 14.0, 12.0


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    site_gaps = gaps(analysis)
    if not site_gaps or len(site_gaps) > _MOST_PANELS:
        return None
    return Picture(
        name=picture_name(analysis, "site-gains"),
        title=f"What choosing gains: {analysis.metric.label}",
        caption=(
            f"Geometric mean over sites of the {analysis.metric.label} over {analysis.baseline}'s, less 1, in percent, with "
            "its interval of 95 % over sites; left is better. Blue: the same contender everywhere. Green: for each site "
            "what is best at the other sites of its class, and what is best for the site itself by the half of the "
            "repetitions that does not judge. Grey: the same judged by what it was chosen by, which chance flatters."
        ),
        drawing=partial(_sheet, site_gaps),
        data=lambda: gains_frame([analysis]),
        said=told(_said(gap) for gap in site_gaps),
    )


KIND = Kind(place=38, section=Section.ADVICE, draw=_draw, every_metric=False)


def _said(gap: SiteGap) -> str:
    ways = ", ".join(f"{name} {signed_percent(gain.relative)} %" for name, gain in gap.ways.items())
    return f"{gap.network or 'all'}, {gap.sites} sites against {gap.baseline}: {ways}"


def _sheet(site_gaps: Sequence[SiteGap], width: float) -> Sheet:
    names = tuple(dict.fromkeys(name for gap in site_gaps for name in gap.ways))
    left = min(max(map(text_width, names)) + 12, 0.45 * min(width, _PANEL_WIDTH + 40))
    height = _ROW * len(names)
    tiles = Tiles.fitting(len(site_gaps), _PANEL_WIDTH, width, left=left, height=height, gap=_GAP)
    sheet = Sheet(width, tiles.total_height)
    ends = [
        end
        for gap in site_gaps
        for gain in gap.ways.values()
        for end in (
            gain.relative,
            *((gain.interval.low, gain.interval.high) if gain.interval else ()),
        )
    ]
    low, high = 100 * min(*ends, 0.0), 100 * max(*ends, 0.0)
    room = max(high - low, 1.0) * 0.04
    draw = partial(_panel, names, (low - room, high + room), left - 8)
    tiles.fill(
        sheet, ((gap.network or f"{gap.sites} sites", partial(draw, gap)) for gap in site_gaps)
    )
    return sheet


def _panel(
    names: Sequence[str],
    ends: tuple[float, float],
    room: float,
    gap: SiteGap,
    sheet: Sheet,
    frame: Frame,
) -> None:
    across = Scale(*ends, frame.left, frame.right - _PAD)
    ticks = across.ticks(4)
    x_axis(
        sheet,
        frame,
        [across(tick) for tick in ticks],
        [f"{written(tick)} %" for tick in ticks],
        "gain",
    )
    sheet.line((across(0), frame.top), (across(0), frame.bottom), colour=INK)
    for row, name in enumerate(names):
        y = frame.top + (row + 0.5) * _ROW
        sheet.label(frame.left - 6, y, name, room, MUTED, size=11, anchor="end")
        if gain := gap.ways.get(name):
            colour = _colour(gap, name)
            if interval := gain.interval:
                sheet.line(
                    (across(100 * interval.low), y),
                    (across(100 * interval.high), y),
                    colour=colour,
                    width=2,
                )
            sheet.dots([(across(100 * gain.relative), y)], colour, size=7)


def _colour(gap: SiteGap, name: str) -> Colour:
    if name == FLATTERED:
        return GREY
    return BLUE if name in gap.contenders else GREEN
