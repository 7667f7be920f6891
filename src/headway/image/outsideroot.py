"""Root trees that programs from outside have in place of the lab's: of an image, or of Debian packages."""

from __future__ import annotations

import json
import subprocess
from functools import partial
from pathlib import Path
from subprocess import PIPE

from headway.cache import cache_directory, digest, remove_tree
from headway.containers.image import read_image
from headway.containers.paths import removed
from headway.containers.unpack import add_archive, copy_tree, tree_digest, unpack
from headway.errors import HeadwayError, WrongInputError
from headway.image.apt import PrivateApt
from headway.image.infos import INFO_FILE, TREE_DIRECTORY
from headway.image.kept import kept
from headway.image.options import ImageOptions
from headway.image.prerequisites import PREREQUISITES, ensure
from headway.image.process import Runner, scrubbed_environment
from headway.image.progress import BuildProgress, SilentProgress
from headway.image.sources import debian_mirror
from headway.study.user_programs import BroughtImage, OutsideProgram

ROOTS = "roots"
"""Directory of the cache."""
USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where programs of such a tree are looked for, unless its image says otherwise."""
_KEPT = 8
_RECIPE = "1"
"""To be changed whenever other trees are made from the same image or packages."""
_MOUNT_POINTS = ("proc", "sys", "dev", "tmp", "lab")
_MERGED = ("bin", "sbin", "lib", "lib64")
# Waiting for a name server, which a lab does not have, would cost virtual time.
_OF_THE_LAB = {
    "etc/hosts": "127.0.0.1 localhost\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "etc/resolv.conf": "",
}
_IF_MISSING = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
}
_EVERYWHERE = ("coreutils", "dash")
"""Packages on which Debian's others count without saying so."""


def outside_root(program: OutsideProgram, progress: BuildProgress | None = None) -> Path:
    """The root tree of a program that has its own, made first if it is new.

    Args:
        program: the program.
        progress: is told how it goes; by default nobody is.

    Raises:
        WrongInputError: its image cannot be unpacked, or is another one by now.
        HeadwayError: its packages cannot be had, or no space is left.
    """
    if (image := program.image) is not None:
        key = f"image-{digest(_RECIPE, image.digest)}"
        fill = partial(_of_image, image, program.where)
    else:
        options = ImageOptions.from_environment(program.environment)
        wanted = tuple(sorted({*_EVERYWHERE, *program.declared.packages}))
        key = f"packages-{digest(_RECIPE, options.mirror or '', options.suite, *wanted)}"
        fill = partial(_of_packages, wanted, options, program.where, progress or SilentProgress())
    return kept(ROOTS, key, partial(_described, fill, key), _KEPT) / TREE_DIRECTORY


def package_versions(program: OutsideProgram) -> dict[str, str]:
    """Versions of all packages that the root tree of a program is made of, by name."""
    info = outside_root(program).with_name(INFO_FILE)
    texts: dict[str, str] = json.loads(info.read_bytes())["packages"]
    return texts


def _described(fill: partial[dict[str, str]], key: str, directory: Path) -> None:
    tree = directory / TREE_DIRECTORY
    tree.mkdir()
    packages = fill(directory)
    _complete(tree)
    (directory / INFO_FILE).write_text(
        json.dumps({"key": key, "packages": packages}), encoding="utf-8"
    )


def _of_image(image: BroughtImage, where: str, directory: Path) -> dict[str, str]:
    tree = directory / TREE_DIRECTORY
    try:
        if image.container:
            container_image = read_image(image.source)
            now = container_image.digest
            unpack(container_image, tree)
        else:
            copy_tree(image.source, tree)
            now = tree_digest(tree)
    except WrongInputError as error:
        raise WrongInputError(f"{image.source} {error.message}", where=where) from None
    if now != image.digest:
        raise WrongInputError(f"{image.source} has changed meanwhile; begin again", where=where)
    return {}


def _of_packages(
    wanted: tuple[str, ...],
    options: ImageOptions,
    where: str,
    progress: BuildProgress,
    directory: Path,
) -> dict[str, str]:
    tree, state = directory / TREE_DIRECTORY, directory / "apt"
    try:
        if ImageOptions.from_environment().offline:
            raise HeadwayError(
                f"nothing is downloaded (--offline), and the cache lacks {', '.join(wanted)}; a command "
                "without --offline fetches them"
            )
        runner = Runner(cache_directory() / ROOTS / "packages.log")
        ensure(PREREQUISITES, runner, progress)
        apt = PrivateApt(state, options.mirror or debian_mirror(), options.suite, runner)
        progress.step(f"reading the package list of {options.suite}")
        apt.update(progress.advance)
        packages = apt.closure(wanted)
        progress.step(f"downloading {', '.join(wanted)} and what they need")
        archives = apt.download(packages, progress.advance)
    except HeadwayError as error:
        raise HeadwayError(f"{where}: packages: {error}") from None
    for name in _MERGED:
        (tree / "usr" / name).mkdir(parents=True, exist_ok=True)
        (tree / name).symlink_to(f"usr/{name}")
    progress.step("unpacking them")
    for archive in archives:
        _unpack_package(archive, tree)
    remove_tree(state)
    return {package.name: package.version for package in packages}


def _unpack_package(archive: Path, tree: Path) -> None:
    command = ["dpkg-deb", "--fsys-tarfile", str(archive)]
    with subprocess.Popen(command, stdout=PIPE, env=scrubbed_environment()) as process:
        assert process.stdout is not None
        add_archive(process.stdout, tree, merges=True)
    if process.returncode != 0:
        raise HeadwayError(f"unpacking {archive.name} failed: dpkg-deb does not read it")


def _complete(tree: Path) -> None:
    """What a lab mounts in a tree, and the files by which names are looked up there."""
    for name in _MOUNT_POINTS:
        if not (tree / name).is_dir() or (tree / name).is_symlink():
            removed(tree / name)
            (tree / name).mkdir()
    if (tree / "etc").is_symlink() or not (tree / "etc").is_dir():
        removed(tree / "etc")
        (tree / "etc").mkdir()
    missing = {name: text for name, text in _IF_MISSING.items() if not (tree / name).exists()}
    for name, text in (_OF_THE_LAB | missing).items():
        removed(tree / name)
        (tree / name).write_text(text, encoding="utf-8")
