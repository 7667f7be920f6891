"""An account of a qlog file: who wrote it in which version, connections, events and times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.diagnosis.qlog_events import TraceEvents, read_document, read_traces
from headway.diagnosis.qlog_text import table
from headway.foreign.shown import printable

_STATES = frozenset({"congestion_state_updated", "connection_state_updated"})
_LONGEST = 80
_COMMON = 5


@dataclass(frozen=True)
class QlogAccount:
    """Facts about a qlog file.

    Attributes:
        maker: the program, as far as the file says it; empty if it does not.
        version: of qlog, as the file says it: ``0.3``, ``draft-00``.
        form: ``JSON``, ``JSON-SEQ`` or ``NDJSON``, as the file says it; empty if it does not.
        vantages: from which ends its traces are, each once.
        connections: that it tells of: traces, or the groups in them.
        events: of all traces.
        span_s: from the first event to the last, of the longest trace.
        state_changes: events that tell of states of congestion control or of a connection.
        commonest: names of the most frequent events, and how many there are of each.
    """

    maker: str
    version: str
    form: str
    vantages: tuple[str, ...]
    connections: int
    events: int
    span_s: float
    state_changes: int
    commonest: tuple[tuple[str, int], ...]

    @property
    def kind(self) -> str:
        """What the file is."""
        version = f" {self.version}" if self.version else ""
        return f"qlog{version}{f' ({self.form})' if self.form else ''}"


def read_qlog_account(file: Path) -> QlogAccount:
    """What a qlog file holds.

    Raises:
        NotQlogError: it is none.
        OSError: it cannot be read.
    """
    counts: Counter[str] = Counter()
    connections, span_s = 0, 0.0
    vantages: dict[str, None] = {}
    document = read_document(file)
    header: dict[str, Any] = {}
    for trace in read_traces(file):
        header = header or trace.header
        if vantage := table(trace.header.get("vantage_point")).get("type"):
            vantages[_shown(vantage).lower()] = None
        groups, trace_s = _count(trace, counts)
        connections += groups
        span_s = max(span_s, trace_s)
    return QlogAccount(
        maker=_maker(document, header),
        version=_version(document),
        form=_form(document),
        vantages=tuple(vantages),
        connections=connections,
        events=counts.total(),
        span_s=round(span_s, 6),
        state_changes=sum(counts[name] for name in _STATES),
        commonest=tuple(counts.most_common(_COMMON)),
    )


def _count(trace: TraceEvents, counts: Counter[str]) -> tuple[int, float]:
    """Count the events of a trace: how many connections it has, and seconds from its first to its last."""
    groups: set[str] = set()
    first_ms = last_ms = None
    for event in trace.events:
        counts[_shown(event["name"].rpartition(":")[2])] += 1
        if (group := event.get("group_id")) is not None:
            groups.add(str(group))
        time_ms = event["time"]
        first_ms = time_ms if first_ms is None else min(first_ms, time_ms)
        last_ms = time_ms if last_ms is None else max(last_ms, time_ms)
    span_ms = 0.0 if first_ms is None or last_ms is None else last_ms - first_ms
    return max(len(groups), 1), span_ms / 1e3


def _version(document: Mapping[str, Any]) -> str:
    if version := document.get("qlog_version"):
        return _shown(version)
    return "0.4" if "file_schema" in document else ""


def _form(document: Mapping[str, Any]) -> str:
    if form := document.get("qlog_format"):
        return _shown(form)
    serialization = str(document.get("serialization_format", ""))
    return "JSON-SEQ" if serialization.endswith("json-seq") else "JSON" if serialization else ""


def _maker(document: Mapping[str, Any], header: Mapping[str, Any]) -> str:
    """The program's name: makers write it where they like."""
    version = (
        table(place.get("configuration")).get("code_version") for place in (document, header)
    )
    titles = (
        document.get("title"),
        header.get("title"),
        table(header.get("vantage_point")).get("name"),
        table(header.get("common_fields")).get("software"),
    )
    parts = [
        next((choice for choice in choices if isinstance(choice, str) and choice), "")
        for choices in (titles, version)
    ]
    return _shown(" ".join(part for part in parts if part))


def _shown(text: object) -> str:
    return printable(str(text))[:_LONGEST]
