"""Figures: sizes in pixels, settings that do not depend on the machine, SVG and PNG out."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib
import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from headway.report.theme import ALL, INK, PAPER, Colour, Style

_DPI = 100
_PNG_DPI = 200
_FEW_DOTS = 7
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
    """A figure of this size in pixels, as it appears on the page."""
    figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI)
    FigureCanvasAgg(figure)
    figure.patch.set_facecolor(PAPER.light)
    return figure


def sheet(figure: Figure) -> Axes:
    """Axes over all of the figure whose units are pixels, from the upper left corner."""
    across, down = (float(length) for length in figure.get_size_inches() * _DPI)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, across)
    axes.set_ylim(down, 0)
    axes.axis("off")
    return axes


def line(
    axes: Axes,
    xs: tuple[float, float],
    ys: tuple[float, float],
    colour: Colour,
    width: float,
    *,
    opacity: float | None = None,
    order: float = 2,
) -> None:
    """Draw a straight line with flat ends."""
    style: dict[str, Any] = {"linewidth": points(width), "solid_capstyle": "butt"}
    axes.add_line(Line2D(xs, ys, color=colour.light, alpha=opacity, zorder=order, **style))


def dots(axes: Axes, xs: Sequence[float], ys: Sequence[float], of: Style) -> None:
    """Draw dots above all lines: with a thin halo if they are few, smaller if they are many."""
    size = min(5.5, max(2.5, 28 / max(1, len(xs))))
    halo = 0.8 if len(xs) <= _FEW_DOTS else 0.0
    style: dict[str, Any] = {"linestyle": "none", "marker": of.marker, "markersize": points(size)}
    edge: dict[str, Any] = {"markeredgecolor": PAPER.light, "markeredgewidth": points(halo)}
    axes.add_line(Line2D(xs, ys, color=of.colour.light, zorder=3, clip_on=False, **style, **edge))


def write(axes: Axes, x: float, y: float, text: str, **style: Any) -> None:
    """Put plain text, never mathematics, at a place."""
    style.setdefault("color", INK.light)
    style.setdefault("va", "center")
    size = points(style.pop("pixels", 12))
    axes.text(x, y, text, fontsize=size, parse_math=False, **style)


def svg(figure: Figure) -> str:
    """The figure as an SVG file: light colours on white."""
    return _render(figure, "svg").decode()


def png(figure: Figure) -> bytes:
    """The figure as a PNG file at twice its size, on white."""
    return _render(figure, "png", dpi=_PNG_DPI)


def inline_svg(file: str, name: str, description: str) -> str:
    """An SVG file as an element of the page, which takes its colours and font from the page.

    Args:
        file: the file's text, as from ``svg``.
        name: makes the element's ids unique on the page.
        description: what a reader who cannot see it is told.
    """
    text = file[file.index("<svg") :]
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
