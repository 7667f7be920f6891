"""Figures of contenders over cells: heat map, lines, forest."""

from typing import Any

import pytest

from headway.report.figures.forest import KIND as FOREST
from headway.report.figures.heatmap import KIND as HEATMAP
from headway.report.figures.lines import KIND as LINES
from headway.report.sheet import Dots, Line, Sheet, Text
from headway.report.theme import FASTER, INK, PAPER, SLOWER, Marker
from tests.unit import made_results as made
from tests.unit.drawn import below, drawn, grid_of, subject, texts

MINUS = "\N{MINUS SIGN}"


def test_heat_map_is_white_where_nothing_is_significant() -> None:
    sheet = drawn(HEATMAP, subject(made.grid())).wide
    entries = [shape for shape in sheet.shapes if isinstance(shape, Text)]
    chance = [entry for entry in entries if entry.text.startswith(("(", "="))]
    assert len(chance) == 4
    assert {below(sheet, entry) for entry in chance} == {PAPER}
    faster = [entry for entry in entries if entry.text.startswith(f"{MINUS}60 %")]
    assert len(faster) == 2
    assert {below(sheet, entry) for entry in faster} == {FASTER[3]}
    slower = [entry for entry in entries if entry.text == "+20 %"]
    assert {below(sheet, entry) for entry in slower} == {SLOWER[1]}


def test_heat_map_marks_failures() -> None:
    picture = drawn(HEATMAP, subject(made.grid()))
    assert sum("†" in text for text in texts(picture.wide)) == 2
    assert "†" in picture.caption


def test_heat_map_of_a_metric_that_should_be_high() -> None:
    rows = made.grid()
    for row in rows:
        row["goodput_mbit"] = 8 / row["total_s"] if row["total_s"] else None
    told = made.experiments({"name": "", "baseline": "h2", "metrics": ["goodput_mbit"]})
    sheet = drawn(HEATMAP, subject(rows, told)).wide
    more = next(s for s in sheet.shapes if isinstance(s, Text) and s.text.startswith("+150 %"))
    assert below(sheet, more) in FASTER


def test_large_heat_maps_say_what_they_leave_out() -> None:
    names = [f"c{number:02d}" for number in range(20)]
    rows = [
        row
        for level in range(200)
        for row in made.runs(
            {name: [1.0 + (name == "c07")] * 2 for name in names},
            cell=f"rtt_{level}",
            rtt_ms=float(level),
        )
    ]
    picture = drawn(HEATMAP, subject(rows))
    assert "6 of 19 comparisons" in picture.caption
    assert {"against c00", "c07"} <= set(texts(picture.wide))
    assert picture.narrow is None


def test_lines_need_three_numeric_levels() -> None:
    assert LINES.draw(subject(made.grid())) is None
    three = subject(grid_of((10, 20, 50), float, h2=[1.0, 1.1], h3=[2.0, 2.2]))
    said = texts(drawn(LINES, three).wide)
    assert {"h2", "h3", "10 ms", "20 ms", "50 ms", "RTT"} <= set(said)


def test_lines_go_through_the_medians() -> None:
    of = subject(grid_of((10, 20, 30), float, h2=[0.9, 1.0, 1.1]))
    sheet = drawn(LINES, of).wide
    colour = of.styles["h2"].colour
    line = next(
        shape
        for shape in sheet.shapes
        if isinstance(shape, Line) and shape.colour is colour and len(shape.runs[0]) == 3
    )
    (x1, y1), (x2, y2), (x3, y3) = line.runs[0]
    assert x2 - x1 == pytest.approx(x3 - x2)
    assert y1 - y2 == pytest.approx(y2 - y3)
    assert y1 > y3


def test_sizes_stand_on_a_logarithmic_axis() -> None:
    rows = [
        row
        for size in (0, 10, 100, 1000)
        for row in made.runs(
            {"h2": [1.0 + size, 1.1 + size]},
            cell=f"size_{size}",
            size_bytes=size * 1000,
            workload=f"download {size} kB",
        )
    ]
    of = subject(rows)
    sheet = drawn(LINES, of).wide
    ticks = {s.text: s.x for s in sheet.shapes if isinstance(s, Text) and s.text.endswith(" kB")}
    assert ticks["100 kB"] - ticks["10 kB"] == pytest.approx(ticks["1000 kB"] - ticks["100 kB"])
    assert ticks["10 kB"] - ticks["0 kB"] == pytest.approx(ticks["100 kB"] - ticks["10 kB"])


