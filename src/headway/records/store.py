"""A results directory: a journal of records, then one table; nothing half-written is ever read."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import BaseModel, ValidationError

from headway.columns import Record, polars_schema, schema_of
from headway.columns.record import FlowRecord
from headway.columns.videosegment import SegmentRecord
from headway.durable import PARTIAL_SUFFIX, sync_directory, write_atomically
from headway.errors import WrongInputError
from headway.records.flowfile import FLOW_RECORDS
from headway.records.journal import Journal, read_journal
from headway.records.manifest import MANIFEST_FILE, Manifest, read_manifest
from headway.records.segments import segment_records
from headway.records.sources import SOURCES
from headway.records.stranger import check_files, check_runs

if TYPE_CHECKING:
    import polars as pl

JOURNAL_FILE, RUNS_FILE, FLOWS_FILE = "records.jsonl", "runs.parquet", "flows.parquet"
SEGMENTS_FILE = "segments.parquet"
NEARBY = "nearby"
"""Results of what was tried around these: `headway nearby`."""
ARTIFACTS, REPORT = "artifacts", "report"
_RECORDS_OF_A_PIECE = 500
_Read = TypeVar("_Read", bound=BaseModel)


class Start(Enum):
    """How a study begins in a directory: afresh, where it was left, or instead of another."""

    NEW = "new"
    RESUME = "resume"
    REPLACE = "replace"


class Store:
    """The directory of a study's results, which one process at a time may write to.

    Every record is durable in the journal ``records.jsonl`` as soon as it is added; the table
    ``runs.parquet`` is made from the journal and can be made again at any time. What a run leaves
    behind is in ``artifacts/RUN_ID``.
    """

    def __init__(self, directory: Path, journal: Journal) -> None:
        self.directory = directory
        self._journal = journal

    @classmethod
    def open(cls, directory: Path, start: Start = Start.NEW) -> Store:
        """Use a directory, which is made if it is not there.

        Args:
            directory: new or empty, unless it is to be resumed or replaced; then it may hold
                results, but nothing else.
            start: what is to be done with results that it holds.

        Raises:
            WrongInputError: it holds what must not be lost, cannot be made, or is in use.
        """
        try:
            directory.mkdir(parents=True, exist_ok=True)
            _check_content(directory, start)
            store = cls(directory, Journal(directory / JOURNAL_FILE))
        except OSError as error:
            raise WrongInputError(
                f"cannot be used: {error.strerror}", where=str(directory)
            ) from None
        # What has no manifest is what an interrupted replacement left.
        if start is Start.REPLACE or store.manifest() is None:
            store._clear()
        _remove_leftovers(directory)
        sync_directory(directory)
        return store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let another process use the directory."""
        self._journal.close()

    def _clear(self) -> None:
        """Remove all results; the runs first, so that a half-cleared directory has none."""
        self._journal.clear()
        for name in (RUNS_FILE, FLOWS_FILE, SEGMENTS_FILE, MANIFEST_FILE):
            (self.directory / name).unlink(missing_ok=True)
        for name in (ARTIFACTS, REPORT, SOURCES, NEARBY):
            shutil.rmtree(self.directory / name, ignore_errors=True)

    @property
    def is_there(self) -> bool:
        """Whether the directory is still where it was."""
        return self._journal.is_there

    def artifacts(self, run_id: str) -> Path:
        """Directory of what a run leaves behind.

        Raises:
            HeadwayError: the results are not there any more.
        """
        self._journal.check_there()
        return self.directory / ARTIFACTS / run_id

    def add(self, records: Sequence[Record]) -> None:
        """Keep records, durably; the last record of a run counts.

        Raises:
            OSError: there is no space left, for example.
        """
        self._journal.add([record.model_dump_json().encode() for record in records])

    def records(self) -> list[Record]:
        """All records so far, by run name."""
        return read_records(self.directory)

    def each(self) -> Iterator[Record]:
        """The same, one after the other: many do not fit into memory well."""
        return each_record(self.directory)

    def write_table(self) -> Path:
        """Make ``runs.parquet`` from the records."""
        return _write_table(self.directory)

    def manifest(self) -> Manifest | None:
        """What ``manifest.json`` holds; None if it is not there.

        Raises:
            WrongInputError: it is damaged, or of another version.
        """
        return read_manifest(self.directory)

    def write_manifest(self, manifest: Manifest) -> None:
        """Write ``manifest.json``."""
        write_atomically(self.directory / MANIFEST_FILE, manifest.text().encode())


def read_records(directory: Path) -> list[Record]:
    """All records of a results directory, by run name; somebody may be adding to them.

    Raises:
        WrongInputError: a record is damaged.
    """
    return list(each_record(directory))


def each_record(directory: Path) -> Iterator[Record]:
    """The same, one after the other: a record takes 50 kB.

    Raises:
        WrongInputError: a record is damaged.
    """
    for some in _records_in_pieces(directory):
        yield from some


