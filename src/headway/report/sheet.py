"""A sheet: a drawing as a list of shapes, in pixels from its upper left corner.

Figures have thousands of labels and dots. A list of shapes is written as SVG or painted as PNG in
milliseconds, where a plotting library's objects take seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from PIL import ImageFont

from headway.report import fontcache
from headway.report.scale import Scale
from headway.report.theme import INK, PAPER, Colour, Marker

# Whatever imports Matplotlib has imported this module before.
fontcache.settle()

Point = tuple[float, float]
Anchor = Literal["start", "middle", "end"]

TEXT_SIZE = 12.0
_LEAST_SIZE = 9.0
LINE = 1.2
"""From a line of a text to the next, in sizes of the font."""
_HATCH = 6.0
"""Pixels from one line of a hatching to the next, across."""
DROP = 0.36
"""From the middle of a text's height to its baseline, in sizes of the font."""

_HALO = 0.9
"""Width of the rim that keeps a dot apart from what lies below it."""
_RIM = 1.6
"""Width of the rim of a hollow dot."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How values are read off a line: what they are, and the scales of both axes, the first of seconds."""

    name: str
    across: Scale
    up: Scale


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points; segments of its own if they are given in several runs."""

    runs: tuple[tuple[Point, ...], ...]
    colour: Colour
    width: float
    opacity: float = 1.0
    dash: tuple[float, ...] = ()
    reading: Reading | None = None


@dataclass(frozen=True, slots=True)
class Area:
    """Filled polygons, with an edge of one pixel if it has a colour."""

    polygons: tuple[tuple[Point, ...], ...]
    fill: Colour
    edge: Colour | None = None
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Dots:
    """Dots of one kind; hollow ones are filled with paper; what each stands for may have a label."""

    points: tuple[Point, ...]
    colour: Colour
    marker: Marker = Marker.CIRCLE
    size: float = 5.0
    hollow: bool = False
    halo: bool = False
    labels: tuple[str, ...] = ()

    @property
    def layers(self) -> tuple[tuple[Colour, float], ...]:
        """Colours and sizes of the dots that it is painted as, the lowest first."""
        below = ((PAPER, self.size + 2 * _HALO),) if self.halo else ()
        above = ((PAPER, self.size - 2 * _RIM),) if self.hollow else ()
        return (*below, (self.colour, self.size), *above)


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text, centred on its height; turned, it reads upwards; it may show and hide a colour."""

    x: float
    y: float
    text: str
    colour: Colour
    size: float
    bold: bool
    anchor: Anchor
    turned: bool
    toggles: Colour | None = None


@dataclass(frozen=True, slots=True)
class Bitmap:
    """A picture of pixels, stretched over a rectangle: a JPEG or PNG file's content."""

    left: float
    top: float
    width: float
    height: float
    data: bytes

    @property
    def media_type(self) -> str:
        return "image/png" if self.data.startswith(b"\x89PNG") else "image/jpeg"


Shape = Line | Area | Dots | Text | Bitmap


