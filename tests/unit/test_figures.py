"""All figures: which there are, that their texts stay on the sheet, and that styles are kept."""

import math
from pathlib import Path
from typing import Any

from headway.analysis import Analysis, analyse
from headway.report.figures import Section, Subject, known_kinds, pictures
from headway.report.figures.boxes import KIND as BOXES
from headway.report.figures.delta_cdf import KIND as DELTA_CDF
from headway.report.figures.goodput import KIND as GOODPUT
from headway.report.figures.heatmap import KIND as HEATMAP
from headway.report.figures.holdups import KIND as HOLDUPS
from headway.report.figures.lines import KIND as LINES
from headway.report.figures.published import KIND as PUBLISHED
from headway.report.figures.runs_cdf import KIND as RUNS_CDF
from headway.report.figures.timeline import KIND as TIMELINE
from headway.report.sheet import Dots
from headway.report.styles import study_styles
from tests.unit import made_results as made
from tests.unit.drawn import drawn, grid_of, subject, within


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
