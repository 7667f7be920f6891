"""Claims judged by runs made by hand: each rule holds, is broken and is left open by some data."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import typer

from headway.analysis.analysis import analyse
from headway.analysis.claim_estimate import Judgement
from headway.analysis.claims import Judged
from headway.analysis.usability import complaints
from headway.cli.claims import claims, print_ledger
from headway.report.reproducing import reproducing
from headway.report.tables.claims import claims_table
from tests.unit.made_claims import AXIS, Times, around, judged
from tests.unit.made_results import experiments, results, runs, saved

HOLDS, BROKEN, OPEN = Judgement.HOLDS, Judgement.BROKEN, Judgement.UNDECIDED


def one(times: Times, rule: dict[str, Any]) -> Judged:
    return judged({"2 %": times}, rule)


FASTER = {"h2": around(2.0), "h3": around(1.0)}
SLOWER = {"h2": around(1.0), "h3": around(2.0)}
MIXED = {"h2": around(1.0), "h3": [1.3, 0.7, 1.2, 0.8, 1.25, 0.75, 1.1, 0.9, 1.15, 0.86]}
ABOUT_HALF = {"h2": around(1.0), "h3": [0.3, 0.7, 0.35, 0.65, 0.4, 0.6, 0.45, 0.75, 0.32, 0.68]}
FAILING: Times = {"h2": around(1.0), "h3": [None] * 30}
PAIR = {"contender": "h3", "against": "h2"}


@pytest.mark.parametrize(
    ("rule", "holding", "breaking", "leaving_open"),
    [
        ({"kind": "order", "contenders": ["h3", "h2"]}, FASTER, SLOWER, MIXED),
        ({"kind": "difference", **PAIR, "value": -50}, FASTER, SLOWER, ABOUT_HALF),
        ({"kind": "difference", **PAIR, "high": -10}, FASTER, SLOWER, MIXED),
        (
            {"kind": "equal", **PAIR, "within": 5},
            {"h2": around(1.0), "h3": around(1.01)},
            SLOWER,
            MIXED,
        ),
        (
            {"kind": "value", "contender": "h3", "value": 1.0},
            FASTER,
            SLOWER,
            {"h3": [0.2, 1.9] * 4},
        ),
        (
            {"kind": "value", "contender": "h3", "low": 0.9, "statistic": "median"},
            FASTER,
            {"h3": around(0.5)},
            MIXED,
        ),
        (
            {"kind": "failures", "contender": "h3", "high": 20},
            {"h3": around(1.0) * 3},
            FAILING,
            {"h3": [*around(1.0), None]},
        ),
        (
            {"kind": "failures", "contender": "h3", "low": 50},
            FAILING,
            {"h3": around(1.0) * 3},
            {"h3": [1.0, None, None]},
        ),
    ],
)
def test_a_rule_about_one_cell(
    rule: dict[str, Any], holding: Times, breaking: Times, leaving_open: Times
) -> None:
    found = [one(times, rule).judgement for times in (holding, breaking, leaving_open)]
    assert found == [HOLDS, BROKEN, OPEN]


def rising(*middles: float, noise: float = 1.0) -> dict[str, Times]:
    """Cells of rising loss; the noise of a seed differs between them."""

    def turned(values: list[float], by: int) -> list[float]:
        return values[by:] + values[:by]

    return {
        f"{number} %": {"h3": turned(around(value, noise), 3 * number % 10)}
        for number, value in enumerate(middles)
    }


@pytest.mark.parametrize("kind", ["monotone", "correlation"])
def test_a_rule_about_an_axis(kind: str) -> None:
    def said(cells: dict[str, Times], trend: str) -> Judgement:
        rule = {"kind": kind, "contender": "h3", "axis": AXIS, "trend": trend}
        return judged(cells, rule).judgement

    up = rising(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)
    assert (said(up, "rising"), said(up, "falling")) == (HOLDS, BROKEN)
    assert said(rising(1.0, 1.01, 1.005, 1.008, noise=8), "rising") is OPEN


def test_a_step_back_breaks_what_only_rises_but_not_a_correlation() -> None:
    cells = rising(1.0, 2.0, 3.0, 4.0, 3.8, 6.0, 7.0, 8.0, 9.0)
    rule = {"contender": "h3", "axis": AXIS, "trend": "rising"}
    assert judged(cells, {"kind": "monotone", **rule}).judgement is BROKEN
    assert judged(cells, {"kind": "correlation", **rule}).judgement is HOLDS


@pytest.mark.parametrize(
    ("share", "expected"), [(100, BROKEN), (60, HOLDS), (70, BROKEN)], ids=["all", "60 %", "70 %"]
)
def test_a_share_of_the_cells(share: float, expected: Judgement) -> None:
    cells = {"0 %": FASTER, "1 %": FASTER, "2 %": SLOWER}
    rule = {"kind": "order", "contenders": ["h3", "h2"]}
    assert judged(cells, rule, share=share).judgement is expected


def test_what_is_open_in_some_cells_leaves_a_share_open() -> None:
    cells = {"0 %": FASTER, "1 %": MIXED}
    rule = {"kind": "order", "contenders": ["h3", "h2"]}
    assert judged(cells, rule).judgement is OPEN
    assert judged(cells, rule, share=50).judgement is HOLDS


def test_only_the_cells_that_are_meant_count() -> None:
    cells = {"0 %": SLOWER, "1 %": FASTER, "2 %": FASTER}
    rule = {"kind": "order", "contenders": ["h3", "h2"]}
    found = judged(cells, rule, where={AXIS: ["1 %", "2 %"]})
    assert (found.judgement, len(found.findings), found.runs) == (HOLDS, 2, 10)


def test_undecided_says_how_many_repetitions_would_decide() -> None:
    found = one(MIXED, {"kind": "equal", **PAIR, "within": 10})
    (finding,) = found.findings
    assert found.judgement is OPEN and finding.interval and finding.value is not None
    low, value, high = finding.interval.low, finding.value, finding.interval.high
    above, below = (high - value) / (10 - value), (value - low) / (value + 10)
    assert found.needed == pytest.approx(10 * max(above, below) ** 2, abs=1)


def test_too_few_runs_decide_nothing() -> None:
    few = {name: values[:3] for name, values in FASTER.items()}
    found = one(few, {"kind": "order", "contenders": ["h3", "h2"]})
    assert (found.judgement, found.needed) == (OPEN, 6)


def test_runs_that_are_all_alike_decide() -> None:
    alike = {"h2": [2.0] * 3, "h3": [1.0] * 3}
    assert one(alike, {"kind": "order", "contenders": ["h3", "h2"]}).judgement is HOLDS


@pytest.mark.parametrize(
    ("rule", "h3", "expected"),
    [
        ({"kind": "value", "high": 0}, [0.0] * 6, HOLDS),
        ({"kind": "value", "high": 0}, [0.0] * 6 + [1.0], OPEN),
        ({"kind": "value", "high": 0}, around(1.0), BROKEN),
        ({"kind": "value", "value": 0}, [0.0] * 6, HOLDS),
        ({"kind": "value", "low": 2}, [2.0] * 6, HOLDS),
        ({"kind": "value", "low": 2}, [1.9] * 6, BROKEN),
        ({"kind": "difference", "against": "h2", "high": 0}, [1.0] * 6, HOLDS),
        ({"kind": "difference", "against": "h2", "low": 100}, [2.0] * 6, HOLDS),
    ],
)
def test_at_least_and_at_most_may_be_met(
    rule: dict[str, Any], h3: list[float], expected: Judgement
) -> None:
    times = {"h2": [1.0] * len(h3), "h3": h3}
    assert one(times, {**rule, "contender": "h3"}).judgement is expected


def test_what_is_alike_is_in_no_order() -> None:
    alike = {"h2": [1.0] * 6, "h3": [1.0] * 6}
    assert one(alike, {"kind": "order", "contenders": ["h3", "h2"]}).judgement is BROKEN


def test_what_was_not_run_is_not_measured() -> None:
    rule = {"kind": "order", "contenders": ["h3", "h2"]}
    assert one({"h2": around(1.0)}, rule).judgement is Judgement.NOT_MEASURED
    assert judged({"0 %": FASTER}, rule, where={AXIS: "9 %"}).judgement is Judgement.NOT_MEASURED


def archived_study() -> dict[str, Any]:
    """A manifest whose experiment has a claim that holds, one that does not, and one that is open."""
    order = {"kind": "order", "contenders": ["h3", "h2"]}
    slow = {"kind": "value", "contender": "h2", "value": 9}
    exact = {"kind": "value", "contender": "h2", "low": 1.9999}
    return {
        "name": "",
        "baseline": "h2",
        "metrics": ["total_s"],
        "claims": [
            {"says": "h3 is faster", "place": "section 1", "rule": order},
            {"says": "h2 takes 9 s", "place": "Table 1", "rule": slow, "why": "another clock"},
            {"says": "h2 takes 2 s and more", "place": "Table 2", "rule": exact},
        ],
    }


def test_the_ledger_says_what_holds_and_why_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = saved(tmp_path / "out", runs(FASTER), experiments(archived_study()))
    file = tmp_path / "ledger.md"
    print_ledger(directory, None, file)
    page = file.read_text()
    assert "3 claims judged by our runs (holds: 1, does not hold: 1, undecided: 1)." in page
    assert "| h3 is faster | section 1 | **holds** |" in page
    assert "would decide" in page
    why = "0.222 times the published; it would have to be from 7.65 to 10.3 s. Why: another clock."
    (reason,) = [
        line for line in page.splitlines() if line.startswith("- h2 takes 9 s (Table 1): ")
    ]
    assert reason.endswith(why)


def test_results_are_judged_by_the_claims_of_another_study(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = saved(
        tmp_path / "out", runs(FASTER), experiments(archived_study() | {"claims": []})
    )
    study = tmp_path / "study.toml"
    study.write_text(
        'name = "later"\naxes.protocol = ["h2", "h3"]\n[[claims]]\nsays = "h2 is faster"\n'
        'place = "here"\nrule = { kind = "order", contenders = ["h2", "h3"] }\n'
    )
    print_ledger(directory, None, None)
    assert "The study names no claims." in capsys.readouterr().out
    print_ledger(directory, str(study), None)
    assert "| h2 is faster | here | **does not hold** |" in capsys.readouterr().out


def test_a_reason_is_told_of_what_does_not_hold_only() -> None:
    told = archived_study()
    told["claims"][0]["why"] = "it would be a reason if it did not hold"
    table = claims_table([analyse(results(runs(FASTER), experiments(told)))])
    reasons = [row[-1] for group in table.rows for row in group]
    assert reasons == ["–", "another clock", "–"]


def test_the_ledger_names_what_did_not_finish_and_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line for those that differ in addresses and numbers alone."""
    lost = [
        one | {"status": "failed", "error": f"no answer from https://a{rep}.test/ for {rep} s"}
        if one["contender"] == "h3"
        else one
        for rep, one in enumerate(runs(FASTER), 1)
    ]
    print_ledger(saved(tmp_path / "out", lost, experiments(archived_study())), None, None)
    page = capsys.readouterr().out
    number = sum(one["contender"] == "h3" for one in lost)
    assert "## Runs that did not finish" in page
    assert f"| h3 | {number} | no answer from https://a" in page


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("headway reproduce liu2024 --out /a/b --jobs 2 --keep-going", "headway reproduce liu2024"),
        (
            "headway run x.toml -o out --set 'path.loss=1 %'",
            "headway run x.toml --set 'path.loss=1 %'",
        ),
        ("headway reproduce x --out=there --only a --resume", "headway reproduce x --only a"),
        ("headway reproduce x --quick", "headway reproduce x --quick"),
    ],
)
def test_a_command_is_told_without_what_does_not_matter(given: str, kept: str) -> None:
    assert reproducing(given) == kept


def test_a_claim_that_does_not_hold_can_fail_a_command(tmp_path: Path) -> None:
    directory = saved(tmp_path / "out", runs(FASTER), experiments(archived_study()))
    complaint, other = complaints(directory, allow_failures=True, strict=True)
    assert complaint.startswith("2 of 3 claims do not hold")
    assert ": undecided: " in other or ": does not hold: " in other or ": not measured: " in other
    assert not complaints(directory, allow_failures=True, strict=False)
    file = tmp_path / "junit.xml"
    with pytest.raises(typer.Exit) as ended:
        claims(directory, None, tmp_path / "ledger.md", junit=file, strict=True)
    assert ended.value.exit_code == 1
    suite = ElementTree.fromstring(file.read_text())[0]
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
