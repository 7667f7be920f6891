"""The compact traces that Headway's own endpoints write of a sender, as a data frame.

``docs/traces.md`` has the layout.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headway.contract.artifact import read_bytes
from headway.errors import HeadwayError

if TYPE_CHECKING:
    import polars as pl

SUFFIX = ".hwtrace"
"""What the files' names end with."""
STATES = (
    "Init",
    "SlowStart",
    "CongestionAvoidance",
    "CongestionAvoidanceMaxed",
    "ApplicationLimited",
    "Recovery",
    "Pto",
    "TailLossProbe",
    "Startup",
    "Drain",
    "ProbeBw",
    "ProbeRtt",
)
"""A sender's states in the order of their numbers."""

_HEADER = struct.Struct("<8sIIQ")
_MAGIC, _VERSION, _RECORD_BYTES = b"HWSENDER", 1, 72
_KIND_STATE = 2
_NONE = 2**64 - 1
_FIELDS = (
    ("kind", "u1"),
    ("from", "u1"),
    ("to", "u1"),
    ("unused", "V5"),
    ("time_ns", "<u8"),
    ("cwnd_bytes", "<u8"),
    ("ssthresh_bytes", "<u8"),
    ("in_flight_bytes", "<u8"),
    ("smoothed_rtt_ns", "<u8"),
    ("latest_rtt_ns", "<u8"),
    ("min_rtt_ns", "<u8"),
    ("pacing_rate_bytes_per_s", "<u8"),
)
_NUMBERS = ("cwnd_bytes", "ssthresh_bytes", "in_flight_bytes", "pacing_rate_bytes_per_s")
_TIMES = ("smoothed_rtt", "latest_rtt", "min_rtt")


@dataclass(frozen=True)
class NativeTrace:
    """A sender's state over time.

    Attributes:
        epoch_ns: wall clock's time that the rows' times count from, nanoseconds since 1970.
        rows: one for each record, in the file's order. ``at_s`` is its time and ``state`` the
            sender's from then on, null before the first change. A change of state has the state
            before in ``from_state``, which is null in other rows. All other columns are as of that
            time, null if they are not known yet: ``cwnd_bytes``, ``ssthresh_bytes``,
            ``in_flight_bytes``, ``smoothed_rtt_ms``, ``latest_rtt_ms``, ``min_rtt_ms`` and
            ``pacing_rate_bytes_per_s``.
    """

    epoch_ns: int
    rows: pl.DataFrame


def read_native_trace(file: Path) -> NativeTrace:
    """Read a trace, one that is cut short up to its last whole record.

    Raises:
        HeadwayError: the file is no such trace, or one of another version.
    """
    content = read_bytes(file)
    if len(content) < _HEADER.size:
        raise HeadwayError(f"{file} is no trace of a sender: it is shorter than a header")
    magic, version, record_bytes, epoch_ns = _HEADER.unpack_from(content)
    if magic != _MAGIC:
        raise HeadwayError(f"{file} is no trace of a sender: it begins with {magic!r}")
    if (version, record_bytes) != (_VERSION, _RECORD_BYTES):
        raise HeadwayError(f"{file} is a sender's trace of version {version}, not {_VERSION}")
    return NativeTrace(epoch_ns, _rows(content))


def to_parquet(file: Path) -> Path:
    """Write a trace's rows to a Parquet file beside it.

    Raises:
        HeadwayError: the file is no such trace, or one of another version.
    """
    target = file.with_suffix(".parquet")
    read_native_trace(file).rows.write_parquet(target)
    return target


def _rows(content: bytes) -> pl.DataFrame:
    import numpy as np
    import polars as pl

    count = (len(content) - _HEADER.size) // _RECORD_BYTES
    records = np.frombuffer(content, np.dtype(list(_FIELDS)), count, _HEADER.size)
    columns = {name: records[name] for name, _ in _FIELDS if name != "unused"}
    changes = pl.col("kind") == _KIND_STATE

    def known(name: str) -> pl.Expr:
        """What the last metrics told, null if there was no such number."""
        expression = pl.when(~changes).then(pl.col(name)).forward_fill()
        return pl.when(expression != _NONE).then(expression).alias(name)

    def state(name: str) -> pl.Expr:
        named = pl.col(name).replace_strict(dict(enumerate(STATES)), return_dtype=pl.String)
        return pl.when(changes).then(named)

    return pl.DataFrame(columns).select(
        (pl.col("time_ns") / 1e9).round(9).alias("at_s"),
        state("to").forward_fill().alias("state"),
        state("from").alias("from_state"),
        *[known(name) for name in _NUMBERS],
        *[(known(f"{name}_ns") / 1e6).round(6).alias(f"{name}_ms") for name in _TIMES],
    )
