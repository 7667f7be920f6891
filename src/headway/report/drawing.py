"""Figures: sizes in pixels, settings that do not depend on the machine, SVG and PNG out."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from headway.report.theme import ALL, INK, PAPER

_DPI = 100
_PNG_DPI = 200
_FONT = "system-ui, -apple-system, &quot;Segoe UI&quot;, Roboto, sans-serif"
_FONT_STYLE = re.compile(r"(font: (?:[\w-]+ )*[\d.]+px) [^;\"]*")


@contextmanager
def drawing() -> Iterator[None]:
    """Matplotlib's default style, whatever the user's, with text as text and repeatable names."""
    settings = {
        "svg.fonttype": "none",
        "svg.hashsalt": "headway",
        "text.color": INK.light,
        "font.size": points(12),
        "axes.unicode_minus": True,
    }
    with matplotlib.style.context(["default", settings]):
        yield


def points(pixels: float) -> float:
    """A length of the page in points, which matplotlib's fonts and lines are in."""
    return pixels * 72 / _DPI


def blank(width: float, height: float) -> Figure:
    """A transparent figure of this size in pixels, as it appears on the page."""
    figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI)
    FigureCanvasAgg(figure)
    figure.patch.set_alpha(0)
    return figure


def panel(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Axes at this place, in pixels from the figure's upper left corner."""
    across, down = figure.get_size_inches() * _DPI
    axes = figure.add_axes(
        (left / across, 1 - (top + height) / down, width / across, height / down)
    )
    axes.patch.set_alpha(0)
    return axes


def sheet(figure: Figure) -> Axes:
    """Axes over all of the figure whose units are pixels, from the upper left corner."""
    across, down = (float(length) for length in figure.get_size_inches() * _DPI)
    axes = panel(figure, 0, 0, across, down)
    axes.set_xlim(0, across)
    axes.set_ylim(down, 0)
    axes.axis("off")
    return axes


def write(axes: Axes, x: float, y: float, text: str, **style: Any) -> None:
    """Put plain text, never mathematics, at a place."""
    style.setdefault("color", INK.light)
    style.setdefault("va", "center")
    size = points(style.pop("pixels", 12))
    axes.text(x, y, text, fontsize=size, parse_math=False, **style)


def svg(figure: Figure) -> str:
    """The figure as an SVG file: light colours on white."""
    return _render(figure, "svg", facecolor=PAPER.light).decode()


def png(figure: Figure) -> bytes:
    """The figure as a PNG file at twice its size, on white."""
    return _render(figure, "png", facecolor="white", dpi=_PNG_DPI)


def inline_svg(figure: Figure, name: str, description: str) -> str:
    """The figure as an element of the page, which takes its colours and font from the page.

    Args:
        figure: the figure.
        name: makes the element's ids unique on the page.
        description: what a reader who cannot see it is told.
    """
    text = _render(figure, "svg", transparent=True).decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL)
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text)
    text = text.replace("xlink:href", "href")
    text = re.sub(r'id="([^"]+)"', rf'id="{name}-\1"', text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", text)
    text = _FONT_STYLE.sub(rf"\1 {_FONT}", text)
    for colour in ALL:
        text = text.replace(colour.light, f"var(--{colour.name})")
    return _labelled(text, description)


def _labelled(text: str, description: str) -> str:
    """Give the root element a role and a label, and let the page decide its size."""
    start, end = text.index("<svg"), text.index(">")
    view = re.search(r'viewBox="[^"]*"', text[start:end])
    box = view[0] if view else ""
    label = description.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return f'<svg {box} role="img" aria-label="{label}">{text[end + 1 :]}'


def _render(figure: Figure, kind: str, **options: Any) -> bytes:
    stream = io.BytesIO()
    metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    with drawing():
        figure.savefig(stream, format=kind, metadata=metadata, **options)
    return stream.getvalue()
