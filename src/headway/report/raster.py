"""Sheets as PNG: shapes by Matplotlib's Agg renderer, text by Pillow."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, ImageDraw
from PIL.PngImagePlugin import PngInfo

from headway.report.painter import Painter
from headway.report.sheet import Bitmap, Sheet, Text, font

_SCALE = 2.0
"""Pixels of the file per pixel of the page."""
_DPI = 300
"""Resolution of files with a stated width on paper."""
_MM_PER_INCH = 25.4
_ANCHORS = {"start": "l", "middle": "m", "end": "r"}


def png_file(sheet: Sheet, title: str = "", description: str = "", width_mm: float = 0.0) -> bytes:
    """The sheet as a PNG file, light colours on white.

    Args:
        sheet: the drawing.
        title: what it is called.
        description: what a reader who cannot see it is told.
        width_mm: its width on paper, at 300 dots an inch; if not given, it is twice its size.
    """
    scale = width_mm / _MM_PER_INCH * _DPI / sheet.width if width_mm else _SCALE
    painter = _AggPainter(sheet, scale)
    painter.paint(sheet)
    png_info = PngInfo()
    for key, text in (("Title", title), ("Description", description)):
        if text:
            png_info.add_itxt(key, text)
    stream = io.BytesIO()
    dots = {"dpi": (_DPI, _DPI)} if width_mm else {}
    painter.image().save(stream, "png", pnginfo=png_info, **dots)
    return stream.getvalue()


class _AggPainter(Painter):
    """Paints on Agg's canvas; texts come above all other shapes."""

    def __init__(self, sheet: Sheet, scale: float) -> None:
        from matplotlib.backends.backend_agg import RendererAgg

        self._size = (round(sheet.width * scale), round(sheet.height * scale))
        # At 72 dpi a point, Matplotlib's unit of widths, is a pixel.
        agg = RendererAgg(*self._size, 72)  # type: ignore[no-untyped-call]
        super().__init__(agg, scale, self._size[1])
        self._texts: list[Text] = []

    def bitmap(self, bitmap: Bitmap) -> None:
        """Paint a picture of pixels."""
        scale = self.scale
        left, top = round(bitmap.left * scale), round(bitmap.top * scale)
        size = (round(bitmap.width * scale), round(bitmap.height * scale))
        with Image.open(io.BytesIO(bitmap.data)) as opened:
            pixels = np.asarray(opened.convert("RGBA").resize(size))
        # Agg counts rows from below, of the canvas and of the picture.
        below = self._size[1] - top - size[1]
        self.renderer.draw_image(self.renderer.new_gc(), left, below, pixels[::-1])

    def text(self, text: Text) -> None:
        """Write a line of text, when all shapes are there."""
        self._texts.append(text)

    def image(self) -> Image.Image:
        """What has been painted."""
        painted = self.renderer.buffer_rgba()
        whole = Image.frombuffer("RGBA", self._size, painted, "raw", "RGBA", 0, 1).convert("RGB")
        draw = ImageDraw.Draw(whole)
        for text in self._texts:
            _write(whole, draw, text, self.scale)
        return whole


def _write(image: Image.Image, draw: ImageDraw.ImageDraw, text: Text, scale: float) -> None:
    face = font(round(text.size * scale), text.bold)
    if not text.turned:
        place = (text.x * scale, text.y * scale)
        anchor = f"{_ANCHORS[text.anchor]}m"
        draw.text(place, text.text, fill=text.colour.light, font=face, anchor=anchor)
        return
    stamp = _turned(text, scale)
    before = {"start": 1.0, "middle": 0.5, "end": 0.0}[text.anchor] * stamp.height
    corner = (round(text.x * scale - stamp.width / 2), round(text.y * scale - before))
    image.paste(text.colour.light, corner, stamp)


def _turned(text: Text, scale: float) -> Image.Image:
    """A text that reads upwards, as a mask."""
    face = font(round(text.size * scale), text.bold)
    size = (round(face.getlength(text.text)) + 2, round(1.4 * text.size * scale))
    mask = Image.new("L", size)
    ImageDraw.Draw(mask).text((1, size[1] / 2), text.text, fill=255, font=face, anchor="lm")
    return mask.transpose(Image.Transpose.ROTATE_90)
