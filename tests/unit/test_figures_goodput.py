"""The figure of goodput over time, and of the ratio of what was received."""

import math
from collections.abc import Sequence
from typing import Any

import pytest

from headway.report.figures import Subject
from headway.report.figures.goodput import KIND as GOODPUT
from headway.report.sheet import Area, Dots, Line, Sheet, Text
from headway.report.theme import PAPER, Colour
from tests.unit import made_results as made
from tests.unit.drawn import drawn, subject, texts, within

BULK = {
    "TCP": ("tcp", [0, 0, *[100_000] * 18]),
    "TCP-PEP": ("tcp", [0, *[100_000] * 19]),
    "QUIC": ("quic", [*[50_000] * 20]),
    "QUIC-PEP": ("quic", [*[200_000] * 10, *[0] * 9, 1]),
}
"""Two seconds of flows: protocol, and bytes in each 100 ms."""


def bulk(
    rtts_ms: Sequence[int] = (580, 112), losses: Sequence[float] = (0.0, 1.0), **told: Any
) -> Subject:
    """The same flows in every cell, in the order of a study with these axes."""
    rows = [
        made.run(
            name, seed, 2.0, protocol=protocol, received_bytes=received, goodput_mbit=1.0,
            cell=f"{rtt}-{loss:g}", rtt_ms=float(rtt), loss_pct=loss, loss_up_pct=loss,
            proxy="pep" if name.endswith("PEP") else None,
        )
        for rtt in rtts_ms
        for loss in losses
        for name, (protocol, received) in BULK.items()
        for seed in (1, 2, 3)
    ]  # fmt: skip
    usual = {
        "metrics": ["goodput_mbit"],
        "grid": [
            {"name": f"{rtt}-{loss:g}", "at": {"path.rtt": f"{rtt} ms", "path.loss": f"{loss} %"}}
            for rtt in rtts_ms
            for loss in losses
        ],
        "comparisons": [["TCP-PEP", "TCP"], ["QUIC-PEP", "QUIC"], ["QUIC", "TCP"]],
    }
    return subject(rows, made.experiments({**usual, **told}))


def curves(sheet: Sheet, colour: Colour, width: float) -> list[list[tuple[float, float]]]:
    """Lines of a colour and width, a list of points for each; none of the legend's."""
    return [
        list(run)
        for shape in sheet.shapes
        if isinstance(shape, Line) and shape.colour is colour and shape.width == width
        for run in shape.runs
        if len(run) > 2
    ]


def test_goodput_over_time_has_a_panel_for_each_cell_in_the_studys_order() -> None:
    picture = drawn(GOODPUT, bulk(losses=(0.0, 0.01, 0.1, 1.0)))
    titles = [
        (s.y, s.x, s.text) for s in picture.wide.shapes if isinstance(s, Text) and "RTT" in s.text
    ]
    assert [text[:13] for *_, text in sorted(titles)] == [
        f"{letter}  RTT {rtt} ms"[:13]
        for letter, rtt in zip("abcdefgh", [580] * 4 + [112] * 4, strict=True)
    ]
    assert len({y for y, *_ in titles}) == 2
    for sheet in (picture.wide, picture.narrow):
        assert sheet is not None and within(sheet)


def test_ratios_are_of_contenders_that_speak_the_same() -> None:
    of = bulk()
    picture = drawn(GOODPUT, of)
    said = texts(picture.wide)
    assert {"TCP-PEP against TCP", "QUIC-PEP against QUIC"} <= set(said)
    assert "QUIC against TCP" not in said
    assert "2 of 3 comparisons" in picture.caption
    only = bulk(comparisons=[["QUIC", "TCP"]])
    assert "QUIC against TCP" in texts(drawn(GOODPUT, only).wide)


def test_a_ratio_is_drawn_once_both_have_received_something() -> None:
    """TCP's PEP is ahead by 100 kB: 2 times as much after 0.3 s, 19/18 after 2 s."""
    of = bulk(rtts_ms=(580,), losses=(0.0,))
    sheet = drawn(GOODPUT, of).wide
    (line,) = curves(sheet, of.styles["TCP-PEP"].colour, 1.8)
    ones = next(s for s in sheet.shapes if isinstance(s, Line) and s.dash and s.width == 1.0)
    twos = next(s for s in sheet.shapes if isinstance(s, Text) and s.text == "2")
    (left, one), (right, _) = ones.runs[0]
    assert len(line) == 18
    assert (line[0][0] - left) / (right - left) == pytest.approx(0.3 / 2)
    assert line[0][1] == pytest.approx(twos.y)
    assert line[-1][0] == pytest.approx(right)
    last = math.log2(19 / 18) * (one - twos.y)
    assert one - line[-1][1] == pytest.approx(last)


def test_the_embedded_plot_covers_no_ratio() -> None:
    for of in (bulk(), bulk(comparisons=[["QUIC", "QUIC-PEP"]])):
        sheet = drawn(GOODPUT, of).wide
        papers = [
            polygon
            for shape in sheet.shapes
            if isinstance(shape, Area) and shape.fill is PAPER
            for polygon in shape.polygons
        ]
        assert len(papers) == 4
        lines = [run for s in of.styles.values() for run in curves(sheet, s.colour, 1.8)]
        assert lines
        for (left, top), (right, _), (_, bottom), _ in papers:
            assert not any(left < x < right and top < y < bottom for line in lines for x, y in line)


def test_the_embedded_plot_shows_every_contender_and_what_was_published() -> None:
    told = {"contender": "TCP", "metric": "goodput_mbit", "unit": "Mbit/s", "source": "s"}
    published = {**told, "cell": "580-0", "value": 8.0}
    published |= {"from": "500 ms", "to": "1.5 s", "origin": "start"}
    of = bulk(rtts_ms=(580,), losses=(0.0,), published=[published])
    picture = drawn(GOODPUT, of)
    for style in of.styles.values():
        (line,) = curves(picture.wide, style.colour, 1.0)
        assert len(line) == 20
    (marks,) = [s for s in picture.wide.shapes if isinstance(s, Dots) and s.hollow]
    (line,) = curves(picture.wide, of.styles["TCP"].colour, 1.0)
    assert marks.colour is of.styles["TCP"].colour
    assert marks.points[0][1] == pytest.approx(line[10][1])  # 100 kB in 100 ms are 8 Mbit/s
    assert line[9][0] < marks.points[0][0] < line[10][0]
    assert "published" in picture.caption


def test_long_flows_have_few_points() -> None:
    rows = [
        made.run(name, 1, 600.0, protocol="tcp", received_bytes=[1000] * 6000)
        for name in ("a", "b")
    ]
    told = made.experiments({"baseline": "a", "metrics": ["total_s"]})
    picture = drawn(GOODPUT, subject(rows, told))
    points = sum(len(run) for s in picture.wide.shapes if isinstance(s, Line) for run in s.runs)
    assert points < 1000
    assert "every 2 s" in picture.caption


def test_goodput_over_time_needs_bulk_flows() -> None:
    assert GOODPUT.draw(subject(made.grid())) is None
    nothing = made.run("tcp", 1, 2.0, received_bytes=[])
    assert GOODPUT.draw(subject([nothing])) is None


def test_bulk_flows_differ_in_colour() -> None:
    styles = bulk().styles
    assert len({style.colour for style in styles.values()}) == 4
    assert not any(style.dash for style in styles.values())
