"""The result of a client from outside, read as its declaration says."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headway.contract.artifact import read_text
from headway.contract.outcome import Ended
from headway.foreign.documents import json_value
from headway.programs import curl
from headway.programs.base import Flow
from headway.programs.client import answer_error, last_words
from headway.programs.measurement import Measurement
from headway.study.user_programs import ResultForm

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_SHOWN = 120


class _UnreadableError(ValueError):
    """What a client printed is not what its declaration says."""


def measured(
    name: str, reading: ResultForm, flow: Flow, directory: Path, ended: Ended
) -> Measurement:
    """Read what a client measured.

    Args:
        name: what studies call it.
        reading: where its result is, and how it is written.
        flow: what it was asked to do.
        directory: of the run, with its output.
        ended: how its process ended.
    """
    if ended.exit_status != 0 and reading.form != "curl":
        how = f"exit status {ended.exit_status}"
        return Measurement(error=f"{name}: {last_words(directory, name)} ({how})")
    suffix = {"stdout": "out", "stderr": "err"}[reading.source]
    file = directory / f"{name}.{suffix}"
    if reading.form == "curl":
        return curl.measured(file, flow, ended)
    if reading.form == "exit":
        total_s = ended.at_ns / 1e9
        return _measurement({"total": total_s}, flow, directory)
    text = read_text(file, exact=False) if file.exists() else ""
    try:
        return _measurement(_values(reading, text), flow, directory)
    except _UnreadableError as error:
        return Measurement(error=f"{name}: {error}; it printed {_end_of(text)}")


def _values(reading: ResultForm, text: str) -> dict[str, float]:
    raw = _by_regex(reading.regex, text) if reading.regex else _by_keys(reading.keys or {}, text)
    values = dict(_number(name, value) for name, value in raw.items() if value is not None)
    if "total" not in values:
        raise _UnreadableError("its result lacks the time until everything arrived")
    return values


def _by_regex(pattern: str, text: str) -> dict[str, Any]:
    """Named groups of the last place that matches."""
    matches = list(re.finditer(pattern, text, re.MULTILINE))
    if not matches:
        raise _UnreadableError(f"its result does not match {pattern!r}")
    return matches[-1].groupdict()


def _by_keys(keys: Mapping[str, str], text: str) -> dict[str, Any]:
    """Values of the last line that is a JSON object, or of all lines together if they are one."""
    document = _document(text)
    if document is None:
        raise _UnreadableError("its result is no JSON object")
    return {name: _at(document, key) for name, key in keys.items()}


def _document(text: str) -> dict[str, Any] | None:
    for line in (text, *reversed(text.splitlines())):
        try:
            document = json_value(line)
        except ValueError:
            continue
        if isinstance(document, dict):
            return document
    return None


def _at(document: Any, key: str) -> Any:
    """The value of a dotted key."""
    value = document
    for part in key.split("."):
        if not isinstance(value, dict) or part not in value:
            raise _UnreadableError(f"its result has no key {key!r}")
        value = value[part]
    return value


def _number(name: str, value: Any) -> tuple[str, float]:
    """A measured value by its name without unit, in seconds if it is a time."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise _UnreadableError(f"{name} is no number, but {_shown(str(value))}") from None
    if isinstance(value, bool) or not math.isfinite(number) or number < 0:
        raise _UnreadableError(f"{name} cannot be {value}")
    what, _, unit = name.rpartition("_")
    return (what, number * _SECONDS[unit]) if what else (name, number)


def _measurement(values: Mapping[str, float], flow: Flow, directory: Path) -> Measurement:
    """What was measured, unless it cannot be so."""
    whole = flow.body_bytes * flow.workload.requests
    size = int(values.get("bytes", whole))
    status = int(values.get("status", 200))
    if size != whole or status != 200:
        counted = size // flow.workload.requests if size == whole else size
        return Measurement(error=answer_error(status, counted, flow, directory))
    total_s = values["total"]
    late = [what for what in ("connect", "tls", "ttfb") if values.get(what, 0.0) > total_s]
    if late:
        return Measurement(
            error=f"its {late[0]} ({values[late[0]]} s) is after its end ({total_s} s)"
        )
    return Measurement(
        connect_s=values.get("connect"),
        tls_s=values.get("tls"),
        ttfb_s=values.get("ttfb"),
        total_s=total_s,
        bytes=size,
        each_s=(total_s,) * flow.workload.requests,
    )


def _end_of(text: str) -> str:
    """What was printed last, where results stand."""
    words = " ".join(text.split())
    return _shown(words) if len(words) <= _SHOWN else f"at the end {words[-_SHOWN:]!r}"


def _shown(text: str) -> str:
    words = " ".join(text.split())
    if not words:
        return "nothing"
    return repr(words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…")
