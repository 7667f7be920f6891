"""Figures as files: drawings in three formats, and their data."""

from __future__ import annotations

from headway.report.figures import WIDE, Picture
from headway.report.pdf import pdf_file
from headway.report.raster import png_file
from headway.report.svg import svg_file

FORMATS = ("svg", "pdf", "png", "csv")
WRITTEN = ("svg", "png", "csv")
"""For every figure of a report; the fonts of a PDF take longer than all of these."""
_PIXELS_PER_MM = 360 / 84
"""Drawings are laid out for their paper such that text of 11 pixels is of 7.3 points on any."""


def encoded(picture: Picture, suffix: str, width_mm: float = 0.0) -> bytes:
    """The content of a figure's file.

    Args:
        picture: the figure.
        suffix: one of ``FORMATS``.
        width_mm: its width on paper, which it is laid out for; that of the page if not given.
    """
    if suffix == "csv":
        return picture.data().write_csv().encode()
    sheet = picture.wide
    if width_mm and (picture.fits_narrow or width_mm * _PIXELS_PER_MM > WIDE):
        sheet = picture.drawing(width_mm * _PIXELS_PER_MM)
    words = (sheet, picture.title, picture.alternative, width_mm)
    match suffix:
        case "svg":
            return svg_file(*words).encode()
        case "pdf":
            return pdf_file(*words)
        case "png":
            return png_file(*words)
    raise ValueError(suffix)
