"""What a machine needs: one list, which set-up and the build of an image read."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from headway.image import prerequisites
from tests.imports import REPOSITORY

LIST = "src/headway/image/machine.txt"
# Not one of them exists in the bare directory that stands for a machine.
TOOLS = ("dirname", "id", "sh", "env")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone on a machine without Python, sudo, and all that the list has."""
    (tmp_path / "bin").mkdir()
    for name in TOOLS:
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    (tmp_path / "bin/id").unlink()
    (tmp_path / "bin/id").write_text("#!/bin/sh\necho 1000\n")
    (tmp_path / "bin/id").chmod(0o755)
    clone = tmp_path / "clone"
    for name in ("tools/set-up", LIST):
        (clone / name).parent.mkdir(parents=True)
        text = (REPOSITORY / name).read_text(encoding="utf-8")
        (clone / name).write_text(
            text.replace("/usr/share/", "/nowhere/").replace("/etc/", "/nowhere/")
        )
    (clone / "tools/set-up").chmod(0o755)
    return clone


def named(clone: Path, *words: str) -> set[str]:
    """Packages that set-up names."""
    environment = {"PATH": str(clone.parent / "bin")}
    done = subprocess.run(
        ["/bin/sh", "tools/set-up", *words],
        cwd=clone,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    commands = re.findall(r"headway: .*apt-get install (.*)", done.stderr)
    assert len(commands) == 1, done.stderr
    return {word for word in commands[0].split() if not word.startswith("-")}


def packages(*purposes: str) -> set[str]:
    lines = (REPOSITORY / LIST).read_text(encoding="utf-8").splitlines()
    return {line.split()[1] for line in lines if line.split()[0] in purposes}


def test_all_that_is_missing_is_named_at_once(clone: Path) -> None:
    assert named(clone, "studies") == packages("set-up", "image")
    assert named(clone, "studies", "scripts") == packages("set-up", "image", "scripts")


def test_what_tests_need_is_named_before_the_first_of_them() -> None:
    """Even if a first study has made .venv before, which needs less."""
    printed = subprocess.run(
        ["make", "--dry-run", "--what-if=requirements.lock", "test"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert printed.index("set-up packages scripts") < printed.index("pytest")


def test_building_an_image_reads_the_same_list() -> None:
    assert {one.package for one in prerequisites.PREREQUISITES} == packages("image")
    assert {one.package for one in prerequisites.SCRIPT_PREREQUISITES} == packages("scripts")


def test_no_compiler_is_needed_of_a_machine() -> None:
    everything = packages("set-up", "image", "scripts")
    assert everything.isdisjoint({"gcc", "binutils", "make", "flex", "bison", "bc", "libc6-dev"})


def test_the_page_says_for_each_system_when_it_was_last_tried() -> None:
    tool = (REPOSITORY / "tools/from-nothing").read_text(encoding="utf-8")
    suites = re.findall(r'"(\w+)"', re.findall(r"^SUITES = (.*)$", tool, re.MULTILINE)[0])
    page = (REPOSITORY / "docs/testing-nightly.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| (root|user) \|", page, re.MULTILINE)
    assert sorted(rows) == sorted((suite, who) for suite in suites for who in ("root", "user"))
