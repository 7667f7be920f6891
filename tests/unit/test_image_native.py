"""Headway's own programs: what they are made from, and how they are compiled."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from headway.errors import HeadwayError
from headway.image import SilentProgress
from headway.image.keys import NativeInputs
from headway.image.native import _write_sources, build_native
from headway.image.process import Runner
from tests.made_toolchain import of_this_machine

_MANIFEST = """\
[workspace]
members = ["hello"]

[workspace.package]
version = "0.1.0"
"""
# Stands in for cargo: "compiles" by writing what it was asked and with which flags.
_CARGO = """#!/bin/sh
case "$1" in
fetch) {fetch} ;;
build)
    {build}
    /bin/mkdir -p "$CARGO_TARGET_DIR/x86_64-unknown-linux-gnu/release"
    echo '    Building [=====>    ] 1/2: lib'
    for program in one two; do
        file=$CARGO_TARGET_DIR/x86_64-unknown-linux-gnu/release/$program
        echo "$CARGO_ENCODED_RUSTFLAGS $*" > "$file"
        /bin/chmod +x "$file"
    done ;;
esac
"""


def put(directory: Path, name: str, text: str) -> None:
    (directory / name).write_text(text)
    (directory / name).chmod(0o755)


def put_rust(directory: Path, *, fetch: str = ":", build: str = ":") -> None:
    put(directory, "cargo", _CARGO.format(fetch=fetch, build=build))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    directory = tmp_path / "native"
    (directory / "hello/src").mkdir(parents=True)
    (directory / "Cargo.toml").write_text(_MANIFEST)
    (directory / "Cargo.lock").write_text("version = 4\n")
    (directory / "hello/src/main.rs").write_text("fn main() {}\n")
    return directory


class Recorded(SilentProgress):
    def __init__(self) -> None:
        self.fractions: list[float] = []

    def advance(self, fraction: float) -> None:
        self.fractions.append(fraction)


def test_pages_and_policies_compile_nothing_again(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "Cargo.toml").write_text("[workspace.package]\n")
    (tmp_path / "src" / "lib.rs").write_text("")
    before = NativeInputs.of_workspace(tmp_path)
    for name in ("README.md", "src/README.md", "deny.toml"):
        (tmp_path / name).write_text("for people")
    assert NativeInputs.of_workspace(tmp_path) == before
    (tmp_path / "src" / "more.rs").write_text("")
    assert NativeInputs.of_workspace(tmp_path) != before


# What the programs are made from


def test_inputs_are_read_from_the_workspace(workspace: Path) -> None:
    inputs = NativeInputs.of_workspace(workspace)
    assert inputs.version == f"0.1.0+{inputs.key[:8]}"
    assert [name for name, _ in inputs.sources] == ["Cargo.lock", "Cargo.toml", "hello/src/main.rs"]
    assert inputs.programs == ("headway-hello",)


@pytest.mark.parametrize(
    "name", ["Cargo.toml", "Cargo.lock", "hello/src/main.rs", "hello/table.txt"]
)
def test_the_key_follows_every_source(workspace: Path, name: str) -> None:
    before = NativeInputs.of_workspace(workspace).key
    with (workspace / name).open("a") as file:
        file.write("\n")
    assert NativeInputs.of_workspace(workspace).key != before


@pytest.mark.parametrize("name", ["target/debug/one", "hello/.main.rs.swp", ".cargo/x"])
def test_the_key_does_not_follow_what_is_no_source(workspace: Path, name: str) -> None:
    before = NativeInputs.of_workspace(workspace).key
    (workspace / name).parent.mkdir(parents=True, exist_ok=True)
    (workspace / name).touch()
    assert NativeInputs.of_workspace(workspace).key == before


def test_no_workspace_is_said(tmp_path: Path) -> None:
    with pytest.raises(HeadwayError, match="install Headway from its source tree"):
        NativeInputs.of_workspace(tmp_path)


def test_what_is_shipped() -> None:
    inputs = NativeInputs.of_package()
    assert {"Cargo.toml", "Cargo.lock"} <= dict(inputs.sources).keys()


# Compiling them


def compiled(workspace: Path, tmp_path: Path, progress: SilentProgress) -> None:
    (tmp_path / "bin-made").mkdir(parents=True)
    build_native(
        NativeInputs.of_workspace(workspace),
        ("one", "two"),
        of_this_machine(tmp_path / "toolchain"),
        tmp_path / "cargo",
        tmp_path / "bin-made",
        Runner(tmp_path / "log"),
        progress,
    )


def test_all_programs_are_compiled_statically(
    workspace: Path, bin_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUSTFLAGS", "-Cdebuginfo=2")
    monkeypatch.setenv("CARGO_ENCODED_RUSTFLAGS", "-Cdebuginfo=2")
    monkeypatch.setenv("CARGO_HOME", str(tmp_path / "home"))
    (tmp_path / "home/registry/src/mirror-1f2e").mkdir(parents=True)
    put_rust(bin_directory)
    progress = Recorded()
    compiled(workspace, tmp_path, progress)
    assert {"one", "two"} <= {path.name for path in (tmp_path / "bin-made").iterdir()}
    program = tmp_path / "bin-made/one"
    assert program.stat().st_mode & 0o111
    linked, place, crates, command, *options = program.read_text().split()
    assert (linked, command) == ("-Ctarget-feature=+crt-static", "build")
    assert place == f"--remap-path-prefix={tmp_path}/cargo/workspace=/headway"
    assert crates == f"--remap-path-prefix={tmp_path}/home/registry/src/mirror-1f2e=/crates"
    assert {"--release", "--locked"} <= set(options)
    assert progress.fractions == [0.5]


def test_cargo_sees_what_the_key_is_of(
    workspace: Path, bin_directory: Path, tmp_path: Path
) -> None:
    put_rust(bin_directory)
    compiled(workspace, tmp_path / "first", SilentProgress())
    copy = tmp_path / "first/cargo/workspace"
    lock, main = copy / "Cargo.lock", copy / "hello/src/main.rs"
    os.utime(lock, (1, 1))
    # Another source tree may have other files that are older.
    (workspace / "hello/src/main.rs").write_text("fn main() { other() }\n")
    os.utime(workspace / "hello/src/main.rs", (1, 1))
    (workspace / "hello/src/new.rs").write_text("")
    _write_sources(NativeInputs.of_workspace(workspace).sources, copy)
    assert main.read_text() == "fn main() { other() }\n"
    assert (lock.stat().st_mtime, (copy / "hello/src/new.rs").exists()) == (1, True)
    assert main.stat().st_mtime > 1
    (workspace / "hello/src/new.rs").unlink()
    _write_sources(NativeInputs.of_workspace(workspace).sources, copy)
    assert not (copy / "hello/src/new.rs").exists()


@pytest.mark.parametrize(
    ("fetch", "said"),
    [
        (
            "echo 'warning: spurious network error (3 tries remaining): [6]'; exit 101",
            "the registry that cargo is configured with cannot be reached",
        ),
        (
            "echo 'error: cannot update the lock file because --locked was passed'; exit 101",
            "cannot update the lock file because --locked was passed",
        ),
    ],
)
def test_crates_that_cannot_be_had(
    workspace: Path, bin_directory: Path, tmp_path: Path, fetch: str, said: str
) -> None:
    put_rust(bin_directory, fetch=fetch)
    expected = f"downloading the crates of Headway's own programs failed: .*{said}"
    with pytest.raises(HeadwayError, match=expected):
        compiled(workspace, tmp_path, SilentProgress())


def test_the_compilers_words_are_passed_on(
    workspace: Path, bin_directory: Path, tmp_path: Path
) -> None:
    put_rust(bin_directory, build="echo 'error[E0308]: mismatched types'; exit 101")
    expected = r"compiling Headway's own programs failed: error\[E0308\]: mismatched types \(log:"
    with pytest.raises(HeadwayError, match=expected):
        compiled(workspace, tmp_path, SilentProgress())
