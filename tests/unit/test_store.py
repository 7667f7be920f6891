"""What is kept of a study: durable, whole, and never half-read."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from headway.columns import Record, Status, polars_schema
from headway.contract.outcome import Outcome
from headway.errors import HeadwayError, WrongInputError
from headway.lab.run import Result
from headway.planning.runs import plan
from headway.programs.measurement import Measurement
from headway.records import store as store_module
from headway.records.manifest import MANIFEST_FILE, Manifest
from headway.records.record import make_record
from headway.records.store import (
    JOURNAL_FILE,
    RUNS_FILE,
    Start,
    Store,
    read_records,
    refresh_table,
)
from headway.study.load import load_study

RUNS = plan(load_study("quickstart"))


@pytest.fixture
def records(tmp_path: Path) -> list[Record]:
    made = []
    for run in RUNS[:3]:
        result = Result(
            Outcome("failed", "for the test", 0, ""),
            (Measurement(),),
            0.1,
            0.05,
        )
        made.append(make_record(run, result, tmp_path))
    return sorted(made, key=lambda record: record.run_id)


def filled(directory: Path, records: list[Record]) -> Path:
    """A results directory with these records."""
    with Store.open(directory) as store:
        store.write_manifest(Manifest(headway="0"))
        store.add(records)
    return directory


def test_a_table_is_the_same_file_in_however_many_pieces_it_is_made(
    tmp_path: Path, records: list[Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = []
    for rows in (1, 2, 3, 500):
        monkeypatch.setattr(store_module, "_RECORDS_OF_A_PIECE", rows)
        with Store.open(tmp_path / str(rows)) as store:
            store.add(records)
            files.append(store.write_table().read_bytes())
    assert len(set(files)) == 1


def test_a_study_without_runs_has_an_empty_table(tmp_path: Path) -> None:
    with Store.open(tmp_path / "out") as store:
        assert pl.read_parquet(store.write_table()).is_empty()


def test_records_become_a_table_with_every_column(tmp_path: Path, records: list[Record]) -> None:
    with Store.open(tmp_path / "out") as store:
        store.add(records)
        table = pl.read_parquet(store.write_table())
    assert table.columns == list(Record.model_fields)
    expected = pl.DataFrame(schema=polars_schema()).schema
    assert table.schema == expected
    assert table["status"].to_list() == ["failed"] * 3
    assert {file.name for file in store.directory.iterdir()} == {JOURNAL_FILE, RUNS_FILE}


def test_the_last_record_of_a_run_counts(tmp_path: Path, records: list[Record]) -> None:
    again = records[0].model_copy(update={"status": Status.OK})
    with Store.open(tmp_path / "out") as store:
        store.add(records)
        store.add([again])
        assert store.records() == [again, *records[1:]]
        assert list(store.each()) == store.records()


@pytest.mark.parametrize("kept", [1, 40, 400])
def test_a_record_that_was_cut_is_not_there(
    tmp_path: Path, records: list[Record], kept: int
) -> None:
    directory = filled(tmp_path / "out", records)
    journal = directory / JOURNAL_FILE
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]) + lines[-1][:kept])
    assert read_records(directory) == records[:2]
    with Store.open(directory, Start.RESUME) as store:
        store.add([records[2]])
        assert store.records() == records


def test_a_damaged_record_is_an_error_that_says_where(
    tmp_path: Path, records: list[Record]
) -> None:
    directory = filled(tmp_path / "out", records)
    journal = directory / JOURNAL_FILE
    journal.write_bytes(journal.read_bytes().replace(b'"run_id"', b'"run_ie"', 1))
    with pytest.raises(HeadwayError, match=r"records\.jsonl:1: the record is damaged"):
        read_records(directory)


def test_a_directory_with_other_things_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    for start in Start:
        with pytest.raises(WrongInputError, match="holds files already"):
            Store.open(tmp_path, start)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_results_are_not_started_over_by_accident(tmp_path: Path, records: list[Record]) -> None:
    directory = filled(tmp_path / "out", records)
    with pytest.raises(WrongInputError, match="--resume goes on with them, --replace removes them"):
        Store.open(directory)
    with Store.open(directory, Start.RESUME) as store:
        assert store.records() == records
    with Store.open(directory, Start.REPLACE) as store:
        assert store.records() == []
        assert store.manifest() is None


def test_what_a_killed_writer_left_is_removed(tmp_path: Path) -> None:
    directory = tmp_path / "out"
    directory.mkdir()
    (directory / f".{MANIFEST_FILE}.x7.partial").write_text('{"head')
    with Store.open(directory) as store:
        assert store.manifest() is None
    assert [file.name for file in directory.iterdir()] == [JOURNAL_FILE]


def test_what_a_killed_replacement_left_is_not_taken_for_results(
    tmp_path: Path, records: list[Record]
) -> None:
    directory = filled(tmp_path / "out", records)
    artifact = directory / "artifacts" / "run" / "curl.out"
    artifact.parent.mkdir(parents=True)
    artifact.touch()
    (directory / MANIFEST_FILE).unlink(missing_ok=True)
    (directory / RUNS_FILE).unlink(missing_ok=True)
    (directory / JOURNAL_FILE).write_bytes(b"")
    with Store.open(directory, Start.RESUME) as store:
        assert store.records() == []
    assert not artifact.exists()


@pytest.mark.parametrize("lost", [(), (JOURNAL_FILE,), (RUNS_FILE,)])
def test_runs_without_a_manifest_are_not_thrown_away(
    tmp_path: Path, records: list[Record], lost: tuple[str, ...]
) -> None:
    directory = filled(tmp_path / "out", records)
    with Store.open(directory, Start.RESUME) as store:
        store.write_table()
    for name in (MANIFEST_FILE, *lost):
        (directory / name).unlink()
    kept = {file.name: file.read_bytes() for file in directory.iterdir()}
    with pytest.raises(WrongInputError, match=r"holds (runs, but no manifest|files already)"):
        Store.open(directory, Start.RESUME)
    assert {file.name: file.read_bytes() for file in directory.iterdir()} == kept


def test_a_directory_has_one_writer_at_a_time(tmp_path: Path) -> None:
    with (
        Store.open(tmp_path / "out") as store,
        pytest.raises(WrongInputError, match="another study is being carried out"),
    ):
        Store.open(store.directory, Start.RESUME)
    Store.open(tmp_path / "out", Start.RESUME).close()


def test_a_study_whose_report_is_being_written_is_not_replaced(
    tmp_path: Path, records: list[Record]
) -> None:
    """The directory stays locked until the report is there (`conduct`)."""
    directory = filled(tmp_path / "out", records)
    with Store.open(directory, Start.RESUME) as store:
        store.write_table()
        kept = {file.name: file.read_bytes() for file in directory.iterdir()}
        with pytest.raises(WrongInputError, match="another study is being carried out"):
            Store.open(directory, Start.REPLACE)
        assert {file.name: file.read_bytes() for file in directory.iterdir()} == kept
    Store.open(directory, Start.REPLACE).close()


def test_a_damaged_manifest_is_an_error(tmp_path: Path, records: list[Record]) -> None:
    directory = filled(tmp_path / "out", records)
    (directory / MANIFEST_FILE).write_text("[]")
    with (
        pytest.raises(HeadwayError, match=r"manifest\.json: is damaged"),
    ):
        Store.open(directory, Start.RESUME)


def test_the_table_of_a_killed_study_is_made_when_it_is_read(
    tmp_path: Path, records: list[Record]
) -> None:
    directory = filled(tmp_path / "out", records)
    refresh_table(directory)
    assert len(pl.read_parquet(directory / RUNS_FILE)) == 3


def test_every_column_is_described() -> None:
    assert all(field.description for field in Record.model_fields.values())


def test_a_manifest_that_says_nothing_claims_nothing() -> None:
    """Results may have come without it, and one of an older version lacks what was not kept then."""
    empty, version = Manifest(), {"version"}
    stated = empty.model_dump(mode="json", exclude={*version, "study"})
    assert not {name: value for name, value in stated.items() if value}
    assert empty.study.experiments == () and not empty.study.name
    assert not empty.may_end_sooner
    assert not empty.alarms
