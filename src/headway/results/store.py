"""A results directory: records as they come, then one table; nothing half-written is ever read."""

from __future__ import annotations

import io
import json
import os
import tempfile
from pathlib import Path

from pydantic import ValidationError

from headway.errors import HeadwayError, WrongInputError
from headway.results.schema import Record, polars_schema

RUNS_FILE, MANIFEST_FILE, RECORD_FILE = "runs.parquet", "manifest.json", "record.json"


class Store:
    """The directory of a study's results.

    Every record is durable, in its run's artefact directory, as soon as its run is over; the table
    ``runs.parquet`` is made from the records and can be made again at any time.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @classmethod
    def create(cls, directory: Path) -> Store:
        """Start with a new or empty directory.

        Raises:
            WrongInputError: it holds something already, or cannot be made.
        """
        try:
            directory.mkdir(parents=True, exist_ok=True)
            if any(directory.iterdir()):
                raise WrongInputError(
                    "holds files already; name a new or empty directory", where=f"--out {directory}"
                )
        except OSError as error:
            raise WrongInputError(
                f"cannot be used: {error.strerror}", where=f"--out {directory}"
            ) from None
        return cls(directory)

    def artifacts(self, run_id: str) -> Path:
        """Directory of what a run leaves behind."""
        return self.directory / "artifacts" / run_id

    def add(self, record: Record) -> None:
        """Keep a record, durably."""
        directory = self.artifacts(record.run_id)
        directory.mkdir(parents=True, exist_ok=True)
        write_atomically(directory / RECORD_FILE, record.model_dump_json(indent=1).encode())

    def records(self) -> list[Record]:
        """All records so far, by run name."""
        files = sorted(self.directory.glob(f"artifacts/*/{RECORD_FILE}"))
        try:
            return [Record.model_validate_json(file.read_text()) for file in files]
        except ValidationError as error:
            raise HeadwayError(f"{self.directory}: a record is damaged: {error}") from None

    def write_table(self) -> Path:
        """Make ``runs.parquet`` from the records."""
        import polars as pl

        rows = [record.model_dump(mode="json") for record in self.records()]
        table = pl.DataFrame(rows, schema=polars_schema(), orient="row")
        file = self.directory / RUNS_FILE
        parquet = io.BytesIO()
        table.write_parquet(parquet)
        write_atomically(file, parquet.getvalue())
        return file

    def write_manifest(self, manifest: dict[str, object]) -> None:
        """Write ``manifest.json``."""
        text = json.dumps(manifest, indent=1, ensure_ascii=False)
        write_atomically(self.directory / MANIFEST_FILE, text.encode())


def write_atomically(file: Path, data: bytes) -> None:
    """Write a file so that readers see it whole or not at all, whatever happens."""
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as temporary:
        try:
            temporary.write(data)
            temporary.flush()
            os.fsync(temporary.fileno())
        except BaseException:
            Path(temporary.name).unlink()
            raise
    Path(temporary.name).chmod(0o644)
    Path(temporary.name).replace(file)
