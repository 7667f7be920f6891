"""What `make test` leaves to the night: its part keeps one of every kind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.imports import REPOSITORY, TESTS
from tests.stressors import Stressor, listed

PAGE = (REPOSITORY / "docs" / "testing-nightly.md").read_text(encoding="utf-8")
MAKEFILE = (REPOSITORY / "Makefile").read_text(encoding="utf-8")


def kinds(one: Stressor) -> set[tuple[str, str, str]]:
    return {(name, one.account, outcome) for name in one.classes for outcome in one.outcomes}


def test_every_kind_of_stressor_is_tried_by_day() -> None:
    """Of every class of stress-ng's: one that passes, is skipped and fails, as root and as a user, if there is one."""
    all_kinds = set[tuple[str, str, str]]().union(*map(kinds, listed()))
    by_day = [one for one in listed() if not one.nightly]
    assert set[tuple[str, str, str]]().union(*map(kinds, by_day)) == all_kinds
    assert len(all_kinds) > 40
    # What it computes is compared, too.
    assert all(one.alike for one in by_day)


def test_the_page_tells_how_many_stressors_the_day_has() -> None:
    by_day = sum(not one.nightly for one in listed())
    assert f"{by_day} of {len(listed())} stressors" in PAGE


def nightly_files() -> set[Path]:
    marked = re.compile(r"^(?!\s*#).*\bmark\.nightly\b", re.MULTILINE)
    files = {
        file for file in TESTS.rglob("test_*.py") if marked.search(file.read_text(encoding="utf-8"))
    }
    return files - {Path(__file__)}


@pytest.mark.parametrize("file", sorted(nightly_files()), ids=lambda file: file.name)
def test_the_page_says_which_tests_the_night_has_and_why(file: Path) -> None:
    row = re.search(
        rf"^\| `{re.escape(str(file.relative_to(TESTS)))}` \|(.+)\|(.+)\|$", PAGE, re.MULTILINE
    )
    assert row, f"docs/testing-nightly.md, section 'By night': a row for {file.name}"
    assert all(len(cell.strip()) > 10 for cell in row.groups())


@pytest.mark.parametrize("directory", ["unit", "lab"])
def test_a_directory_tells_whether_tests_boot_labs(directory: str) -> None:
    """So that modules of which no test is asked for are not read."""
    marked = re.compile(
        r"^pytestmark = (\[\s*)?pytest\.mark\.lab\b|^@pytest\.mark\.lab\b", re.MULTILINE
    )
    files = [file for file in (TESTS / directory).rglob("test_*.py") if file != Path(__file__)]
    boot = {bool(marked.search(file.read_text(encoding="utf-8"))) for file in files}
    assert boot == {directory == "lab"}


def recipe(target: str) -> str:
    found = re.search(rf"^{target}:.*\n((?:\t.*\n)*)", MAKEFILE, re.MULTILINE)
    assert found, target
    return found[0]


def test_day_and_night_together_leave_nothing_out() -> None:
    assert '-m "not lab and not nightly"' in recipe("test-quick")
    assert '-m "lab and not nightly"' in recipe("test-lab")
    assert "PYTEST" in recipe("test-nightly") and " -m " not in recipe("test-nightly")
    assert "HEADWAY_FUZZ_SECONDS" in recipe("test-nightly")
