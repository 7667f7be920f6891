"""Debian packages that only tests need: unpacked beside the image, for labs as an extra, or into a root tree of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from headway.cache import EntryDirectory, cache_directory, remove_tree
from headway.errors import HeadwayError
from headway.image import Image
from headway.image.apt import PackageVersion, PrivateApt
from headway.image.process import Runner, scrubbed_environment

LIBRARIES = "usr/lib/x86_64-linux-gnu"


def unpacked(package: str, image: Image, left_out: tuple[str, ...] = ()) -> Path:
    """A package of the image's suite, and what it depends on and the image lacks.

    It is downloaded once for each image; the test is skipped if it cannot be.

    Args:
        package: its name.
        image: whose labs are to have it.
        left_out: packages that are not wanted, though others depend on them.

    Returns:
        The directory with ``usr`` and the rest.
    """

    def is_lacking(offered: PackageVersion) -> bool:
        return offered.name not in image.info.packages

    return _kept(f"{package}-{image.key}", (package,), image, left_out, is_lacking)


def tree_with(packages: tuple[str, ...], image: Image) -> Path:
    """A copy of the image's root tree with more packages of its suite, as `unpacked`.

    Packages that the suite has in another version by now are renewed, too: those that a test brings and those that it
    looks at belong together.
    """

    def is_lacking(offered: PackageVersion) -> bool:
        return image.info.packages.get(offered.name) != offered.version

    name = "-".join((*packages, "tree", image.key))
    return _kept(name, packages, image, (), is_lacking, image.root)


def _kept(
    name: str,
    packages: tuple[str, ...],
    image: Image,
    left_out: tuple[str, ...],
    is_lacking: Callable[[PackageVersion], bool],
    base: Path | None = None,
) -> Path:
    """The directory of packages, made first if it is new; begun as a copy of another one, if there is one."""
    store = EntryDirectory(cache_directory() / "tests")
    if store.entry(name).is_dir():
        return store.entry(name)
    with store.locked() as lock:
        if store.entry(name).is_dir():
            return store.entry(name)
        runner = Runner(store.directory / "logs" / f"{name}.log", lock)
        root = image.info.root
        apt = PrivateApt(store.entry("apt"), root.mirror, root.suite, runner, left_out)
        try:
            return store.make(name, partial(_fill, apt, packages, is_lacking, base))
        except HeadwayError as error:
            pytest.skip(f"{', '.join(packages)} cannot be had: {error}")
        finally:
            remove_tree(apt.directory)


def _fill(
    apt: PrivateApt,
    packages: Sequence[str],
    is_lacking: Callable[[PackageVersion], bool],
    base: Path | None,
    directory: Path,
) -> None:
    apt.update(lambda _: None)
    lacking = [offered for offered in apt.closure(packages) if is_lacking(offered)]
    archives = apt.download(lacking, lambda _: None)
    if base:
        shutil.copytree(base, directory, symlinks=True, dirs_exist_ok=True)
    for archive in archives:
        apt.runner.run(
            ["dpkg-deb", "--extract", archive, directory],
            purpose=f"unpacking {archive.name}",
            environment=scrubbed_environment(),
        )
