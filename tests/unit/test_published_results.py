"""Published results say of themselves what they have: each claim that is counted has a row, and its estimates."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

RESULTS = Path(__file__).parents[2] / "docs" / "results"
VERDICTS = ("holds", "does not hold", "undecided", "not measured")


@pytest.mark.parametrize("page", sorted(RESULTS.glob("*.md")), ids=lambda page: page.stem)
def test_counts_are_those_of_the_rows_and_of_the_tables(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = re.search(r"^(\d+) claims judged by our runs \((.*)\)\.$", text, re.MULTILINE)
    assert found is not None
    told = {name: int(count) for name, count in re.findall(r"([a-z ]+): (\d+)", found[2])}
    rows = re.findall(r"^\| (.*?) \| [^|]* \| (?:\*\*)?([a-z ]+?)(?:\*\*)? \|", text, re.MULTILINE)
    judged = [(claim, verdict) for claim, verdict in rows if verdict in VERDICTS]
    assert Counter(verdict for _, verdict in judged) == Counter(
        {name.strip(): count for name, count in told.items()}
    )
    assert len(judged) == int(found[1])
    with (page.with_suffix("") / "claims.csv").open(encoding="utf-8", newline="") as table:
        estimated = {row["claim"] for row in csv.DictReader(table)}
    assert {claim for claim, verdict in judged if verdict != "not measured"} <= estimated
    assert estimated <= {claim for claim, _ in judged}
