"""The tests that a change asks for: `make test-changed`.

A test file is asked for if it, or anything that it imports directly or through others, changed since the branch left
the base; if it names a changed file, or a directory that one is in, in one of its texts; or if it reads all of
Headway's source. Of Rust's crates, those that changed and those that depend on them are tested.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from tests.imports import REPOSITORY, ROOT, TESTS, facts, imported, modules, test_modules

_INSTRUMENTS = ROOT / "instruments"
NATIVE = REPOSITORY / "native"
USUAL_BASES = ("origin/main", "main")
_FINDER = ROOT / "modules.py"
"""Has these functions, and uses them for others only."""
_FINDS_BESIDE = ("modules_in", "import_module")
"""Functions by which a module uses all that are beside it, without their names."""
_OF_INSTRUMENTS = "instrument_modules"
"""The function by which a module uses all that instruments have of a kind, which it names."""
_FILES_OF_INSTRUMENTS = "instrument_directories"
"""Likewise, for files."""
_READS_ALL = ("tests.imports", "tests.changed")
"""Who imports these looks at every module."""
_EVERYWHERE = {"src", "tests", "headway", "unit", "lab", ""}
"""Parts of paths that say nothing of what a test looks at."""


def changed_since(base: str) -> frozenset[Path]:
    """Files that differ from where this branch left another, uncommitted and new ones among them."""
    left = _git("merge-base", base, "HEAD")[0]
    names = [
        *_git("diff", "--name-only", "--no-renames", left),
        *_git("ls-files", "-o", "--exclude-standard"),
    ]
    return frozenset(REPOSITORY / name for name in names)


def _git(*words: str) -> list[str]:
    done = subprocess.run(
        ["git", *words], cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.splitlines()


@cache
def _known() -> dict[str, Path]:
    return {**modules(), **test_modules()}


@cache
def _uses(file: Path) -> frozenset[Path]:
    """The files that a module needs at once: those it imports, with the packages that these are in."""
    known = _known()
    names = list(imported(file, known))
    found = {known[name] for name in names} | {
        known[parent] for name in names for parent in _parents(name) if parent in known
    }
    if file != _FINDER and facts(file).called & {*_FINDS_BESIDE} and file.is_relative_to(ROOT):
        found |= {*file.parent.glob("*.py")}
    if file.is_relative_to(ROOT):
        texts = facts(file).texts
        if _OF_INSTRUMENTS in facts(file).called:
            found |= {other for other in modules().values() if _kind(other) in texts - {""}}
        # Commands are loaded by their place, such as `cli.lab.execute`.
        places = (f"headway.{text.rpartition('.')[0]}" for text in texts)
        found |= {known[place] for place in places if place in known}
    return frozenset(found - {file})


def _kind(file: Path) -> str:
    """As what the core finds a module of an instrument; empty of others."""
    if not file.is_relative_to(_INSTRUMENTS):
        return ""
    return "".join(file.with_suffix("").relative_to(_INSTRUMENTS).parts[1:2])


def _parents(name: str) -> Iterator[str]:
    """The packages that a module is in, but for `headway` itself, which imports nothing until it is asked."""
    while name.count(".") > 1:
        name = name.rpartition(".")[0]
        yield name


@cache
def needs(test: Path) -> frozenset[Path]:
    """All modules that a test file needs, itself and pytest's conftest files among them.

    What conftest files import counts for tests of labs only: to others they give places, and nothing that is tested.
    """
    places = (place for place in test.parents if place.is_relative_to(TESTS))
    conftests = {place / "conftest.py" for place in places}
    conftests = {file for file in conftests if file.exists()}
    in_labs = (TESTS / "lab") in test.parents
    open_ends = [test, *(conftests if in_labs else ())]
    found = set[Path]()
    while open_ends:
        file = open_ends.pop()
        if file not in found:
            found.add(file)
            open_ends += _uses(file)
    return frozenset(found | conftests)


@cache
def _words(file: Path) -> frozenset[str]:
    """Parts of the paths that a module's texts may be."""
    return frozenset(part for text in facts(file).texts for part in text.split("/"))


