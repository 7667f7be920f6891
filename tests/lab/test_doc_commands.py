"""The documentation's commands and Python snippets are carried out, on a small study and its results."""

from __future__ import annotations

import json
import shlex
import shutil
from itertools import cycle, pairwise
from pathlib import Path

import pytest

from headway.columns.column import metric
from headway.diagnosis.metrics import measure as of_downloads
from headway.instruments.corpus.catalogue import make_site
from headway.pages.metrics import measure as of_pages
from headway.sites.warc import write_archive
from tests.doc_examples import PAGES, ROOT, blocks, carry_out, commands, complaints

pytestmark = pytest.mark.lab

STUDY = """
name = "first"
axes = { protocol = ["h2", "h3"], path.loss = ["0 %", "2 %", "5 %"] }
workload.size = "20 kB"
path = { rate = "20 Mbit/s", rtt = "20 ms" }

[[claims]]
says = "h3 is faster"
place = "here"
rule = { kind = "order", contenders = ["h3", "h2"] }
"""
RESULTS = "results/first"
STANDS_FOR = {
    "STUDY": "first.toml",
    "DIR": RESULTS,
    "NAME": "total_s-forest",
    "total_s-NAME": "total_s-forest",
    "results/liu2024": RESULTS,
}
"""What a reader puts in the place of such words."""

TABLE = """\
Timestamp,Longitude,Latitude,Speed,DL_bitrate,UL_bitrate
2019.12.14_10.16.30,-8.39,51.88,1,12000,200
2019.12.14_10.16.31,-8.39,51.88,1,5000,150
2019.12.14_10.16.32,-8.39,51.88,1,8080,150
"""
"""Of a phone in a 5G network, in the form of Raca et al."""
MINUTES = "takes minutes to hours"
SHORT_FORM = "carried out in its short form, by test_doc_studies.py"
BUILDS = "needs two builds of the reader's; test_check.py has some"
OWN = "needs a program of the reader's; test_outside.py has some"
STACK = "needs a stack of the reader's; test_interop.py has some"
IMAGE = "copies an image of a gigabyte; tests/unit/test_image_archive.py copies small ones"
PAGE = "needs a page of the reader's, and a browser; tests/unit/test_sites_command.py has one"
BUDGETS = "carried out by test_budgets.py, with two builds of a site"
NOT_CARRIED_OUT = {
    "reproduce": MINUTES,
    "nearby": MINUTES,
    "why": MINUTES,
    "run turn-on-http3": MINUTES,
    "run udp-buffers": MINUTES,
    "run pacing": MINUTES,
    "run api": MINUTES,
    "run discovery": MINUTES,
    "run upload": MINUTES,
    "run video": MINUTES,
    "run perna2022-video": MINUTES,
    "run kakhki2017-video": MINUTES,
    "run phones": MINUTES,
    "run video-sharing": MINUTES,
    "run fast-internet": MINUTES,
    "run controllers": MINUTES,
    "controllers": "needs results of that study; tests/unit/instruments/controllers/test_controllers.py has made ones",
    "run curl-fallback.toml": SHORT_FORM,
    "run broken-ipv6.toml": SHORT_FORM,
    "run lossy.toml": SHORT_FORM,
    "run releases.toml": SHORT_FORM,
    "run live-proxies.toml": SHORT_FORM,
    "run lost-server-hello.toml": SHORT_FORM,
    "run page-budget.toml": BUDGETS,
    "claims results --junit": BUDGETS,
    "run mine.toml": OWN,
    "validate mine.toml": OWN,
    "shell": "waits for what is typed; test_command.py types",
    "census": "carried out by tests/unit/instruments/census/test_census_inputs.py, without a lab",
    "figure results/first --figure slowest": "a table that a reader of CONTRIBUTING.md has yet to write",
    "check": BUILDS,
    "calibrate": "takes minutes, and a target of the reader's; tests/lab/test_calibrate.py has one",
    "image export": IMAGE,
    "image import": IMAGE,
    "record": PAGE,
    "claims results/liu2024 --study liu2024": "needs results of that study",
    "run STUDY --out DIR --cluster": "needs other machines; tests/unit/test_campaign_cluster.py",
    "interop --program mine": STACK,
    "interop -r mine=mine.tar": STACK,
    "interop -r mine=./mine": STACK,
    "exec --capability": "needs Linux' own tests and packetdrill, which are fetched",
}
"""Beginnings of commands that are not tried here, and why."""


