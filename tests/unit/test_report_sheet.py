"""Sheets: shapes as SVG for files and for the page, and as PNG."""

import io
import xml.etree.ElementTree as ET

import pytest
from PIL import Image

from headway.report.raster import png_file
from headway.report.sheet import Sheet, shortened, text_width
from headway.report.svg import svg_element, svg_file
from headway.report.theme import ALL, BLUE, GREEN, INK, PAPER, RED, Marker

SVG = "{http://www.w3.org/2000/svg}"


def drawn() -> Sheet:
    sheet = Sheet(100, 60)
    sheet.box(10, 10, 20, 20, fill=RED)
    sheet.line((0, 50), (100, 50), colour=BLUE, width=2, dash=(4, 2))
    sheet.dots([(70, 20)], GREEN, size=10)
    sheet.dots([(85, 20)], GREEN, Marker.SQUARE, size=10, hollow=True)
    sheet.text(50, 40, "a < b & c", anchor="middle")
    return sheet


def test_files_are_wellformed_and_say_what_they_show() -> None:
    root = ET.fromstring(svg_file(drawn(), "a figure & more"))
    assert root.find(f"{SVG}title").text == "a figure & more"  # type: ignore[union-attr]
    assert [text.text for text in root.iter(f"{SVG}text")] == ["a < b & c"]
    assert (root.get("width"), root.get("height")) == ("100", "60")
    assert "var(" not in ET.tostring(root, encoding="unicode")


def test_elements_take_their_colours_from_the_page() -> None:
    element = svg_element(drawn(), 'the "figure"')
    root = ET.fromstring(element)
    assert root.get("aria-label") == 'the "figure"'
    assert 'fill="var(--fig-red)"' in element
    assert "#" not in element


def test_pictures_have_the_colours_of_their_shapes() -> None:
    image = Image.open(io.BytesIO(png_file(drawn())))
    assert image.size == (200, 120)

    def at(x: float, y: float) -> str:
        return "#{:02x}{:02x}{:02x}".format(*image.getpixel((2 * x, 2 * y)))  # type: ignore[misc]

    assert at(20, 20) == RED.light
    assert at(2, 50) == BLUE.light
    assert at(70, 20) == GREEN.light
    assert at(85, 20) == PAPER.light
    assert at(50, 5) == PAPER.light


@pytest.mark.parametrize("turned", [False, True])
def test_text_is_painted_where_it_stands(turned: bool) -> None:
    sheet = Sheet(100, 100)
    sheet.text(50, 50, "HHHHHH", anchor="middle", turned=turned)
    image = Image.open(io.BytesIO(png_file(sheet))).convert("L")
    left, top, right, bottom = image.point(lambda value: 255 if value < 128 else 0).getbbox() or (
        (0,) * 4
    )
    assert abs((left + right) / 2 - 100) < 4
    assert abs((top + bottom) / 2 - 100) < 4
    assert (bottom - top > right - left) is turned


def test_text_is_shortened_to_its_room() -> None:
    assert shortened("short", 100) == "short"
    assert shortened("", -5) == ""
    long = shortened("a rather long label", 60)
    assert long.endswith("…")
    assert text_width(long) <= 60
    assert text_width("wide", bold=True) > text_width("wide")


def test_nothing_is_drawn_of_nothing() -> None:
    sheet = Sheet(10, 10)
    sheet.lines([])
    sheet.dots([], INK)
    sheet.boxes([], fill=INK)
    sheet.text(0, 0, "")
    assert sheet.shapes == []


def test_colours_can_be_told_apart() -> None:
    assert len({colour.light for colour in ALL}) == len(ALL)
    assert len({colour.name for colour in ALL}) == len(ALL)
