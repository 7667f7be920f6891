"""The first screen of a paper: its claims, a line each; and what a part leaves to the whole."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from headway.cli.paper import left_to_the_whole
from headway.report import Report
from headway.study.experiment import Study
from tests.unit.made_results import experiments, results, runs

FASTER = {"h2": [2.0, 2.01, 1.99, 2.02, 1.98, 2.0], "h3": [1.0, 1.01, 0.99, 1.02, 0.98, 1.0]}
ORDER = {"kind": "order", "contenders": ["h3", "h2"]}
GAP = {"kind": "difference", "contender": "h3", "against": "h2", "low": -20, "high": 20}
VALUE = {"kind": "value", "contender": "h2", "value": 9}
SHORT = "h3 is faster"


def claims(count: int, rule: dict[str, Any] = ORDER) -> list[dict[str, Any]]:
    return [{"says": f"number {number}: {SHORT}", "rule": rule} for number in range(count)]


def told(name: str, own: list[dict[str, Any]]) -> dict[str, Any]:
    return {"name": name, "baseline": "h2", "metrics": ["total_s"], "claims": own}


def made(*tables: dict[str, Any]) -> Any:
    rows = [row for table in tables for row in runs(FASTER, experiment=table["name"])]
    return results(rows, experiments(*tables))


def shown(*tables: dict[str, Any], width: int = 80) -> list[str]:
    stream = io.StringIO()
    console = Console(file=stream, width=width, color_system=None)
    Report(Path(), made(*tables)).print_summary(console)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


@pytest.mark.parametrize("count", [4, 20, 40])
def test_claims_take_a_line_each_and_nothing_else_is_shown(count: int) -> None:
    lines = shown(told("first", claims(count // 2)), told("second", claims(count // 2)))
    assert len(lines) <= count + 20
    assert max(map(len, lines)) <= 80
    assert "Answer" not in lines
    assert sum(line.startswith("yes ") for line in lines) == count
    assert [line.strip() for line in lines if line.strip() in ("first", "second")] == [
        "first",
        "second",
    ]


@pytest.mark.parametrize(
    ("rule", "verdict", "theirs", "ours"),
    [
        (ORDER, "yes", "< 0 %", "\N{MINUS SIGN}50.0 %"),
        (GAP, "no", "±20 %", "\N{MINUS SIGN}50.0 %"),
        (VALUE, "no", "9 s", "2.00 s"),
    ],
)
def test_a_line_has_the_verdict_theirs_and_ours(
    rule: dict[str, Any], verdict: str, theirs: str, ours: str
) -> None:
    (line,) = [line for line in shown(told("", claims(4, rule)[:1])) if "number 0" in line]
    assert line.startswith(verdict)
    assert line.endswith(ours)
    assert theirs in line.removesuffix(ours)


def test_a_wide_terminal_shows_intervals() -> None:
    (line,) = [line for line in shown(told("", claims(1)), width=160) if "number 0" in line]
    assert line.endswith(")")


def test_an_experiment_with_few_claims_has_its_answer_too() -> None:
    lines = shown(told("", claims(1)))
    assert "Answer" in lines
    assert any(line.startswith("yes ") for line in lines)


def test_what_was_not_measured_is_counted() -> None:
    elsewhere = {"says": "elsewhere", "rule": ORDER, "where": {"path.loss": "2 %"}}
    lines = shown(told("first", [*claims(3), elsewhere]), told("second", []))
    assert not any("elsewhere" in line for line in lines)
    assert any(line.endswith("not shown: 1 claim.") for line in lines)


def whole(repetitions: int) -> Study:
    table = {
        "repetitions": repetitions,
        "contenders": {"h2": {}, "h3": {}},
        "axes": {"path.rtt": ["20 ms", "40 ms"]},
    }
    named = [
        {**table, "name": "first", "claims": claims(3)},
        {**table, "name": "second", "exclude": [{"contender": "h3", "path.rtt": "40 ms"}]},
    ]
    return Study.model_validate({"name": "paper", "experiments": named})


def test_the_whole_takes_what_these_runs_took_for_each_of_its_runs() -> None:
    """70 runs, of which each takes 60 s, are 70 minutes."""
    rows = runs(FASTER, experiment="first", processor_s=60.0)
    part = results(rows, {**experiments(told("first", claims(1))), "runs": 12})
    (line,) = left_to_the_whole(part, whole(10))
    assert "70 runs" in line
    assert "70 min" in line


def test_the_whole_leaves_nothing() -> None:
    rows = runs(FASTER, experiment="first")
    assert not [
        *left_to_the_whole(
            results(rows, {**experiments(told("first", claims(1))), "runs": 70}), whole(10)
        )
    ]


def test_an_experiment_without_claims_says_where_they_are() -> None:
    rows = runs(FASTER, experiment="second")
    part = results(rows, {**experiments(told("second", [])), "runs": 12})
    first, _ = left_to_the_whole(part, whole(10))
    assert "3 claims" in first
    assert first.endswith("first.")
