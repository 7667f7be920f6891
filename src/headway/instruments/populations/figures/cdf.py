"""The delta over the sites of a population: a curve for each network, the first one solid; then one for each stratum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import polars as pl

from headway.analysis.metric import Metric
from headway.instruments.populations.deltas import PopulationDeltas, main_deltas
from headway.instruments.populations.sentences import delta_text, share_text
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.legend import legend_height, style_legend
from headway.report.plots import Frame, Tiles, Titled, steps, x_axis, y_axis
from headway.report.scale import Scale
from headway.report.section import Section
from headway.report.sheet import Sheet
from headway.report.theme import INK, MUTED, PLAIN, RED, Marker, Style

Curves = Mapping[str, tuple[float, ...]]
Panels = Sequence[tuple[str, Curves]]
_HEIGHT, _LEFT, _GAP, _PANEL_WIDTH = 190.0, 44.0, 18.0, 320.0
_MOST_PANELS, _MOST_CURVES = 6, 10
_WIDEST = 0.5
"""Larger differences stand at the edge."""
_TICKS = (-0.5, -0.25, 0.0, 0.25, 0.5)
_TEXTS = ("−0.5", "−0.25", "0", "0.25", "0.5")


def _draw(subject: Subject) -> Picture | None:
    analysis, networks_deltas = subject.analysis, main_deltas(subject.analysis)
    if not networks_deltas:
        return None
    panels = _panels(networks_deltas)
    return Picture(
        name=picture_name(analysis, "population"),
        title=f"{analysis.metric.label} over the sites: {networks_deltas[0].pairing}",
        caption=(
            "Difference of a site's medians over the larger of them; a curve is the share of sites with at most that. "
            "Above: every network, the first one solid. Then the strata in single networks; differences beyond 0.5 "
            "stand at the edge. Strata are not weighted."
        ),
        drawing=partial(_sheet, panels, analysis.metric),
        data=lambda: _data(networks_deltas),
        said=told(
            f"{population_deltas.network or 'all'}: {analysis.metric.words[0]} at {share_text(population_deltas.ahead.value)} of {len(population_deltas.sites)} sites, "
            f"median {delta_text(population_deltas.median.value)}"
            for population_deltas in networks_deltas
        ),
    )


KIND = Kind(place=90, section=Section.POPULATION, draw=_draw)


def _panels(networks_deltas: Sequence[PopulationDeltas]) -> Panels:
    shown = (
        networks_deltas if len(networks_deltas) <= _MOST_CURVES else networks_deltas[:_MOST_CURVES]
    )
    every = (
        "",
        {
            population_deltas.network or "all sites": population_deltas.values
            for population_deltas in shown
        },
    )
    strata = [
        (
            population_deltas.network,
            {name: population_deltas.of((name,)).values for name in population_deltas.strata},
        )
        for population_deltas in networks_deltas[: _MOST_PANELS - 1]
        if len(population_deltas.strata) > 1
    ]
    return [every, *strata]


def _styles(names: Sequence[str], *, solid_first: bool) -> dict[str, Style]:
    colours = [RED, *(colour for colour in PLAIN if colour is not RED)] if solid_first else PLAIN
    dashes: tuple[tuple[float, ...], ...] = ((6.0, 2.5), (2.0, 2.0), (7.0, 2.0, 2.0, 2.0))
    return {
        name: Style(
            colours[place % len(colours)],
            Marker.CIRCLE,
            () if place == 0 else dashes[(place - 1) % len(dashes)],
        )
        for place, name in enumerate(names)
    }


def _sheet(panels: Panels, metric: Metric, width: float) -> Sheet:
    strata = dict.fromkeys(name for _, curves in panels[1:] for name in curves)
    legends = [
        _styles(tuple(panels[0][1]), solid_first=True),
        _styles(tuple(strata), solid_first=False),
    ]
    first = Tiles(1, 1, _LEFT, _HEIGHT, gap=0)
    rest = Tiles.fitting(len(panels) - 1, _PANEL_WIDTH, width, left=_LEFT, height=_HEIGHT, gap=_GAP)
    heads = [legend_height(tuple(styles), width) + 14 if styles else 0.0 for styles in legends]
    below = heads[0] + first.total_height
    sheet = Sheet(width, below + heads[1] + rest.total_height)
    style_legend(sheet, legends[0], 0, 0)
    first.fill(sheet, [_titled(panels[0], legends[0], metric)], heads[0])
    if rest.count:
        style_legend(sheet, legends[1], 0, below)
        panels_below = (_titled(panel, legends[1], metric) for panel in panels[1:])
        rest.fill(sheet, panels_below, below + heads[1])
    return sheet


def _titled(panel: tuple[str, Curves], styles: Mapping[str, Style], metric: Metric) -> Titled:
    return panel[0], partial(_panel, panel, styles, metric)


def _panel(
    panel: tuple[str, Curves],
    styles: Mapping[str, Style],
    metric: Metric,
    sheet: Sheet,
    frame: Frame,
) -> None:
    name, curves = panel
    across = Scale(-_WIDEST, _WIDEST, frame.left, frame.right - 16)
    up = Scale(0, 1, frame.bottom, frame.top)
    y_axis(sheet, frame, up, (0, 0.25, 0.5, 0.75, 1), ("0", "25 %", "50 %", "75 %", "100 %"))
    ticks = [across(tick) for tick in _TICKS]
    x_axis(sheet, frame, ticks, _TEXTS, f"Delta of the {metric.label}")
    sheet.line((across(0), frame.top), (across(0), frame.bottom), colour=INK)
    better, worse = metric.words if metric.less_is_better else tuple(reversed(metric.words))
    if not name:
        sheet.text(across(0) - 8, frame.top - 10, f"← {better}", MUTED, anchor="end")
        sheet.text(across(0) + 8, frame.top - 10, f"{worse} →", MUTED)
    for curve, values in curves.items():
        kept = [max(-_WIDEST, min(_WIDEST, value)) for value in values]
        run = steps(kept, len(kept), across, up)
        style = styles[curve]
        sheet.lines(
            [run], colour=style.colour, width=2.2 if not style.dash else 1.6, dash=style.dash
        )


def _data(networks_deltas: Sequence[PopulationDeltas]) -> pl.DataFrame:
    rows = [
        {
            "network": population_deltas.network,
            "site": site.site,
            "stratum": site.stratum,
            "delta": site.delta,
        }
        for population_deltas in networks_deltas
        for site in population_deltas.sites
    ]
    return pl.DataFrame(rows)
