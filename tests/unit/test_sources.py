"""A study's files travel with its results: from an archive alone, the same runs are planned again."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from zipfile import ZipFile

import headway
from headway.records.manifest import read_manifest
from headway.records.sources import SOURCES, again, keep_sources
from headway.report import write_report
from headway.report.archive import write_archive
from headway.report.reproducing import reproducing
from headway.study.load import load_study
from tests.unit import made_results as made

STUDY = """
name = "own"
repetitions = 2
[path]
rtt = "20 ms"
down.rate = { trace = "traces/cell.trace" }
up.rate = "10 Mbit/s"
[workload]
size = "10 kB"
[contenders.a]
protocol = "h2"
client.program = "mine"
"""


def given(place: Path) -> Path:
    """A study with a trace and a program of its own."""
    (place / "traces").mkdir(parents=True)
    (place / "traces" / "cell.trace").write_text("1\n2\n5\n")
    (place / "mine.sh").write_text("#!/bin/sh\nexit 0\n")
    (place / "mine.sh").chmod(0o755)
    (place / "programs.toml").write_text(
        '[client.mine]\nargv = ["./mine.sh", "{url}"]\nprotocols = ["h2"]\n'
    )
    (place / "own.toml").write_text(STUDY)
    return place / "own.toml"


def test_an_archive_is_run_again_from_itself(tmp_path: Path) -> None:
    file = given(tmp_path / "given")
    results = made.saved(tmp_path / "results", made.grid())
    command = f"headway run {file} --out {results} --replace --offline --jobs 2 --set seed=7"
    told = json.loads((results / "manifest.json").read_text()) | {"command": command}
    (results / "manifest.json").write_text(json.dumps(told))
    study = load_study(str(file))
    keep_sources(study, command, results)
    write_archive(results, tmp_path / "a.zip")
    file.parent.rename(tmp_path / "gone")
    with ZipFile(tmp_path / "a.zip") as archive:
        archive.extractall(tmp_path / "elsewhere")
    readme = (tmp_path / "elsewhere" / "README.txt").read_text()
    (line,) = [one for one in readme.splitlines() if one.endswith("--out again")]
    assert shlex.split(line) == [
        *("headway", "run", "study/own.toml", "--set", "seed=7", "--out", "again")
    ]
    loaded = headway.load(tmp_path / "elsewhere" / "study" / "own.toml")
    trace = loaded.model_dump(mode="json")
    assert trace == study.model_dump(mode="json")
    assert (tmp_path / "elsewhere" / "study" / "mine.sh").read_text() == "#!/bin/sh\nexit 0\n"


def test_files_that_do_not_travel_are_named(tmp_path: Path) -> None:
    file = given(tmp_path / "given" / "below")
    (tmp_path / "given" / "cell.trace").write_text("1\n2\n")
    file.write_text(STUDY.replace("traces/cell.trace", "../cell.trace"))
    (tmp_path / "results").mkdir()
    keep_sources(load_study(str(file)), "headway run own.toml", tmp_path / "results")
    assert (tmp_path / "results" / SOURCES / "left-out.txt").read_text() == "../cell.trace\n"


def test_a_built_in_study_is_named_as_it_was(tmp_path: Path) -> None:
    keep_sources(load_study("quickstart"), "headway run quickstart", tmp_path)
    assert again("headway run quickstart", tmp_path) == "headway run quickstart"


def test_the_page_repeats_nothing_that_deletes(tmp_path: Path) -> None:
    results = made.saved(tmp_path / "results", made.grid())
    told = json.loads((results / "manifest.json").read_text())
    told["command"] = "headway run own.toml --replace --out results/own --set seed=7"
    (results / "manifest.json").write_text(json.dumps(told))
    page = write_report(results).read_text()
    assert "--replace" not in page.partition("To repeat it")[2].partition("</pre>")[0]
    manifest = read_manifest(results)
    assert manifest is not None
    assert reproducing(manifest.command) == "headway run own.toml --set seed=7"
    assert reproducing("headway.run(study, out='a')") == "headway.run(study, out='a')"
