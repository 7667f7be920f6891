"""Figures of distributions: boxes, and curves over runs, cells and sites."""

import re
from itertools import pairwise
from typing import Any

import pytest

from headway.instruments.oversites.figures.site_cdf import KIND as SITE_CDF
from headway.report.figures.boxes import KIND as BOXES
from headway.report.figures.delta_cdf import KIND as DELTA_CDF
from headway.report.figures.quality import KIND as QUALITY
from headway.report.figures.rungs import KIND as RUNGS
from headway.report.figures.runs_cdf import KIND as RUNS_CDF
from headway.report.figures.speedups import KIND as SPEEDUPS
from headway.report.sheet import Area, Dots, Line, Text
from headway.report.theme import FASTER, SLOWER
from tests.unit import made_results as made
from tests.unit.drawn import drawn, grid_of, subject, texts, within


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


def test_a_distribution_of_deltas_says_so_if_comparisons_are_left_out() -> None:
    several = grid_of(range(10, 30), float, **{f"h{n}": [n, n + 0.1] for n in range(1, 4)})
    picture = drawn(DELTA_CDF, subject(several))
    assert not re.search(r"\d+ of \d+ comparisons", picture.caption)
    many = {f"h3-{n:02d}": [1.0 + n / 10, 1.1 + n / 10] for n in range(17)}
    picture = drawn(DELTA_CDF, subject(grid_of(range(10, 30), float, h2=[1.0, 1.1], **many)))
    assert re.search(r"\b15 of 17 comparisons", picture.caption)


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


def test_segments_by_quality_are_parts_of_a_bar() -> None:
    rows = made.runs({"h2": [1.0, 1.0], "h3": [1.0, 1.0]})
    for row in rows:
        row["video_rungs"] = [0, 2, 2, 2] if row["contender"] == "h2" else [2, 2]
    picture = drawn(RUNGS, subject(rows))
    parts = {}
    for shape in picture.wide.shapes:
        if isinstance(shape, Area):
            xs = [x for x, _ in shape.polygons[0]]
            parts[max(xs) - min(xs)] = shape.fill
    lowest, rest, whole = sorted(parts)
    assert [parts[one] for one in (lowest, rest, whole)] == [SLOWER[3], FASTER[3], FASTER[3]]
    assert (rest, whole) == (pytest.approx(3 * lowest), pytest.approx(4 * lowest))
    assert {"1", "3"} <= set(texts(picture.wide))
    shares = picture.data().select("contender", "rung", "share").rows()
    h2 = [("h2", 0, 0.25), ("h2", 1, 0.0), ("h2", 2, 0.75)]
    assert shares == [*h2, ("h3", 0, 0.0), ("h3", 1, 0.0), ("h3", 2, 1.0)]


def test_without_videos_there_are_no_segments() -> None:
    assert RUNGS.draw(subject(made.runs({"h2": [1.0], "h3": [1.0]}))) is None


def watched(bitrates: dict[str, list[float]], stalled: float = 0.0) -> list[dict[str, Any]]:
    rows = made.runs(
        {name: [float(n) for n, _ in enumerate(values, 1)] for name, values in bitrates.items()}
    )
    for row in rows:
        row["video_bitrate_mbit"] = bitrates[row["contender"]][row["seed"] - 1]
        row["video_stalled_share"] = stalled if row["contender"] == "h2" else 0.0
        row["video_first_segment_s"] = row["total_s"] * (2 if row["contender"] == "h2" else 1)
    return rows


def test_quality_stands_over_stalled_time_with_intervals() -> None:
    of = subject(watched({"h2": [1.0, 2.0, 3.0], "h3": [4.0, 4.0, 4.0]}, stalled=0.05))
    picture = drawn(QUALITY, of)
    data = {row["contender"]: row for row in picture.data().iter_rows(named=True)}
    assert data["h2"]["bitrate_mbit"] == pytest.approx(2)
    # Student's t with two degrees of freedom.
    assert data["h2"]["bitrate_high_mbit"] == pytest.approx(2 + 4.3027 / 3**0.5, rel=1e-4)
    assert data["h3"]["bitrate_low_mbit"] == data["h3"]["bitrate_high_mbit"] == 4
    assert data["h2"]["stalled_share"] == pytest.approx(0.05)
    places = {
        shape.colour.name[:6]: shape.points[0]
        for shape in picture.wide.shapes
        if isinstance(shape, Dots) and shape.points[0][1] > 60
    }
    # Better is up and to the right.
    assert places["fig-h3"][0] > places["fig-h2"][0] and places["fig-h3"][1] < places["fig-h2"][1]
    assert all(sheet and within(sheet) for sheet in (picture.wide, picture.narrow))


def test_speed_ups_are_over_all_pairs_of_runs() -> None:
    of = subject(watched({"h2": [1.0, 1.0, 1.0], "h3": [1.0, 1.0, 1.0]}))
    # h3 took 1, 2 and 3 s, h2 2, 4 and 6: of nine pairs -5/6, -3/4, -2/3, -1/2 three times, 0, -1/4 and 1/3.
    picture = drawn(SPEEDUPS, of)
    assert picture.data()["median_speed_up"].to_list() == pytest.approx([-0.5])
    assert "−50 %" in texts(picture.wide)
    assert all(sheet and within(sheet) for sheet in (picture.wide, picture.narrow))
    assert SPEEDUPS.draw(subject(made.runs({"h2": [1.0], "h3": [1.0]}))) is None
    assert QUALITY.draw(subject(made.runs({"h2": [1.0], "h3": [1.0]}))) is None
