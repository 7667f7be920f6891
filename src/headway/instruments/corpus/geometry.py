"""Places in a desktop's window of 1366x768 pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass

WIDTH, HEIGHT = 1366, 768
"""Size of the window, in CSS pixels."""

GAP = 8
"""Free pixels between the cells of a grid."""


@dataclass(frozen=True)
class ImageSize:
    """Width and height of each image of a grid, in CSS pixels."""

    width: int
    height: int


def grid_cell(count: int, width: int, height: int) -> ImageSize:
    """The cell of a grid that holds `count` images within an area, in about 4:3.

    Args:
        count: 1 or more.
        width: of the area, in CSS pixels.
        height: likewise.
    """
    # columns : rows as in an area of cells in 4:3.
    columns = math.isqrt(max(0, count * 3 * width - 1) // (4 * height)) + 1
    rows = -(-count // columns)
    return ImageSize(max(1, width // columns - GAP), max(1, height // rows - GAP))
