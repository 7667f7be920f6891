"""Parts of an image that come compiled: used if they are of these inputs, else compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.errors import HeadwayError
from headway.image import ImageOptions, find
from headway.image.builder import build
from headway.image.image import Layout
from headway.image.infos import INFO_FILE
from headway.image.keys import OWN_PROGRAMS
from headway.image.process import Runner
from headway.image.shipped import PACKAGE, PARTS, shipped
from headway.image.toolchain import Toolchain
from headway.image.treeown import add_own, are_shipped, compile_own, own_name
from tests.toolchain import own_toolchain


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    """Found before the cache is another one."""
    return own_toolchain()


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of an installed `headway-lab` that ships nothing yet."""
    package = tmp_path / "site" / PACKAGE
    (package / PARTS).mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))
    return package / PARTS


def ship(entry: Path, info: str, file: str) -> None:
    (entry / file).parent.mkdir(parents=True)
    (entry / file).write_text("compiled elsewhere")
    (entry / file).chmod(0o755)
    (entry / INFO_FILE).write_text(info)


def ship_all(layout: Layout, parts: Path) -> None:
    """Kernel and programs; the root tree is made already."""
    told = '"key": "k", "built": "2026-01-01T00:00:00Z"'
    kernel = (
        f'{{{told}, "version": "7.2", "package": "p", "suite": "s", "mirror": "",'
        ' "patches": [], "compiler": "gcc 12"}'
    )
    ship(parts / layout.kernel.name, kernel, "linux")
    for part in (layout.agent, layout.native):
        ship(parts / part.name, f'{{{told}, "version": "1", "programs": ["one"]}}', "bin/one")
    root = f'{{{told}, "suite": "s", "mirror": "", "asked": [], "packages": {{}}}}'
    ship(layout.root.entry, root, "tree/file")


def test_what_is_shipped_is_not_compiled(parts: Path) -> None:
    options = ImageOptions(offline=True)
    layout = Layout.of_package(options)
    ship_all(layout, parts)
    image = build(options)
    assert image == find(options)
    assert image.kernel.read_text() == "compiled elsewhere"
    assert (image.native / "one").stat().st_mode & 0o111
    assert image.kernel.parent == layout.kernel.entry
    assert build(options, layers=[OWN_PROGRAMS]).native.parent == layout.native.entry


def test_what_is_shipped_of_other_sources_is_not_used(parts: Path) -> None:
    options = ImageOptions(offline=True)
    layout = Layout.of_package(options)
    ship_all(layout, parts)
    (parts / layout.kernel.name).rename(parts / "kernel-of-other-patches")
    with pytest.raises(HeadwayError, match="the cache lacks kernel;"):
        build(options)
    assert layout.agent.info(), "the rest stays"


def test_nothing_is_shipped_without_the_package(parts: Path) -> None:
    assert shipped("kernel-0") is None
    (parts / "kernel-0").mkdir()
    assert shipped("kernel-0") == parts / "kernel-0"


def test_files_of_the_root_tree_need_no_compiler_if_they_are_shipped(
    toolchain: Toolchain, parts: Path, tmp_path: Path
) -> None:
    assert not are_shipped()
    runner, compiled, copied = Runner(tmp_path / "log"), tmp_path / "one", tmp_path / "other"
    for tree in (compiled, copied):
        tree.mkdir()
    add_own(compiled, tmp_path, toolchain, runner)
    (parts / own_name()).mkdir()
    compile_own(parts / own_name(), toolchain, runner)
    assert are_shipped()
    add_own(copied, tmp_path, None, Runner(Path("/nowhere/log")))
    for name in ("lab/init", "usr/lib/headway/random_device.so"):
        assert (compiled / name).read_bytes() == (copied / name).read_bytes()
        assert (compiled / name).stat().st_mode == (copied / name).stat().st_mode
