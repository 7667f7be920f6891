"""Outcomes of labs: what one answered, or what else its directory tells."""

from __future__ import annotations

import re
import signal
from dataclasses import replace
from pathlib import Path

from headway.contract.artifact import SpoiltError, read_text
from headway.contract.outcome import STATUSES, Outcome
from headway.contract.text import load
from headway.lab.leftovers import keep_plain_files
from headway.lab.spoilt import spoilt

_LONGEST_NS = 2**62
_OUT_OF_MEMORY = re.compile(r"Out of memory: Killed process \d+ \((?P<name>[^)]*)\)")
_CONSOLE_REASONS = (
    re.compile(r"Kernel panic - not syncing: (?P<reason>.*)"),
    re.compile(r"headway: (?P<reason>.*)"),
)


def outcome_of(file: Path, console_file: Path, status: int | None, exceeded: str | None) -> Outcome:
    """What a lab wrote, or why it could not; its directory is then safe to read and write.

    Args:
        file: that of its answer.
        console_file: that of what its kernel said, in its directory.
        status: of its process.
        exceeded: the limit at which it was ended, in words.
    """
    try:
        keep_plain_files(console_file.parent)
        console = _console(console_file)
    except SpoiltError as error:
        return _spoilt_outcome(error)
    if file.exists():
        outcome = read_outcome(file)
    elif exceeded is not None:
        outcome = Outcome("timeout", exceeded, 0, "")
    else:
        outcome = Outcome("failed", _last_words(console, status), 0, "")
    if killed := _OUT_OF_MEMORY.search(console):
        reason = f"the lab ran out of memory, and {killed['name']} was killed"
        return replace(outcome, status="failed", reason=reason)
    return outcome


def _spoilt_outcome(error: Exception) -> Outcome:
    """The outcome of a lab that left something else than one."""
    return Outcome("failed", spoilt(error), 0, "")


def read_outcome(file: Path) -> Outcome:
    """What a lab answered in a file, or that a program has written something else."""
    try:
        outcome = load(Outcome, read_text(file))
        if outcome.status in STATUSES and 0 <= outcome.duration_ns < _LONGEST_NS:
            return outcome
    except SpoiltError as error:
        return _spoilt_outcome(error)
    except (ValueError, RecursionError):
        pass
    return _spoilt_outcome(SpoiltError(file.name, "is no outcome of a lab"))


def _console(file: Path) -> str:
    try:
        return read_text(file, exact=False)
    except FileNotFoundError:
        raise SpoiltError(file.name, "is gone") from None


def _last_words(console: str, status: int | None) -> str:
    for pattern in _CONSOLE_REASONS:
        if match := pattern.search(console):
            return match["reason"].strip()
    last = console.strip().splitlines()[-1:] or ["its console is empty"]
    how = f"signal {signal.Signals(-status).name}" if status and status < 0 else f"status {status}"
    return f"the lab ended with {how}: {last[0]}"
