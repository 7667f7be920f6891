"""Differences over many sites: a panel for each setting, a curve for each comparison, thin where chance may be why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import polars as pl

from headway.instruments.oversites.oversites import OverSites, over_sites
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.legend import legend_height, style_legend
from headway.report.most_telling import telling_pairings
from headway.report.plots import Frame, Tiles, x_axis, y_axis
from headway.report.scale import Scale
from headway.report.section import Section
from headway.report.sheet import Sheet
from headway.report.styles import pairing_styles
from headway.report.theme import INK, Style

_MOST_CURVES = 8
_MOST_PANELS = 12
_HEIGHT, _LEFT, _GAP = 150.0, 44.0, 14.0
_PANEL_WIDTH = 230.0
_WIDEST = 1.0
"""Larger differences stand at the edge."""
_TICKS = (-1.0, -0.5, 0.0, 0.5, 1.0)
_TICK_TEXTS = ("\N{MINUS SIGN}100", "\N{MINUS SIGN}50", "0", "+50", "+100 %")
_THICK, _THIN = 2.6, 0.8
_BOUNDS = (0.05, 0.25)
"""Differences beyond these are counted in words."""


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    site_groups = over_sites(analysis, telling_pairings(analysis, _MOST_CURVES))
    settings = tuple(dict.fromkeys(sites.setting for sites in site_groups))
    if not site_groups or len(settings) > _MOST_PANELS:
        return None
    return Picture(
        name=picture_name(analysis, "site-cdf"),
        title=f"{analysis.metric.label} over sites",
        caption=(
            "Difference of the medians over the median of the second, in percent; a curve is the share of "
            "sites with at most that. Thick where the Mann-Whitney U test of the site's runs has "
            "p < 0.005, whatever the number of sites (the rule of Sander et al. 2022). Differences "
            "beyond 100 % stand at the edge."
        ),
        drawing=partial(_sheet, subject, site_groups, settings),
        data=lambda: _data(site_groups),
        said=_said(site_groups),
    )


KIND = Kind(place=36, section=Section.RESULTS, draw=_draw)


def _said(site_groups: Sequence[OverSites]) -> str:
    small, large = _BOUNDS
    return told(
        f"{sites.setting or 'all'}, {sites.pairing}: of {len(sites.sites)} sites {sites.below(small)} lower and "
        f"{sites.above(small)} higher by more than {small:.0%}, {sites.below(large)} and {sites.above(large)} by "
        f"more than {large:.0%}, {sum(site.significant for site in sites.sites)} significant"
        for sites in site_groups
    )


def _data(site_groups: Sequence[OverSites]) -> pl.DataFrame:
    rows = [
        {
            "setting": sites.setting,
            "compared": str(sites.pairing),
            "site": site.site,
            "difference_percent": 100 * site.relative,
            "significant": site.significant,
        }
        for sites in site_groups
        for site in sites.sites
    ]
    return pl.DataFrame(rows)


def _sheet(
    subject: Subject, site_groups: Sequence[OverSites], settings: Sequence[str], width: float
) -> Sheet:
    styles = pairing_styles(
        subject.styles, tuple(dict.fromkeys(sites.pairing for sites in site_groups))
    )
    head = legend_height(tuple(styles), width)
    tiles = Tiles.fitting(len(settings), _PANEL_WIDTH, width, left=_LEFT, height=_HEIGHT, gap=_GAP)
    sheet = Sheet(width, head + tiles.total_height)
    style_legend(sheet, styles, 0, 0)
    panels = {
        setting: [sites for sites in site_groups if sites.setting == setting]
        for setting in settings
    }
    draw = partial(_panel, styles)
    tiles.fill(sheet, ((setting, partial(draw, own)) for setting, own in panels.items()), head)
    return sheet


def _panel(
    styles: Mapping[str, Style], site_groups: Sequence[OverSites], sheet: Sheet, frame: Frame
) -> None:
    across, up = _axes(sheet, frame)
    for sites in site_groups:
        _curve(sheet, sites, styles[str(sites.pairing)], across, up)


def _axes(sheet: Sheet, frame: Frame) -> tuple[Scale, Scale]:
    across = Scale(-_WIDEST, _WIDEST, frame.left, frame.right - 16)
    up = Scale(0, 1, frame.bottom, frame.top)
    y_axis(sheet, frame, up, (0, 0.5, 1), ("0", "50 %", "100 %"))
    x_axis(sheet, frame, [across(tick) for tick in _TICKS], _TICK_TEXTS)
    sheet.line((across(0), frame.top), (across(0), frame.bottom), colour=INK)
    return across, up


def _curve(sheet: Sheet, sites: OverSites, style: Style, across: Scale, up: Scale) -> None:
    """Each site's rise, and on to the next one's."""
    places = [across(max(-_WIDEST, min(_WIDEST, site.relative))) for site in sites.sites]
    heights = [up(place / len(places)) for place in range(len(places) + 1)]
    for site, x, to, low, high in zip(
        sites.sites, places, [*places[1:], across.end], heights, heights[1:], strict=False
    ):
        width = _THICK if site.significant else _THIN
        run = ((x, low), (x, high), (to, high))
        sheet.line(*run, colour=style.colour, width=width, dash=style.dash)
