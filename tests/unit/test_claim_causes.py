"""Claims that give a reason: they hold only if the difference is there, and goes with its cause."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from headway.analysis.analysis import analyse
from headway.analysis.claim_estimate import Judgement
from headway.analysis.claims import Judged
from headway.analysis.claimwords import ours, rule_in_words
from headway.report.claimcases import claims_as_tests
from headway.report.ledger import ledger
from headway.report.report import Report, write_report
from headway.report.tables.claims import claims_frame
from headway.report.terminal_claims import claims_shown
from tests.unit.made_claims import AXIS, Times, around, judged
from tests.unit.made_results import experiments, results, runs, saved

HOLDS, BROKEN, OPEN = Judgement.HOLDS, Judgement.BROKEN, Judgement.UNDECIDED
OTHER = Judgement.OTHER_REASON
BECAUSE = {"what": "two connections", "without": {"two": "one"}}
ORDER = {"kind": "order", "contenders": ["two", "tcp"]}


def about(by_loss: Mapping[str, Times], rule: dict[str, Any], because: Any = BECAUSE) -> Judged:
    return judged(by_loss, rule, baseline="tcp", because=because)


def times(two: float, one: float, noise: float = 1.0) -> Times:
    """Of TCP, of two connections, and of one, which lacks the cause."""
    return {"tcp": around(2.0), "two": around(two), "one": around(one, noise)}


@pytest.mark.parametrize(
    ("two", "one", "expected"),
    [
        (1.0, 2.0, HOLDS),
        (1.0, 2.4, HOLDS),
        (1.0, 1.9, HOLDS),
        (1.0, 1.1, OTHER),
        (1.0, 1.0, OTHER),
        (3.0, 2.0, BROKEN),
    ],
    ids=["vanishes", "turns round", "shrinks", "hardly shrinks", "stays", "was never there"],
)
def test_a_difference_has_to_go_with_its_cause(two: float, one: float, expected: Judgement) -> None:
    found = about({"2 %": times(two, one)}, ORDER)
    assert found.judgement is expected
    assert len(found.findings) == 2


def test_what_may_be_left_is_for_the_study_to_say() -> None:
    # ln(1.5 / 2) / ln(1 / 2) = 41.5 %.
    for leaves, expected in ((45, HOLDS), (38, OTHER)):
        found = about({"2 %": times(1.0, 1.5)}, ORDER, {**BECAUSE, "leaves": leaves})
        assert found.judgement is expected
        value = found.findings[1].value
        assert value is not None
        assert value == pytest.approx(41.5, abs=0.1)


def test_runs_that_scatter_leave_a_cause_open() -> None:
    found = about({"2 %": times(1.0, 1.45, noise=20.0)}, ORDER)
    assert found.findings[0].judgement is HOLDS
    assert found.judgement is OPEN


def test_a_step_along_an_axis_has_a_cause_too() -> None:
    grows = {
        "kind": "monotone",
        "contender": "two",
        "against": "tcp",
        "axis": AXIS,
        "trend": "falling",
    }
    at_0 = times(2.0, 2.0)
    assert about({"0 %": at_0, "2 %": times(1.0, 1.9)}, grows).judgement is HOLDS
    assert about({"0 %": at_0, "2 %": times(1.0, 1.0)}, grows).judgement is OTHER


def test_a_contender_that_is_not_there_leaves_it_unmeasured() -> None:
    there = {"tcp": around(2.0), "two": around(1.0)}
    assert about({"2 %": there}, ORDER).judgement is Judgement.NOT_MEASURED


def manifest(**claim: Any) -> dict[str, Any]:
    return experiments(
        {
            "name": "",
            "baseline": "tcp",
            "metrics": ["total_s"],
            "axes": {AXIS: ["2 %"]},
            "grid": [{"name": "cell-0", "at": {AXIS: "2 %"}}],
            "claims": [{"says": "so", "place": "here", "rule": ORDER, **claim}],
        }
    )


def test_another_reason_is_said_wherever_claims_are(tmp_path: Path) -> None:
    rows = runs(times(1.0, 1.05), cell="cell-0", loss_pct=2.0)
    why = "the one has it as well"
    directory = saved(tmp_path / "out", rows, manifest(because=BECAUSE, why=why))
    page = " ".join(write_report(directory).read_text().split())
    assert "holds, for another reason: 1" in page and why in page
    report = Report.of(directory)
    text = ledger(report.results, report.analyses)
    assert "holds, for another reason" in text.partition("## What does not hold")[0]
    assert "left of it without two connections: 93" in text and why in text
    shown = Console(width=120, record=True, file=io.StringIO())
    for part in claims_shown(shown, report.analyses):
        shown.print(part)
    terminal = shown.export_text()
    assert "yes, but" in terminal
    # Words that no claim has are not explained.
    assert ("Yes, but:" in terminal, "Open:" in terminal) == (True, False)
    assert 'failures="1"' in claims_as_tests(report.results, report.analyses)


def test_the_table_tells_the_cause() -> None:
    rows = runs(times(1.0, 2.0), cell="cell-0", loss_pct=2.0)
    told = manifest(because=BECAUSE)
    frame = claims_frame([[analyse(results(rows, told))]])
    assert frame["rule"][0].endswith("because two connections: with one for two at most 50 % of it")
    assert frame["what"][1] == "two against tcp: left of it without two connections"


UNTRIED = {"what": "two connections", "note": "no program is one"}


def test_a_cause_that_nothing_takes_away_changes_no_verdict_and_is_told() -> None:
    judged_claim = about({"2 %": times(1.0, 1.0)}, ORDER, UNTRIED)
    assert judged_claim.judgement is HOLDS
    assert len(judged_claim.findings) == 1
    for part in UNTRIED.values():
        assert part in ours(judged_claim)
    assert UNTRIED["what"] in rule_in_words(judged_claim.claim)


def test_any_rule_may_name_a_cause_that_nothing_takes_away() -> None:
    value = {"kind": "value", "contender": "two", "low": 0.5, "high": 1.5}
    assert about({"2 %": times(1.0, 1.0)}, value, UNTRIED).judgement is HOLDS
