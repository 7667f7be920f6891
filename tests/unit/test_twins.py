"""Contenders that are one by two names are told; others are not."""

from __future__ import annotations

from typing import Any

from headway.campaign.feasibility import all_remarks, checked_plan
from headway.planning.needed_repetitions import too_few
from headway.study.experiment import Study
from headway.study.load import study_from


def told(contenders: dict[str, dict[str, Any]], **more: Any) -> list[str]:
    raw = {"name": "study", "workload": {"size": "1 MB"}, "contenders": contenders, **more}
    study = study_from(raw)
    return remarks(study)


def remarks(study: Study) -> list[str]:
    """What is remarked on, but for repetitions: a plan is read here, and nothing judged."""
    runs = checked_plan(study, "study")
    return [remark for remark in all_remarks(study, runs) if remark not in too_few(study, runs)]


def test_a_knob_of_another_workload_makes_no_contender() -> None:
    usual: dict[str, Any] = {"protocol": "h2"}
    (said,) = told({"a": usual, "b": usual | {"client": {"knobs": {"retry_pause": "5"}}}})
    assert said.startswith("contenders 'a' and 'b' are the same: ")
    assert said.endswith("(download 1 MB over h2, client curl, server nginx with cubic)")


def test_what_is_asked_of_the_transport_that_is_not_in_use_makes_none() -> None:
    server = {"congestion_control": {"tcp": "cubic", "quic": "cubic"}}
    (said,) = told({"a": {"protocol": "h2"}, "b": {"protocol": "h2", "server": server}})
    assert "'a' and 'b'" in said


def test_contenders_that_differ_are_not_remarked_on() -> None:
    usual: dict[str, Any] = {"protocol": "h2"}
    others = {
        "h3": {"protocol": "h3"},
        "bbr": usual | {"server": {"congestion_control": "bbr"}},
        "window": usual | {"server": {"initial_window": 32}},
        "proxied": usual | {"proxy": {"program": "envoy"}},
        "larger": usual | {"workload": {"size": "2 MB"}},
        "offload": usual | {"offload": True},
        "slower": usual | {"path": {"rtt": "50 ms"}},
        "logged": usual | {"capture": {"packets": True}},
        "by cpu": usual | {"clock": "cpu"},
    }
    assert told({"h2": usual, **others}) == []


def test_contenders_that_are_the_same_at_one_level_only_are_not() -> None:
    """What the axis says in its first cell, a contender says in all."""
    bbr = {"protocol": "h2", "server": {"congestion_control": "bbr"}}
    axes = {"server.congestion_control": ["bbr", "cubic"]}
    assert told({"h2": {"protocol": "h2"}, "bbr": bbr}, axes=axes) == []
    axes = {"path.rtt": ["20 ms", "40 ms"]}
    assert told({"h2": {"protocol": "h2"}, "bbr": bbr}, axes=axes) == []


def test_every_experiment_is_looked_at_and_named() -> None:
    same = {"h2": {"protocol": "h2"}, "again": {"protocol": "h2"}}
    study = study_from({"name": "study", "experiments": {"x": {"contenders": same}}})
    (said,) = remarks(study)
    assert said.startswith("x: contenders 'h2' and 'again' are the same")
