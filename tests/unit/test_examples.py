"""Examples are listed, say what one learns, and can be planned as they are."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from headway.campaign import feasibility
from headway.campaign.feasibility import checked_plan
from headway.study.load import load_study
from tests.doc_examples import ROOT, carry_out, prose
from tests.examples import EXAMPLES, typed

INDEX = ROOT / "examples" / "README.md"
MOST_RUNS = 100
each = pytest.mark.parametrize("example", EXAMPLES, ids=lambda place: place.name)


def test_the_index_has_every_example_with_its_question() -> None:
    rows = re.findall(
        r"^\| \[([\w-]+)\]\(\1/README\.md\) \| (.+) \|$", INDEX.read_text(), re.MULTILINE
    )
    studies = {place.name: tomllib.loads((place / "study.toml").read_text()) for place in EXAMPLES}
    assert dict(rows) == {name: study["question"] for name, study in studies.items()}
    assert len(rows) >= 8


@each
def test_its_page_says_what_you_learn_and_what_to_expect(example: Path) -> None:
    text = prose(example / "README.md")
    assert re.search(r"\*\*What you learn:\*\* .{40}", text)
    assert re.search(r"\*\*Expected:\*\* .{30}", text)
    assert len((example / "README.md").read_text().splitlines()) <= 30
    assert typed(example)[-1].text == "headway run study.toml --out results"


@each
def test_it_expects_something_of_its_runs(example: Path) -> None:
    """So that a run of it can be wrong."""
    study = tomllib.loads((example / "study.toml").read_text())
    parts = [study, *study.get("experiments", {}).values()]
    assert [claim for part in parts for claim in part.get("claims", ())]


@each
def test_it_can_be_planned_and_is_small(
    example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feasibility, "check_fit", lambda *_: None)
    place = tmp_path / example.name
    shutil.copytree(example, place)
    monkeypatch.chdir(place)
    for line in typed(place)[:-1]:
        if line.makes:
            Path(line.makes).touch(0o755)
        elif line.of_headway:
            assert carry_out(line.of_headway) == 0
        else:
            subprocess.run(line.text, shell=True, check=True)
    runs = checked_plan(load_study("study.toml"), "study.toml")
    assert 0 < len(runs) <= MOST_RUNS