def test_numbers_of_requests_are_an_axis() -> None:
    rows = [
        row
        for count in (1, 5, 20)
        for row in made.runs(
            {"h2": [1.0 * count, 1.1 * count]},
            cell=f"count_{count}",
            requests=count,
            workload=f"parallel {count} x 1 MB",
        )
    ]
    assert {"1 x 1 MB", "20 x 1 MB"} <= set(texts(drawn(LINES, subject(rows)).wide))


def test_programs_are_no_axis() -> None:
    rows = [
        row
        for server in ("nginx", "caddy", "haproxy")
        for row in made.runs({"h2": [1.0, 1.1]}, cell=server, server=server)
    ]
    assert LINES.draw(subject(rows)) is None


def sizes_of(factor: float) -> list[dict[str, Any]]:
    return [
        row
        for size in (1, 10, 100)
        for row in made.runs(
            {
                "h2": [size * (1 + n / 50) for n in range(6)],
                "h3": [factor * size * (1 + n / 50) for n in range(6)],
            },
            cell=f"size_{size}",
            size_bytes=size * 100_000,
            workload=f"download {size}00 kB",
        )
    ]


def test_lines_that_would_lie_on_one_another_are_differences() -> None:
    """Medians from 1 to 100 s, of two that differ by a tenth: what is seen is the tenth."""
    near = subject(sizes_of(0.9), made.experiments({"baseline": "h2"}))
    picture = drawn(LINES, near)
    assert picture.title == "time to the last byte over size: differences from h2"
    colour = near.styles["h3"].colour
    (line,) = (
        shape.runs[0]
        for shape in picture.wide.shapes
        if isinstance(shape, Line) and shape.colour is colour and len(shape.runs[0]) == 3
    )
    assert line[0][1] == pytest.approx(line[1][1]) == pytest.approx(line[2][1])
    assert "−10 %" in texts(picture.wide)
    far = drawn(LINES, subject(sizes_of(2.0), made.experiments({"baseline": "h2"})))
    assert far.title == "time to the last byte over size"


def test_lines_show_failures() -> None:
    rows = grid_of((10, 20, 30), float, h2=[1.0, 1.1])
    rows += made.runs({"h3": [5.0, None]}, cell="rtt_10", rtt_ms=10.0)
    rows += made.runs({"h3": [None, None]}, cell="rtt_20", rtt_ms=20.0)
    of = subject(rows)
    picture = drawn(LINES, of)
    hollow = [s for s in picture.wide.shapes if isinstance(s, Dots) and s.hollow]
    assert [shape.colour for shape in hollow] == [of.styles["h3"].colour]
    assert "hollow" in picture.caption and "gap" in picture.caption


def forest_rows(sheet: Sheet) -> dict[str, str]:
    """The words of each row by its name; the wide drawing's."""
    words = [
        shape
        for shape in sheet.shapes
        if isinstance(shape, Text) and not ({"←", "→"} & set(shape.text))
    ]
    names = [word for word in words if word.anchor == "end" and word.x < sheet.width / 2]
    said = [word for word in words if word.anchor == "start" and word.x > sheet.width / 2]
    return {name.text: next(w.text for w in said if w.y == name.y) for name in names}


