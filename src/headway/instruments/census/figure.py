"""Adoption over time as a figure: home pages that announce HTTP/3, and those that came by it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from headway.errors import WrongInputError
from headway.instruments.census.answers import Answer
from headway.instruments.census.asked import Asked, Key, Question
from headway.report.pdf import pdf_file
from headway.report.plots import Frame, Tiles, below_legend, x_axis, y_axis
from headway.report.raster import png_file
from headway.report.scale import Scale, written
from headway.report.sheet import Sheet
from headway.report.svg import svg_file
from headway.report.theme import FAMILIES, Marker, Style

SUFFIXES = (".svg", ".pdf", ".png")
_TITLE = "HTTP/3 announced and used"
_SERIES = {
    "announced_pct": Style(FAMILIES["h2"][0], Marker.CIRCLE, ()),
    "used_pct": Style(FAMILIES["h3"][0], Marker.SQUARE, (6.0, 2.5)),
}
_NAMES = {"announced_pct": "announced by Alt-Svc", "used_pct": "used"}
_WIDTH, _PANEL, _HEIGHT, _GAP, _LEFT = 760.0, 300.0, 150.0, 24.0, 42.0
_MOST_PANELS = 12
_ROOM = 0.08


def check_drawable(asked: Asked, where: str) -> None:
    """Whether the answer is one that has a figure.

    Raises:
        WrongInputError: it is of another question, or not by month.
    """
    if asked.question is not Question.ADOPTION or Key.MONTH not in asked.keys:
        raise WrongInputError(
            "only adoption by month has a figure; .csv, .parquet and .json take every answer",
            where=where,
        )


def write_figure(asked: Asked, answer: Answer, file: Path) -> None:
    """Write the figure, a panel for each combination of the other keys.

    Raises:
        WrongInputError: there are too many of them.
    """
    panels = _panels(asked, answer)
    if len(panels) > _MOST_PANELS:
        raise WrongInputError(
            f"has {len(panels)} panels, and at most {_MOST_PANELS} can be told apart: ask by fewer "
            "keys or months",
            where=f"--out {file}",
        )
    sheet, text = _sheet(panels), _told(panels)
    match file.suffix:
        case ".svg":
            file.write_text(svg_file(sheet, _TITLE, text), encoding="utf-8")
        case ".pdf":
            file.write_bytes(pdf_file(sheet, _TITLE, text))
        case _:
            file.write_bytes(png_file(sheet, _TITLE, text))


Row = dict[str, Any]


def _panels(asked: Asked, answer: Answer) -> dict[str, list[Row]]:
    """Rows by the name of their panel; those without a home page have no share."""
    others = [str(key) for key in Key if key in asked.keys and key is not Key.MONTH]
    result: dict[str, list[Row]] = {}
    for values in answer.rows:
        row = dict(zip(answer.columns, values, strict=True))
        if row["sites"]:
            name = ", ".join(_name(key, row[key]) for key in others) or "all"
            result.setdefault(name, []).append(row)
    return result


def _name(key: str, value: object) -> str:
    return f"top {value:,}" if key == Key.RANK else str(value)


def _sheet(panels: dict[str, list[Row]]) -> Sheet:
    columns = min(len(panels), int(_WIDTH / _PANEL))
    styles = {_NAMES[name]: style for name, style in _SERIES.items()}
    tiles = Tiles(len(panels), columns, _LEFT, _HEIGHT, _GAP)
    sheet, head = below_legend(styles, tiles, _WIDTH, "home pages [%]")
    rows = [row for panel in panels.values() for row in panel]
    months = sorted({_number(row["month"]) for row in rows})
    highest = max(row[name] for row in rows for name in _SERIES)
    draw = partial(_panel, months, highest)
    tiles.fill(sheet, ((name, partial(draw, panel)) for name, panel in panels.items()), head)
    return sheet


def _panel(
    months: Sequence[int], highest: float, rows: Sequence[Row], sheet: Sheet, frame: Frame
) -> None:
    # Room at both sides for labels, and so that a single month has a place, too.
    room = max(1.0, _ROOM * (months[-1] - months[0]))
    across = Scale(months[0] - room, months[-1] + room, frame.left, frame.right)
    up = Scale(0.0, 1.05 * highest or 1.0, frame.bottom, frame.top)
    ticks = up.ticks(4)
    y_axis(sheet, frame, up, ticks, [written(tick) for tick in ticks])
    x_axis(
        sheet, frame, [across(month) for month in months], [_written(number) for number in months]
    )
    for name, style in _SERIES.items():
        points = [(across(_number(row["month"])), up(row[name])) for row in rows]
        texts = [f"{row['month']}: {_NAMES[name]} {row[name]:.1f} %" for row in rows]
        sheet.lines([points], colour=style.colour, width=1.7, dash=style.dash)
        sheet.dots(points, style.colour, style.marker, labels=texts)


def _told(panels: dict[str, list[Row]]) -> str:
    return "; ".join(
        f"{name}, {row['month']}: announced {row['announced_pct']:.1f} %, used {row['used_pct']:.1f} %"
        for name, rows in panels.items()
        for row in rows
    )


def _number(month: str) -> int:
    year, number = month.split("-")
    return int(year) * 12 + int(number) - 1


def _written(number: int) -> str:
    return f"{number // 12}-{number % 12 + 1:02}"
