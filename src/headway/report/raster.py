"""Sheets as PNG: shapes by Matplotlib's Agg renderer, text by Pillow."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image, ImageDraw

from headway.report.sheet import Area, Bitmap, Dots, Line, Point, Sheet, Text, font, outline
from headway.report.theme import PAPER, Colour, Marker

if TYPE_CHECKING:
    from matplotlib.path import Path

_SCALE = 2
"""Pixels of the file per pixel of the page."""
_ANCHORS = {"start": "l", "middle": "m", "end": "r"}


def png_file(sheet: Sheet) -> bytes:
    """The sheet as a PNG file at twice its size, light colours on white."""
    image = _painted(sheet)
    draw = ImageDraw.Draw(image)
    for shape in sheet.shapes:
        if isinstance(shape, Text):
            _write(image, draw, shape)
    stream = io.BytesIO()
    image.save(stream, "png")
    return stream.getvalue()


def _painted(sheet: Sheet) -> Image.Image:
    """All shapes but the texts, on white."""
    painter = _Painter(sheet)
    for shape in sheet.shapes:
        match shape:
            case Line():
                painter.line(shape)
            case Area():
                painter.area(shape)
            case Dots():
                painter.dots(shape)
            case Bitmap():
                painter.bitmap(shape)
    return painter.image()


class _Painter:
    """Paints shapes on Agg's canvas, which is paper."""

    def __init__(self, sheet: Sheet) -> None:
        # Imported here because it takes most of a second.
        from matplotlib.backends.backend_agg import RendererAgg
        from matplotlib.transforms import Affine2D

        width, height = round(sheet.width * _SCALE), round(sheet.height * _SCALE)
        # At 72 dpi a point, Matplotlib's unit of widths, is a pixel.
        self._size = (width, height)
        self._agg: Any = RendererAgg(width, height, 72)  # type: ignore[no-untyped-call]
        self._upright: Any = Affine2D().scale(_SCALE, -_SCALE).translate(0, height)
        edges = ((0, 0), (sheet.width, 0), (sheet.width, sheet.height), (0, sheet.height))
        self.area(Area((edges,), PAPER))

    def line(self, line: Line) -> None:
        """Paint lines with flat ends."""
        context = self._context(line.colour, line.width, line.opacity)
        if line.dash:
            context.set_dashes(0, [length * _SCALE for length in line.dash])
        for run in line.runs:
            self._agg.draw_path(context, _path(run), self._upright, None)

    def area(self, area: Area) -> None:
        """Paint filled polygons."""
        context = self._context(area.edge or area.fill, 1 if area.edge else 0, area.opacity)
        fill = _rgba(area.fill, area.opacity)
        for polygon in area.polygons:
            self._agg.draw_path(context, _path(polygon, closed=True), self._upright, fill)

    def dots(self, dots: Dots) -> None:
        """Paint dots."""
        from matplotlib.path import Path

        for colour, size in dots.layers:
            context = self._context(colour, 0)
            for at in dots.points:
                if dots.marker is Marker.CIRCLE:
                    shape = Path.circle(at, size / 2)
                else:
                    shape = _path(outline(dots.marker, at, size), closed=True)
                self._agg.draw_path(context, shape, self._upright, _rgba(colour))

    def bitmap(self, bitmap: Bitmap) -> None:
        """Paint a picture of pixels."""
        left, top = round(bitmap.left * _SCALE), round(bitmap.top * _SCALE)
        size = (round(bitmap.width * _SCALE), round(bitmap.height * _SCALE))
        with Image.open(io.BytesIO(bitmap.data)) as opened:
            pixels = np.asarray(opened.convert("RGBA").resize(size))
        # Agg counts rows from below, of the canvas and of the picture.
        below = self._size[1] - top - size[1]
        self._agg.draw_image(self._agg.new_gc(), left, below, pixels[::-1])

    def image(self) -> Image.Image:
        """What has been painted."""
        painted = self._agg.buffer_rgba()
        return Image.frombuffer("RGBA", self._size, painted, "raw", "RGBA", 0, 1).convert("RGB")

    def _context(self, colour: Colour, width: float, opacity: float = 1.0) -> Any:
        context = self._agg.new_gc()
        context.set_foreground(_rgba(colour, opacity), isRGBA=True)
        context.set_alpha(opacity)
        context.set_linewidth(width * _SCALE)
        context.set_capstyle("butt")
        return context


def _path(points: tuple[Point, ...], closed: bool = False) -> Path:
    from matplotlib.path import Path

    return Path([*points, points[0]], closed=True) if closed else Path(points)


def _rgba(colour: Colour, opacity: float = 1.0) -> tuple[float, float, float, float]:
    red, green, blue = (int(colour.light[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return (red, green, blue, opacity)


def _write(image: Image.Image, draw: ImageDraw.ImageDraw, text: Text) -> None:
    face = font(round(text.size * _SCALE), text.bold)
    if not text.turned:
        place = (text.x * _SCALE, text.y * _SCALE)
        anchor = f"{_ANCHORS[text.anchor]}m"
        draw.text(place, text.text, fill=text.colour.light, font=face, anchor=anchor)
        return
    stamp = _turned(text)
    before = {"start": 1.0, "middle": 0.5, "end": 0.0}[text.anchor] * stamp.height
    corner = (round(text.x * _SCALE - stamp.width / 2), round(text.y * _SCALE - before))
    image.paste(text.colour.light, corner, stamp)


def _turned(text: Text) -> Image.Image:
    """A text that reads upwards, as a mask."""
    face = font(round(text.size * _SCALE), text.bold)
    size = (round(face.getlength(text.text)) + 2, round(1.4 * text.size * _SCALE))
    mask = Image.new("L", size)
    ImageDraw.Draw(mask).text((1, size[1] / 2), text.text, fill=255, font=face, anchor="lm")
    return mask.transpose(Image.Transpose.ROTATE_90)
