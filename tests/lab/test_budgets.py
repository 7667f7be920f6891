"""The page of docs about budgets, carried out: two builds of a site, the second of which is slower, or is not."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from headway.sites.site import Site
from headway.sites.warc import write_archive
from tests.lab.sites import HTML, PAGE, exchange

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("machine")]

HEADWAY = str(Path(sys.executable).with_name("headway"))
DOCS = Path(__file__).parents[2] / "docs" / "budgets.md"


def build(file: Path, more: str) -> None:
    """A shop's page; with another style sheet of 30 kB that blocks it, if that is asked for."""
    html = f"<!doctype html><link rel=stylesheet href=/a.css>{more}<p>text"
    sheets = ("a.css", "more.css")
    exchanges = [exchange(f"{PAGE}{name}", "text/css", "p{color:red}" * 2500) for name in sheets]
    write_archive(Site("shop", PAGE, (exchange(PAGE, HTML, html), *exchanges)), file)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    found = re.search(r"```toml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    study = found[1].replace(
        'base.workload.site = "sander-07"', 'base.workload.site = "base.warc.gz"'
    )
    study = study.replace('head.workload.site = "sander-07"', 'head.workload.site = "head.warc.gz"')
    assert study.count(".warc.gz") == 2
    (tmp_path / "page-budget.toml").write_text(study, encoding="utf-8")
    build(tmp_path / "base.warc.gz", "")
    return tmp_path


def headway(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GITHUB_ACTIONS": "true"}
    return subprocess.run(
        [HEADWAY, *words], cwd=place, capture_output=True, text=True, env=environment
    )


@pytest.mark.parametrize(
    ("more", "status", "failures"),
    [("", 0, 0), ("<link rel=stylesheet href=/more.css>", 1, 1)],
)
def test_a_slower_build_fails(place: Path, more: str, status: int, failures: int) -> None:
    build(place / "head.warc.gz", more)
    done = headway(place, "run", "page-budget.toml", "--out", "results", "--strict")
    assert done.returncode == status, done.stderr
    errors = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert len(errors) == failures
    if failures:
        assert errors[0].startswith("::error title=Headway::budget: FCP of head at most 2 %25 more")
        assert "does not hold" in done.stderr
    words = ("--junit", "junit.xml", "--assertions", "assertions.json", "--strict")
    again = headway(place, "claims", "results", *words)
    assert again.returncode == status, again.stderr
    suite = ElementTree.parse(place / "junit.xml").getroot().find("testsuite")
    assert suite is not None
    assert suite.get("tests") == "3"
    assert suite.get("failures") == str(failures)
    told = json.loads((place / "assertions.json").read_text(encoding="utf-8"))
    limits = [(one["auditId"], one["operator"], one["expected"]) for one in told]
    # In both cells each.
    assert limits == [
        *[("largest-contentful-paint", "<=", 12_000)] * 2,
        *[("total-blocking-time", "<=", 8000)] * 2,
        *[("first-contentful-paint", "<=", 2)] * 2,
    ]
    assert all(one["passed"] for one in told[:4])
    assert all(one["passed"] for one in told) == (not failures)


def test_a_budget_of_a_percentile_is_judged_by_runs_that_are_there(place: Path) -> None:
    """13 of them are the fewest that decide."""
    build(place / "head.warc.gz", "")
    file = place / "page-budget.toml"
    study = file.read_text(encoding="utf-8").replace("repetitions = 6", "repetitions = 13")
    study = study.replace('["lighthouse-slow-4g", "wpt-cable"]', '["wpt-cable"]').partition(
        "[budget]"
    )[0]
    file.write_text(study, encoding="utf-8")
    assert headway(place, "run", "page-budget.toml", "--out", "results").returncode == 0
    for limit, status in (("60 s", 0), ("1 ms", 1)):
        budget = f'{study}[budget]\nlcp_s = {{ most = "{limit}", at = "p75" }}\n'
        (place / "other.toml").write_text(budget, encoding="utf-8")
        done = headway(place, "claims", "results", "--study", "other.toml", "--strict")
        assert done.returncode == status, done.stderr + done.stdout
