"""The toolchain: brought from Debian, used instead of what a machine has."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from headway.cache import EntryDirectory
from headway.errors import HeadwayError
from headway.image import ImageOptions, SilentProgress, builder, toolchain
from headway.image.apt import PackageVersion, PrivateApt
from headway.image.image import Layout
from headway.image.process import Runner
from headway.image.toolchain import Toolchain, bring_toolchain
from headway.image.trial import try_kernel
from tests.made_toolchain import of_this_machine

LIBRARIES = "usr/lib/x86_64-linux-gnu"


class FakeApt(PrivateApt):
    """Offers packages without a mirror: each has one library, and a program that names the package."""

    def update(self, advance: object) -> None:
        pass

    def closure(self, names: object) -> list[PackageVersion]:
        assert names == toolchain._PACKAGES
        return [PackageVersion(name, "1", "amd64") for name in ("gcc-12", "libc6", "libgmp10")]

    def download(self, packages: object, advance: object) -> list[Path]:
        return [self._package(package.name) for package in self.closure(toolchain._PACKAGES)]

    def _package(self, name: str) -> Path:
        tree = self.directory / name
        for file, text in {
            f"{LIBRARIES}/{name}.so.1": "",
            f"usr/bin/x86_64-linux-gnu-{name}": f'#!/bin/sh\necho {name} "$@"\n',
        }.items():
            (tree / file).parent.mkdir(parents=True)
            (tree / file).write_text(text)
            (tree / file).chmod(0o755)
        (tree / "usr/bin" / f"{name}-link").symlink_to(f"/usr/bin/x86_64-linux-gnu-{name}")
        (tree / "DEBIAN").mkdir()
        (tree / "DEBIAN/control").write_text(
            f"Package: {name}\nVersion: 1\nArchitecture: amd64\nMaintainer: n\nDescription: d\n"
        )
        file = self.directory / f"{name}.deb"
        subprocess.run(["dpkg-deb", "--build", tree, file], check=True, stdout=subprocess.DEVNULL)
        return file


@pytest.fixture
def brought(tmp_path: Path) -> Toolchain:
    (made := tmp_path / "entry").mkdir()
    apt = FakeApt(tmp_path / "apt", "mirror", "bookworm", Runner(tmp_path / "log"))
    versions = bring_toolchain(apt, made, SilentProgress())
    assert versions == {"gcc-12": "1", "libc6": "1", "libgmp10": "1"}
    return of_this_machine(made.rename(tmp_path / "elsewhere"))


def test_its_compiler_comes_first_and_looks_in_its_tree(brought: Toolchain) -> None:
    environment = brought.environment({"PATH": "/usr/bin:/bin"})
    said = subprocess.check_output(["gcc", "a.c"], env=environment, text=True)
    name, root, *words = said.split()
    assert (name, words) == ("gcc-12", ["a.c"])
    place = Path(root.removeprefix("--sysroot="))
    assert place.resolve() == brought.entry / "tree"


def test_all_libraries_are_its_own_but_the_c_library(brought: Toolchain) -> None:
    place = Path(brought.environment({"PATH": ""})["LD_LIBRARY_PATH"])
    assert {file.name for file in place.iterdir()} == {"gcc-12.so.1", "libgmp10.so.1"}
    assert all(file.is_file() for file in place.iterdir())


def test_no_link_leads_out_of_its_tree(brought: Toolchain) -> None:
    place = brought.entry / "tree/usr/bin"
    assert (place / "gcc-12-link").resolve() == (place / "x86_64-linux-gnu-gcc-12").resolve()


@pytest.mark.parametrize(
    "name", ["CC", "CFLAGS", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "CPATH"]
)
def test_nobodys_choice_of_a_compiler_changes_what_is_made(tmp_path: Path, name: str) -> None:
    base = {"PATH": "/bin", "HTTPS_PROXY": "http://proxy.test", name: "other"}
    environment = of_this_machine(tmp_path).environment(base)
    assert name not in environment
    assert environment["HTTPS_PROXY"] == base["HTTPS_PROXY"]
    assert environment["PATH"].split(os.pathsep)[-1] == "/bin"


def test_versions_as_they_are_recorded(tmp_path: Path) -> None:
    made = of_this_machine(tmp_path)
    assert (made.compiler, made.rust) == ("gcc 12.2.0-14, binutils 2.40-2", "1.85.0")


def test_whatever_is_compiled_depends_on_the_toolchain(monkeypatch: pytest.MonkeyPatch) -> None:
    def names() -> set[str]:
        layout = Layout.of_package(ImageOptions())
        return {part.name for part in (*layout.parts, layout.toolchain)}

    before = names()
    monkeypatch.setattr(toolchain, "KEY", "another")
    assert len(before & names()) == 1, "all but the name of its own entry, which was read before"


def test_a_toolchain_that_is_there_waits_for_no_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: object) -> None:
        raise AssertionError("waits for whoever builds an image")

    monkeypatch.setattr(EntryDirectory, "locked", locked)
    monkeypatch.setattr(Layout, "brought", lambda _: of_this_machine(tmp_path))
    assert builder.toolchain() == of_this_machine(tmp_path)
    monkeypatch.setattr(Layout, "brought", lambda _: None)
    with pytest.raises(AssertionError, match="waits"):
        builder.toolchain()


# The kernel that it makes


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        ("echo booting; echo 'Kernel panic - not syncing: no mm'; exit 134", "no mm"),
        ("exit 0", "its processes do not work"),
        ("exit 3", "exit status 3"),
    ],
)
def test_a_kernel_that_does_not_boot_is_found(tmp_path: Path, kernel: str, reason: str) -> None:
    (tmp_path / "bin").mkdir()
    for name, script in {"bin/gcc": ":", "linux": kernel}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    made = of_this_machine(tmp_path)
    with pytest.raises(HeadwayError) as failure:
        try_kernel(tmp_path / "linux", made, tmp_path, Runner(tmp_path / "log"), SilentProgress())
    assert made.compiler in str(failure.value)
    assert reason in str(failure.value)
    assert not (tmp_path / "trial").exists()
