"""The guest's root tree: Debian packages, unpacked but not installed, and what completes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headway.image.infos import TREE_DIRECTORY
from headway.image.keys import RootInputs
from headway.image.process import Runner
from headway.image.progress import BuildProgress
from headway.image.selection import Chosen
from headway.image.toolchain import Toolchain
from headway.image.treeown import add_own
from headway.image.treeprogram import python_version
from headway.image.unpacked import (
    DIST_PACKAGES,
    cache_libraries,
    compile_python,
    open_to_everyone,
    unpack_all,
)

_MOUNT_POINTS = (
    "proc",
    "sys",
    "dev",
    "run",
    "tmp",
    "overlay",
    "lab/code",
    "lab/extras",
    "lab/native",
    "lab/run",
    "lab/www",
    "var/log/nginx",
)
# Names that Debian leaves to update-alternatives.
_ALTERNATIVES = {"usr/bin/awk": "usr/bin/mawk", "usr/bin/which": "usr/bin/which.debianutils"}
_FILES = {
    "etc/passwd": (
        "root:x:0:0:root:/root:/bin/bash\n"
        "www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
    ),
    "etc/group": "root:x:0:\ntty:x:5:\nwww-data:x:33:\nnogroup:x:65534:\n",
    "etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "etc/hostname": "lab\n",
    # A lab has no name server, and waiting for one would cost virtual time.
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\nservices: files\n",
    "etc/resolv.conf": "",
    "etc/host.conf": "multi on\n",
    "etc/fstab": "",
    "etc/machine-id": "00000000000000000000000000001ab0\n",
    "root/.bashrc": "PS1='\\u@\\h:\\w\\$ '\n",
}


def build_root(
    chosen: Sequence[Chosen],
    inputs: RootInputs,
    toolchain: Toolchain | None,
    directory: Path,
    runner: Runner,
    progress: BuildProgress,
) -> dict[str, str]:
    """Make a root tree.

    Everything in it belongs to the user who makes it and is readable by everyone.

    Args:
        chosen: the packages, and where they come from.
        inputs: what else it is made from.
        toolchain: what compiles Headway's own files in it; None if they were shipped.
        directory: is given the tree, as ``tree``.
        runner: runs the tools.
        progress: is told how it goes.

    Returns:
        The versions of all packages in the tree, Debian's and wheels.

    Raises:
        HeadwayError: no space, no network, or a package that does not exist.
    """
    tree = directory / TREE_DIRECTORY
    tree.mkdir()
    _skeleton(tree)
    packages = unpack_all(chosen, inputs.wheels, directory, runner, progress)
    progress.step("completing the root tree")
    _complete(tree)
    add_own(tree, directory, toolchain, runner)
    cache_libraries(tree, runner)
    for library in (f"usr/lib/python{python_version(tree)}", DIST_PACKAGES):
        compile_python(tree, tree, library, runner)
    open_to_everyone(tree)
    return packages


def _skeleton(tree: Path) -> None:
    for name in _MOUNT_POINTS:
        (tree / name).mkdir(parents=True, exist_ok=True)
    (tree / "var").mkdir(exist_ok=True)
    (tree / "var/run").symlink_to("../run")
    (tree / "var/lock").symlink_to("../run")


def _complete(tree: Path) -> None:
    """What the packages' maintainer scripts would have done, and what a lab needs."""
    # Loading it takes a while, and of all commands only a build needs it.
    from headway.image import pki

    for name, content in _FILES.items():
        _write(tree / name, content.encode())
    pki.write_pki(tree / "lab/pki")
    for name, chosen in _ALTERNATIVES.items():
        if (tree / chosen).exists() and not (tree / name).is_symlink():
            (tree / name).symlink_to(Path(chosen).name)
    # Programs trust the lab's authority, and spend no time on loading a hundred others.
    authority = (tree / "lab/pki" / pki.CA_FILE).read_bytes()
    _write(tree / "etc/ssl/certs/ca-certificates.crt", authority)
    for name in ("usr/lib/ssl/cert.pem", "etc/ssl/cert.pem"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).unlink(missing_ok=True)
        (tree / name).symlink_to("/etc/ssl/certs/ca-certificates.crt")


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    file.write_bytes(content)
