"""The records of a run, and of those that need not be carried out because it was."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from headway.columns import Record
from headway.lab.run import Result
from headway.planning.runs import Run
from headway.records.record import make_record

_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})
"""What file systems say that have no more hard links, or none."""


def make_records(
    run: Run,
    alike: Sequence[Run],
    result: Result,
    directory: Path,
    artifacts: Callable[[str], Path],
) -> Iterator[tuple[Record, Path]]:
    """The record of a run, and of each that has its setting and its seed.

    Args:
        run: what was carried out.
        alike: the others.
        result: of the run.
        directory: what it left.
        artifacts: from a run's name to its directory, which is cleared first.

    Yields:
        Each record with its directory; the others' have the same files, as links.
    """
    yield make_record(run, result, directory), directory
    for other in alike:
        own = artifacts(other.run_id)
        shutil.rmtree(own, ignore_errors=True)
        _link_all(directory, own)
        yield make_record(other, replace(result, wall_s=0.0), own, same_as=run.run_id), own


def _link_all(source: Path, target: Path) -> None:
    """Give a directory's files another name each, in another directory; a copy if they cannot have one."""
    for place, inner, files in os.walk(source):
        own = target / Path(place).relative_to(source)
        own.mkdir(parents=True)
        links = [name for name in inner if (Path(place) / name).is_symlink()]
        for name in (*files, *links):
            _link(Path(place) / name, own / name)


def _link(file: Path, name: Path) -> None:
    try:
        os.link(file, name)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        shutil.copy2(file, name, follow_symlinks=False)
