"""The qlog files of a run: read, and reduced to one small file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headway.contract.names import QLOG_DIRECTORY
from headway.diagnosis.document import Document
from headway.diagnosis.qlog_events import read_traces
from headway.diagnosis.qlog_trace import QuicPoint, QuicTrace, StateChange, is_useful, reduce_trace
from headway.errors import HeadwayError

REDUCED_FILE = "qlog.json"
"""In a run's directory: what the files were reduced to."""


@dataclass(frozen=True)
class _Trace:
    """A trace, its points by columns, which takes a third of the room."""

    host: str
    vantage: str
    epoch_s: float | None
    first_sent_s: float | None
    points: dict[str, tuple[bool | int | float | str | None, ...]]
    states: tuple[StateChange, ...] = ()

    @classmethod
    def of(cls, trace: QuicTrace) -> _Trace:
        """Of the same by points."""
        columns = zip(*trace.points, strict=True)
        return cls(**{**vars(trace), "points": dict(zip(QuicPoint._fields, columns, strict=False))})

    @property
    def trace(self) -> QuicTrace:
        """The same by points."""
        columns = [self.points.get(name, ()) for name in QuicPoint._fields]
        points = tuple(QuicPoint._make(values) for values in zip(*columns, strict=True))
        return QuicTrace(**{**vars(self), "points": points})


@dataclass(frozen=True)
class _Reduced:
    traces: tuple[_Trace, ...]


_REDUCED = Document(_Reduced, REDUCED_FILE, once="traces")


def read_qlog(file: Path, host: str) -> list[QuicTrace]:
    """Reduce a file; it may be long, and cut short at its end.

    Raises:
        HeadwayError: the file is not qlog.
    """
    traces = read_traces(file, is_useful)
    return [connection for trace in traces for connection in reduce_trace(trace, host)]


def compact_qlog(run_directory: Path, *, keep: bool = False) -> None:
    """Reduce the qlog files of a run to one small file, and delete them unless they are to be kept.

    A file that is not qlog stays; there is no reduced file if there was nothing to reduce.
    """
    reduced = _reduce(run_directory)
    if not reduced:
        return
    traces = (trace for quic_traces in reduced.values() for trace in quic_traces)
    _REDUCED.save(run_directory, _Reduced(tuple(map(_Trace.of, traces))))
    if not keep:
        for file in reduced:
            file.unlink()


def read_quic_traces(run_directory: Path) -> list[QuicTrace]:
    """The connections of a run that were logged, from the reduced file or else the original ones."""
    try:
        return [trace.trace for trace in _REDUCED.load(run_directory).traces]
    except FileNotFoundError:
        pass
    return [trace for quic_traces in _reduce(run_directory).values() for trace in quic_traces]


def _reduce(run_directory: Path) -> dict[Path, list[QuicTrace]]:
    """The traces of every file that is qlog."""
    directory = run_directory / QLOG_DIRECTORY
    reduced = {}
    for file in sorted(directory.glob("*/**/*qlog")):
        try:
            reduced[file] = read_qlog(file, file.relative_to(directory).parts[0])
        except HeadwayError:
            continue
    return reduced
