"""Chromium's net-log: what its QUIC connections received.

It has one event in a line. A log may be of several loads, one after the other, each with connections of its own.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from headway.contract.artifact import read_lines
from headway.pages.headofline import StreamFrame

_SESSION = "QUIC_SESSION"
_PACKET = "QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED"
_FRAME = "QUIC_SESSION_STREAM_FRAME_RECEIVED"
BEGIN = 1
"""The phase of an event that begins something."""
_SHORT_HEADER = "IETF_QUIC_SHORT_HEADER_PACKET"
_LOGS_KEPT = 4
"""What was read last, since the loads of a boot share a log; as many as there may be boots at a time."""


@dataclass
class QuicSession:
    """What a connection received.

    Attributes:
        began_ms: when it began, after the epoch.
        frames: stream frames, in the order in which they came.
        numbers: of its 1-RTT packets.
    """

    began_ms: float
    frames: list[StreamFrame] = field(default_factory=list)
    numbers: set[int] = field(default_factory=set)

    @property
    def longest_gap(self) -> int:
        """The most packet numbers in a row that never came."""
        gaps = (later - earlier - 1 for earlier, later in pairwise(sorted(self.numbers)))
        return max(gaps, default=0)


@dataclass(frozen=True)
class _LogFile:
    """A log by what it is and not by its name, of which each load has another.

    Attributes:
        identity: device, inode, size and time of its last change.
        path: one of its names.
    """

    identity: tuple[int, int, int, int]
    path: Path = field(compare=False)

    @classmethod
    def at(cls, path: Path) -> _LogFile:
        """The one that has this name."""
        words = path.stat()
        return cls((words.st_dev, words.st_ino, words.st_size, words.st_mtime_ns), path)


def quic_sessions(file: Path, from_ms: float, until_ms: float) -> tuple[QuicSession, ...]:
    """The QUIC connections that were begun in a span of time, in milliseconds after the epoch."""
    every = _every_session(_LogFile.at(file))
    return tuple(session for session in every if from_ms <= session.began_ms <= until_ms)


def read_events(file: Path, kinds: Collection[str]) -> Iterator[tuple[str, float, dict[str, Any]]]:
    """Events of some kinds: which, when in milliseconds after the epoch, and what the log says."""
    lines = read_lines(file)
    constants = _constants(next(lines, b""))
    types = {constants["logEventTypes"].get(name): name for name in kinds}
    offset_ms = float(constants["timeTickOffset"])
    for kind, event in _events(lines, types):
        yield kind, offset_ms + float(event["time"]), event


@lru_cache(maxsize=_LOGS_KEPT)
def _every_session(log: _LogFile) -> tuple[QuicSession, ...]:
    sessions: dict[int, QuicSession] = {}
    for kind, at_ms, event in read_events(log.path, (_SESSION, _PACKET, _FRAME)):
        source = event["source"]["id"]
        if kind == _SESSION and event["phase"] == BEGIN:
            sessions[source] = QuicSession(at_ms)
        elif source in sessions:
            _take(sessions[source], kind, at_ms, event.get("params", {}))
    return tuple(sessions.values())


def _constants(line: bytes) -> dict[str, Any]:
    text = line.decode().strip().removesuffix(",")
    constants: dict[str, Any] = json.loads(f"{text}}}")["constants"]
    return constants


def _events(lines: Iterator[bytes], types: dict[int, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Events of these types; what an event is stands at its end, so that others need not be read."""
    for line in lines:
        _, data, number = line.rstrip().rstrip(b"]},").rpartition(b'"type":')
        if data and number.isdigit() and (kind := types.get(int(number))):
            yield kind, json.loads(line.rstrip().removesuffix(b",").removesuffix(b"]"))


def _take(session: QuicSession, kind: str, at_ms: float, params: dict[str, Any]) -> None:
    if kind == _PACKET and params.get("header_format") == _SHORT_HEADER:
        session.numbers.add(params["packet_number"])
    elif kind == _FRAME:
        where = params["stream_id"], params["offset"], params["length"]
        session.frames.append(StreamFrame(at_ms, *where))
