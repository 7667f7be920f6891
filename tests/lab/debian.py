"""Debian packages that only tests need: unpacked beside the image, for labs as an extra."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.cache import EntryDirectory, cache_directory, remove_tree
from headway.errors import HeadwayError
from headway.image import Image
from headway.image.apt import PrivateApt
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
    store = EntryDirectory(cache_directory() / "tests")
    name = f"{package}-{image.key}"
    if store.entry(name).is_dir():
        return store.entry(name)
    with store.locked() as lock:
        if store.entry(name).is_dir():
            return store.entry(name)
        runner = Runner(store.directory / "logs" / f"{name}.log", lock)
        root = image.info.root
        apt = PrivateApt(store.entry("apt"), root.mirror, root.suite, runner, left_out)
        try:
            return store.make(name, lambda directory: _unpack(package, image, apt, directory))
        except HeadwayError as error:
            pytest.skip(f"{package} cannot be had: {error}")
        finally:
            remove_tree(apt.directory)


def _unpack(package: str, image: Image, apt: PrivateApt, directory: Path) -> None:
    apt.update(lambda _: None)
    lacking = [one for one in apt.closure([package]) if one.name not in image.info.packages]
    for archive in apt.download(lacking, lambda _: None):
        apt.runner.run(
            ["dpkg-deb", "--extract", archive, directory],
            purpose=f"unpacking {archive.name}",
            environment=scrubbed_environment(),
        )
