"""The figures: they show what the data say, and are drawn only of data that are fit for them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from headway.analysis import Analysis, analyse
from headway.diagnosis.reasons import Limit
from headway.diagnosis.segment import StateSource
from headway.diagnosis.series import SegmentSeries, Series
from headway.report.chosen import ChosenRun
from headway.report.figures import Picture, Section, Story, Subject, known_kinds, pictures
from headway.report.figures.boxes import KIND as BOXES
from headway.report.figures.delta_cdf import KIND as DELTA_CDF
from headway.report.figures.forest import KIND as FOREST
from headway.report.figures.goodput import KIND as GOODPUT
from headway.report.figures.heatmap import KIND as HEATMAP
from headway.report.figures.holdups import COLOURS
from headway.report.figures.holdups import KIND as HOLDUPS
from headway.report.figures.kind import Kind
from headway.report.figures.lines import KIND as LINES
from headway.report.figures.published import KIND as PUBLISHED
from headway.report.figures.published_scatter import KIND as SCATTER
from headway.report.figures.runs_cdf import KIND as RUNS_CDF
from headway.report.figures.site_cdf import KIND as SITE_CDF
from headway.report.figures.timeline import KIND as TIMELINE
from headway.report.sheet import Area, Dots, Line, Sheet, Text, text_width
from headway.report.styles import study_styles
from headway.report.tables.holdups import holdups_table
from headway.report.theme import FASTER, INK, PAPER, RED, SLOWER, Colour, Marker
from tests.unit import made_results as made

MINUS = "\N{MINUS SIGN}"


def subject(
    rows: Sequence[dict[str, Any]], manifest: Mapping[str, Any] | None = None, **told: Any
) -> Subject:
    analysis = analyse(made.results(rows, manifest))
    return Subject(analysis, study_styles([analysis]), **told)


def drawn(kind: Kind, of: Subject) -> Picture:
    picture = kind.draw(of)
    assert picture is not None
    return picture


def texts(sheet: Sheet) -> list[str]:
    return [shape.text for shape in sheet.shapes if isinstance(shape, Text)]


def below(sheet: Sheet, text: Text) -> Colour:
    """The fill of the topmost box around the middle of a text."""
    fills = [
        shape.fill
        for shape in sheet.shapes
        if isinstance(shape, Area)
        for polygon in shape.polygons
        if min(x for x, _ in polygon) <= text.x <= max(x for x, _ in polygon)
        and min(y for _, y in polygon) <= text.y <= max(y for _, y in polygon)
    ]
    return fills[-1] if fills else PAPER


def grid_of(levels: Sequence[float], factor: Any, **times: Any) -> list[dict[str, Any]]:
    """A row of cells over an RTT; a contender's times are a multiple of ``factor(level)``."""
    return [
        row
        for level in levels
        for row in made.runs(
            {name: [factor(level) * time for time in of] for name, of in times.items()},
            cell=f"rtt_{level}",
            rtt_ms=float(level),
        )
    ]


def within(sheet: Sheet) -> bool:
    """Whether all texts lie on the sheet."""
    shift = {"start": 0.0, "middle": 0.5, "end": 1.0}
    for shape in sheet.shapes:
        if isinstance(shape, Text):
            long = text_width(shape.text, shape.size, shape.bold)
            left = shape.x - shift[shape.anchor] * long
            if left < -1 or left + long > sheet.width + 1 or not 0 <= shape.y <= sheet.height:
                return False
    return True


def test_a_module_with_a_kind_is_a_figure() -> None:
    kinds = known_kinds()
    assert {
        BOXES,
        DELTA_CDF,
        GOODPUT,
        HEATMAP,
        HOLDUPS,
        LINES,
        PUBLISHED,
        RUNS_CDF,
        TIMELINE,
    } <= set(kinds)
    assert [kind.place for kind in kinds] == sorted({kind.place for kind in kinds})


def test_the_documented_figure_is_drawn() -> None:
    page = Path(__file__).parents[2] / "CONTRIBUTING.md"
    section = page.read_text().partition("## A figure")[2]
    code = section.partition("```python\n")[2].partition("```")[0]
    scope: dict[str, Any] = {}
    exec(compile(code, str(page), "exec"), scope)
    picture = drawn(scope["KIND"], subject(grid_of([20, 40], float, h2=[1.0] * 3, h3=[0.5] * 3)))
    dots = [shape for shape in picture.wide.shapes if isinstance(shape, Dots)]
    # Two cells of two contenders, and the legend's two.
    assert len(dots) == 6 and within(picture.wide)
    assert picture.data().height == 12


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


