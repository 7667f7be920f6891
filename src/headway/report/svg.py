"""Sheets as SVG: as files of their own, and as elements of the page."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from headway.report.scale import Scale
from headway.report.sheet import (
    DROP,
    TEXT_SIZE,
    Area,
    Bitmap,
    Dots,
    Line,
    Point,
    Reading,
    Shape,
    Sheet,
    Text,
    outline,
)
from headway.report.theme import ALL, PAPER, Marker

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


def svg_file(sheet: Sheet, title: str, description: str = "", width_mm: float = 0.0) -> str:
    """The sheet as an SVG file: light colours on white.

    Args:
        sheet: the drawing.
        title: what it is called.
        description: what a reader who cannot see it is told.
        width_mm: its width on paper; that on a screen if not given.
    """
    size = _size(sheet, width_mm)
    paper = f'<rect width="100%" height="100%" fill="{PAPER.light}"/>'
    root = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {_root(sheet)}>'
    text = f"<title>{escape(title)}</title>"
    text += f"<desc>{escape(description)}</desc>" if description else ""
    return f"{root}{text}{paper}{_shapes(sheet, live=False)}</svg>\n"


def svg_element(sheet: Sheet, title: str, description: str = "", name: str = "") -> str:
    """The sheet as an element of the page, which takes its colours from the page.

    Args:
        sheet: the drawing.
        title: what it is called.
        description: what a reader who cannot see it is told.
        name: what begins the id of the description, which is the page's only one of that name.
    """
    text = _shapes(sheet, live=True)
    for colour in ALL:
        text = text.replace(f'"{colour.light}"', f'"var(--{colour.name})"')
    # A title would be shown to whoever points at the drawing.
    label = f'role="img" aria-label={quoteattr(title)}'
    if not description:
        return f"<svg {_root(sheet)} {label}>{text}</svg>"
    label += f' aria-describedby="{name}-said"'
    words = f'<desc id="{name}-said">{escape(description)}</desc>'
    return f"<svg {_root(sheet)} {label}>{words}{text}</svg>"


def _size(sheet: Sheet, width_mm: float) -> str:
    if not width_mm:
        return f'width="{_number(sheet.width)}" height="{_number(sheet.height)}"'
    height_mm = width_mm * sheet.height / sheet.width
    return f'width="{width_mm:g}mm" height="{height_mm:.2f}mm"'


def _root(sheet: Sheet) -> str:
    box = f"0 0 {_number(sheet.width)} {_number(sheet.height)}"
    return f'viewBox="{box}" font-family="{_FONT}" font-size="{_number(TEXT_SIZE)}"'


def _shapes(sheet: Sheet, *, live: bool) -> str:
    """All shapes; if live, with what the page's script reads off them."""
    return "\n".join(_shape(shape, live) for shape in sheet.shapes)


def _shape(shape: Shape, live: bool) -> str:
    match shape:
        case Line():
            return _line(shape, live)
        case Area():
            return _area(shape)
        case Dots():
            return _dots(shape, live)
        case Text():
            return _text(shape, live)
        case Bitmap():
            return _bitmap(shape)


def _line(line: Line, live: bool) -> str:
    path = "".join(f"M{_path(run)}" for run in line.runs)
    stroke = f'stroke="{line.colour.light}" stroke-width="{_number(line.width)}"'
    dash = f' stroke-dasharray="{" ".join(map(_number, line.dash))}"' if line.dash else ""
    read = _reading(line.reading) if live and line.reading else ""
    return f'<path d="{path}" fill="none" {stroke}{dash}{_opacity(line.opacity)}{read}/>'


def _reading(reading: Reading) -> str:
    text = "|".join((reading.name, _scale(reading.across), _scale(reading.up)))
    return f" data-read={quoteattr(text)}"


def _scale(scale: Scale) -> str:
    ends = (scale.start, scale.end, scale.low, scale.high)
    return " ".join(f"{value:.6g}" for value in (*ends, int(scale.log)))


def _area(area: Area) -> str:
    path = "".join(f"M{_path(corners)}z" for corners in area.polygons)
    edge = f' stroke="{area.edge.light}"' if area.edge else ""
    return f'<path d="{path}" fill="{area.fill.light}"{edge}{_opacity(area.opacity)}/>'


def _dots(dots: Dots, live: bool) -> str:
    text = f" data-said={quoteattr('|'.join(dots.labels))}" if live and dots.labels else ""
    return "".join(
        _layer(dots, colour.light, size, text if colour is dots.colour else "")
        for colour, size in dots.layers
    )


def _layer(dots: Dots, colour: str, size: float, label: str) -> str:
    if dots.marker is Marker.CIRCLE:  # the round ends of lines without length
        path = "".join(f"M{_point(at)}h0" for at in dots.points)
        stroke = f'stroke="{colour}" stroke-width="{_number(size)}" stroke-linecap="round"'
        return f'<path d="{path}" {stroke}{label}/>'
    path = "".join(f"M{_path(outline(dots.marker, at, size))}z" for at in dots.points)
    return f'<path d="{path}" fill="{colour}"{label}/>'


def _text(text: Text, live: bool) -> str:
    drop = DROP * text.size
    x, y = (text.x + drop, text.y) if text.turned else (text.x, text.y + drop)
    style = f' fill="{text.colour.light}"'
    style += f' text-anchor="{text.anchor}"' if text.anchor != "start" else ""
    style += f' font-size="{_number(text.size)}"' if text.size != TEXT_SIZE else ""
    style += ' font-weight="bold"' if text.bold else ""
    style += f' data-toggle="{text.toggles.light}"' if live and text.toggles else ""
    style += f' transform="rotate(-90 {_point((x, y))})"' if text.turned else ""
    return f'<text x="{_number(x)}" y="{_number(y)}"{style}>{escape(text.text)}</text>'


def _bitmap(bitmap: Bitmap) -> str:
    corner = f'x="{_number(bitmap.left)}" y="{_number(bitmap.top)}"'
    size = f'width="{_number(bitmap.width)}" height="{_number(bitmap.height)}"'
    data = f"data:{bitmap.media_type};base64,{b64encode(bitmap.data).decode()}"
    return f'<image {corner} {size} preserveAspectRatio="none" href="{data}"/>'


def _path(points: Iterable[Point]) -> str:
    return "L".join(map(_point, points))


def _point(at: Point) -> str:
    return f"{_number(at[0])} {_number(at[1])}"


def _number(value: float) -> str:
    """A length to a tenth of a pixel."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def _opacity(opacity: float) -> str:
    return f' opacity="{opacity:g}"' if opacity < 1 else ""
