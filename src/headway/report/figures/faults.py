"""Costs of a fault by the packet that meets it: bars by number, contenders one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from headway.analysis import Analysis
from headway.analysis.faultcosts import FaultCost, Sweep, sweeps
from headway.analysis.faultsentences import position, signed
from headway.report.figures.data import told
from headway.report.figures.kind import FAILED, Kind, Picture, Subject, is_narrow, picture_name
from headway.report.legend import colour_legend, legend_height
from headway.report.plots import BELOW, NAME, TITLE, Frame, upward, x_axis, y_axis
from headway.report.scale import Scale, tick_texts
from headway.report.section import Section
from headway.report.sheet import Sheet
from headway.report.tables.faults import faults_frame
from headway.report.theme import BLUE, GREEN, GREY, ORANGE, RED, YELLOW, Colour
from headway.study.path import Way

_MOST_ROWS = 12
_PLOT, _LEFT, _GAP, _EDGE = 62.0, 58.0, 26.0, 12.0
_APART = 8.0
_LEAST_BAR = 1.5
_DATA, _FATAL = "data", f"{FAILED} a run failed"
_COLOURS: dict[str, Colour] = {
    "Initial": BLUE,
    "Handshake": GREEN,
    "SYN": GREY,
    "TLS handshake": YELLOW,
    _DATA: ORANGE,
    _FATAL: RED,
}
_OF_TLS = ("ClientHello", "ServerHello", "ChangeCipherSpec")


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    result = sorted(sweeps(analysis), key=lambda sweep: len(sweep.fatal), reverse=True)[:_MOST_ROWS]
    if not result:
        return None
    less = (
        f" {len(result)} of {len(sweeps(analysis))}." if len(result) < len(sweeps(analysis)) else ""
    )
    return Picture(
        name=picture_name(analysis, "faults"),
        title="What a single fault costs, by the packet that meets it",
        caption=(
            f"Bars: how much longer it takes if this packet {_happening(result)}, medians beside runs of the same "
            "seeds without a fault; first by number towards the server, then towards the client. Colours: what the "
            f"packet carries. {FAILED}: a run failed.{less}"
        ),
        drawing=partial(_sheet, analysis, result),
        data=lambda: faults_frame([analysis]),
        said=_said(analysis, result),
    )


KIND = Kind(place=4, section=Section.RESULTS, draw=_draw)


def _happening(results: Sequence[Sweep]) -> str:
    """What happens to packets, as the study has it."""
    return str(results[0].costs[0].fault.kind.done)


def _said(analysis: Analysis, results: Sequence[Sweep]) -> str:
    return told(
        f"{sweep.contender}, {position(cost.fault)}: "
        + ("failed" if cost.failed else signed(analysis.metric, cost.median))
        for sweep in results
        for cost in sweep.costs
    )


def _sheet(analysis: Analysis, results: Sequence[Sweep], width: float) -> Sheet:
    there = [
        name for name in _COLOURS if any(_carries(c) == name for s in results for c in s.costs)
    ]
    colours = {name: _COLOURS[name] for name in there}
    head = legend_height(tuple(colours), width) + 8 + NAME
    stacked = is_narrow(width)
    panel = _PLOT + BELOW + (_APART if stacked else 0)
    row = TITLE + (2 * panel if stacked else panel)
    sheet = Sheet(width, head + row * len(results))
    colour_legend(sheet, colours, 0, 0)
    upward(sheet, f"what it costs in {analysis.metric.label}", head - 8 - NAME / 2)
    most = max((sweep.worst.median for sweep in results if sweep.worst), default=1.0) or 1.0
    room = width - _LEFT - _EDGE if stacked else (width - 2 * _LEFT - _GAP - _EDGE) / 2
    for place, sweep in enumerate(results):
        top = head + place * row + TITLE
        name = ", ".join(filter(None, (sweep.contender, sweep.title)))
        sheet.label(0, top - 11, name, width, bold=True)
        right = _LEFT + (0 if stacked else room + _GAP + _LEFT)
        for way, left, y in ((Way.UP, _LEFT, top), (Way.DOWN, right, top + panel * stacked)):
            frame = Frame(left, y, room, _PLOT)
            _panel(
                sheet, analysis, frame, [c for c in sweep.costs if c.fault.direction is way], most
            )
            whom = "server" if way is Way.UP else "client"
            sheet.text(frame.right, frame.bottom + 26, f"packet towards the {whom}", anchor="end")
    return sheet


def _panel(
    sheet: Sheet, analysis: Analysis, frame: Frame, costs: Sequence[FaultCost], most: float
) -> None:
    up = Scale(min(0.0, -0.02 * most), most * 1.05, frame.bottom, frame.top)
    ticks = up.ticks(3)
    y_axis(sheet, frame, up, ticks, tick_texts(analysis.metric, ticks))
    if not costs:
        return
    last = max(max(cost.fault.packets) for cost in costs)
    across = Scale(0.5, last + 0.5, frame.left, frame.right)
    bar = max(_LEAST_BAR, 0.7 * frame.width / last)
    for fault_cost in costs:
        x, carries = across(max(fault_cost.fault.packets)), _carries(fault_cost)
        if fault_cost.failed:
            sheet.box(x - bar / 2, frame.top, bar, frame.height, fill=_COLOURS[carries])
            sheet.text(x, frame.top - 5, FAILED, anchor="middle")
            continue
        y = up(max(min(fault_cost.median, most), up.low))
        sheet.box(x - bar / 2, min(y, up(0)), bar, max(0.8, abs(up(0) - y)), fill=_COLOURS[carries])
    numbers = list(range(1, last + 1)) if last <= 20 else list(range(5, last + 1, 5))
    x_axis(sheet, frame, [across(number) for number in numbers], list(map(str, numbers)))


def _carries(fault_cost: FaultCost) -> str:
    """The kind of packet that it is, for its colour."""
    if fault_cost.failed:
        return _FATAL
    for name in ("Initial", "Handshake", "SYN"):
        if fault_cost.carried.startswith(name):
            return name
    return "TLS handshake" if any(name in fault_cost.carried for name in _OF_TLS) else _DATA
