"""Colours of figures: one name, one meaning, a light and a dark value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True)
class Colour:
    """A colour of the figures.

    Attributes:
        name: its name as a CSS variable, without the dashes.
        light: on white, as ``#rrggbb``; no two colours share it, so that a figure's colours can
            be found again in its SVG.
        dark: on the dark page.
    """

    name: str
    light: str
    dark: str


class Marker(Enum):
    """Shape of a dot."""

    CIRCLE = "circle"
    SQUARE = "square"
    TRIANGLE = "triangle"
    DIAMOND = "diamond"


@dataclass(frozen=True)
class Style:
    """How a contender is drawn.

    Attributes:
        colour: colour of its dots and lines.
        marker: shape of its dots.
        dash: lengths of the dashes and gaps of its lines, in pixels; empty if they are solid.
    """

    colour: Colour
    marker: Marker
    dash: tuple[float, ...]


INK = Colour("fig-ink", "#1f2328", "#e6e9ec")
MUTED = Colour("fig-muted", "#5c6670", "#9aa5b1")
RULE = Colour("fig-rule", "#d8dde3", "#39424c")
PAPER = Colour("fig-paper", "#ffffff", "#12171d")

# Blue, vermillion and their like are Okabe and Ito's, told apart with any colour vision; others
# are Tol's.
FAMILIES: dict[str, tuple[Colour, ...]] = {
    "h1": (
        Colour("fig-h1", "#7d7d7d", "#aab2ba"),
        Colour("fig-h1b", "#4a5058", "#d0d5da"),
    ),
    "h2": (
        Colour("fig-h2", "#0072b2", "#4fa8e0"),
        Colour("fig-h2b", "#009e73", "#35c79b"),
        Colour("fig-h2c", "#4b3f9e", "#a097ee"),
        Colour("fig-h2d", "#2a9fc4", "#6fd0ee"),
    ),
    "h3": (
        Colour("fig-h3", "#d55e00", "#ff8f45"),
        Colour("fig-h3b", "#882255", "#d9709f"),
        Colour("fig-h3c", "#cc79a7", "#e29cc2"),
        Colour("fig-h3d", "#a07d00", "#e0b93a"),
    ),
}
"""Colours of contenders by the version of HTTP that they speak, the first to be used first: neighbours as
unlike as the colours allow."""
CONTENDERS = tuple(colour for colours in FAMILIES.values() for colour in colours)
TRANSPORTS: dict[str, tuple[Colour, ...]] = {
    "tcp": FAMILIES["h2"],
    "quic": FAMILIES["h3"],
}
"""The same for bulk flows."""

# ColorBrewer's PRGn, weakest first: green is faster, purple is slower.
FASTER = (
    Colour("fig-f1", "#d9f0d3", "#1c3a26"),
    Colour("fig-f2", "#a6dba0", "#235a33"),
    Colour("fig-f3", "#5aae61", "#2f7d45"),
    Colour("fig-f4", "#1b7837", "#86d694"),
)
SLOWER = (
    Colour("fig-s1", "#ecdcee", "#382541"),
    Colour("fig-s2", "#cdb3d9", "#57346c"),
    Colour("fig-s3", "#b08cc2", "#80489c"),
    Colour("fig-s4", "#762a83", "#d2a6e2"),
)
ON_FILL = (
    Colour("fig-on1", "#1f2329", "#e6e9ed"),
    Colour("fig-on2", "#1f232a", "#e6e9ee"),
    Colour("fig-on3", "#1f232b", "#ffffff"),
    Colour("fig-on4", "#fffffe", "#12171e"),
)
"""Text on ``FASTER`` and ``SLOWER`` of the same strength."""

# Of Tol's bright and muted schemes.
BLUE = Colour("fig-blue", "#4477aa", "#6f9fd0")
CYAN = Colour("fig-cyan", "#66ccee", "#8adaf3")
GREEN = Colour("fig-green", "#228833", "#4bb45c")
YELLOW = Colour("fig-yellow", "#ccbb44", "#d9ca62")
ORANGE = Colour("fig-orange", "#ee7733", "#f59a63")
RED = Colour("fig-red", "#cc3311", "#f0664a")
PURPLE = Colour("fig-purple", "#aa3377", "#d3699f")
LILAC = Colour("fig-lilac", "#b09ad0", "#c3b1de")
BROWN = Colour("fig-brown", "#8b6b47", "#b59470")
PINK = Colour("fig-pink", "#e58bb0", "#f2a9c6")
GREY = Colour("fig-grey", "#b8bcc2", "#6b747e")
PLAIN = (BLUE, CYAN, GREEN, YELLOW, ORANGE, RED, PURPLE, LILAC, BROWN, PINK, GREY)

SHAPES: tuple[tuple[Marker, tuple[float, ...]], ...] = (
    (Marker.CIRCLE, ()),
    (Marker.SQUARE, (6.0, 2.5)),
    (Marker.TRIANGLE, (2.0, 2.0)),
    (Marker.DIAMOND, (7.0, 2.0, 2.0, 2.0)),
)
"""Marker and dash; contenders that share a colour differ in both."""

ALL = (INK, MUTED, RULE, PAPER, *CONTENDERS, *FASTER, *SLOWER, *ON_FILL, *PLAIN)


def css_variables(dark: bool) -> str:
    """Declarations of all colours, for a light or a dark page."""
    return " ".join(f"--{colour.name}: {colour.dark if dark else colour.light};" for colour in ALL)
