"""Made frames of page loads."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from headway.pages.load import ScreenFrame

BLOCK = 80
"""Side of a block, a multiple of what JPEG codes together."""


def striped(painted: int, stripes: int = 20) -> Image.Image:
    """A white picture of stripes, of which the first ones are painted."""
    picture = Image.new("RGB", (stripes, 2), "white")
    picture.paste("navy", (0, 0, painted, 2))
    return picture


def save_frames(directory: Path, shown: list[tuple[float, Image.Image]]) -> tuple[ScreenFrame, ...]:
    """Save pictures with their times, in ms, as frames."""
    frames = []
    for number, (at_ms, picture) in enumerate(shown):
        frames.append(ScreenFrame(at_ms, directory / f"{number:04}.png"))
        picture.save(frames[-1].file)
    return tuple(frames)


def painted_page() -> list[tuple[float, Image.Image]]:
    """A page of twelve blocks, painted one after the other; a grey one gets its colour in the end.

    One has all levels of its channels, and one has a frame of near-white around it.
    """
    page = Image.new("RGB", (4 * BLOCK, 3 * BLOCK), "white")
    draw = ImageDraw.Draw(page)
    shown = [(40.0, page.copy())]
    at_ms = 200.0
    for number in range(12):
        left, top = BLOCK * (number % 4), BLOCK * (number // 4)
        box = (left, top, left + BLOCK - 1, top + BLOCK - 1)
        if number == 5:
            levels = np.linspace(0, 249, BLOCK * BLOCK).astype(np.uint8).reshape(BLOCK, BLOCK)
            page.paste(Image.fromarray(np.stack([levels, levels.T, 249 - levels], 2)), (left, top))
        elif number == 7:
            draw.rectangle(box, fill=(252, 252, 252))
            draw.rectangle((left + 16, top + 16, left + 63, top + 63), fill=(20, 120, 60))
        else:
            colour = (20 * number, 250 - 19 * number, (77 * number) % 256)
            draw.rectangle(box, fill=(185, 185, 185) if number == 2 else colour)
        shown.append((at_ms, page.copy()))
        at_ms += 50 + 35 * number
    draw.rectangle((2 * BLOCK, 0, 3 * BLOCK - 1, BLOCK - 1), fill=(200, 30, 30))
    shown.append((at_ms, page.copy()))
    shown.append((at_ms + 700, page.copy()))
    return shown