@dataclass
class Sheet:
    """A drawing; later shapes lie above earlier ones.

    Attributes:
        width: in pixels of the page.
        height: in pixels of the page.
        shapes: what is drawn.
    """

    width: float
    height: float
    shapes: list[Shape] = field(default_factory=list)

    def line(
        self,
        *points: Point,
        colour: Colour = INK,
        width: float = 1.0,
        opacity: float = 1.0,
        dash: tuple[float, ...] = (),
        reading: Reading | None = None,
    ) -> None:
        """Draw a line through points."""
        self.lines((points,), colour, width, opacity, dash, reading)

    def lines(
        self,
        runs: Iterable[Iterable[Point]],
        colour: Colour = INK,
        width: float = 1.0,
        opacity: float = 1.0,
        dash: tuple[float, ...] = (),
        reading: Reading | None = None,
    ) -> None:
        """Draw lines of one style, which is cheaper than one by one."""
        kept = tuple(tuple(run) for run in runs)
        if kept:
            self.shapes.append(Line(kept, colour, width, opacity, dash, reading))

    def box(
        self,
        left: float,
        top: float,
        width: float,
        height: float,
        *,
        fill: Colour,
        edge: Colour | None = None,
        opacity: float = 1.0,
    ) -> None:
        """Draw a filled rectangle."""
        self.boxes(((left, top, width, height),), fill=fill, edge=edge, opacity=opacity)

    def boxes(
        self,
        places: Iterable[tuple[float, float, float, float]],
        *,
        fill: Colour,
        edge: Colour | None = None,
        opacity: float = 1.0,
    ) -> None:
        """Draw filled rectangles (left, top, width, height) of one style."""
        self.areas((_corners(*place) for place in places), fill=fill, edge=edge, opacity=opacity)

    def hatch(self, left: float, top: float, width: float, height: float) -> None:
        """Hatch a rectangle that is drawn: lines of paper, upwards to the right."""
        first = int((top + left) // _HATCH) + 1
        last = int((left + width + top + height) // _HATCH)
        runs = []
        for place in range(first, last + 1):
            # Points with x + y of this value lie on one line.
            at = place * _HATCH
            x_from, x_to = max(left, at - top - height), min(left + width, at - top)
            if x_to > x_from:
                runs.append(((x_from, at - x_from), (x_to, at - x_to)))
        self.lines(runs, colour=PAPER, width=1.4, opacity=0.75)

    def areas(
        self,
        polygons: Iterable[Iterable[Point]],
        *,
        fill: Colour,
        edge: Colour | None = None,
        opacity: float = 1.0,
    ) -> None:
        """Draw filled polygons of one style."""
        kept = tuple(tuple(polygon) for polygon in polygons)
        if kept:
            self.shapes.append(Area(kept, fill, edge, opacity))

    def dots(
        self,
        points: Iterable[Point],
        colour: Colour,
        marker: Marker = Marker.CIRCLE,
        *,
        size: float = 5.0,
        hollow: bool = False,
        halo: bool = False,
        labels: Sequence[str] = (),
    ) -> None:
        """Draw dots of one kind, with what each of them stands for or nothing."""
        kept = tuple(points)
        if kept:
            self.shapes.append(Dots(kept, colour, marker, size, hollow, halo, tuple(labels)))

    def bitmap(self, left: float, top: float, width: float, height: float, data: bytes) -> None:
        """Draw a JPEG or PNG file's content, which stays in the drawing as it is."""
        self.shapes.append(Bitmap(left, top, width, height, data))

    def text(
        self,
        x: float,
        y: float,
        text: str,
        colour: Colour = INK,
        *,
        size: float = TEXT_SIZE,
        bold: bool = False,
        anchor: Anchor = "start",
        turned: bool = False,
        toggles: Colour | None = None,
    ) -> None:
        """Write a line of text, its middle at this height."""
        if text:
            self.shapes.append(Text(x, y, text, colour, size, bold, anchor, turned, toggles))

    def label(
        self,
        x: float,
        y: float,
        text: str,
        room: float,
        colour: Colour = INK,
        *,
        size: float = TEXT_SIZE,
        bold: bool = False,
        anchor: Anchor = "start",
        toggles: Colour | None = None,
    ) -> None:
        """Write a text into a width: smaller if need be, and in lines around this height before any of it is lost."""
        smaller = size * min(1.0, room / max(text_width(text, size, bold), 1.0))
        size = max(smaller, min(size, _LEAST_SIZE))
        lines = broken(text, room, size, bold) if smaller < size else (text,)
        first = y - (len(lines) - 1) / 2 * size * LINE
        self.paragraph(
            x, first, lines, colour, size=size, bold=bold, anchor=anchor, toggles=toggles
        )

    def paragraph(
        self,
        x: float,
        y: float,
        lines: Sequence[str],
        colour: Colour = INK,
        *,
        size: float = TEXT_SIZE,
        bold: bool = False,
        anchor: Anchor = "start",
        toggles: Colour | None = None,
    ) -> None:
        """Write lines below each other, the middle of the first at this height."""
        for place, line in enumerate(lines):
            at = y + place * size * LINE
            self.text(x, at, line, colour, size=size, bold=bold, anchor=anchor, toggles=toggles)


_OUTLINES: dict[Marker, tuple[Point, ...]] = {
    Marker.SQUARE: ((-0.45, -0.45), (0.45, -0.45), (0.45, 0.45), (-0.45, 0.45)),
    Marker.TRIANGLE: ((-0.58, 0.42), (0.58, 0.42), (0.0, -0.62)),
    Marker.DIAMOND: ((0.0, -0.64), (0.6, 0.0), (0.0, 0.64), (-0.6, 0.0)),
}


def outline(marker: Marker, at: Point, size: float) -> tuple[Point, ...]:
    """Corners of a dot that is not round, with about the area of a round one of that size."""
    return tuple((at[0] + x * size, at[1] + y * size) for x, y in _OUTLINES[marker])


def _corners(left: float, top: float, width: float, height: float) -> tuple[Point, ...]:
    right, bottom = left + width, top + height
    return ((left, top), (right, top), (right, bottom), (left, bottom))


def text_width(text: str, size: float = TEXT_SIZE, bold: bool = False) -> float:
    """Width of a text in pixels; that of DejaVu Sans, wider than the fonts of most systems."""
    return math.fsum(_advance(letter, bold) for letter in text) * size


def shortened(text: str, room: float, size: float = TEXT_SIZE, bold: bool = False) -> str:
    """The text, with an ellipsis in place of its end where it is wider than the room."""
    if not text or text_width(text, size, bold) <= room:
        return text
    while text and text_width(f"{text}…", size, bold) > room:
        text = text[:-1]
    return f"{text.rstrip()}…"


def broken(text: str, room: float, size: float = TEXT_SIZE, bold: bool = False) -> tuple[str, ...]:
    """The text in lines that fit: broken between words, and within a word that is too wide by itself."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".lstrip()
        if text_width(longer, size, bold) <= room:
            lines[-1] = longer
            continue
        lines += [""] if lines[-1] else []
        for letter in word:
            if lines[-1] and text_width(lines[-1] + letter, size, bold) > room:
                lines.append("")
            lines[-1] += letter
    return tuple(lines)


@lru_cache(maxsize=4096)
def _advance(letter: str, bold: bool) -> float:
    """Width of a letter at size 1."""
    return font(100, bold).getlength(letter) / 100


@lru_cache(maxsize=64)
def font(size: int, bold: bool) -> ImageFont.FreeTypeFont:
    """DejaVu Sans, which comes with Matplotlib."""
    import matplotlib

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    file = f"{matplotlib.get_data_path()}/fonts/ttf/{name}"
    return ImageFont.truetype(file, size, layout_engine=ImageFont.Layout.BASIC)
