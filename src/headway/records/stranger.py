"""Results of others: nothing that is read of them leads out of their directory, or never ends."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from headway.errors import WrongInputError
from headway.foreign.files import check_plain, check_tree
from headway.foreign.names import plain

_ARTIFACTS = "artifacts"
_HOLDING_RUNS = ("runs.parquet", "records.jsonl")
"""A study that was killed has only the second, of which the first is made again."""


def check_files(directory: Path) -> None:
    """Check the tables, the journal and the manifest of a results directory.

    Raises:
        WrongInputError: one of them is a link, a pipe or a device.
    """
    if directory.is_dir():
        for entry in sorted(directory.iterdir()):
            check_plain(entry, directory)


def check_results(directory: Path) -> None:
    """Check that a directory has results, which takes a moment where reading them takes a second.

    Raises:
        WrongInputError: it has none, or something in it leads out of it.
    """
    check_files(directory)
    if any((directory / name).exists() for name in _HOLDING_RUNS):
        return
    if directory.exists():
        # Looked at only here: all kinds of files take longer to load than these checks.
        from headway.foreign.kinds.containers import RESULTS
        from headway.foreign.kinds.refusing import check_kind

        check_kind(directory, "results of Headway", RESULTS)
    raise WrongInputError("no runs.parquet; is this a results directory?", where=str(directory))


def check_runs(directory: Path, runs: Iterable[str]) -> None:
    """Check what runs left in a results directory, by the names that its records have.

    Raises:
        WrongInputError: a name leads elsewhere, or something that a run left is a link, a pipe or a device.
    """
    for run in runs:
        left = directory / _ARTIFACTS / plain(run)
        check_plain(left, directory)
        check_tree(left, directory)
