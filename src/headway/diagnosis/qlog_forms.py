"""Events of all drafts of qlog in one form: a time in milliseconds, a name with its category, and data.

Drafts 00 and 01 (draft-marx-qlog-main-schema) write an event as a list, whose fields the trace's ``event_fields``
name. From draft 02 on an event is an object. Times are relative to a reference, to the event before, or to 1970, and
in microseconds if ``time_units`` says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headway.diagnosis.qlog_text import table

Event = dict[str, Any]
_MS = {"s": 1e3, "ms": 1.0, "us": 1e-3, "µs": 1e-3, "ns": 1e-6}
_DELTA = frozenset({"delta", "delta_time", "relative_to_previous_event"})
_ABSOLUTE = frozenset({"absolute", "time"})
_TIMES = ("time", "relative_time", "delta_time")
_NAMES = ("event", "event_type", "type", "name")
_EPOCH = "1970-01-01T00:00:00.000Z"
"""What times count from if a header leaves it out."""
_RTTS = frozenset({"smoothed_rtt", "min_rtt", "latest_rtt", "rtt_variance"})


def time_format(header: Mapping[str, Any]) -> str:
    """How times of a trace's events count unless an event says it itself."""
    fields = event_fields(header)
    if fields:
        return next((name for name in _TIMES if name in fields), "")
    common = table(header.get("common_fields"))
    return str(common.get("time_format") or "absolute")


def is_delta(name: object) -> bool:
    """Whether each time of a format counts from the event before."""
    return isinstance(name, str) and name in _DELTA


def event_fields(header: Mapping[str, Any]) -> tuple[str, ...]:
    """What the parts of an event are that is a list; none of a trace whose events are objects."""
    fields = header.get("event_fields")
    return tuple(str(name).lower() for name in fields) if isinstance(fields, list) else ()


@dataclass
class EventForm:
    """How a trace writes its events, and the time of the last event that was read.

    Attributes:
        fields: what the parts of an event are that is a list.
        format: how times count.
        unit_ms: of times.
        clock_ms: of the last event.
    """

    fields: tuple[str, ...]
    format: str
    unit_ms: float
    clock_ms: float = 0.0

    @classmethod
    def of(cls, header: Mapping[str, Any]) -> EventForm:
        """How the trace of a header writes them."""
        return cls(event_fields(header), time_format(header), unit_ms(header))

    def event(self, raw: object) -> Event | None:
        """An event in the form of this module; None if it is none, or says no time.

        Its ``time`` counts as the trace says, but never from the event before; its other members are as written.
        An object is brought into the form itself, and not a copy of it.
        """
        if isinstance(raw, list):
            raw = self._named(raw)
        if not isinstance(raw, dict):
            return None
        time = self._time(raw)
        if time is None:
            return None
        delta = is_delta(raw.get("time_format", self.format))
        clock_ms = time * self.unit_ms + (self.clock_ms if delta else 0.0)
        if not math.isfinite(clock_ms):
            return None
        self.clock_ms = clock_ms
        # Decoded for this event alone: a copy of each takes longer than all else here.
        raw["name"], raw["data"], raw["time"] = _name(raw), self._data(raw), clock_ms
        return raw

    def _time(self, raw: Mapping[str, Any]) -> float | None:
        if not self.fields:
            time = raw.get("time")
            return time if type(time) is float else number(time)
        return next((number(raw[key]) for key in _TIMES if key in raw), None)

    def _named(self, parts: list[Any]) -> dict[str, Any] | None:
        return dict(zip(self.fields, parts, strict=False)) if self.fields else None

    def _data(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        data = table(raw.get("data"))
        if self.unit_ms == 1.0 or _RTTS.isdisjoint(data):
            return data
        scaled = {key: number(data[key]) for key in _RTTS if key in data}
        return {**data, **{key: v * self.unit_ms for key, v in scaled.items() if v is not None}}


def _name(raw: Mapping[str, Any]) -> str:
    name = ""
    for key in _NAMES:
        if isinstance(raw.get(key), str):
            name = raw[key]
            break
    if ":" in name or not isinstance(category := raw.get("category"), str):
        return name
    # Draft 00 had names in capital letters.
    return f"{category}:{name}".lower()


def unit_ms(header: Mapping[str, Any]) -> float:
    """The unit of a trace's times, in milliseconds."""
    for place in ("configuration", "common_fields"):
        unit = table(header.get(place)).get("time_units")
        if isinstance(unit, str) and unit.lower() in _MS:
            return _MS[unit.lower()]
    return 1.0


def epoch_s(header: Mapping[str, Any], began_ms: float) -> float | None:
    """Wall clock's time of a trace's first event, in seconds since 1970; None if the header does not say it.

    Args:
        header: of the trace.
        began_ms: the first event's time, as the trace counts.
    """
    offset = number(table(header.get("configuration")).get("time_offset")) or 0.0
    began_s = (began_ms + offset * unit_ms(header)) / 1e3
    reference = table(header.get("common_fields")).get("reference_time")
    if isinstance(reference, dict):  # from version 0.4 on
        wall_s = _seconds(reference.get("wall_clock_time") or reference.get("epoch", _EPOCH))
        return None if wall_s is None else wall_s + began_s
    if time_format(header) in _ABSOLUTE:
        return began_s
    if start := number(reference):
        return start * unit_ms(header) / 1e3 + began_s
    return None


def number(value: object) -> float | None:
    """The finite number that a value is, or that a text stands for, as older drafts write it; None of others."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        read = float(value)
    except (ValueError, OverflowError):
        return None
    return read if math.isfinite(read) else None


def _seconds(wall: object) -> float | None:
    """Seconds since 1970 of a time as RFC 3339 writes it; None if it is none, as ``unknown``."""
    try:
        return datetime.fromisoformat(str(wall).replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError):
        return None
