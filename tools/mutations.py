"""Strength of the unit tests: how many mutations of Headway's source they catch, of a number that a seed draws.

    python -m tools.mutations [--seed 66] [--number 40] [--only 3 17] [--list] [--csv FILE]

A mutation is one change of one line's syntax (`tools/syntax_changes.py`). Mutations are put in place one at a time, in
the files of this work tree, which have to be as committed, and taken away again. Each is tried by the unit tests that
`make test-changed` chooses for its module: the closest first, to the first failure. In the end these failures are tried
without mutations, where all of them have to pass. `HOME` is an empty directory: no mutation meets the user's cache.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from tests.changed import asked_for, needs
from tests.imports import REPOSITORY, ROOT, TESTS, imported, modules
from tools.syntax_changes import Mutation, draw

LIMIT_S = 600.0
"""For all tests of a mutation."""
_CAUGHT = (1, 2, 3, 4)
"""Pytest's status if a test fails, a test file or a conftest file does not load, or pytest itself breaks."""
_COLUMNS = ("number", "place", "kind", "before", "after", "result", "test")


def tests_of(file: Path) -> tuple[list[Path], list[Path]]:
    """The unit tests of a module: those that import it or have its name, and all others that its change asks for."""
    name = next(name for name, path in modules().items() if path == file)
    asked = [test for test in asked_for(frozenset({file})) if test.is_relative_to(TESTS / "unit")]
    imports = {test for test in asked if name in imported(test, modules())}
    close = {test for test in asked if test in imports or file.stem in test.stem}
    return (
        sorted(close, key=lambda test: (test not in imports, test)),
        sorted({*asked} - close, key=lambda test: (file not in needs(test), test)),
    )


@contextmanager
def in_place(mutation: Mutation) -> Iterator[None]:
    """A mutation in its file; afterwards the file is as it was, with its time, by which compiled modules are known."""
    source, status = mutation.file.read_bytes(), mutation.file.stat()
    try:
        mutation.file.write_bytes(mutation.applied())
        yield
    finally:
        mutation.file.write_bytes(source)
        os.utime(mutation.file, ns=(status.st_atime_ns, status.st_mtime_ns))


def pytest_ends(tests: Sequence[str], until: float) -> tuple[int | None, str]:
    """Pytest's status, None if time ran out, and the first test that failed."""
    marks = ("-m", "not lab and not nightly", "-p", "no:cacheprovider")
    words = (sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "-n", "2", *marks, *tests)
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryFile("w+") as output:
        environment = {**os.environ, "HOME": home}
        running = subprocess.Popen(
            words,
            cwd=REPOSITORY,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status: int | None = running.wait(max(1.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            status = None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            running.wait()
        output.seek(0)
        failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output.read(), re.MULTILINE)
    return status, failed[1] if failed else ""


def tried(mutation: Mutation) -> tuple[str, str]:
    """What became of a mutation, and the test that failed."""
    stages, until = tests_of(mutation.file), time.monotonic() + LIMIT_S
    with in_place(mutation):
        for tests in filter(None, stages):
            status, failed = pytest_ends([str(test) for test in tests], until)
            if status is None:
                return "out of time", ""
            if status in _CAUGHT:
                return "caught", failed
    return "survived", ""


def _clean() -> None:
    """Refuses a work tree that is not as committed, also after tests have left something."""
    listed = ("git", "status", "--porcelain")
    status = subprocess.run(listed, cwd=REPOSITORY, check=True, capture_output=True, text=True)
    if status.stdout:
        raise SystemExit(f"tools.mutations: commit or remove first:\n{status.stdout}")


def _stopped(*_: object) -> NoReturn:
    raise SystemExit("tools.mutations: stopped")


def _row(number: int, mutation: Mutation, *, only_listed: bool) -> tuple[str, ...]:
    """A row of the table, printed, too."""
    place = f"{mutation.file.relative_to(ROOT)}:{mutation.line}"
    before, begun = mutation.before(), time.monotonic()
    print(f"{number} {place} {mutation.kind}\n    {before}\n    {mutation.text}", flush=True)
    result, failed = ("", "") if only_listed else tried(mutation)
    if result:
        print(f"    {result} after {time.monotonic() - begun:.0f} s {failed}", flush=True)
        _clean()
    return str(number), place, mutation.kind, before, mutation.text, result, failed


def main(words: Sequence[str] | None = None) -> int:
    """Draw them, try them, and say what became of each; the exit status is 1 if a test fails without them, too."""
    summary = (__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(prog="tools.mutations", description=summary)
    parser.add_argument("--seed", type=int, default=66)
    parser.add_argument("--number", type=int, default=40, help="how many are drawn")
    parser.add_argument("--only", type=int, nargs="+", help="numbers of those to try")
    parser.add_argument("--list", action="store_true", help="only show them")
    parser.add_argument("--csv", type=Path, help="a file for the table")
    options = parser.parse_args(words)
    signal.signal(signal.SIGTERM, _stopped)
    _clean()
    drawn = enumerate(draw(sorted(ROOT.rglob("*.py")), options.seed, options.number), 1)
    rows = [
        _row(number, mutation, only_listed=options.list)
        for number, mutation in drawn
        if number in (options.only or [number])
    ]
    if options.csv:
        with options.csv.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([_COLUMNS, *rows])
    failures = sorted({row[-1] for row in rows} - {""})
    status, failed = pytest_ends(failures, time.monotonic() + LIMIT_S) if failures else (0, "")
    print(f"without mutations: {failed or 'all pass'} (status {status})" if failures else "")
    return int(status != 0)


if __name__ == "__main__":
    sys.exit(main())
