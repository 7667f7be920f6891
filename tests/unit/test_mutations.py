"""Mutations of source: which there are, and that files are afterwards as they were."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.imports import ROOT
from tools import mutations
from tools.syntax_changes import draw, mutations_of

SOURCE = '''"""Mean of 2 numbers."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    LIMIT = 3


@dataclass(frozen=True)
class Pair:
    size: Annotated[int, 4] = 5


def mean(first: float, *others: float, exact=True) -> Literal[6]:
    """The mean."""
    if not others and first < 7:
        return first
    print(f"é {first:8} {9 - first}", "a" + "b" / first)
    total = sum(others, first) + (first * scale(first, *others, 1))
    return [total for é in others if é is first] or None
'''


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "mean.py"
    file.write_text(SOURCE, encoding="utf-8")
    return file


def changed(file: Path) -> set[tuple[str, str, str]]:
    return {
        (mutation.kind, mutation.before(), mutation.text.strip("()"))
        for mutation in mutations_of(file)
    }


def test_each_part_that_does_something_is_changed_and_nothing_else(source: Path) -> None:
    kinds = changed(source)
    assert {text for kind, text, _ in kinds if kind == "number"} == {"5", "7", "1"}
    assert ("number", "5", "6") in kinds
    assert {text for kind, text, _ in kinds if kind == "True, False"} == {"True"}
    assert {(before, after) for kind, before, after in kinds if kind == "arithmetic"} == {
        (
            "sum(others, first) + (first * scale(first, *others, 1))",
            "sum(others, first) - first * scale(first, *others, 1",
        ),
        ("first * scale(first, *others, 1)", "first / scale(first, *others, 1"),
    }
    assert {(before, after) for kind, before, after in kinds if kind == "comparison"} == {
        ("first < 7", "first <= 7"),
        ("é is first", "é is not first"),
    }
    assert ("not dropped", "not others", "others") in kinds
    assert ("and, or", "not others and first < 7", "not others or first < 7") in kinds
    assert ("return", "first", "None") in kinds
    assert ("arguments", "sum(others, first)", "sum(first, others") in kinds
    assert len([text for kind, text, _ in kinds if kind == "arguments"]) == 2
    assert ("condition", "é is first", "not (é is first") in kinds


def test_every_mutation_is_another_program(source: Path) -> None:
    every = list(mutations_of(source))
    assert all(mutation.changes_syntax() for mutation in every)
    assert len({mutation.applied() for mutation in every}) == len(every)


def test_a_seed_draws_the_same_of_different_lines() -> None:
    files = sorted((ROOT / "statistics").glob("*.py"))
    drawn = draw(files, 1, 12)
    assert drawn == draw(files, 1, 12) != draw(files, 2, 12)
    assert len({(mutation.file, mutation.line) for mutation in drawn}) == 12


def test_a_file_is_afterwards_as_it_was(source: Path) -> None:
    before = source.stat()
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns - 10**10))
    old = source.stat().st_mtime_ns
    mutation = next(mutations_of(source))
    with pytest.raises(KeyboardInterrupt), mutations.in_place(mutation):
        assert source.read_text(encoding="utf-8") != SOURCE
        raise KeyboardInterrupt
    assert source.read_text(encoding="utf-8") == SOURCE
    assert source.stat().st_mtime_ns == old


def test_tests_that_import_a_module_come_first() -> None:
    close, others = mutations.tests_of(ROOT / "statistics" / "interval.py")
    names = [test.name for test in close]
    assert "test_analysis_intervals.py" in names
    assert others and not {*close} & {*others}


def test_a_work_tree_that_is_not_as_committed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutations, "REPOSITORY", tmp_path)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "new").touch()
    with pytest.raises(SystemExit, match="new"):
        mutations.main(["--list"])
