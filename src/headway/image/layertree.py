"""A layer on the root tree: programs, and what they need that the root tree does not have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headway.errors import counted
from headway.image.infos import TREE_DIRECTORY
from headway.image.keys import LayerInputs
from headway.image.process import Runner
from headway.image.progress import BuildProgress
from headway.image.selection import Chosen
from headway.image.unpacked import (
    DIST_PACKAGES,
    compile_python,
    open_to_everyone,
    unpack_all,
)


def build_layer(
    chosen: Sequence[Chosen],
    inputs: LayerInputs,
    root: Path,
    directory: Path,
    runner: Runner,
    progress: BuildProgress,
) -> dict[str, str]:
    """Make a layer.

    Args:
        chosen: the packages that the root tree does not have, and where they come from.
        inputs: what else it is made from.
        root: the root tree below it.
        directory: is given the layer, as ``tree``.
        runner: runs the tools.
        progress: is told how it goes.

    Returns:
        The versions of all packages in it, Debian's and wheels.

    Raises:
        HeadwayError: no space, no network, or a package that does not exist.
    """
    tree = directory / TREE_DIRECTORY
    tree.mkdir()
    size = sum(part.apt.download_bytes(part.packages) for part in chosen if part.packages)
    count = sum(len(part.packages) for part in chosen)
    if count:
        text = f"{counted(count, 'package')}, {size / 1e6:.0f} MB"
        progress.note(f"layer {inputs.name}: {text} to download")
    packages = unpack_all(chosen, inputs.wheels, directory, runner, progress)
    compile_python(root, tree, DIST_PACKAGES, runner)
    open_to_everyone(tree)
    return packages
