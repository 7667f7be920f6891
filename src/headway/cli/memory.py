"""Memory of commands: what they need, and what of their errors says that there was too little."""

from __future__ import annotations

import errno
import os
import re
import resource
from pathlib import Path

from headway.cli.entries import COMMANDS
from headway.cli.listed import RESULTS, STUDIES
from headway.errors import HeadwayError

TOO_LITTLE = "this machine has too little memory for that, or a limit (ulimit -v) leaves too little"
_MIB = 2**20
_REPORTING = frozenset({"run", "reproduce", "calibrate", "check", "report", "figure"})
"""Commands that draw figures."""
_LIBRARIES_BYTES, _FIGURES_BYTES = 1024 * _MIB, 1024 * _MIB
_CORE_BYTES = 64 * _MIB
"""What a thread of a pool reserves, of which libraries start one for each core (the heap of an arena, malloc(3))."""
_NEARLY = 0.85
"""What is refused may be as large as the heap of two arenas."""
_SAYINGS = (
    *("failed to map segment", "cannot allocate memory"),
    *("could not spawn thread", "can't start new thread"),
)
"""What the loader of libraries (dlopen(3)) and pools of threads say."""


def check_room(command: str) -> None:
    """Let a limit of the address space leave what a command's libraries take.

    With less some of them wait for ever, and others end the program, before anything can be said.

    Args:
        command: the command's name.

    Raises:
        HeadwayError: it does not.
    """
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    cores, needed = os.cpu_count() or 1, _LIBRARIES_BYTES
    if command in _REPORTING:
        needed, cores = needed + _FIGURES_BYTES, 2 * cores
    needed += _CORE_BYTES * cores
    listed = COMMANDS.get(command)
    if limit in range(needed) and listed and listed.part in (STUDIES, RESULTS):
        raise HeadwayError(
            f"a limit (ulimit -v) leaves {limit // _MIB:,} MiB of address space: headway {command} takes "
            f"at least {needed // _MIB:,} MiB here"
        )


def is_of_memory(error: BaseException) -> bool:
    """Whether an error comes of too little memory, whichever library raised it."""
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno == errno.ENOMEM
    return any(saying in str(error).lower() for saying in _SAYINGS) or _is_exhausted()


def _is_exhausted() -> bool:
    """Whether the process had nearly all that a limit leaves: libraries have many words for what they were refused."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    peak = re.search(r"^VmPeak:\s+(\d+) kB", status, re.MULTILINE)
    return limit >= 0 and peak is not None and int(peak[1]) * 1024 > _NEARLY * limit


def is_panic(error: BaseException) -> bool:
    """Whether a library of Rust gave up (pyo3's `PanicException`, which is no `Exception`)."""
    return type(error).__name__ == "PanicException"
