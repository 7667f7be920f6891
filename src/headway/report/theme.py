"""Colours of figures: one name, one meaning, a light and a dark value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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


INK = Colour("fig-ink", "#1f2328", "#e6e9ec")
MUTED = Colour("fig-muted", "#5c6670", "#9aa5b1")
RULE = Colour("fig-rule", "#d8dde3", "#39424c")
PAPER = Colour("fig-paper", "#ffffff", "#12171d")

PROTOCOLS = (
    # Blue, vermillion and their like are Okabe and Ito's, told apart with any colour vision.
    Colour("fig-h1", "#7d7d7d", "#aab2ba"),
    Colour("fig-h2", "#0072b2", "#4fa8e0"),
    Colour("fig-h3", "#d55e00", "#ff8f45"),
    Colour("fig-p4", "#009e73", "#35c79b"),
    Colour("fig-p5", "#cc79a7", "#e29cc2"),
    Colour("fig-p6", "#a07d00", "#e0b93a"),
)

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

ALL = (INK, MUTED, RULE, PAPER, *PROTOCOLS, *FASTER, *SLOWER, *ON_FILL)


def protocol_colours(protocols: Sequence[str]) -> dict[str, Colour]:
    """A colour for each protocol; ``h1``, ``h2`` and ``h3`` have the same in every figure."""
    own = {colour.name.removeprefix("fig-"): colour for colour in PROTOCOLS[:3]}
    others = [protocol for protocol in protocols if protocol not in own]
    spare = PROTOCOLS[3:]
    extra = {name: spare[place % len(spare)] for place, name in enumerate(others)}
    return {protocol: own.get(protocol) or extra[protocol] for protocol in protocols}


def css_variables(dark: bool) -> str:
    """Declarations of all colours, for a light or a dark page."""
    return " ".join(f"--{colour.name}: {colour.dark if dark else colour.light};" for colour in ALL)
