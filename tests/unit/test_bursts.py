"""Losses in bursts in both directions are remarked on; all others are not."""

from __future__ import annotations

from typing import Any

import pytest

from headway.campaign.feasibility import all_remarks, checked_plan
from headway.study.load import study_from
from tests.unit.study_keys import documented, effect

BURSTS = {"mean": "2 %", "burst": 5}


def remarks_of(**parts: Any) -> list[str]:
    contenders = {"h2": {"protocol": "h2"}, "h3": {"protocol": "h3"}}
    raw = {"name": "study", "repetitions": 10, "contenders": contenders, **parts}
    study = study_from(raw)
    return [text for text in all_remarks(study, checked_plan(study, "study")) if "bursts" in text]


@pytest.mark.parametrize(
    "parts",
    [
        {"path": {"loss": BURSTS}},
        {"axes": {"path.loss": ["0 %", "2 %", BURSTS]}},
        {"path": {"down": {"loss": BURSTS}, "up": {"loss": {"mean": "1 %", "burst": 3}}}},
        {"path": {"links": [{"down": {"loss": BURSTS}}, {"up": {"loss": BURSTS}}]}},
        {"path": {"changes": [{"at": "1 s", "loss": BURSTS}]}},
        {"path": {}, "hops": [{"name": "router", "path": {"loss": BURSTS}}]},
    ],
)
def test_bursts_that_hit_data_and_acknowledgments_are_remarked_on_once(
    parts: dict[str, Any],
) -> None:
    (remark,) = remarks_of(**parts)
    assert "path.down.loss" in remark


@pytest.mark.parametrize(
    "path",
    [
        {"loss": "2 %"},
        {"loss": {"mean": "2 %", "burst": 1}},
        {"loss": {"mean": "0 %", "burst": 5}},
        {"down": {"loss": BURSTS}},
        {"up": {"loss": BURSTS}},
        {"up": {"loss": "2 %"}, "down": {"loss": BURSTS}},
    ],
)
def test_single_losses_and_bursts_in_one_direction_are_not(path: dict[str, Any]) -> None:
    assert remarks_of(path=path) == []


def test_documented_studies_have_bursts_in_one_direction_but_for_the_one_about_both() -> None:
    remarked = {
        name.partition(" ")[0]
        for name, raw in documented()
        if any("bursts in both directions" in note for note in effect(raw).notes)
    }
    assert remarked == {"same-controller.md"}
