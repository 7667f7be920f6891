"""Diagrams of state machines: laid out by Graphviz's dot, drawn on a sheet."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution

from headway.instruments.states.statemachine import (
    StateMachine,
    Step,
    changed_shares,
    changed_transitions,
)
from headway.report.sheet import Point, Sheet, text_width
from headway.report.theme import BLUE, INK, MUTED, PAPER, RED, Colour

_PER_INCH = 72.0
_TEXT, _SMALL = 12.0, 10.5
_LABEL = 15.0
"""Size of labels as dot is told: its letters are narrower, and lines keep off."""
_HIGH, _PADDING, _HEAD = 40.0, 10.0, 7.0
_PIECES = 8
"""Straight pieces that a curve is drawn in."""
_LEAST = 0.005
"""Probabilities and shares that are rounded to nothing."""


_PACKAGE = "graphviz-pure"


def is_installed() -> bool:
    """Whether Graphviz's algorithms are there; environments from before they were needed lack them."""
    try:
        distribution(_PACKAGE)
    except PackageNotFoundError:
        return False
    return True


@dataclass(frozen=True)
class DrawnState:
    """A state of a diagram: what stands below its name, and in which colour."""

    name: str
    below: str
    colour: Colour


@dataclass(frozen=True)
class DrawnStep:
    """An edge of a diagram: its label, its colour and its width."""

    step: Step
    label: str
    colour: Colour
    width: float


@dataclass(frozen=True)
class Diagram:
    """What is drawn of a machine."""

    states: tuple[DrawnState, ...]
    steps: tuple[DrawnStep, ...]


def diagram(machine: StateMachine) -> Diagram:
    """A machine: shares of time in its states, and how probable each step is."""
    return Diagram(
        tuple(DrawnState(state.state, f"{state.share:.1%}", RED) for state in machine.states),
        tuple(
            DrawnStep(
                (transition.before, transition.after),
                f"{transition.probability:.2f}",
                INK,
                _width(transition.probability),
            )
            for transition in machine.transitions
        ),
    )


def difference(first: StateMachine, second: StateMachine) -> Diagram:
    """How the second machine differs: blue is more of it, red is less; grey steps differ by less than chance does.

    Steps of a state that only one of them ever left are not in it: they have no difference.
    """
    return Diagram(
        tuple(
            DrawnState(
                changed_share.state,
                f"{changed_share.change * 100:+.1f} points",
                _sign(changed_share.change),
            )
            for changed_share in changed_shares(first, second)
        ),
        tuple(
            DrawnStep(
                (changed_transition.before, changed_transition.after),
                f"{change:+.2f}",
                _sign(change) if changed_transition.is_sure else MUTED,
                _width(abs(change)),
            )
            for changed_transition in changed_transitions(first, second)
            if (change := changed_transition.change) is not None
        ),
    )


def _sign(change: float) -> Colour:
    if abs(change) < _LEAST:
        return MUTED
    return BLUE if change > 0 else RED


def _width(probability: float) -> float:
    return 0.7 + 1.6 * probability


@dataclass(frozen=True)
class DiagramLayout:
    """Where dot has put what, in pixels from the upper left."""

    width: float
    height: float
    boxes: Mapping[str, tuple[float, float, float, float]]
    curves: Mapping[Step, tuple[tuple[Point, ...], Point | None]]


def layout(shown: Diagram) -> DiagramLayout:
    """The layout of a diagram, on top the states that no step leads to: what comes first is ranked first."""
    entered = {step.step[1] for step in shown.steps}
    states = sorted(shown.states, key=lambda state: state.name in entered)
    sizes = tuple((state.name, _box_width(state)) for state in states)
    labels = tuple((drawn_step.step, drawn_step.label) for drawn_step in shown.steps)
    return _layout(sizes, labels)


def _box_width(state: DrawnState) -> float:
    words = max(text_width(state.name, _TEXT, True), text_width(state.below, _SMALL))
    return words + 2 * _PADDING


