"""Results of others: links, pipes, devices and names that lead elsewhere are refused by all that reads results."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import headway
from headway.analysis import load_results
from headway.cli.packets import packets
from headway.errors import WrongInputError
from headway.instruments.census.campaign import responses_of_campaign
from headway.instruments.states.cli import states
from headway.pages.load import read_load
from headway.report import write_report
from headway.report.archive import write_archive
from tests.unit import made_results as made

RUN = made.grid()[0]["run_id"]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    directory = made.saved(tmp_path / "results", made.grid())
    lines = (json.dumps(row) for row in made.grid())
    (directory / "records.jsonl").write_text("".join(f"{line}\n" for line in lines))
    (directory / "artifacts" / RUN / "deep").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "elsewhere").mkdir()
    return directory


def exported(directory: Path) -> Any:
    write_archive(directory, directory.parent / "a.zip", artifacts=True)


READERS: dict[str, Callable[[Path], Any]] = {
    "report": write_report,
    "export": exported,
    "packets": lambda directory: packets(directory, RUN),
    "states": lambda directory: states([directory]),
    "census": lambda directory: list(responses_of_campaign(directory)),
    "python": lambda directory: headway.read(directory).runs,
    "tables": load_results,
}


def bound(place: Path) -> None:
    socket.socket(socket.AF_UNIX).bind(os.path.relpath(place))


ODD: dict[str, Callable[[Path, Path], None]] = {
    "link to a file": lambda place, other: place.symlink_to(other / "secret"),
    "link to a directory": lambda place, other: place.symlink_to(other / "elsewhere"),
    "link to nowhere": lambda place, _: place.symlink_to("nowhere"),
    "pipe": lambda place, _: os.mkfifo(place),
    "socket": lambda place, _: bound(place),
    "device": lambda place, _: place.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("where", ["flows.json", "deep/odd"])
@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_file_is_not_read(
    results: Path, monkeypatch: pytest.MonkeyPatch, reader: str, where: str, odd: str
) -> None:
    monkeypatch.chdir(results)
    place = results / "artifacts" / RUN / where
    ODD[odd](place, results.parent)
    with pytest.raises(WrongInputError) as refused:
        READERS[reader](results)
    assert f"artifacts/{RUN}/{where}" in str(refused.value)
    assert not (results.parent / "a.zip").exists()
    assert (results.parent / "secret").read_text() == "secret"


@pytest.mark.parametrize("name", ["runs.parquet", "records.jsonl", "manifest.json", "artifacts"])
@pytest.mark.parametrize("reader", READERS)
def test_tables_and_directories_are_no_links(results: Path, reader: str, name: str) -> None:
    moved = (results / name).rename(results.parent / "moved")
    (results / name).symlink_to(moved)
    with pytest.raises(WrongInputError, match=f"'{name}', which is a symbolic link"):
        READERS[reader](results)


def test_a_directory_that_a_link_names_is_read(results: Path, tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to(results)
    assert headway.read(tmp_path / "latest").runs.height == len(made.grid())


@pytest.mark.parametrize("name", ["../../secret", "..", "", "/etc", "a/b", "n" * 300])
def test_runs_whose_names_lead_elsewhere_are_refused(results: Path, name: str) -> None:
    runs = pl.read_parquet(results / "runs.parquet")
    (results / "records.jsonl").unlink()
    named = pl.when(pl.col("run_id") == RUN).then(pl.lit(name)).otherwise(pl.col("run_id"))
    runs.with_columns(named.alias("run_id")).write_parquet(results / "runs.parquet")
    with pytest.raises(WrongInputError, match="it holds '"):
        load_results(results)
    with pytest.raises(WrongInputError, match="it holds '"):
        packets(results, name)


def test_records_whose_names_lead_elsewhere_are_refused(results: Path) -> None:
    row = {**made.grid()[0], "run_id": "../../elsewhere"}
    (results / "records.jsonl").write_text(json.dumps(row) + "\n")
    (results / "runs.parquet").unlink()
    with pytest.raises(WrongInputError, match="which leads out of it"):
        headway.read(results).runs  # noqa: B018


def test_frames_that_are_called_as_no_file_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "load.json").write_text('{"error": null}')
    lines = [{"at_s": 1.0, "file": name} for name in ("../secret", "/etc/passwd", "a\0")]
    (tmp_path / "frames.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    assert [one.file for one in read_load(tmp_path).frames] == [tmp_path / "etc" / "passwd"]
