"""Examples are carried out as their READMEs say: nothing fails, and runs show what is expected.

By day with two repetitions, whose estimates have to lie where the study's claims want them; by night whole, and the
claims have to hold.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from headway.analysis.claim_estimate import Finding, Judgement
from headway.analysis.claims import Judged
from headway.analysis.claimwords import judged
from headway.image.image import Layout
from headway.image.options import ImageOptions
from headway.image.process import user_environment
from headway.report import Report
from tests.doc_examples import carry_out
from tests.examples import EXAMPLES, typed

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("machine")]

FEW = ("--set", "repetitions=2")
BRINGS = {
    "go": "apt-get install golang-go",
    "rustc": "make lint",
    "python3": "apt-get install python3",
}


def compilers() -> dict[str, str]:
    """An environment in which Rust is the one that compiles Headway's own programs."""
    toolchain = Layout.of_package(ImageOptions.from_environment()).brought()
    environment = user_environment()
    return toolchain.environment(environment) if toolchain else environment


def prepare(example: Path) -> None:
    """What is typed before the study is run; skips the test if a toolchain is missing."""
    environment = compilers()
    for line in typed(example)[:-1]:
        if line.of_headway:
            assert carry_out(line.of_headway) == 0, line.text
            continue
        program = line.words[0]
        if shutil.which(program, path=environment["PATH"]) is None:
            pytest.skip(f"{program} is missing; `{BRINGS.get(program, program)}` brings it")
        subprocess.run(line.text, shell=True, check=True, env=environment)


def claims(results: Path) -> Iterator[Judged]:
    report = Report.of(results)
    for analyses in report.analyses:
        yield from judged(analyses)


def points_there(finding: Finding) -> bool:
    """Whether an estimate lies where it is to lie, however wide its interval is."""
    return finding.value is not None and finding.region.low < finding.value < finding.region.high


@pytest.mark.parametrize(
    "more", [FEW, pytest.param((), marks=pytest.mark.nightly)], ids=["short", "whole"]
)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda place: place.name)
def test_it_shows_what_its_page_expects(
    example: Path, more: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / example.name
    shutil.copytree(example, place)
    monkeypatch.chdir(place)
    prepare(place)
    assert carry_out([*typed(place)[-1].of_headway, *more]) == 0
    assert set(pl.read_parquet("results/runs.parquet")["status"]) == {"ok"}
    found = list(claims(Path("results")))
    assert found
    for claim in found:
        assert claim.findings and all(map(points_there, claim.findings)), claim
        assert more or claim.judgement is Judgement.HOLDS, claim
