"""Chromium's races: the requests for which it began a connection of QUIC beside one of TCP, and which of both won."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headway.pages.netlog import BEGIN, read_events

_CONTROLLER = "HTTP_STREAM_JOB_CONTROLLER"
_JOB = "HTTP_STREAM_JOB"
_BOUND = "HTTP_STREAM_REQUEST_BOUND_TO_JOB"
_WAITING = "HTTP_STREAM_JOB_WAITING"
_EARLY_MS = 10
BY_RECORD = "dns_alpn_h3"
"""What Chromium calls a connection by an HTTPS record, for which it waits in any case."""


@dataclass
class StreamRace:
    """What was tried for a request.

    Attributes:
        url: of the request.
        at_ms: when it was asked for, after the epoch.
        tried: how each connection that was tried came to be known: ``main`` over TCP, ``alternative`` by Alt-Svc,
            ``dns_alpn_h3`` by an HTTPS record.
        won: which of them carried it; empty if none did.
        waits_ms: how long each of them waited for the others before it began.
    """

    url: str
    at_ms: float
    tried: list[str] = field(default_factory=list)
    won: str = ""
    waits_ms: dict[str, float] = field(default_factory=dict)

    @property
    def waited_ms(self) -> float:
        """How long the connection that carried it waited for the others, where there was a race."""
        return self.waits_ms.get(self.won, 0.0) if self.is_race else 0.0

    @property
    def is_race(self) -> bool:
        """Whether the browser knew of QUIC: what it would learn from an HTTPS record counts only if there was one."""
        return "alternative" in self.tried or self.won == BY_RECORD


def stream_races(file: Path, from_ms: float, until_ms: float) -> tuple[StreamRace, ...]:
    """What was tried for every request that was begun in a span of time, in milliseconds after the epoch.

    Chromium asks for a document a moment before its navigation starts.
    """
    races: dict[int, StreamRace] = {}
    jobs: dict[int, tuple[int, str]] = {}
    for kind, at_ms, event in _events(file):
        source, params = event["source"]["id"], event.get("params", {})
        if (
            kind == _CONTROLLER
            and from_ms - _EARLY_MS <= at_ms <= until_ms
            and not params.get("is_preconnect")
        ):
            races[source] = StreamRace(params["url"], at_ms)
        elif kind == _JOB and (race := races.get(params["source_dependency"]["id"])):
            jobs[source] = params["source_dependency"]["id"], params["type"]
            race.tried.append(params["type"])
        elif kind == _WAITING and (job := jobs.get(source)):
            waited = races[job[0]].waits_ms
            waited[job[1]] = at_ms - waited.get(job[1], 0.0) if event["phase"] != BEGIN else at_ms
        elif kind == _BOUND and (won := jobs.get(params["source_dependency"]["id"])):
            races[won[0]].won = won[1]
    return tuple(races.values())


def _events(file: Path) -> Iterator[tuple[str, float, dict[str, Any]]]:
    for kind, at_ms, event in read_events(file, (_CONTROLLER, _JOB, _WAITING, _BOUND)):
        if kind in (_WAITING, _BOUND) or event["phase"] == BEGIN:
            yield kind, at_ms, event