def test_lines_show_failures() -> None:
    rows = grid_of((10, 20, 30), float, h2=[1.0, 1.1])
    rows += made.runs({"h3": [5.0, None]}, cell="rtt_10", rtt_ms=10.0)
    rows += made.runs({"h3": [None, None]}, cell="rtt_20", rtt_ms=20.0)
    of = subject(rows)
    picture = drawn(LINES, of)
    hollow = [s for s in picture.wide.shapes if isinstance(s, Dots) and s.hollow]
    assert [shape.colour for shape in hollow] == [of.styles["h3"].colour]
    assert "hollow" in picture.caption and "gap" in picture.caption


def test_boxes_show_every_run_and_the_medians() -> None:
    of = subject(made.runs({"h2": [1.0, 2.0, 3.0, 4.0, 5.0, 9.0], "h3": [7.0, None, None]}))
    picture = drawn(BOXES, of)
    said = texts(picture.wide)
    assert {"h2", "h3", "3.50 s", "7.00 s †2"} <= set(said)
    dots = [shape for shape in picture.wide.shapes if isinstance(shape, Dots)]
    assert sorted(len(shape.points) for shape in dots) == [1, 6]
    box = next(s for s in picture.wide.shapes if isinstance(s, Area))
    xs = sorted(x for x, _ in dots[0].points)
    left, right = box.polygons[0][0][0], box.polygons[0][1][0]
    assert xs[1] < left < xs[2]
    assert xs[3] < right < xs[4]


def test_fourteen_contenders_are_readable() -> None:
    names = [f"contender-{number:02d}-envoy" for number in range(14)]
    picture = drawn(BOXES, subject(made.runs({name: [1.0, 1.5, 1.2] for name in names})))
    for sheet in (picture.wide, picture.narrow):
        assert sheet is not None
        assert within(sheet)
        heights = sorted(
            shape.y for shape in sheet.shapes if isinstance(shape, Text) and shape.anchor == "end"
        )
        assert min(b - a for a, b in pairwise(heights)) >= 20
    assert set(names) <= set(texts(picture.wide))


def test_distributions_need_enough_varied_runs() -> None:
    assert RUNS_CDF.draw(subject(made.runs({"h2": [1.0, 2.0, 3.0]}))) is None
    assert RUNS_CDF.draw(subject(made.runs({"h2": [1.0] * 10}))) is None
    of = subject(made.runs({"h2": [1.0 + step for step in range(8)] + [None, None]}))
    sheet = drawn(RUNS_CDF, of).wide
    curve = next(
        s
        for s in sheet.shapes
        if isinstance(s, Line) and s.colour is of.styles["h2"].colour and len(s.runs[0]) > 10
    )
    top = next(s.y for s in sheet.shapes if isinstance(s, Text) and s.text == "100 %")
    bottom = next(s.y for s in sheet.shapes if isinstance(s, Text) and s.text == "0")
    reached = (bottom - min(y for _, y in curve.runs[0])) / (bottom - top)
    assert reached == pytest.approx(0.8)


def test_h3_delta_over_many_cells() -> None:
    few = grid_of(range(10, 16), float, h2=[1.0, 1.1], h3=[2.0, 2.2])
    assert DELTA_CDF.draw(subject(few)) is None
    many = grid_of(range(10, 30), float, h2=[1.0, 1.1], h3=[2.0, 2.2])
    picture = drawn(DELTA_CDF, subject(many))
    assert "H3-Delta" in picture.title
    assert "h3 against h2" in texts(picture.wide)
    others = drawn(DELTA_CDF, subject(many + grid_of(range(10, 30), float, h1=[1.0, 1.1])))
    assert "H3-Delta" not in others.title