@lru_cache(maxsize=64)
def _layout(
    sizes: tuple[tuple[str, float], ...], labels: tuple[tuple[Step, str], ...]
) -> DiagramLayout:
    answer = _dot(_source(sizes, labels))
    lines = [line.split(" ") for line in answer.splitlines()]
    _, _, width, height = lines[0]
    high = float(height)

    def at(x: str, y: str) -> Point:
        return float(x) * _PER_INCH, (high - float(y)) * _PER_INCH

    boxes, curves = {}, {}
    names = [name for name, _ in sizes]
    for words in lines[1:]:
        if words[0] == "node":
            (x, y), across, tall = at(*words[2:4]), float(words[4]), float(words[5])
            across, tall = across * _PER_INCH, tall * _PER_INCH
            boxes[names[int(words[1])]] = (x - across / 2, y - tall / 2, across, tall)
        elif words[0] == "edge":
            before, after, count = (int(word) for word in words[1:4])
            numbers = words[4 : 4 + 2 * count]
            points = tuple(at(*numbers[n : n + 2]) for n in range(0, 2 * count, 2))
            rest = words[4 + 2 * count :]
            label = at(*rest[1:3]) if len(rest) > 3 else None
            curves[names[before], names[after]] = (points, label)
    return DiagramLayout(float(width) * _PER_INCH, high * _PER_INCH, boxes, curves)


def _source(sizes: Sequence[tuple[str, float]], labels: Iterable[tuple[Step, str]]) -> str:
    """The graph in dot's language; states have numbers for names, which need no quoting."""
    number = {name: place for place, (name, _) in enumerate(sizes)}
    nodes = (f'{number[name]} [label="" width={width / _PER_INCH:.4f}]' for name, width in sizes)
    edges = (
        f'{number[before]} -> {number[after]} [label="{text}"]' for (before, after), text in labels
    )
    settings = (
        "rankdir=TB nodesep=0.3 ranksep=0.42",
        f"node [shape=box fixedsize=true height={_HIGH / _PER_INCH:.4f}]",
        f"edge [fontsize={_LABEL} arrowsize=0.6]",
    )
    return "digraph {" + "; ".join((*settings, *nodes, *edges)) + "}"


def _dot(source: str) -> str:
    """What dot says of a graph in its plain form."""
    files = distribution(_PACKAGE).files or ()
    program = next(file.locate() for file in files if file.stem == _PACKAGE)
    command = [str(program), "-Kdot", "-Tplain"]
    done = subprocess.run(
        command, input=source, capture_output=True, text=True, encoding="utf-8", check=True
    )
    return done.stdout.replace("\\\n", "")


def draw_diagram(sheet: Sheet, shown: Diagram, left: float, top: float, width: float) -> None:
    """Draw a diagram in the middle of a width, smaller if it has to be."""
    placed = layout(shown)
    scale = min(1.0, width / placed.width)
    shift = left + (width - placed.width * scale) / 2

    def to(point: Point) -> Point:
        return shift + point[0] * scale, top + point[1] * scale

    for step in shown.steps:
        points, label = placed.curves[step.step]
        _draw_step(sheet, step, [to(point) for point in points], scale)
        if label:
            x, y = to(label)
            sheet.text(x, y, step.label, step.colour, size=_SMALL * scale, anchor="middle")
    for state in shown.states:
        x, y, across, tall = placed.boxes[state.name]
        (x, y), across, tall = to((x, y)), across * scale, tall * scale
        sheet.box(x, y, across, tall, fill=PAPER, edge=INK)
        middle = x + across / 2
        sheet.text(
            middle, y + tall * 0.33, state.name, INK, size=_TEXT * scale, bold=True, anchor="middle"
        )
        sheet.text(
            middle, y + tall * 0.72, state.below, state.colour, size=_SMALL * scale, anchor="middle"
        )


def diagram_height(shown: Diagram, width: float) -> float:
    """Height of a diagram that is drawn in a width."""
    placed = layout(shown)
    return placed.height * min(1.0, width / placed.width)


def _draw_step(sheet: Sheet, step: DrawnStep, points: Sequence[Point], scale: float) -> None:
    line = list(_curve(points))
    (x, y), (tip_x, tip_y) = line[-2], line[-1]
    away = math.atan2(tip_y - y, tip_x - x)
    length = _HEAD * scale
    tip = (tip_x + length * math.cos(away), tip_y + length * math.sin(away))
    sheet.line(*line, colour=step.colour, width=step.width * scale)
    wings = [
        (tip_x + length / 2 * math.cos(away + side), tip_y + length / 2 * math.sin(away + side))
        for side in (math.pi / 2, -math.pi / 2)
    ]
    sheet.areas([(tip, *wings)], fill=step.colour)


def _curve(points: Sequence[Point]) -> Iterable[Point]:
    """Bezier curves of four points each, which share their ends, in straight pieces."""
    yield points[0]
    for first in range(0, len(points) - 1, 3):
        a, b, c, d = points[first : first + 4]
        for piece in range(1, _PIECES + 1):
            t = piece / _PIECES
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            yield tuple(  # type: ignore[misc]
                math.fsum(w * p[axis] for w, p in zip(weights, (a, b, c, d), strict=True))
                for axis in (0, 1)
            )