def _as_modules(changed: Iterable[Path]) -> set[Path]:
    """Changed files, and for a file of data in a package the modules that may read it: those beside it, or of its kind."""
    found = set(changed)
    linked = {link.resolve(): link for link in ROOT.rglob("*") if link.is_symlink()}
    for file in [*changed, *(linked[file] for file in changed if file in linked)]:
        if file.suffix != ".py" and file.is_relative_to(ROOT):
            package = next(place for place in file.parents if (place / "__init__.py").exists())
            found |= {*package.glob("*.py")}
            found |= {
                module
                for module in modules().values()
                if _FILES_OF_INSTRUMENTS in facts(module).called
                and _kind(file) in facts(module).texts - {""}
            }
    return found


def asked_for(changed: frozenset[Path]) -> list[Path]:
    """The test files that a change asks for."""
    touched = _as_modules(changed)
    parts = {part for file in changed for part in file.relative_to(REPOSITORY).parts} - _EVERYWHERE
    return sorted(
        file for file in TESTS.rglob("test_*.py") if changed and _asks(file, touched, parts)
    )


@cache
def _named_by(test: Path) -> frozenset[str]:
    """Parts of the paths that a test file and the tests' modules that it needs may name."""
    own = (file for file in needs(test) if file.is_relative_to(TESTS))
    return frozenset(part for file in own for part in _words(file))


def _asks(test: Path, touched: set[Path], parts: set[str]) -> bool:
    needed = needs(test)
    reads_all = {test_modules()[name] for name in _READS_ALL}
    return bool(needed & touched or _named_by(test) & parts or reads_all & needed)


def crates_asked_for(changed: frozenset[Path]) -> list[str]:
    """The arguments of cargo for the crates that a change asks for; none if it asks for none."""
    inside = {file.relative_to(NATIVE).parts for file in changed if file.is_relative_to(NATIVE)}
    shared = {parts for parts in inside if len(parts) == 1 and not parts[0].endswith(".md")}
    if shared or any(parts[0].startswith(".") for parts in inside):
        return ["--workspace"]
    uses, found = crate_uses(), {parts[0] for parts in inside if len(parts) > 1}
    while more := {name for name, used in uses.items() if used & found} - found:
        found |= more
    return [word for name in sorted(found) for word in ("-p", f"headway-{name}")]


@cache
def crate_uses() -> Mapping[str, frozenset[str]]:
    """The crates of the workspace, and which of them each depends on, for its tests or without."""
    found = {}
    for file in NATIVE.glob("*/Cargo.toml"):
        manifest = tomllib.loads(file.read_text(encoding="utf-8"))
        names = {*manifest.get("dependencies", ()), *manifest.get("dev-dependencies", ())}
        found[file.parent.name] = frozenset(
            name.removeprefix("headway-") for name in names if name.startswith("headway-")
        )
    return found


def _is_commit(name: str) -> bool:
    asked = ["git", "rev-parse", "--quiet", "--verify", f"{name}^{{commit}}"]
    return subprocess.run(asked, cwd=REPOSITORY, capture_output=True, check=False).returncode == 0


def _base(asked: str) -> str:
    """The commit that the branch left, as it is asked for, or the usual one."""
    names = (asked,) if asked else USUAL_BASES
    for name in names:
        if _is_commit(name):
            return name
    raise SystemExit(
        f"make test-changed: there is no commit {' or '.join(names)}; BASE=COMMIT names one"
    )


def main(words: Sequence[str] | None = None) -> int:
    """Carry them out; the exit status is that of what failed, pytest or cargo."""
    parser = argparse.ArgumentParser(
        prog="tests.changed", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "--base", default="", help="what the branch left; origin/main if nothing is said"
    )
    parser.add_argument("--list", action="store_true", help="only name them")
    parser.add_argument("pytest", nargs="*", help="the command that carries out test files")
    options = parser.parse_args(words)
    changed = changed_since(_base(options.base))
    files = [str(file.relative_to(REPOSITORY)) for file in asked_for(changed)]
    crates = crates_asked_for(changed)
    print(
        f"{len(changed)} files changed: {len(files)} files of tests, {' '.join(crates) or 'no crates'}"
    )
    if options.list:
        print("\n".join(files))
        return 0
    status = 0
    if files:
        # Without a test among them (all in labs), pytest says so with 5.
        status = subprocess.run([*options.pytest, *files], cwd=REPOSITORY, check=False).returncode
        status = 0 if status == 5 else status
    if crates and status == 0:
        cargo = [sys.executable, "tools/cargo.py", "test", "--locked", *crates]
        status = subprocess.run(cargo, cwd=REPOSITORY, check=False).returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
