"""What header fields took, as far as Headway's own programs tell."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from headway.programs.headway_client import REPORT
from headway.programs.native import HEADER_COUNTS


@dataclass(frozen=True)
class HeaderFields:
    """Columns of the record; see `headway.results.schema.Record`."""

    fields_raw_down_bytes: int | None = None
    fields_sent_down_bytes: int | None = None
    fields_raw_up_bytes: int | None = None
    fields_sent_up_bytes: int | None = None
    table_blocked: int | None = None
    table_blocked_s: float | None = None


_Told = TypeVar("_Told", bound=BaseModel)


class _Counts(BaseModel):
    sent_raw_bytes: int
    sent_bytes: int
    received_raw_bytes: int
    received_bytes: int
    blocked: int
    blocked_s: float


class _Blocked(BaseModel):
    blocked: int
    blocked_s: float


class _Connection(BaseModel):
    quic: _Blocked | None = None


class _Report(BaseModel):
    connections: list[_Connection]


def header_fields(directory: Path, *, compressed: bool) -> HeaderFields:
    """What header fields took in a run.

    Args:
        directory: the run's.
        compressed: whether the version of HTTP compresses them.
    """
    files = sorted(directory.glob(f"*{HEADER_COUNTS}")) if compressed else []
    counts = [counted for file in files if (counted := _read(_Counts, file))]
    if not counts:
        return HeaderFields()
    report = _read(_Report, directory / REPORT)
    waited = [_Blocked(blocked=count.blocked, blocked_s=count.blocked_s) for count in counts]
    waited += [c.quic for c in report.connections if c.quic] if report else []
    return HeaderFields(
        fields_raw_down_bytes=sum(count.sent_raw_bytes for count in counts),
        fields_sent_down_bytes=sum(count.sent_bytes for count in counts),
        fields_raw_up_bytes=sum(count.received_raw_bytes for count in counts),
        fields_sent_up_bytes=sum(count.received_bytes for count in counts),
        table_blocked=sum(one.blocked for one in waited),
        table_blocked_s=sum(one.blocked_s for one in waited),
    )


def _read(model: type[_Told], file: Path) -> _Told | None:
    """A file of a program that may have been ended before it could write it."""
    try:
        return model.model_validate_json(file.read_text())
    except (FileNotFoundError, ValidationError):
        return None