def _at_sites(count: int, *losses: float) -> list[dict[str, Any]]:
    """h3 takes 20 % more at the first site, 10 % less at the second, and else 1 % more by chance."""
    noise = [0.001, 0.002, 0.003, 0.004, 0.005, 0.006]
    rows = []
    for loss in losses:
        for site in range(count):
            factor = {0: 1.2, 1: 0.9}.get(site, 1.01)
            times = {"h2": [1 + 10 * one for one in noise]}
            spread = [1 + 10 * one for one in reversed(noise)]
            times["h3"] = [factor * one for one in spread]
            name = f"site-{site:02d}"
            conditions = {"workload": f"page {name}", "size_bytes": None, "loss_pct": loss}
            rows += made.runs(times, cell=f"{name}-{loss}", **conditions)
    return rows


def test_differences_over_sites_are_thin_where_the_u_test_says_chance() -> None:
    assert SITE_CDF.draw(subject(_at_sites(11, 0.0, 2.0))) is None
    picture = drawn(SITE_CDF, subject(_at_sites(12, 0.0, 2.0)))
    assert {"loss 0 %", "loss 2 %"} <= set(texts(picture.wide))
    data = picture.data()
    assert data.height == 24
    assert data["significant"].sum() == 4
    assert data["difference_percent"].to_list()[:2] == pytest.approx([-10, 1])
    of_sites = (
        "of 12 sites 1 lower and 1 higher by more than 5%, 0 and 0 by more than 25%, 2 significant"
    )
    assert f"loss 0 %, h3 against h2: {of_sites}" in (picture.said or "")
    curves = [s for s in picture.wide.shapes if isinstance(s, Line) and len(s.runs[0]) == 3]
    thick = max(curve.width for curve in curves)
    assert sum(curve.width == thick for curve in curves) == 4
    assert within(picture.wide)


def test_what_held_the_runs_back() -> None:
    rows = made.runs({"h2": [4.0, 4.0]}, path_s=1.0, recovery_s=3.0, plateau_s=0.0)
    sheet = drawn(HOLDUPS, subject(rows)).wide
    said = texts(sheet)
    assert {"path", "recovery", "4.00 s"} <= set(said)
    assert "plateau" not in said
    bars = {
        shape.fill: shape.polygons[0][1][0] - shape.polygons[0][0][0]
        for shape in sheet.shapes
        if isinstance(shape, Area) and shape.polygons[0][0][1] > 30
    }
    assert bars[COLOURS["recovery"]] == pytest.approx(3 * bars[COLOURS["path"]])
    assert HOLDUPS.draw(subject(made.runs({"h2": [4.0]}))) is None


def test_what_is_inferred_is_marked() -> None:
    told = made.runs({"h2": [1.0, 1.0]}, path_s=1.0, limits_source="tcp_info")
    inferred = made.runs({"h3": [2.0, 2.0]}, path_s=2.0, limits_source="counters")
    picture = drawn(HOLDUPS, subject([*told, *inferred]))
    assert {"1.00 s", "2.00 s, inferred"} <= set(texts(picture.wide))
    (bar,) = [s for s in picture.wide.shapes if isinstance(s, Line) and s.colour is PAPER]
    (label,) = [
        s for s in picture.wide.shapes if isinstance(s, Text) and s.text == "2.00 s, inferred"
    ]
    # Hatched is its bar and no other, over its whole length.
    assert all(abs(y - label.y) <= 7.5 for run in bar.runs for _, y in run)
    assert max(x for run in bar.runs for x, _ in run) == pytest.approx(label.x - 6, abs=6)
    assert "Others are told by the senders' kernel or qlog." in picture.caption
    assert "All are told" in drawn(HOLDUPS, subject(told)).caption
    assert "told" not in drawn(HOLDUPS, subject(inferred)).caption
    page = made.runs({"h2": [1.0]}, limited_by="path", main_limited_by="growth")
    table = holdups_table(subject([*page, *inferred]).analysis)
    place = table.headings.index("main connection")
    assert [row[place : place + 2] for group in table.rows for row in group] == [
        ("growth", "–"),
        ("–", "counters"),
    ]


def published(*values: dict[str, Any]) -> dict[str, Any]:
    usual = {"cell": "cell", "metric": "total_s", "unit": "s", "source": "somebody"}
    told = [{**usual, **value} for value in values]
    return made.experiments({"name": "", "baseline": "h2", "published": told})


