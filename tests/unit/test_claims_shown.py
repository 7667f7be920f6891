"""The first screen of a paper: its claims, a line each; and what a part leaves to the whole."""

from __future__ import annotations

import io
import re
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
SCREEN, BELOW = 45, 5
"""Lines of a screen, and those of them that stand below the claims."""


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


def verdicts(lines: list[str], word: str) -> list[int]:
    """Of lines with this verdict, how many claims each has."""
    found = (re.match(rf"(?:(\d+) )?{word} +\S", line) for line in lines)
    return [int(one[1] or 1) for one in found if one]


@pytest.mark.parametrize("count", [4, 20, 40, 100])
@pytest.mark.parametrize("width", [80, 100, 140])
def test_claims_are_one_screen_and_nothing_else_is_shown(count: int, width: int) -> None:
    half = count // 2
    lines = shown(told("first", claims(half)), told("second", claims(half)), width=width)
    assert len(lines) <= SCREEN - BELOW
    assert max(map(len, lines)) <= width
    assert "Answer" not in lines
    assert sum(verdicts(lines, "yes")) == count
    assert [line.strip() for line in lines if line.strip() in ("first", "second")] == [
        "first",
        "second",
    ]


def test_claims_have_a_line_each_as_long_as_there_is_room() -> None:
    assert verdicts(shown(told("", claims(20))), "yes") == [1] * 20
    assert max(verdicts(shown(told("", claims(40))), "yes")) > 1


def test_claims_of_one_kind_share_a_line_with_the_numbers_of_each() -> None:
    mixed = [claim for limit in (10, 30) for claim in claims(20, {**GAP, "low": -limit - 50})]
    lines = shown(told("", [*mixed, *claims(4, VALUE)]), width=100)
    gathered = next(line for line in lines if re.match(r"\d+ yes", line))
    assert "\N{MINUS SIGN}60 to 20" in gathered
    assert gathered.endswith("\N{MINUS SIGN}50.0 %")
    assert verdicts(lines, "no") == [1] * 4


def test_what_does_not_hold_is_shown_longest() -> None:
    """Sixteen experiments leave no room for what holds, which is counted then."""
    tables = [told(f"part-{n}", [*claims(9), *claims(1, VALUE)]) for n in range(12)]
    lines = shown(*tables, width=100)
    assert len(lines) <= SCREEN - BELOW
    assert verdicts(lines, "no") == [1] * 12 and not verdicts(lines, "yes")
    assert sum(line.strip().endswith(": 9 hold") for line in lines) == 12


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
