"""Results of others: nothing that is read of them leads out of their directory, or never ends."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from headway.foreign.files import check_plain, check_tree
from headway.foreign.names import plain

_ARTIFACTS = "artifacts"


def check_files(directory: Path) -> None:
    """Check the tables, the journal and the manifest of a results directory.

    Raises:
        WrongInputError: one of them is a link, a pipe or a device.
    """
    if directory.is_dir():
        for one in sorted(directory.iterdir()):
            check_plain(one, directory)


def check_runs(directory: Path, runs: Iterable[str]) -> None:
    """Check what runs left in a results directory, by the names that its records have.

    Raises:
        WrongInputError: a name leads elsewhere, or something that a run left is a link, a pipe or a device.
    """
    for run in runs:
        left = directory / _ARTIFACTS / plain(run)
        check_plain(left, directory)
        check_tree(left, directory)
