"""All figures: which there are, that their texts stay on the sheet, and that styles are kept."""

import math
from pathlib import Path
from typing import Any

from headway.analysis import Analysis, analyse
from headway.report.figures import Section, Subject, known_kinds, pictures
from headway.report.figures.boxes import KIND as BOXES
from headway.report.figures.delta_cdf import KIND as DELTA_CDF
from headway.report.figures.forest import KIND as FOREST
from headway.report.figures.goodput import KIND as GOODPUT
from headway.report.figures.heatmap import KIND as HEATMAP
from headway.report.figures.holdups import KIND as HOLDUPS
from headway.report.figures.kind import NARROW
from headway.report.figures.lines import KIND as LINES
from headway.report.figures.published import KIND as PUBLISHED
from headway.report.figures.runs_cdf import KIND as RUNS_CDF
from headway.report.figures.timeline import KIND as TIMELINE
from headway.report.sheet import Dots
from headway.report.styles import study_styles
from headway.report.svg import svg_file
from tests.unit import made_results as made
from tests.unit.drawn import drawn, grid_of, subject, texts, within


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
    of = subject(grid_of([20, 40], float, h2=[1.0] * 3, h3=[0.5] * 3))
    picture = drawn(scope["KIND"], of)
    places = {kind.place for kind in known_kinds()}
    assert scope["KIND"].place not in places, "this place is the example's: take another"
    assert of.analysis.metric.label in " ".join(texts(picture.drawing(NARROW)))
    dots = [shape for shape in picture.wide.shapes if isinstance(shape, Dots)]
    # Two cells of two contenders, and the legend's two.
    assert len(dots) == 6 and within(picture.wide)
    assert picture.data().height == 12


def test_contenders_within_several_protocols_have_the_colour_of_none() -> None:
    names = ("before", "after", "third", "fourth")
    rows = [
        made.run(name, 1, 1.0, cell=spoken, protocol=spoken)
        for spoken in ("h2", "h3")
        for name in names
    ]
    colours = [one.colour.name for one in study_styles([analyse(made.results(rows))]).values()]
    assert len(set(colours)) == 4
    assert not {"fig-h1", "fig-h2", "fig-h3"} & set(colours)
    families = [colour.removeprefix("fig-")[:2] for colour in colours]
    assert families == ["h3", "h2", "h3", "h2"]


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
            assert sheet is None or svg_file(sheet, kind.draw.__module__).startswith("<svg"), kind


def test_a_narrow_figure_drops_nothing() -> None:
    """Names that are too long for a line are smaller or in several, numbers stand below them, and axes say of what."""
    luck = [4.0 + math.sin(step) / 9 for step in range(10)]
    times = {
        "a contender with a rather long name, cubic v cubic": luck,
        "another one with a name that is no shorter, bbr3 v cubic": [one / 2 for one in luck],
    }
    rows = [
        row
        for rtt in (20.0, 40.0, 80.0, 160.0, 320.0, 640.0)
        for loss in (0.0, 2.0)
        for row in made.runs(
            times, cell=f"{rtt}-{loss}", rtt_ms=rtt, loss_pct=loss, loss_up_pct=loss
        )
    ]
    of = subject(rows)
    drawn_there = {
        kind: picture.drawing(NARROW) for kind in known_kinds() if (picture := kind.draw(of))
    }
    assert {FOREST, HEATMAP, BOXES, LINES, RUNS_CDF, DELTA_CDF} <= drawn_there.keys()
    for kind, sheet in drawn_there.items():
        said = texts(sheet)
        assert within(sheet) and not [text for text in said if "…" in text], kind
        if kind is not HEATMAP:  # of whose blocks the legend says it
            assert of.analysis.metric.label in " ".join(said), kind
    numbers = [text for text in texts(drawn_there[FOREST]) if "%" in text and "(" in text]
    assert len(numbers) == 13  # of each cell, and of the mean


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
