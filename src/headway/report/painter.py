"""Painting the shapes of a sheet with one of Matplotlib's renderers, without its figures and axes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from headway.report.sheet import Area, Bitmap, Dots, Line, Point, Sheet, Text, outline
from headway.report.theme import PAPER, Colour, Marker

if TYPE_CHECKING:
    from matplotlib.path import Path


class Painter(ABC):
    """Paints shapes in light colours on paper; what bitmaps and texts become is the renderer's matter.

    Attributes:
        renderer: Matplotlib's.
        scale: units of the renderer per pixel of the sheet.
        height: of the renderer's paper, on which y grows upwards.
    """

    def __init__(self, renderer: Any, scale: float, height: float) -> None:
        # Matplotlib is imported where it is needed, since it takes most of a second.
        from matplotlib.transforms import Affine2D

        self.renderer = renderer
        self.scale = scale
        self.height = height
        self._upright: Any = Affine2D().scale(scale, -scale).translate(0, height)

    def paint(self, sheet: Sheet) -> None:
        """Paint a sheet from its lowest shape to its uppermost."""
        edges = ((0, 0), (sheet.width, 0), (sheet.width, sheet.height), (0, sheet.height))
        self._area(Area((edges,), PAPER))
        for shape in sheet.shapes:
            match shape:
                case Line():
                    self._line(shape)
                case Area():
                    self._area(shape)
                case Dots():
                    self._dots(shape)
                case Bitmap():
                    self.bitmap(shape)
                case Text():
                    self.text(shape)

    @abstractmethod
    def bitmap(self, bitmap: Bitmap) -> None:
        """Paint a picture of pixels."""

    @abstractmethod
    def text(self, text: Text) -> None:
        """Write a line of text."""

    def context(self, colour: Colour, width: float = 0.0, opacity: float = 1.0) -> Any:
        """What a renderer is told of colour and line."""
        context = self.renderer.new_gc()
        context.set_foreground(_rgba(colour, opacity), isRGBA=True)
        context.set_alpha(opacity)
        context.set_linewidth(width * self.scale)
        context.set_capstyle("butt")
        return context

    def _line(self, line: Line) -> None:
        context = self.context(line.colour, line.width, line.opacity)
        if line.dash:
            context.set_dashes(0, [length * self.scale for length in line.dash])
        for run in line.runs:
            self.renderer.draw_path(context, _path(run), self._upright, None)

    def _area(self, area: Area) -> None:
        context = self.context(area.edge or area.fill, 1 if area.edge else 0, area.opacity)
        fill = _rgba(area.fill, area.opacity)
        for polygon in area.polygons:
            self.renderer.draw_path(context, _path(polygon, closed=True), self._upright, fill)

    def _dots(self, dots: Dots) -> None:
        from matplotlib.path import Path

        for colour, size in dots.layers:
            context = self.context(colour)
            for at in dots.points:
                if dots.marker is Marker.CIRCLE:
                    shape = Path.circle(at, size / 2)
                else:
                    shape = _path(outline(dots.marker, at, size), closed=True)
                self.renderer.draw_path(context, shape, self._upright, _rgba(colour))


def _path(points: tuple[Point, ...], closed: bool = False) -> Path:
    from matplotlib.path import Path

    return Path([*points, points[0]], closed=True) if closed else Path(points)


def _rgba(colour: Colour, opacity: float = 1.0) -> tuple[float, float, float, float]:
    red, green, blue = (int(colour.light[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return (red, green, blue, opacity)
