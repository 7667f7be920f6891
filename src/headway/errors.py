"""Errors for people, which say what is wrong, where, and what would be right; and counts in words."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

EXIT_FAILED = 1
EXIT_WRONG_INPUT = 2


class HeadwayError(Exception):
    """A failure with a message for people; ends a command with exit status 1."""

    exit_status = EXIT_FAILED


_HOST_FAILURES = frozenset(
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EROFS,
        errno.EIO,
        errno.ESTALE,
        errno.ENOMEM,
        errno.EMFILE,
        errno.ENFILE,
    }
)
"""What a machine says that is full, broken or at its limits."""


def is_of_host(error: BaseException) -> bool:
    """Whether an error says that this machine failed, whatever was read or written."""
    return isinstance(error, OSError) and error.errno in _HOST_FAILURES


def of_system(error: OSError) -> str:
    """What the system says of a file, with its name; or of whatever it was that failed."""
    names = [str(name) for name in (error.filename, error.filename2) if name is not None]
    reason = error.strerror or str(error) or type(error).__name__
    return f"{' -> '.join(names)}: {reason}" if names else f"the system refuses: {reason}"


@contextmanager
def naming(file: object) -> Iterator[None]:
    """Let errors of the system name a file: of what writes to an open one they do not.

    Args:
        file: whose name a user knows, also where another one stands for it for a moment.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise type(error)(error.errno, error.strerror, str(file)) from error


class WrongInputError(HeadwayError):
    """The user's input cannot be right; ends a command with exit status 2.

    Args:
        message: what is wrong and what would be right.
        where: the file, and within it the key, that is wrong, as ``study.toml: path.rate``.

    Attributes:
        message: as above.
        where: as above.
    """

    exit_status = EXIT_WRONG_INPUT

    def __init__(self, message: str, *, where: str | None = None) -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.message = message
        self.where = where


_VARIES = re.compile(r"(/[\w.+-]+)+|\b[0-9a-fA-F]{8,}\b|\d+")
"""What of a reason differs from run to run: paths, keys, and numbers."""
_MEANT = {
    "latency": ("rtt", "delay"),
    "ping": ("rtt",),
    "bandwidth": ("rate",),
    "datarate": ("rate",),
    "data_rate": ("rate",),
    "capacity": ("rate",),
    "connectivity": ("profile",),
    "limit": ("queue",),
    "throughput": ("rate",),
    "speed": ("rate",),
    "burst": ("loss",),
    "packet_loss": ("loss",),
    "plr": ("loss",),
    "buffer": ("queue",),
    "aqm": ("discipline",),
    "qdisc": ("discipline",),
    "runs": ("repetitions",),
    "repeat": ("repetitions",),
    "reps": ("repetitions",),
    "samples": ("repetitions",),
    "cc": ("congestion_control",),
    "iw": ("initial_window",),
    "file_size": ("size",),
    "bytes": ("size",),
    "url": ("site",),
    "version": ("protocol",),
    "o": ("out",),
    "output": ("out",),
    "directory": ("out",),
    "j": ("jobs",),
    "threads": ("jobs",),
    "workers": ("jobs",),
    "parallel": ("jobs",),
    "continue": ("resume",),
    "overwrite": ("replace",),
    "force": ("replace",),
    "experiment": ("only",),
    "n": ("repetitions",),
    "delay": ("rtt",),
    "network": ("path",),
    "link": ("path",),
    "netem": ("path",),
    "http": ("protocol",),
    "http_version": ("protocol",),
    "http1": ("h1",),
    "http/1.1": ("h1",),
    "http2": ("h2",),
    "http/2": ("h2",),
    "http3": ("h3",),
    "http/3": ("h3",),
    "chrome": ("chromium",),
    "google-chrome": ("chromium",),
    "ls": ("list",),
    "studies": ("list",),
    "programs": ("list",),
    "profiles": ("list",),
    "start": ("run",),
    "bench": ("run",),
    "lint": ("validate",),
    "test": ("validate",),
    "compare": ("check",),
    "diff": ("check",),
    "show": ("report",),
}
"""What people write elsewhere, and what it is called here: in keys and options."""


_WRITTEN = {
    "burst": ("loss", 'loss = { mean = "2 %", burst = 5 }'),
    "bdp": ("queue", 'queue = "1 BDP"'),
    "buffer_size": ("queue", 'queue = "64 kB"'),
}
"""What people write elsewhere as a key of its own: the key that has it here, and how."""


def meant(word: str, known: Sequence[str]) -> tuple[str, ...]:
    """Which known words stand here for what people write elsewhere; none if that is not told."""
    return tuple(name for name in _MEANT.get(word.lower(), ()) if name in known)


def nearest(word: str, known: Sequence[str], mark: str = "", then: str = "") -> str:
    """The end of a message about an unknown word: which known one may have been meant, if any.

    Args:
        word: as it was written.
        known: what there is.
        mark: what people write before such words.
        then: what else is said of it, such as ``known: a, b``.
    """
    hint = _hint(word, known, mark)
    if not then:
        return hint
    return f"{hint} {then[0].upper()}{then[1:]}" if hint.endswith("?") else f"{hint}; {then}"


def _hint(word: str, known: Sequence[str], mark: str) -> str:
    key, written = _WRITTEN.get(word.lower(), ("", ""))
    if key and key in known:
        return f"; write {written}"
    # Imported here because only who is wrong has to wait for it.
    from difflib import get_close_matches

    # A slip changes letters, but hardly the length; else a word's end is missing.
    small, slip = word.lower(), max(1, len(word) // 3)
    folded = {
        name.lower(): name
        for name in known
        if abs(len(name) - len(word)) <= slip or name.lower().startswith(small)
    }
    alike = get_close_matches(small, folded, n=1)
    near = meant(word, known) or [folded[name] for name in alike]
    names = " or ".join(repr(f"{mark}{name}") for name in near)
    return f"; did you mean {names}?" if names else ""


def normalised(reason: str) -> str:
    """A reason without what differs from run to run."""
    return _VARIES.sub("#", reason)


def kinds_of(reasons: Iterable[str]) -> list[tuple[str, int]]:
    """The reasons that are not alike, the most frequent first: the first of each kind, and how many there are."""
    texts: dict[str, list[str]] = {}
    for reason in reasons:
        texts.setdefault(normalised(reason), []).append(reason)
    return sorted(((alike[0], len(alike)) for alike in texts.values()), key=lambda pair: -pair[1])


def counted(count: int, noun: str) -> str:
    """Write a count with its noun: ``1 run``, ``5 runs``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
