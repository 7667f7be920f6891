"""The command that makes results again, without what does not matter to them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

import polars as pl

from headway.analysis.result_loading import StudyResults

_WITH_VALUE = frozenset({"--out", "-o", "--jobs", "--cluster"})
_AGAIN = ("seed", "repetitions", "fault")
"""Keys that a single connection is run again with."""
_ALONE = frozenset(
    ("--keep-going", "--allow-failures", "--offline", "--replace", "--resume", "--retry-failed")
)


def reproducing(command: str) -> str:
    """A command as others may give it: where results went and how many labs ran is left out.

    Args:
        command: as it was given, quoted for a shell.
    """
    # One of Python's has no options.
    is_typed = command.startswith("headway ")
    return shlex.join(_kept(shlex.split(command))) if is_typed else command


def showing_packets(results: StudyResults) -> str:
    """How to see the packets of a connection that failed, in a sentence; empty if none did, or nothing would show them.

    The same seed fails alike: it is run again with packets kept, but without a fault.
    """
    words = list(_without(shlex.split(reproducing(results.manifest.command)), _AGAIN))
    failed = results.runs.filter(
        pl.col("came_to").is_not_null(), pl.col("fault").is_null(), pl.col("clock") == "virtual"
    )
    if failed.is_empty() or words[:2] not in (["headway", "run"], ["headway", "reproduce"]):
        return ""
    first = failed.row(0, named=True)
    parts = zip(_AGAIN, (first["seed"], 1, "none"), strict=True)
    own = [word for key, value in parts for word in ("--set", f"{key}={value}")]
    again = shlex.join([*words, *own, "--keep-going"])
    name = f"{first['run_id'].rpartition('-')[0]}-001"
    return f"To see the packets of such a connection: `{again} --out DIRECTORY`, then `headway packets DIRECTORY {name}`."


def _without(words: Sequence[str], keys: Sequence[str]) -> Iterator[str]:
    """A command that does not set these keys."""
    left = iter(words)
    for word in left:
        if word != "--set":
            yield word
        elif (value := next(left, "")).partition("=")[0].strip() not in keys:
            yield from (word, value)


def _kept(words: Sequence[str]) -> Iterator[str]:
    left = iter(words)
    for word in left:
        if word in _WITH_VALUE:
            next(left, None)
        elif word not in _ALONE and word.partition("=")[0] not in _WITH_VALUE:
            yield word
