"""Changes that would change nothing are refused; others are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.study.load import parse_study
from headway.study.source import Source

STUDY = """
name = "grid"
question = ""
contenders = { h1 = { protocol = "h1" }, h2 = { protocol = "h2", client.program = "curl" } }
[path]
rate = "10 Mbit/s"
[axes]
path.rtt = ["20 ms", "40 ms"]
"""


def changed(changes: dict[str, Any], text: str = STUDY) -> Any:
    return parse_study(Source("grid.toml", text, Path()), changes=changes)


def test_a_change_for_some_contenders_is_one() -> None:
    (experiment,) = changed({"client": {"program": "wget"}}).experiments
    cell = next(experiment.grid())
    assert experiment.setting(cell, "h1").client.program == "wget"
    assert experiment.setting(cell, "h2").client.program == "curl"


def test_a_change_of_the_axis_is_one() -> None:
    (experiment,) = changed({"axes": {"path": {"rtt": ["80 ms"]}}}).experiments
    assert experiment.levels("path.rtt") == ["80 ms"]


TWO = (
    STUDY.partition("[axes]")[0]
    + """
[experiments.fixed]
path.rtt = "20 ms"
[experiments.swept]
axes.path.rtt = ["20 ms", "40 ms"]
[quick]
repetitions = 2
experiments.fixed.path.rtt = "30 ms"
"""
)


def test_an_experiment_without_the_axis_is_changed() -> None:
    fixed, swept = changed({"path": {"rtt": "80 ms"}}, TWO).experiments
    assert fixed.setting(next(fixed.grid()), "h1").path.rtt.ms == 80
    assert swept.levels("path.rtt") == ["20 ms", "40 ms"]


@pytest.mark.parametrize("quick", [False, True])
def test_one_experiment_is_changed_and_not_the_others(quick: bool) -> None:
    source = Source("grid.toml", TWO, Path())
    changes = {"experiments": {"fixed": {"path": {"rtt": "80 ms"}, "repetitions": 7}}}
    fixed, swept = parse_study(source, changes=changes, quick=quick).experiments
    assert fixed.setting(next(fixed.grid()), "h1").path.rtt.ms == 80
    assert (fixed.repetitions.most, swept.repetitions.most) == (7, 2 if quick else 1)
