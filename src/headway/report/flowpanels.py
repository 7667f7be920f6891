"""Panels of bulk flows over time: ratios and goodput, cell by cell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from headway.analysis import Analysis, Cell, Pairing
from headway.analysis.goodput import Ratios, Received, Values, ratios_over_time
from headway.diagnosis.goodput import INTERVAL_S
from headway.report.most_telling import representative_as_studied
from headway.study.published import TimeOrigin

_MOST_CELLS = 16
_MOST_PAIRINGS = 6
_MOST_POINTS = 300
"""Points of a curve; of longer flows intervals are taken together."""


@dataclass(frozen=True)
class Curve:
    """Values over time, NaN where there are none, with an interval around each."""

    at_s: Values
    values: Values
    low: Values
    high: Values


@dataclass(frozen=True)
class FlowCell:
    """A cell's bulk flows.

    Attributes:
        cell: the cell.
        ratios: for each comparison, how many times as much the contender had received.
        goodput: of each contender, Mbit/s.
        published: of each contender times, in seconds, with goodput, in Mbit/s.
    """

    cell: Cell
    ratios: Mapping[Pairing, Curve]
    goodput: Mapping[str, Curve]
    published: Mapping[str, Sequence[tuple[float, float]]]


@dataclass(frozen=True)
class Flows:
    """The bulk flows of an experiment.

    Attributes:
        cells: in the study's order.
        span_s: length of the span that a value of the goodput is the mean of.
    """

    cells: tuple[FlowCell, ...]
    span_s: float

    @property
    def pairings(self) -> tuple[Pairing, ...]:
        """The comparisons that some cell has ratios of."""
        return tuple(dict.fromkeys(ratio for cell in self.cells for ratio in cell.ratios))


def flows_of(analysis: Analysis) -> Flows | None:
    """The bulk flows of an experiment, of some cells and comparisons if there are many.

    Returns:
        The flows; None if it has none.
    """
    longest = max(
        (flows.intervals for cell in analysis.cells for flows in _received(cell).values()),
        default=0,
    )
    step = math.ceil(longest / _MOST_POINTS)
    if not step:
        return None
    cells = representative_as_studied(analysis, _MOST_CELLS)
    flow_cells = [_flow_cell(analysis, cell, _pairings(analysis), step) for cell in cells]
    shown = tuple(flow_cell for flow_cell in flow_cells if flow_cell.goodput)
    return Flows(shown, step * INTERVAL_S) if shown else None


def _pairings(analysis: Analysis) -> tuple[Pairing, ...]:
    """The comparisons of contenders that speak the same, if the study has any; else all."""
    spoken = analysis.protocols
    alike = [
        pairing
        for pairing in analysis.pairings
        if spoken[pairing.contender] == spoken[pairing.against]
    ]
    return tuple(alike or analysis.pairings)[:_MOST_PAIRINGS]


def _received(cell: Cell) -> dict[str, Received]:
    """What the contenders received that received anything."""
    flows = {side.contender: side.received for side in cell.sides}
    return {name: flow for name, flow in flows.items() if flow and flow.intervals}


def _flow_cell(analysis: Analysis, cell: Cell, pairings: Sequence[Pairing], step: int) -> FlowCell:
    received = _received(cell)
    pairs = {
        pairing: (received[pairing.contender], received[pairing.against])
        for pairing in pairings
        if {pairing.contender, pairing.against} <= received.keys()
    }
    return FlowCell(
        cell=cell,
        ratios={pairing: _ratios(ratios_over_time(*two), step) for pairing, two in pairs.items()},
        goodput={name: _goodput(flows.goodput_mbit, step) for name, flows in received.items()},
        published={name: _published(analysis, cell, name) for name in received},
    )


def _ratios(ratios: Ratios, step: int) -> Curve:
    """The ratios at the ends of so many intervals each."""
    last = slice(step - 1, None, step)
    ends_s = INTERVAL_S * np.arange(1, len(ratios.values) + 1)
    return Curve(ends_s[last], ratios.values[last], ratios.low[last], ratios.high[last])


def _goodput(results: Values, step: int) -> Curve:
    """Means over so many intervals each, at their middle."""
    whole = np.append(results, np.full(-len(results) % step, np.nan)).reshape(-1, step)
    values: Values = np.nanmean(whole, axis=1)
    at_s = INTERVAL_S * step * (np.arange(len(values)) + 0.5)
    return Curve(at_s, values, values, values)


def _published(analysis: Analysis, cell: Cell, contender: str) -> list[tuple[float, float]]:
    """A contender's published goodput at the middles of its intervals, on our runs' clock."""
    side = cell.side(contender)
    first_byte_s = side.received.first_byte_s() if side and side.received else None
    zeros_s = {TimeOrigin.START: 0.0, TimeOrigin.FIRST_BYTE: first_byte_s}
    return [
        (zero_s + (told_published.span.from_s + told_published.span.to_s) / 2, told_published.value)
        for told_published in analysis.experiment.published
        if told_published.span
        and told_published.against is None
        and (told_published.cell, told_published.contender) == (cell.name, contender)
        and (zero_s := zeros_s[told_published.span.origin]) is not None
    ]
