"""Figures of published values beside ours."""

from typing import Any

import pytest

from headway.report.figures.published import KIND as PUBLISHED
from headway.report.figures.published_scatter import KIND as SCATTER
from headway.report.sheet import Dots, Line
from tests.unit import made_results as made
from tests.unit.drawn import drawn, subject, texts, within


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
