"""Headway's own programs: the Rust toolchain found or brought, and what compiles with it."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from types import SimpleNamespace

import pytest

from headway.cache import EntryDirectory
from headway.errors import HeadwayError
from headway.image import SilentProgress, builder, rust
from headway.image.apt import PackageVersion, PrivateApt
from headway.image.image import Layout
from headway.image.keys import KernelInputs, NativeInputs, RootInputs
from headway.image.native import _write_sources, build_native
from headway.image.options import ImageOptions
from headway.image.process import Runner
from headway.image.rust import RustToolchain, bring_rust, host_suite, own_obstacle, own_version

_MANIFEST = """\
[workspace]
members = ["hello"]

[workspace.package]
version = "0.1.0"
rust-version = "1.85"
"""
_METADATA = (
    '{"packages": [{"targets": [{"name": "lib", "kind": ["lib"]},'
    ' {"name": "two", "kind": ["bin"]}, {"name": "one", "kind": ["bin"]}]}]}'
)
# Stands in for cargo: "compiles" by writing what it was asked and with which flags.
_CARGO = """#!/bin/sh
case "$1" in
--version) echo "cargo {version} (0123 2025-01-01)" ;;
fetch) {fetch} ;;
metadata) echo '{metadata}' ;;
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


def put_rust(
    directory: Path,
    cargo: str = "1.85.0",
    rustc: str = "1.85.0",
    *,
    fetch: str = ":",
    build: str = ":",
) -> None:
    script = _CARGO.format(version=cargo, metadata=_METADATA, fetch=fetch, build=build)
    put(directory, "cargo", script)
    put(directory, "rustc", f'#!/bin/sh\necho "rustc {rustc} (0123 2025-01-01)"\n')


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    directory = tmp_path / "native"
    (directory / "hello/src").mkdir(parents=True)
    (directory / "Cargo.toml").write_text(_MANIFEST)
    (directory / "Cargo.lock").write_text("version = 4\n")
    (directory / "hello/src/main.rs").write_text("fn main() {}\n")
    return directory


@pytest.fixture
def layout(workspace: Path, bin_directory: Path, tmp_path: Path) -> Layout:
    return Layout(
        ImageOptions(),
        KernelInputs((), ()),
        RootInputs.of_package(),
        NativeInputs.of_workspace(workspace),
        EntryDirectory(tmp_path / "cache"),
    )


class Recorded(SilentProgress):
    def __init__(self) -> None:
        self.fractions: list[float] = []

    def advance(self, fraction: float) -> None:
        self.fractions.append(fraction)


class FakeApt(PrivateApt):
    """Offers packages without a mirror."""

    offers = (
        PackageVersion("cargo-web", "1.85.0+dfsg3-1~deb12u3", "amd64"),
        PackageVersion("libllvm19", "1:19.1.7-3~deb12u1", "amd64"),
        PackageVersion("rustc-web", "1.85.0+dfsg3-1~deb12u3", "amd64"),
    )
    names_offered = frozenset({*rust._PACKAGES, *rust._NEWER_PACKAGES})

    def update(self, advance: object) -> None:
        pass

    def names(self) -> frozenset[str]:
        return self.names_offered

    def closure(self, names: object) -> list[PackageVersion]:
        assert names == rust._NEWER_PACKAGES
        return list(self.offers)

    def download(self, packages: object, advance: object) -> list[Path]:
        return [Path(package.file_name) for package in self.offers]


# Finding a toolchain


def test_no_toolchain_in_path(layout: Layout) -> None:
    assert layout.rust() is None
    assert (
        own_obstacle(own_version(Path("/")), "1.85")
        == "no cargo and rustc in PATH; Rust 1.85 or later is needed"
    )


def test_rustc_alone_is_no_toolchain(layout: Layout, bin_directory: Path) -> None:
    put_rust(bin_directory)
    (bin_directory / "cargo").unlink()
    assert layout.rust() is None


@pytest.mark.parametrize("cargo", ["1.85.0", "1.85.1", "1.100.0"])
def test_a_toolchain_that_is_new_enough(layout: Layout, bin_directory: Path, cargo: str) -> None:
    put_rust(bin_directory, cargo, "1.85.0")
    assert layout.rust() == RustToolchain("1.85.0")


@pytest.mark.parametrize(("cargo", "rustc"), [("1.65.0", "1.85.0"), ("1.85.0", "1.84.1")])
def test_a_toolchain_that_is_too_old(
    layout: Layout, bin_directory: Path, cargo: str, rustc: str
) -> None:
    put_rust(bin_directory, cargo, rustc)
    assert layout.rust() is None
    older = min(cargo, rustc)
    assert own_obstacle(own_version(Path("/")), "1.85") == f"rustc {older} is older than 1.85"


def test_a_toolchain_that_does_not_work(layout: Layout, bin_directory: Path) -> None:
    put_rust(bin_directory)
    put(bin_directory, "rustc", "#!/bin/sh\nexit 1\n")
    assert layout.rust() is None


