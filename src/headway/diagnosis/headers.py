"""Bytes of header fields, as far as Headway's own programs tell."""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel

from headway.columns import HeaderFields
from headway.contract.artifact import read_text
from headway.programs.client import ReportError, report_of
from headway.programs.headway_client import REPORT
from headway.programs.native import HEADER_COUNTS


class _Counts(BaseModel):
    began_unix_s: float
    sent_raw_bytes: int
    sent_bytes: int
    received_raw_bytes: int
    received_bytes: int
    blocked: int
    blocked_s: float


class _Blocked(BaseModel):
    blocked: int
    blocked_s: float


class _ReportedConnection(BaseModel):
    quic: _Blocked | None = None


class _HeaderReport(BaseModel):
    connections: list[_ReportedConnection]


def header_fields(directory: Path, began_s: float, ended_s: float) -> HeaderFields:
    """What header fields took in a run; nothing where they were not compressed, or not counted.

    Args:
        directory: the run's. What the server tells may be of several runs that shared a boot.
        began_s, ended_s: when the run's workload did, on the lab's wall clock.
    """
    files = sorted(directory.glob(f"*{HEADER_COUNTS}"))
    all_counts = [_Counts.model_validate_json(line) for file in files for line in _lines(file)]
    counts = [count for count in all_counts if began_s <= count.began_unix_s <= ended_s]
    if not counts:
        return HeaderFields()
    waited = [_Blocked(blocked=count.blocked, blocked_s=count.blocked_s) for count in counts]
    # Other clients leave no report.
    with suppress(ReportError):
        report = report_of(_HeaderReport, directory / REPORT, "headway-client")
        waited += [connection.quic for connection in report.connections if connection.quic]
    return HeaderFields(
        fields_raw_down_bytes=sum(count.sent_raw_bytes for count in counts),
        fields_sent_down_bytes=sum(count.sent_bytes for count in counts),
        fields_raw_up_bytes=sum(count.received_raw_bytes for count in counts),
        fields_sent_up_bytes=sum(count.received_bytes for count in counts),
        table_blocked=sum(blocked.blocked for blocked in waited),
        table_blocked_s=math.fsum(blocked.blocked_s for blocked in waited),
    )


def _lines(file: Path) -> list[str]:
    """Whole lines: the last one is cut short if the lab ended before the program."""
    return [line for line in read_text(file).splitlines(keepends=True) if line.endswith("\n")]