class _Named(BaseModel):
    """Whose record a line is."""

    run_id: str


def _records_in_pieces(directory: Path) -> Iterator[list[Record]]:
    """All records by run name, some at a time: a line takes less memory than its record."""
    lines: dict[str, tuple[int, bytes]] = {}
    for number, line in enumerate(read_journal(directory / JOURNAL_FILE), start=1):
        lines[_read(_Named, directory, number, line).run_id] = number, line
    names = sorted(lines)
    for first in range(0, len(names), _RECORDS_OF_A_PIECE):
        some = [lines[name] for name in names[first : first + _RECORDS_OF_A_PIECE]]
        yield [_read(Record, directory, number, line) for number, line in some]


def _read(kind: type[_Read], directory: Path, number: int, line: bytes) -> _Read:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        reason = error.errors()[0]["msg"]
        raise WrongInputError(
            f"the record is damaged: {reason}", where=f"{directory / JOURNAL_FILE}:{number}"
        ) from None


def refresh_table(directory: Path) -> None:
    """Make ``runs.parquet`` again if records came after it, as when a study was killed."""
    check_files(directory)
    table, journal = directory / RUNS_FILE, directory / JOURNAL_FILE
    if not journal.exists() or not journal.stat().st_size:
        return
    if not table.exists() or table.stat().st_mtime_ns < journal.stat().st_mtime_ns:
        _write_table(directory)


def _write_table(directory: Path) -> Path:
    runs = _Table(polars_schema())
    flows, segments = _Table(schema_of(FlowRecord)), _Table(schema_of(SegmentRecord))
    for records in _records_in_pieces(directory):
        check_runs(directory, [record.run_id for record in records])
        runs.add(records)
        flows.add(
            [flow for record in records if record.flows for flow in _flows(directory, record)]
        )
        segments.add(
            [
                segment_record
                for record in records
                for segment_record in segment_records(directory / ARTIFACTS, record)
            ]
        )
    runs.write(directory / RUNS_FILE)
    for table, name in ((flows, FLOWS_FILE), (segments, SEGMENTS_FILE)):
        if table.pieces:
            table.write(directory / name)
    return directory / RUNS_FILE


def _flows(directory: Path, record: Record) -> tuple[FlowRecord, ...]:
    """The flows of a run; none if its artefacts are gone."""
    try:
        return FLOW_RECORDS.load(directory / ARTIFACTS / record.run_id).flows
    except FileNotFoundError:
        return ()


@dataclass
class _Table:
    """A table that is made piece by piece, since rows take many times the memory of a table's columns.

    Attributes:
        schema: its columns.
        pieces: what it has so far.
    """

    schema: Mapping[str, Any]
    pieces: list[pl.DataFrame] = field(default_factory=list)

    def add(self, records: Sequence[BaseModel]) -> None:
        """Append a row for each record."""
        if records:
            import polars as pl

            rows = [record.model_dump(mode="json") for record in records]
            self.pieces.append(pl.DataFrame(rows, schema=self.schema, orient="row"))

    def write(self, file: Path) -> None:
        """Write it as Parquet, whole or not at all."""
        import polars as pl

        whole = pl.concat([pl.DataFrame(schema=self.schema), *self.pieces], rechunk=True)
        parquet = io.BytesIO()
        whole.write_parquet(parquet)
        write_atomically(file, parquet.getvalue())


def _check_content(directory: Path, start: Start) -> None:
    names = {entry.name for entry in directory.iterdir() if not _is_leftover(entry.name)}
    if not names or (names == {JOURNAL_FILE} and not _size(directory / JOURNAL_FILE)):
        return
    tables = {RUNS_FILE, FLOWS_FILE, SEGMENTS_FILE}
    own = {JOURNAL_FILE, MANIFEST_FILE, ARTIFACTS, REPORT, SOURCES} | tables
    if not names & {JOURNAL_FILE, MANIFEST_FILE}:
        raise WrongInputError(
            "holds files already, and no results; name a new or empty directory",
            where=str(directory),
        )
    if start is Start.NEW:
        raise WrongInputError(
            "holds files already: results; --resume goes on with them, --replace removes them",
            where=str(directory),
        )
    if start is not Start.RESUME or MANIFEST_FILE in names:
        return
    if RUNS_FILE in names or _size(directory / JOURNAL_FILE):
        raise WrongInputError(
            f"holds runs, but no {MANIFEST_FILE}, which would say what study they are of; "
            "--replace removes them",
            where=str(directory),
        )
    if names - own:
        raise WrongInputError(
            f"holds files already, such as {min(names - own)}; name a new or empty directory",
            where=str(directory),
        )


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _is_leftover(name: str) -> bool:
    return name.startswith(".") and name.endswith(PARTIAL_SUFFIX)


def _remove_leftovers(directory: Path) -> None:
    """Remove what a killed writer left of files that were to appear atomically."""
    for entry in directory.iterdir():
        if _is_leftover(entry.name):
            entry.unlink()