def test_what_was_brought_is_found_until_it_is_too_old(
    layout: Layout, workspace: Path, bin_directory: Path
) -> None:
    tree = layout.store.entry(layout.rust_name)
    tree.mkdir(parents=True)
    info = rust.BroughtRust(version="1.85.0", suite="bookworm", packages={})
    (tree / "info.json").write_text(info.model_dump_json())
    assert layout.rust() == RustToolchain("1.85.0", tree)
    put_rust(bin_directory, "1.90.0", "1.90.0")
    assert layout.rust() == RustToolchain("1.90.0")
    put_rust(bin_directory, "1.65.0", "1.63.0")
    (workspace / "Cargo.toml").write_text(_MANIFEST.replace("1.85", "1.86"))
    newer = Layout(
        layout.options,
        layout.kernel_inputs,
        layout.root_inputs,
        NativeInputs.of_workspace(workspace),
        layout.store,
    )
    assert newer.rust() is None


def test_a_toolchain_that_is_there_waits_for_no_build(
    bin_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: object) -> None:
        raise AssertionError("waits for whoever builds an image")

    put_rust(bin_directory, "1.99.0", "1.99.0")
    monkeypatch.setattr(EntryDirectory, "locked", locked)
    monkeypatch.setattr(builder, "missing", lambda _: [])
    assert builder.rust_toolchain().version == "1.99.0"
    monkeypatch.setattr(builder, "missing", lambda needed: list(needed))
    with pytest.raises(AssertionError, match="waits"):
        builder.rust_toolchain()


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


def test_the_brought_programs_come_first(bin_directory: Path, tmp_path: Path) -> None:
    put_rust(bin_directory, "1.65.0", "1.63.0")
    brought = tmp_path / "tree"
    (brought / "usr/bin").mkdir(parents=True)
    script = '#!/bin/sh\n[ "$1" = clippy ] && echo "$LD_LIBRARY_PATH"\n'
    put(brought / "usr/bin", "cargo", script)
    toolchain = RustToolchain("1.85.0", brought)
    environment = toolchain.environment(A="b")
    assert environment["PATH"].split(os.pathsep) == [str(brought / "usr/bin"), str(bin_directory)]
    assert str(brought / "usr/lib/x86_64-linux-gnu") in environment["LD_LIBRARY_PATH"]
    assert environment["A"] == "b"
    assert toolchain.has("clippy")
    assert not toolchain.has("fmt")


# Bringing one


@pytest.mark.parametrize(
    ("release", "suite"),
    [
        ({"ID": "debian", "VERSION_CODENAME": "trixie"}, "trixie"),
        ({"ID": "ubuntu", "VERSION_CODENAME": "noble"}, "bookworm"),
        ({"ID": "debian"}, "bookworm"),
    ],
)
def test_the_suite_is_one_whose_programs_run_here(
    monkeypatch: pytest.MonkeyPatch, release: dict[str, str], suite: str
) -> None:
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: release)
    assert host_suite() == suite


def test_debians_toolchain_is_unpacked(bin_directory: Path, tmp_path: Path) -> None:
    put(bin_directory, "dpkg-deb", '#!/bin/sh\necho "$2" > "$3/$2"\n')
    apt = FakeApt(tmp_path, "mirror", "bookworm", Runner(tmp_path / "log"))
    directory = tmp_path / "tree"
    directory.mkdir()
    progress = Recorded()
    made = bring_rust(apt, "1.85", directory, progress)
    assert (made.version, made.suite) == ("1.85.0", "bookworm")
    assert made.packages["libllvm19"] == "1:19.1.7-3~deb12u1"
    assert len(list(directory.iterdir())) == len(FakeApt.offers)
    assert progress.fractions[-1] == 1


def test_debians_toolchain_may_be_too_old(tmp_path: Path) -> None:
    apt = FakeApt(tmp_path, "mirror", "bookworm", Runner(tmp_path / "log"))
    expected = r"need Rust 1\.88 or later, and Debian bookworm has 1\.85\.0; install a newer one"
    with pytest.raises(HeadwayError, match=expected):
        bring_rust(apt, "1.88", tmp_path, SilentProgress())


def test_a_suite_without_the_newer_packages() -> None:
    old = SimpleNamespace(names=lambda: frozenset(rust._PACKAGES))
    assert rust._offered(old) == rust._PACKAGES  # type: ignore[arg-type]


# What the programs are made from


def test_inputs_are_read_from_the_workspace(workspace: Path) -> None:
    inputs = NativeInputs.of_workspace(workspace)
    assert inputs.needed_rust == "1.85"
    assert inputs.version == f"0.1.0+{inputs.key[:8]}"
    assert [name for name, _ in inputs.sources] == ["Cargo.lock", "Cargo.toml", "hello/src/main.rs"]


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
    assert inputs.needed_rust.count(".") == 1
    assert {"Cargo.toml", "Cargo.lock"} <= dict(inputs.sources).keys()


# Compiling them


def compiled(workspace: Path, tmp_path: Path, progress: SilentProgress) -> tuple[str, ...]:
    (tmp_path / "bin-made").mkdir(parents=True)
    return build_native(
        NativeInputs.of_workspace(workspace),
        RustToolchain("1.85.0"),
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
    assert compiled(workspace, tmp_path, progress) == ("one", "two")
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
