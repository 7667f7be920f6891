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
    class_boxes = list(_boxes(subject.analysis))
    if len({class_box.label for class_box in class_boxes}) < 2:
        return None
    return Picture(
        name=picture_name(subject.analysis, "classes"),
        title=f"Pages by class of the difference in {subject.analysis.metric.label}",
        caption=(
            "Classes: a delta below −0.1, within 0.1, and above 0.1. Traits of the visits of the contender compared, "
            "divided by their standard deviation over all sites. Boxes span quartiles, lines the tenth to the "
            f"ninetieth percentile; a class of fewer than {_FEWEST} sites has none."
        ),
        drawing=partial(_sheet, class_boxes, _colours(subject.analysis.metric)),
        data=lambda: _data(class_boxes),
        said=told(
            f"{class_box.network or 'all'}, {class_box.trait}, {class_box.label} ({class_box.sites} sites): median {written(class_box.ends[2])}"
            for class_box in class_boxes
        ),
    )


KIND = Kind(place=93, section=Section.POPULATION, draw=_draw, every_metric=False)


def _boxes(analysis: Analysis) -> Iterator[_ClassBox]:
    for main_delta in main_deltas(analysis)[:_MOST_NETWORKS]:
        traits = page_traits(analysis, main_delta)
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
                    yield _ClassBox(main_delta.network, name, labels[number], len(kept), ends)


def _colours(metric: Metric) -> Mapping[str, Colour]:
    """By the names of the classes, whichever side is better."""
    better, worse = metric.words
    by_name = dict(zip((better, "similar", worse), _COLOURS, strict=True))
    return {name: by_name[name] for name in class_names(metric)}


def _sheet(class_boxes: Sequence[_ClassBox], colours: Mapping[str, Colour], width: float) -> Sheet:
    networks = tuple(dict.fromkeys(class_box.network for class_box in class_boxes))
    head = legend_height(tuple(colours), width) + 4
    heights = [_height(class_boxes, network) for network in networks]
    sheet = Sheet(width, head + math.fsum(heights) + len(networks) * (_TOP + _AXIS))
    colour_legend(sheet, colours, 0, 0)
    top = head + _TOP
    for network, height in zip(networks, heights, strict=True):
        here = [class_box for class_box in class_boxes if class_box.network == network]
        frame = Frame(4, top, width - 24, height)
        title(sheet, frame, network or "all sites")
        _panel(sheet, here, frame, colours)
        top += height + _TOP + _AXIS
    return sheet


def _height(class_boxes: Sequence[_ClassBox], network: str) -> float:
    here = [class_box for class_box in class_boxes if class_box.network == network]
    return _ROW * len(here) + _TRAIT * len({class_box.trait for class_box in here})


def _panel(
    sheet: Sheet, here: Sequence[_ClassBox], frame: Frame, colours: Mapping[str, Colour]
) -> None:
    across = value_scale(
        [end for class_box in here for end in class_box.ends], frame.left, frame.right
    )
    ticks = across.ticks(5)
    x_axis(sheet, frame, [*map(across, ticks)], [*map(written, ticks)], "in unit variance")
    y = frame.top
    for trait in dict.fromkeys(class_box.trait for class_box in here):
        sheet.label(frame.left, y + _TRAIT / 2, trait, frame.width, size=11)
        y += _TRAIT
        for trait_box in (box for box in here if box.trait == trait):
            _box(sheet, trait_box, y + _ROW / 2, across, colours[trait_box.label])
            y += _ROW


def _box(sheet: Sheet, class_box: _ClassBox, y: float, across: Scale, colour: Colour) -> None:
    low, left, middle, right, high = (across(end) for end in class_box.ends)
    sheet.line((low, y), (high, y), colour=colour)
    sheet.box(left, y - _BOX / 2, max(1.0, right - left), _BOX, fill=colour, opacity=0.6)
    sheet.line((middle, y - _BOX / 2), (middle, y + _BOX / 2), width=2)


def _data(class_boxes: Sequence[_ClassBox]) -> pl.DataFrame:
    names = ("p10", "p25", "p50", "p75", "p90")
    return pl.DataFrame(
        [
            {
                "network": class_box.network,
                "trait": class_box.trait,
                "class": class_box.label,
                "sites": class_box.sites,
                **dict(zip(names, class_box.ends, strict=True)),
            }
            for class_box in class_boxes
        ]
    )
