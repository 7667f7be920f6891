"""Published results say of themselves what they have: each claim that is counted has a row, and its estimates."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from headway.analysis.claim_estimate import Judgement

RESULTS = Path(__file__).parents[2] / "docs" / "results"


PAGES = [page for page in sorted(RESULTS.glob("*.md")) if page.stem != "README"]
OF_FAULTS = [page for page in PAGES if "what single faults cost" in page.read_text("utf-8")]
"""These have sweeps, and claim nothing."""
OF_SHARES = [page for page in PAGES if (page.with_suffix("") / "shares.csv").exists()]
"""These say who got how much, and claim nothing."""


OF_SAMPLES = [page for page in PAGES if "names no claims" in page.read_text("utf-8")]
"""These have what was measured, and claim nothing."""


@pytest.mark.parametrize("page", OF_SAMPLES, ids=lambda page: page.stem)
def test_runs_are_those_of_the_rows(page: Path) -> None:
    found = re.search(r": (\d+) runs, seeds .*; none failed", page.read_text(encoding="utf-8"))
    assert found is not None
    with (page.with_suffix("") / "samples.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    runs: dict[str, set[int]] = {}
    for experiment, metric in {(row.get("experiment", ""), row["metric"]) for row in rows}:
        own = [row for row in rows if row["metric"] == metric]
        own = [row for row in own if row.get("experiment", "") == experiment]
        runs.setdefault(experiment, set()).add(sum(int(row["runs"]) for row in own))
    assert all(len(counts) == 1 for counts in runs.values())
    assert sum(count for counts in runs.values() for count in counts) == int(found[1])
    assert not any(int(row["failed"]) or int(row["timeouts"]) for row in rows)


@pytest.mark.parametrize("page", OF_SHARES, ids=lambda page: page.stem)
def test_shares_are_those_of_the_rows(page: Path) -> None:
    rows = re.findall(
        r"^\| ([a-z0-9-]+) \| [^|]*tcp-cubic \| (.*) \|$", page.read_text("utf-8"), re.MULTILINE
    )
    told = {
        name: [float(cell.split(" ")[0]) for cell in cells.split(" | ")] for name, cells in rows
    }
    with (page.with_suffix("") / "shares.csv").open(encoding="utf-8", newline="") as table:
        shares = list(csv.DictReader(table))
    for name, cells in told.items():
        own = [row for row in shares if row["contender"] == name]
        found = [100 * float(row["share"]) for row in own if row["flow"].startswith("tcp-cubic")]
        assert found, name
        assert all(min(abs(one - cell) for one in found) < 0.6 for cell in cells), name


@pytest.mark.parametrize("page", OF_FAULTS, ids=lambda page: page.stem)
def test_sweeps_are_those_of_the_rows(page: Path) -> None:
    rows = re.findall(r"^\| (.*) \|$", page.read_text("utf-8"), re.MULTILINE)
    cells = [row.split(" | ") for row in rows]
    swept = [(int(row[-5]), int(row[-6])) for row in cells if len(row) >= 9 and row[-5].isdigit()]
    with (page.with_suffix("") / "faults.csv").open(encoding="utf-8", newline="") as table:
        faults = list(csv.DictReader(table))
    assert len(faults) == sum(tried for _, tried in swept)
    assert sum(row["failed"] != "0" for row in faults) == sum(fatal for fatal, _ in swept)


@pytest.mark.parametrize(
    "page",
    [
        page
        for page in PAGES
        if page not in (*OF_FAULTS, *OF_SHARES, *OF_SAMPLES)
        and "judged by our runs" in page.read_text("utf-8")
    ],
    ids=lambda page: page.stem,
)
def test_counts_are_those_of_the_rows_and_of_the_tables(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = re.search(r"^(\d+) claims? judged by our runs \((.*?)\)\.", text, re.MULTILINE)
    assert found is not None
    counts = {
        verdict: int(count)
        for verdict in Judgement
        for count in re.findall(rf"(?:^|, ){verdict}: (\d+)", found[2])
    }
    rows = re.findall(r"^\| (.*?) \| [^|]* \| (?:\*\*)?([a-z, ]+?)(?:\*\*)? \|", text, re.MULTILINE)
    judged = [(claim, verdict) for claim, verdict in rows if verdict in list(Judgement)]
    assert Counter(verdict for _, verdict in judged) == Counter(counts)
    assert len(judged) == int(found[1])
    with (page.with_suffix("") / "claims.csv").open(encoding="utf-8", newline="") as table:
        estimated = {row["claim"] for row in csv.DictReader(table)}
    assert {claim for claim, verdict in judged if verdict != "not measured"} <= estimated
    assert estimated <= {claim for claim, _ in judged}
