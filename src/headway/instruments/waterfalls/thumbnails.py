"""Thumbnails of what a browser showed: small enough to be part of the page."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

_QUALITIES = (80, 65, 50, 35, 20)
"""Qualities of JPEG, the best first."""


def thumbnails(files: Sequence[Path], width: int, most_bytes: int) -> dict[Path, bytes]:
    """Pictures as JPEG files of a width in pixels, of as high a quality as the bytes allow.

    What is transparent is white, as in the browser's window. Pictures that cannot be read are left
    out.

    Args:
        files: pictures, as often as they are shown; each is made once.
        width: of the thumbnails; they are as high as that makes them.
        most_bytes: of all that are shown, as far as the lowest quality allows.
    """
    small = {file: _small(file, width) for file in dict.fromkeys(files)}
    made: dict[Path, bytes] = {}
    for quality in _QUALITIES:
        made = {file: _jpeg(picture, quality) for file, picture in small.items() if picture}
        if sum(len(made.get(file, b"")) for file in files) <= most_bytes:
            break
    return made


def aspect(files: Sequence[Path]) -> float:
    """Height over width of the first picture that can be read; that of a screen if none can."""
    for file in files:
        try:
            with Image.open(file) as picture:
                return picture.height / picture.width
        except OSError:
            continue
    return 9 / 16


def _small(file: Path, width: int) -> Image.Image | None:
    try:
        with Image.open(file) as opened:
            layer = opened.convert("RGBA")
    except (OSError, SyntaxError):  # the latter of a PNG with a broken chunk
        return None
    picture = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer).convert("RGB")
    height = max(1, round(width * picture.height / picture.width))
    return picture.resize((width, height), Image.Resampling.LANCZOS)


def _jpeg(picture: Image.Image, quality: int) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, "jpeg", quality=quality, optimize=True)
    return stream.getvalue()


BLANK = _jpeg(Image.new("RGB", (8, 8), "white"), _QUALITIES[-1])
"""A blank page: white, also where the report is dark."""
