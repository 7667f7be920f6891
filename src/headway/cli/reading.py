"""The loading of modules that read results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headway.study.gc_pause import loading


@contextmanager
def reading(directory: Path) -> Iterator[None]:
    """Load what reads results, which takes a second: whoever names another directory need not wait for that.

    Raises:
        WrongInputError: the directory has no results.
    """
    from headway.records.stranger import check_results

    check_results(directory)
    with loading():
        yield
