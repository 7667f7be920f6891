"""Visual progress of a page load: how much of its final picture the browser shows, over time.

As defined for WebPageTest's Speed Index (P. Meenan, "How Fast Is Your Website?", Communications of
the ACM 56(4), 2013): a frame is as complete as its histograms of red, green and blue have gone from
those of the first to those of the last picture. The Speed Index is the area above that curve.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops

from headway.contract.artifact import SpoiltError, read_bytes
from headway.pages.load import ScreenFrame

Histogram = NDArray[np.float64]
"""Share of all pixels that have each of 256 levels of red, then green, then blue."""

WHITE_LEVEL = 250
"""A pixel with all channels at this level or above counts as blank, as in WebPageTest's tools."""

_ROUNDING = 1e-9
_IS_COLOURED = [255] * WHITE_LEVEL + [0] * (256 - WHITE_LEVEL)


@dataclass(frozen=True)
class ShownFrame:
    """A frame, and how complete the page is in it: a share of 0 to 1."""

    frame: ScreenFrame
    share: float


@dataclass(frozen=True)
class VisualProgress:
    """How complete the page is over time; 0 from navigation start to the first frame.

    Attributes:
        shown: frames since navigation start, in order of time; the last is complete.
        problem: why there is no visual progress; None if there is.
    """

    shown: tuple[ShownFrame, ...]
    problem: str | None = None

    @property
    def steps(self) -> tuple[tuple[float, float], ...]:
        """The curve: from a time in ms on, the share; flat until the next one."""
        return ((0.0, 0.0), *((shown.frame.at_ms, shown.share) for shown in self.shown))

    @property
    def speed_index_ms(self) -> float | None:
        """Area above the curve, from navigation start until the page is complete for good."""
        if self.problem:
            return None
        return math.fsum(
            (until_ms - from_ms) * (1 - share)
            for (from_ms, share), (until_ms, _) in pairwise(self.steps)
        )

    @property
    def first_change_ms(self) -> float | None:
        """When anything of the page was first shown that its last picture has, too."""
        return next((at_ms for at_ms, share in self.steps if share > 0), None)

    @property
    def last_change_ms(self) -> float | None:
        """When the page became complete for good."""
        changes = [at_ms for (_, before), (at_ms, share) in pairwise(self.steps) if share != before]
        return changes[-1] if changes else None

    def complete_ms(self, share: float) -> float | None:
        """When the page was first as complete as that, or more; a share of 0 to 1."""
        return next((at_ms for at_ms, shown in self.steps if shown >= share - _ROUNDING), None)


def visual_progress(frames: Sequence[ScreenFrame]) -> VisualProgress:
    """How complete a page is in each of its frames.

    The first picture, that all are compared with, is a blank white page at navigation start, which
    is what every load starts on; frames from before do not count. Any number of frames will do. The
    sizes of frames may differ, since pixels count by their share.
    """
    since_start = sorted((f for f in frames if f.at_ms >= 0), key=lambda frame: frame.at_ms)
    if not since_start:
        return VisualProgress((), "no frame was recorded")
    try:
        histograms = list(_histograms(frame.file for frame in since_start))
    except _UnreadableFrameError as error:
        return VisualProgress((), str(error))
    final = histograms[-1]
    if not final.any():
        return VisualProgress((), "the last frame is blank")
    # Of a blank page every count is zero, so the way gone in a bin is the lesser of the counts.
    total = final.sum()
    shares = [float(np.minimum(histogram, final).sum() / total) for histogram in histograms]
    return VisualProgress(tuple(map(ShownFrame, since_start, shares)))


def coloured_share(frames: Sequence[ScreenFrame]) -> float | None:
    """Share of the pixels of the last picture that are not white, of frames in order; None without a picture."""
    try:
        # A pixel counts once for red, green and blue each.
        return float(histogram_of(frames[-1].file).sum()) / 3 if frames else None
    except (OSError, SyntaxError):
        return None


class _UnreadableFrameError(Exception):
    """A frame's file is missing or no picture."""


def _histograms(files: Iterable[Path]) -> Iterable[Histogram]:
    """Histograms of pictures; equal files are decoded once."""
    known: dict[bytes, Histogram] = {}
    for file in files:
        try:
            digest = hashlib.sha256(read_bytes(file)).digest()
            if digest not in known:
                known[digest] = histogram_of(file)
        # Pillow raises a SyntaxError for a PNG with a broken chunk.
        except (OSError, SyntaxError, SpoiltError) as error:
            raise _UnreadableFrameError(f"{file.name} is not a picture") from error
        yield known[digest]


def histogram_of(file: Path) -> Histogram:
    """Histogram of a picture's pixels that are not white.

    Raises:
        OSError: the file is missing or no picture.
    """
    with Image.open(file) as opened:
        picture = _on_white(opened)
        red, green, blue = picture.split()
        darkest = ImageChops.darker(ImageChops.darker(red, green), blue)
        counts = picture.histogram(darkest.point(_IS_COLOURED))
        return np.array(counts, dtype=np.float64) / (picture.width * picture.height)


def _on_white(picture: Image.Image) -> Image.Image:
    """RGB; what is transparent, as before a page's first paint, shows the window's white."""
    if not picture.has_transparency_data:
        return picture if picture.mode == "RGB" else picture.convert("RGB")
    layer = picture.convert("RGBA")
    white = Image.new("RGBA", layer.size, "white")
    return Image.alpha_composite(white, layer).convert("RGB")