def test_a_forest_has_every_cell_and_all_of_them_in_the_studys_order() -> None:
    """A ratio of 1.1 and one of 0.9, in a study that names the second first."""
    rows = [
        made.run(name, seed, factor * (1 + seed / 100), cell=f"{rtt}", rtt_ms=float(rtt))
        for rtt, ratio in ((20, 1.1), (10, 0.9))
        for name, factor in (("h2", 1.0), ("h3", ratio))
        for seed in range(1, 9)
    ]
    grid = [{"name": f"{rtt}", "at": {"path.rtt": f"{rtt} ms"}} for rtt in (20, 10)]
    told = made.experiments({"grid": grid, "comparisons": [["h3", "h2"]]})
    found = forest_rows(drawn(FOREST, subject(rows, told)).wide)
    assert list(found) == ["RTT 20 ms", "RTT 10 ms"]
    assert [text.split()[0] for text in found.values()] == ["+10", "−10"]
    alike = [
        row
        | {
            "total_s": row["total_s"]
            * (0.75 if row["cell"] == "20" and row["contender"] == "h3" else 1)
        }
        for row in rows
    ]
    found = forest_rows(drawn(FOREST, subject(alike, told)).wide)
    assert list(found) == ["RTT 20 ms", "RTT 10 ms"]  # both faster, but not by the same
    same = [
        row
        | {
            "total_s": row["total_s"]
            * (0.9 / 1.1 if row["cell"] == "20" and row["contender"] == "h3" else 1)
        }
        for row in rows
    ]
    found = forest_rows(drawn(FOREST, subject(same, told)).wide)
    assert list(found) == ["mean of all 2", "RTT 20 ms", "RTT 10 ms"]


def test_a_forest_says_of_what_its_differences_are_and_which_way_is_better() -> None:
    told = made.experiments({"comparisons": [["h3", "h2"]]})
    ratios = grid_of((10, 20), float, h2=[1.0, 1.1], h3=[0.5, 1.3])
    picture = drawn(FOREST, subject(ratios, told))
    for sheet in (picture.wide, picture.narrow):
        said = {shape.text: shape.x for shape in sheet.shapes if isinstance(shape, Text)}
        assert "difference in time to the last byte: h3 against h2" in said
        assert said["← faster"] < said["slower →"]
    more = made.experiments({"comparisons": [["h3", "h2"]], "metrics": ["goodput_mbit"]})
    rates = [row | {"goodput_mbit": 8 / row["total_s"]} for row in ratios]
    sheet = drawn(FOREST, subject(rates, more)).wide
    said = {shape.text: shape.x for shape in sheet.shapes if isinstance(shape, Text)}
    assert "difference in goodput: h3 against h2" in said
    assert "slower →" not in said and ("← slower" in said or "faster →" in said)


def test_an_infinite_interval_ends_at_a_forests_edge() -> None:
    rows = made.runs({"h2": [1.0, 1.1, 1.2], "h3": [2.0, 2.2, 2.4]}, cell="a", rtt_ms=1.0)
    rows += made.runs({"h2": [1.0] * 3, "h3": [90.0, 80.0, 100.0]}, cell="b", rtt_ms=2.0)
    sheet = drawn(FOREST, subject(rows, made.experiments({"comparisons": [["h3", "h2"]]}))).wide
    places = [x for shape in sheet.shapes if isinstance(shape, Dots) for x, _ in shape.points]
    assert max(places) <= sheet.width
    assert forest_rows(sheet)["RTT 2 ms"].startswith("×90 (range ×80 to ×100)")


def test_a_trifle_is_no_side_in_a_forest() -> None:
    """Ever 0.5 % slower is practically equal; 5 % slower is not."""
    rows = made.runs({"h2": [1.0] * 8, "h3": [1.005] * 8}, cell="a", rtt_ms=1.0)
    rows += made.runs({"h2": [1.0] * 8, "h3": [1.05] * 8}, cell="b", rtt_ms=2.0)
    sheet = drawn(FOREST, subject(rows, made.experiments({"comparisons": [["h3", "h2"]]}))).wide
    squares = [s for s in sheet.shapes if isinstance(s, Dots) and s.marker is Marker.SQUARE]
    assert [(s.colour, s.hollow) for s in squares] == [(INK, True), (SLOWER[-1], False)]


def test_a_single_cell_needs_no_forest() -> None:
    rows = made.runs({"h2": [1.0, 1.1, 1.2], "h3": [2.0, 2.2, 2.4]})
    assert FOREST.draw(subject(rows, made.experiments({"comparisons": [["h3", "h2"]]}))) is None
