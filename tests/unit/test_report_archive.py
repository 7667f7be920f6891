"""Archives of results: complete, checked, described, and equal if the results are."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from headway import cli
from headway.report.archive import write_archive
from tests.unit import made_results as made

LICENCE = "https://creativecommons.org/licenses/by/4.0/"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    directory = made.saved(tmp_path / "results", made.grid())
    lines = (json.dumps(row) for row in made.grid())
    (directory / "records.jsonl").write_text("".join(f"{line}\n" for line in lines))
    for row in made.grid():
        (directory / "artifacts" / row["run_id"]).mkdir(parents=True, exist_ok=True)
        (directory / "artifacts" / row["run_id"] / "client one.out").write_text(row["run_id"])
    return directory


def contents(archive: Path) -> dict[str, bytes]:
    with ZipFile(archive) as file:
        assert file.testzip() is None
        return {name: file.read(name) for name in file.namelist()}


def graph(files: dict[str, bytes]) -> dict[str, dict[str, Any]]:
    document = json.loads(files["ro-crate-metadata.json"])
    assert document["@context"] == "https://w3id.org/ro/crate/1.1/context"
    ids = [entity["@id"] for entity in document["@graph"]]
    assert len(ids) == len(set(ids))
    return {entity["@id"]: entity for entity in document["@graph"]}


def test_every_file_has_its_checksum(results: Path, tmp_path: Path) -> None:
    write_archive(results, tmp_path / "a.zip")
    files = contents(tmp_path / "a.zip")
    lines = files["SHA256SUMS"].decode().splitlines()
    sums = {path: digest for digest, path in (line.split("  ", 1) for line in lines)}
    assert set(sums) == set(files) - {"SHA256SUMS", "ro-crate-metadata.json"}
    assert all(hashlib.sha256(files[path]).hexdigest() == digest for path, digest in sums.items())
    assert {"runs.parquet", "records.jsonl", "manifest.json", "study.json", "README.txt"} <= set(
        files
    )
    assert files["runs.parquet"] == (results / "runs.parquet").read_bytes()


def test_flows_and_segments_are_there_if_the_results_have_them(
    results: Path, tmp_path: Path
) -> None:
    write_archive(results, tmp_path / "a.zip")
    without = contents(tmp_path / "a.zip")
    assert not {"flows.parquet", "segments.parquet"} & set(without)
    assert b"segment" not in without["README.txt"]
    for name in ("flows.parquet", "segments.parquet"):
        (results / name).write_bytes(name.encode())
    write_archive(results, tmp_path / "b.zip")
    files = contents(tmp_path / "b.zip")
    assert files["segments.parquet"] == b"segments.parquet"
    assert "flows.parquet" in files["SHA256SUMS"].decode()
    assert b"segments.parquet has a row for every segment of a video." in files["README.txt"]
    described = graph(files)
    assert "segment that a player" in described["segments.parquet"]["description"]
    assert {"@id": "flows.parquet"} in described["#campaign"]["result"]


def test_the_report_has_what_it_links_to(results: Path, tmp_path: Path) -> None:
    write_archive(results, tmp_path / "a.zip")
    files = contents(tmp_path / "a.zip")
    page = files["report/index.html"].decode()
    linked = {one for one in re.findall(r'href="([^"#]+)"', page) if not one.startswith("http")}
    assert linked
    for target in linked:
        path = target.removeprefix("../") if target.startswith("../") else f"report/{target}"
        assert any(name == path or (path.endswith("/") and name.startswith(path)) for name in files)


def test_the_metadata_is_an_ro_crate(results: Path, tmp_path: Path) -> None:
    """What RO-Crate 1.1 demands of the descriptor, of the root and of files."""
    write_archive(results, tmp_path / "a.zip", licence=LICENCE)
    files = contents(tmp_path / "a.zip")
    entities = graph(files)
    assert entities["ro-crate-metadata.json"] == {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        "about": {"@id": "./"},
    }
    root = entities["./"]
    assert root["@type"] == "Dataset"
    assert root["description"] == "Which <b>version</b> is faster?"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]+(Z|[+-]\d\d:\d\d)", root["datePublished"])
    parts = {part["@id"] for part in root["hasPart"]}
    assert {one.replace("%20", " ") for one in parts} == set(files) - {"ro-crate-metadata.json"}
    assert not any(" " in one for one in parts)
    assert all(entities[one]["@type"] == "File" for one in parts)
    assert entities["runs.parquet"]["contentSize"] == str(len(files["runs.parquet"]))
    assert entities[root["license"]["@id"]]["@id"] == LICENCE
    told = json.dumps(list(entities.values()))
    referred = set(re.findall(r'\{"@id": "([^"]+)"\}', told))
    assert referred - {"https://w3id.org/ro/crate/1.1"} <= set(entities)


def test_equal_results_are_equal_archives(results: Path, tmp_path: Path) -> None:
    write_archive(results, tmp_path / "a.zip")
    (results / "manifest.json").touch()
    write_archive(results, tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_artifacts_of_all_runs_are_added_if_asked_for(results: Path, tmp_path: Path) -> None:
    def runs(*, artifacts: bool) -> int:
        write_archive(results, tmp_path / "a.zip", artifacts=artifacts)
        return sum(name.startswith("artifacts/") for name in contents(tmp_path / "a.zip"))

    assert (runs(artifacts=False), runs(artifacts=True)) == (0, 96)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-o", "a.tar"), "--out a.tar: must end in .zip"),
        (("-o", "nosuch/a.zip"), "--out nosuch/a.zip: there is no such directory"),
        (("-o", "a.zip", "--license", "MIT"), "--license MIT: is not a web address"),
    ],
)
def test_wrong_wishes_are_refused(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    results: Path,
    words: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.setattr(sys, "argv", ["headway", "export", str(results), *words])
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_the_archive_of_a_study_that_went_on_has_its_new_runs(
    results: Path, tmp_path: Path
) -> None:
    write_archive(results, tmp_path / "before.zip")
    before = contents(tmp_path / "before.zip")
    with (results / "records.jsonl").open("a") as journal:
        journal.write(
            json.dumps(made.grid()[0] | {"run_id": "later", "seed": 99, "rep": 99}) + "\n"
        )
    write_archive(results, tmp_path / "after.zip")
    after = contents(tmp_path / "after.zip")
    rows = [files["report/runs.csv"].count(b"\n") for files in (before, after)]
    assert rows[1] == rows[0] + 1
    assert after["runs.parquet"] != before["runs.parquet"]