def all_commands() -> list[tuple[Path, list[str]]]:
    return [(page, words) for page in PAGES for words in commands(page)]


def is_carried_out(words: list[str]) -> bool:
    return not any(words[: len(left.split())] == left.split() for left in NOT_CARRIED_OUT)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, machine: object) -> Path:
    """A directory with the small study and its results."""
    directory = tmp_path_factory.mktemp("docs")
    study = directory / "first.toml"
    study.write_text(STUDY)
    assert carry_out(["run", str(study), "--out", str(directory / RESULTS)]) == 0
    return directory


@pytest.fixture
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, a copy of it, with an archive, a table of rates, a trace and cases."""
    place = tmp_path / "here"
    shutil.copytree(made, place)
    write_archive(make_site("objects-1x5kB"), place / "example.warc.gz")
    (place / "5g.csv").write_text(TABLE)
    (place / "heavyloss.py").write_text(blocks(ROOT / "docs/own-stack.md", "python")[0])
    (place / "far.py").write_text(blocks(ROOT / "docs/conformance.md", "python")[0])
    shutil.copy(ROOT / "native/trace/tests/samples/sample.hwtrace", place / "server.hwtrace")
    monkeypatch.chdir(place)
    return place


def run_ids(place: Path) -> list[str]:
    lines = (place / RESULTS / "records.jsonl").read_text().splitlines()
    return sorted(json.loads(line)["run_id"] for line in lines)


def test_each_reason_is_one_of_a_command_that_there_is() -> None:
    known = [" ".join(words) for _, words in all_commands()]
    for left in NOT_CARRIED_OUT:
        assert any(words.startswith(left) for words in known), left


@pytest.mark.parametrize(
    "text",
    dict.fromkeys(shlex.join(words) for _, words in all_commands() if is_carried_out(words)),
)
def test_a_command_ends_well(text: str, here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    runs = cycle(run_ids(here))
    words = [next(runs) if word == "RUN_ID" else word for word in shlex.split(text)]
    words = [STANDS_FOR.get(word, word) for word in words]
    ours = words[: words.index("--")] if "--" in words else words
    written = next((file for option, file in pairwise(ours) if option in ("-o", "--out")), "")
    begins_anew = words[0] == "run" and "--resume" not in words
    if begins_anew:
        shutil.rmtree(RESULTS)
    # "list studies|programs" are several.
    for last in words[-1].split("|") if words[0] == "list" else words[-1:]:
        status = carry_out([*words[:-1], last])
        said = capfd.readouterr()
        assert status == 0, said.err
        assert complaints(said.err) == []
        assert said.out or written
    if written:
        assert Path(written).stat().st_size
    if begins_anew:
        assert Path(RESULTS, "report", "index.html").exists()


SNIPPETS = {page.name: blocks(page, "python") for page in PAGES if blocks(page, "python")}
IN_SNIPPETS = {
    '"quickstart"': '"first.toml"',
    '"repetitions": 5': '"repetitions": 1',
    '"1 MB"': '"20 kB"',
    "jobs=2": "jobs=1",
}
"""What is put in the place of what takes minutes, or is not there on a small machine."""


@pytest.mark.parametrize("name", SNIPPETS)
def test_the_snippets_of_a_page_are_carried_out(
    name: str, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in (of_downloads, of_pages):
        monkeypatch.setattr(module, "MEASURES", [])
    stands_for = IN_SNIPPETS | {
        "my-study/artifacts/cell-h2-001": f"first/artifacts/{run_ids(here)[0]}"
    }
    # Declarations of columns stand in a class that has this.
    scope = {"metric": metric, "__name__": name}
    for text in SNIPPETS[name]:
        for printed, stands in stands_for.items():
            text = text.replace(printed, stands)
        exec(compile(text, name, "exec"), scope)
    assert complaints(capsys.readouterr().err) == []
