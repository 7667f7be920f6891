"""Boxes of the medians of a population's sites by contender, network by network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from headway.analysis import Analysis
from headway.analysis.intervals import quantile
from headway.analysis.strata import strata
from headway.instruments.populations.deltas import networks_as_studied
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.legend import legend_height, style_legend
from headway.report.plots import Frame, x_axis
from headway.report.scale import Scale, tick_texts, value_scale
from headway.report.section import Section
from headway.report.sheet import Sheet
from headway.report.theme import MUTED, Style

_SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
_ROW, _HEADING, _AXIS, _EDGE, _BOX = 20.0, 24.0, 44.0, 24.0, 12.0
_MOST_NETWORKS = 20


@dataclass(frozen=True)
class _SiteBox:
    """The tenth, 25th, 50th, 75th and 90th percentile over sites of a contender in a network."""

    network: str
    contender: str
    sites: int
    ends: tuple[float, ...]


def _draw(subject: Subject) -> Picture | None:
    analysis, site_boxes = subject.analysis, _boxes(subject.analysis)
    if not site_boxes:
        return None
    return Picture(
        name=picture_name(analysis, "sites"),
        title=f"{analysis.metric.label} over the sites",
        caption=(
            "Medians of the sites' visits that did not fail or time out: the box spans the quartiles over sites, the line the tenth to the ninetieth "
            "percentile, and the tick is the median, whose value stands at the right."
        ),
        drawing=partial(_sheet, subject, site_boxes),
        data=lambda: _data(site_boxes),
        said=told(
            f"{site_box.network or 'all'}, {site_box.contender}: median over {site_box.sites} sites {analysis.metric.text(site_box.ends[2])}"
            for site_box in site_boxes
        ),
    )


KIND = Kind(place=92, section=Section.POPULATION, draw=_draw)


def _boxes(analysis: Analysis) -> list[_SiteBox]:
    if not strata(analysis):
        return []
    site_boxes = []
    for network in networks_as_studied(analysis)[:_MOST_NETWORKS]:
        for contender in analysis.contenders:
            sides = (cell.side(contender) for cell in network.cells.values())
            values = sorted(side.sample.median for side in sides if side and side.sample)
            if values:
                ends = tuple(quantile(values, share) for share in _SHARES)
                site_boxes.append(_SiteBox(network.title, contender, len(values), ends))
    return site_boxes


def _sheet(subject: Subject, site_boxes: Sequence[_SiteBox], width: float) -> Sheet:
    styles, metric = subject.styles_here, subject.analysis.metric
    networks = tuple(dict.fromkeys(site_box.network for site_box in site_boxes))
    head = legend_height(tuple(styles), width) + 6
    rows = _ROW * len(site_boxes) + _HEADING * len(networks)
    sheet = Sheet(width, head + rows + _AXIS)
    style_legend(sheet, styles, 0, 0)
    frame = Frame(4, head, width - 4 - _EDGE - 56, rows)
    values = [end for site_box in site_boxes for end in site_box.ends]
    across = value_scale(values, frame.left, frame.right)
    ticks = across.ticks(5)
    x_axis(sheet, frame, [*map(across, ticks)], tick_texts(metric, ticks), metric.label)
    y = head
    for network in networks:
        sheet.label(0, y + _HEADING / 2, network or "all sites", width, MUTED, size=11)
        y += _HEADING
        for site_box in (box for box in site_boxes if box.network == network):
            _box(sheet, site_box, y + _ROW / 2, across, styles)
            sheet.text(
                width - 2, y + _ROW / 2, metric.text(site_box.ends[2]), anchor="end", size=11
            )
            y += _ROW
    return sheet


def _box(
    sheet: Sheet, site_box: _SiteBox, y: float, across: Scale, styles: Mapping[str, Style]
) -> None:
    low, left, middle, right, high = (across(end) for end in site_box.ends)
    colour = styles[site_box.contender].colour
    sheet.line((low, y), (high, y), colour=colour)
    sheet.box(left, y - _BOX / 2, max(1.0, right - left), _BOX, fill=colour, opacity=0.45)
    sheet.line((middle, y - _BOX / 2 - 1), (middle, y + _BOX / 2 + 1), width=2)


def _data(site_boxes: Sequence[_SiteBox]) -> pl.DataFrame:
    names = ("p10", "p25", "p50", "p75", "p90")
    return pl.DataFrame(
        [
            {
                "network": site_box.network,
                "contender": site_box.contender,
                "sites": site_box.sites,
                **dict(zip(names, site_box.ends, strict=True)),
            }
            for site_box in site_boxes
        ]
    )
