"""Sheets as PDF: one page of vectors, its text embedded as a font and selectable."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from headway.report.painter import Painter
from headway.report.sheet import DROP, Bitmap, Sheet, Text, text_width

_POINTS_PER_PIXEL = 0.75
"""Pixels of the page are 96 an inch, as in CSS."""
_POINTS_PER_MM = 72 / 25.4
_SHARES = {"start": 0.0, "middle": 0.5, "end": 1.0}
_TRUE_TYPE = 42


def pdf_file(sheet: Sheet, title: str = "", description: str = "", width_mm: float = 0.0) -> bytes:
    """The sheet as a PDF file, light colours on white; equal sheets give equal files.

    Args:
        sheet: the drawing.
        title: what it is called.
        description: what a reader who cannot see it is told.
        width_mm: its width on paper; that on a screen if not given.
    """
    import matplotlib
    from matplotlib.backends.backend_pdf import PdfFile, RendererPdf

    wide = width_mm * _POINTS_PER_MM if width_mm else sheet.width * _POINTS_PER_PIXEL
    scale = wide / sheet.width
    width, height = wide / 72, sheet.height * scale / 72
    stream = io.BytesIO()
    # A date would make equal figures unequal files.
    facts = {"Title": title, "Subject": description, "CreationDate": None, "Creator": "Headway"}
    with matplotlib.rc_context({"pdf.fonttype": _TRUE_TYPE, "pdf.compression": 6}):
        file = PdfFile(stream, metadata=facts)  # type: ignore[no-untyped-call]
        file.newPage(width, height)  # type: ignore[no-untyped-call]
        renderer = RendererPdf(file, 72, height, width)  # type: ignore[no-untyped-call]
        _PdfPainter(renderer, scale, height * 72).paint(sheet)
        renderer.finalize()  # type: ignore[no-untyped-call]
        file.finalize()  # type: ignore[no-untyped-call]
        file.close()  # type: ignore[no-untyped-call]
    return stream.getvalue()


class _PdfPainter(Painter):
    def bitmap(self, bitmap: Bitmap) -> None:
        """Embed a picture of pixels, stretched over its rectangle."""
        from matplotlib.transforms import Affine2D

        with Image.open(io.BytesIO(bitmap.data)) as opened:
            pixels = np.asarray(opened.convert("RGBA"))[::-1]
        place = Affine2D().scale(bitmap.width * self.scale, bitmap.height * self.scale)
        left = bitmap.left * self.scale
        below = self.height - (bitmap.top + bitmap.height) * self.scale
        self.renderer.draw_image(self.renderer.new_gc(), left, below, pixels, place)

    def text(self, text: Text) -> None:
        """Write a line of text."""
        from matplotlib.font_manager import FontProperties

        size = text.size * self.scale
        # Renderers take sizes of text in points, which at 72 dpi are their units.
        weight = "bold" if text.bold else "normal"
        face = FontProperties(family="DejaVu Sans", weight=weight, size=size)
        before = _SHARES[text.anchor] * text_width(text.text, text.size, text.bold)
        drop = DROP * text.size
        if text.turned:
            x, y = text.x + drop, text.y + before
        else:
            x, y = text.x - before, text.y + drop
        self.renderer.draw_text(
            self.context(text.colour),
            x * self.scale,
            self.height - y * self.scale,
            text.text,
            face,
            90 if text.turned else 0,
        )