def test_published_and_ours() -> None:
    manifest = published(
        {"contender": "h2", "value": 1.0},
        {"contender": "h3", "value": 9.0},
        {"contender": "h3", "against": "h2", "value": 100.0, "unit": "%"},
    )
    of = subject(made.runs({"h2": [1.0, 1.1, 1.05], "h3": [2.0, 2.2, 2.1]}), manifest)
    sheet = drawn(PUBLISHED, of).wide
    assert {"h2", "h3", "h3 against h2", "published", "agrees"} <= set(texts(sheet))
    assert len([s for s in sheet.shapes if isinstance(s, Dots) and s.hollow]) == 4  # and legend
    assert within(sheet)
    assert PUBLISHED.draw(subject(made.runs({"h2": [1.0]}))) is None


def test_many_published_values_are_dots() -> None:
    values = [{"contender": "h2", "value": 0.1 * place} for place in range(1, 71)]
    more = [{"contender": "h3", "value": 0.0}, {"contender": "h3", "value": 2.0}]
    of = subject(made.runs({"h2": [1.0, 1.0], "h3": [2.0, 2.0]}), published(*values, *more))
    assert PUBLISHED.draw(of) is None
    picture = drawn(SCATTER, of)
    dots = [s for s in picture.wide.shapes if isinstance(s, Dots) and not s.halo]
    assert sorted(len(one.points) for one in dots) == [1, 70]
    (equal,) = [one.points[0] for one in dots if len(one.points) == 1]
    (diagonal,) = [s for s in picture.wide.shapes if isinstance(s, Line) and s.dash]
    (left, bottom), (right, top) = diagonal.runs[0]
    assert (equal[0] - left) / (right - left) == pytest.approx((equal[1] - bottom) / (top - bottom))
    assert "1 more are not positive" in picture.caption
    assert within(picture.wide)
    assert SCATTER.draw(subject(made.runs({"h2": [1.0]}), published(*values[:60]))) is None


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


