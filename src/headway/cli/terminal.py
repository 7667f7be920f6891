"""Consoles of the command line: results on standard output, everything else on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

output = Console(highlight=False)
notes = Console(stderr=True, highlight=False)


def complain(message: str) -> None:
    """Print one line about what went wrong."""
    notes.print(f"headway: {message}", markup=False, soft_wrap=True)


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[bool], None]]:
    """Show how far a task is; yields a function that counts one more, done well or failed."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failures]}"),
        TimeElapsedColumn(),
        TextColumn("elapsed,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    if not notes.is_terminal:
        notes.print(f"{what}: {total} to do", markup=False)
    with Progress(*columns, console=notes, transient=True) as shown:
        task = shown.add_task(what, total=total, failures="")
        failures = 0

        def count(well: bool) -> None:
            nonlocal failures
            failures += not well
            shown.update(task, advance=1, failures=f"{failures} failed" if failures else "")

        yield count
