"""Traits of a population's pages by the class of their difference: boxes in unit variance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from headway.analysis import Analysis
from headway.analysis.intervals import quantile
from headway.analysis.metric import Metric
from headway.instruments.populations.deltas import main_deltas
from headway.instruments.populations.traits import CLASSES, class_names, page_traits
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.legend import colour_legend, legend_height
from headway.report.plots import Frame, title, x_axis
from headway.report.scale import Scale, value_scale, written
from headway.report.section import Section
from headway.report.sheet import Sheet
from headway.report.theme import FASTER, GREY, SLOWER, Colour

_SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
_COLOURS = (FASTER[3], GREY, SLOWER[3])
_ROW, _TRAIT, _TOP, _AXIS, _BOX = 13.0, 20.0, 24.0, 44.0, 9.0
_MOST_NETWORKS = 4
_FEWEST = 3
"""Sites of a class, of fewer of which there is no box."""


@dataclass(frozen=True)
class _ClassBox:
    """Percentiles of a trait over the sites of a class."""

    network: str
    trait: str
    label: str
    sites: int
    ends: tuple[float, ...]


def _draw(subject: Subject) -> Picture | None:
    found = list(_boxes(subject.analysis))
    if len({one.label for one in found}) < 2:
        return None
    return Picture(
        name=picture_name(subject.analysis, "classes"),
        title=f"Pages by class of the difference in {subject.analysis.metric.label}",
        caption=(
            "Classes: a delta below −0.1, within 0.1, and above 0.1. Traits of the visits of the contender compared, "
            "divided by their standard deviation over all sites. Boxes span quartiles, lines the tenth to the "
            f"ninetieth percentile; a class of fewer than {_FEWEST} sites has none."
        ),
        drawing=partial(_sheet, found, _colours(subject.analysis.metric)),
        data=lambda: _data(found),
        said=told(
            f"{one.network or 'all'}, {one.trait}, {one.label} ({one.sites} sites): median {written(one.ends[2])}"
            for one in found
        ),
    )


KIND = Kind(place=93, section=Section.POPULATION, draw=_draw, every_metric=False)


def _boxes(analysis: Analysis) -> Iterator[_ClassBox]:
    for one in main_deltas(analysis)[:_MOST_NETWORKS]:
        traits = page_traits(analysis, one)
        if traits is None:
            continue
        scaled, classes = traits.scaled, traits.classes
        labels = class_names(analysis.metric)
        for column, name in enumerate(traits.names):
            for number in range(CLASSES):
                kept = sorted(
                    scaled[row, column] for row, its in enumerate(classes) if its == number
                )
                if len(kept) >= _FEWEST:
                    ends = tuple(float(quantile(kept, share)) for share in _SHARES)
                    yield _ClassBox(one.network, name, labels[number], len(kept), ends)


def _colours(metric: Metric) -> Mapping[str, Colour]:
    """By the names of the classes, whichever side is better."""
    better, worse = metric.words
    by_name = dict(zip((better, "similar", worse), _COLOURS, strict=True))
    return {name: by_name[name] for name in class_names(metric)}


def _sheet(found: Sequence[_ClassBox], colours: Mapping[str, Colour], width: float) -> Sheet:
    networks = tuple(dict.fromkeys(one.network for one in found))
    head = legend_height(tuple(colours), width) + 4
    heights = [_height(found, network) for network in networks]
    sheet = Sheet(width, head + math.fsum(heights) + len(networks) * (_TOP + _AXIS))
    colour_legend(sheet, colours, 0, 0)
    top = head + _TOP
    for network, height in zip(networks, heights, strict=True):
        here = [one for one in found if one.network == network]
        frame = Frame(4, top, width - 24, height)
        title(sheet, frame, network or "all sites")
        _panel(sheet, here, frame, colours)
        top += height + _TOP + _AXIS
    return sheet


def _height(found: Sequence[_ClassBox], network: str) -> float:
    here = [one for one in found if one.network == network]
    return _ROW * len(here) + _TRAIT * len({one.trait for one in here})


def _panel(
    sheet: Sheet, here: Sequence[_ClassBox], frame: Frame, colours: Mapping[str, Colour]
) -> None:
    across = value_scale([end for one in here for end in one.ends], frame.left, frame.right)
    ticks = across.ticks(5)
    x_axis(sheet, frame, [*map(across, ticks)], [*map(written, ticks)], "in unit variance")
    y = frame.top
    for trait in dict.fromkeys(one.trait for one in here):
        sheet.label(frame.left, y + _TRAIT / 2, trait, frame.width, size=11)
        y += _TRAIT
        for one in (box for box in here if box.trait == trait):
            _box(sheet, one, y + _ROW / 2, across, colours[one.label])
            y += _ROW


def _box(sheet: Sheet, one: _ClassBox, y: float, across: Scale, colour: Colour) -> None:
    low, left, middle, right, high = (across(end) for end in one.ends)
    sheet.line((low, y), (high, y), colour=colour)
    sheet.box(left, y - _BOX / 2, max(1.0, right - left), _BOX, fill=colour, opacity=0.6)
    sheet.line((middle, y - _BOX / 2), (middle, y + _BOX / 2), width=2)


def _data(found: Sequence[_ClassBox]) -> pl.DataFrame:
    names = ("p10", "p25", "p50", "p75", "p90")
    return pl.DataFrame(
        [
            {
                "network": one.network,
                "trait": one.trait,
                "class": one.label,
                "sites": one.sites,
                **dict(zip(names, one.ends, strict=True)),
            }
            for one in found
        ]
    )