def series(end_s: float, limit: Limit, *, cwnd: bool = True) -> Series:
    times = tuple(step / 10 for step in range(int(end_s * 10) + 1))
    count = len(times)
    segment = SegmentSeries(
        sender="server",
        receiver="client",
        evidence=StateSource.TCP_INFO,
        at_s=times,
        limit=(limit,) * count,
        cwnd_bytes=tuple(14480 + 1448 * step if cwnd else None for step in range(count)),
        in_flight_bytes=tuple(14480 if cwnd else None for _ in times),
        ssthresh_bytes=(None,) * count,
        srtt_ms=tuple(100.0 if cwnd else None for _ in times),
        queue_bytes=tuple(1514 * (step % 5) for step in range(count)),
        sent_bytes=tuple(125_000 * step for step in range(count)),
        drops=tuple(step // 10 for step in range(count)),
    )
    return Series(0.1, end_s, (segment,))


def test_runs_over_time_are_side_by_side() -> None:
    stories = (
        Story(ChosenRun("a-h2-001", "h2", "1 MB", "4 s", "seed 1"), series(4, Limit.RECOVERY)),
        Story(
            ChosenRun("a-h3-001", "h3", "1 MB", "2 s", "seed 1"), series(2, Limit.PATH, cwnd=False)
        ),
    )
    picture = drawn(TIMELINE, subject(made.grid(), stories=stories))
    said = texts(picture.wide)
    assert {"h2", "h3", "recovery", "path", "4 s; seed 1", "2 s; seed 1", "seconds"} <= set(said)
    assert any("sender does not tell" in text for text in said)
    assert "hatched" not in picture.caption
    assert not [s for s in picture.wide.shapes if isinstance(s, Line) and s.colour is PAPER]
    assert "a-h2-001, a-h3-001" in picture.caption
    assert "1 MB" in picture.title
    assert within(picture.wide)
    strips = {
        shape.fill: max(x for x, _ in shape.polygons[0]) - min(x for x, _ in shape.polygons[0])
        for shape in picture.wide.shapes
        if isinstance(shape, Area)
        and shape.fill in (COLOURS["recovery"], COLOURS["path"])
        and shape.polygons[0][0][1] > 40
    }
    assert strips[COLOURS["recovery"]] == pytest.approx(2 * strips[COLOURS["path"]], rel=0.02)


def test_of_a_chain_the_section_that_held_it_back_is_drawn() -> None:
    """What the PEP does not tell of its window is not asked for, but it has its strip."""
    (near,) = series(4, Limit.APPLICATION, cwnd=False).segments
    (far,) = series(4, Limit.PATH).segments
    near, far = replace(near, sender="pep"), replace(far, receiver="pep")
    stories = (
        Story(ChosenRun("r", "tcp", "", "4 s", "seed 1"), Series(0.1, 4, (near, far), limiting=1)),
    )
    picture = drawn(TIMELINE, subject(made.grid(), stories=stories))
    said = texts(picture.wide)
    assert {"4 s; server > pep; seed 1", "pep", "server", "application", "path"} <= set(said)
    assert not any("sender does not tell" in text for text in said)
    assert "one for each section" in picture.caption
    assert within(picture.wide)


def test_drops_are_marked() -> None:
    stories = (Story(ChosenRun("r", "h2", "", "4 s", "seed 1"), series(4, Limit.RECOVERY)),)
    sheet = drawn(TIMELINE, subject(made.grid(), stories=stories)).wide
    marks = [s for s in sheet.shapes if isinstance(s, Line) and s.colour is RED]
    assert [len(mark.runs) for mark in marks] == [4]


def test_a_long_run_is_a_small_figure() -> None:
    stories = (Story(ChosenRun("r", "h2", "", "600 s", "seed 1"), series(600, Limit.RECOVERY)),)
    sheet = drawn(TIMELINE, subject(made.grid(), stories=stories)).wide
    points = sum(len(run) for s in sheet.shapes if isinstance(s, Line) for run in s.runs)
    assert points < 6000


def test_only_the_first_metric_has_every_figure() -> None:
    times = [1.0 + math.sin(step) / 9 for step in range(10)]
    of = subject(made.runs({"h2": times, "h3": [2 * time for time in times]}))
    first = {picture.name for picture in pictures(of, Section.RESULTS)}
    later = {picture.name for picture in pictures(of, Section.RESULTS, first=False)}
    assert "total_s-cdf" in first - later


def test_texts_stay_on_their_sheets() -> None:
    of: Subject = subject(made.grid())
    for kind in known_kinds():
        picture = kind.draw(of)
        for sheet in (picture.wide, picture.narrow) if picture else ():
            assert sheet is None or within(sheet), kind


def test_styles_are_kept_over_experiments() -> None:
    def contenders(*names: str) -> Analysis:
        rows = [
            row
            for name in names
            for row in made.runs(
                {name: [1.0]},
                protocol=name[-2:] if "-" in name else name,
                proxy="envoy" if name.startswith("envoy") else None,
            )
        ]
        return analyse(made.results(rows))

    styles = study_styles([contenders("h1", "h2", "h3"), contenders("curl-h2", "envoy-h2", "h3")])
    assert [styles[name].colour.name for name in ("h1", "h2", "h3")] == [
        "fig-h1",
        "fig-h2",
        "fig-h3",
    ]
    assert styles["envoy-h2"].dash and not styles["h2"].dash
    assert len(set(styles.values())) == 5
    many = study_styles([contenders(*(f"c{number:02d}-h2" for number in range(20)))])
    assert len(set(many.values())) == 20


def forest_rows(sheet: Sheet) -> dict[str, str]:
    """The words of each row by its name; the wide drawing's."""
    words = [shape for shape in sheet.shapes if isinstance(shape, Text)]
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
    assert list(found) == ["all 2 cells", "RTT 20 ms", "RTT 10 ms"]
    assert [text.split()[0] for text in found.values()] == ["−0.5", "+10", "−10"]


def test_an_infinite_interval_ends_at_a_forests_edge() -> None:
    rows = made.runs({"h2": [1.0, 1.1, 1.2], "h3": [2.0, 2.2, 2.4]}, cell="a", rtt_ms=1.0)
    rows += made.runs({"h2": [1.0] * 3, "h3": [90.0, 80.0, 100.0]}, cell="b", rtt_ms=2.0)
    sheet = drawn(FOREST, subject(rows, made.experiments({"comparisons": [["h3", "h2"]]}))).wide
    places = [x for shape in sheet.shapes if isinstance(shape, Dots) for x, _ in shape.points]
    assert max(places) <= sheet.width
    assert forest_rows(sheet)["RTT 2 ms"].startswith("×89.7 (×80.0 to ×100)")


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
