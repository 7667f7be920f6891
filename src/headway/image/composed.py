"""Root trees with layers: links to the files of each, so that a lab sees one tree."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from headway.cache import cache_directory, digest, remove_tree
from headway.image.cached import CachedPart
from headway.image.infos import INFO_FILE, TREE_DIRECTORY, LayerInfo, RootInfo
from headway.image.kept import kept
from headway.image.process import Runner
from headway.image.unpacked import STATUS_FILE, cache_libraries

TREES = "trees"
"""Directory of the cache."""
_KEPT = 16
_RECIPE = "1"
"""To be changed whenever another tree is made from the same parts."""
_LOADER_CACHE = "etc/ld.so.cache"


def composed(root: CachedPart[RootInfo], layers: Sequence[CachedPart[LayerInfo]]) -> Path:
    """The entry of the root tree that has layers, which are all there; made first if it is new.

    Where two layers have the same file, it is that of the one that was made last.

    Args:
        root: the tree below them.
        layers: in the order of their names.

    Raises:
        HeadwayError: no space is left.
    """
    base, layer_infos = root.info(), [layer.info() for layer in layers]
    infos = [info for info in layer_infos if info is not None]
    assert base is not None and len(infos) == len(layers), "all parts are there"
    by_age = sorted(zip(infos, layers, strict=True), key=lambda pair: pair[0].built)
    info = base.model_copy(
        update={
            "key": digest(base.key, *(layer.key for layer in layers)),
            "packages": dict(
                sorted(_packages(base, [layer_info for layer_info, _ in by_age]).items())
            ),
            "built": max(info.built for info in (base, *infos)),
        }
    )
    trees = [
        entry / TREE_DIRECTORY
        for entry in (root.entry, *(cached_part.entry for _, cached_part in by_age))
    ]
    key = digest(_RECIPE, *(info.model_dump_json() for info in (base, *infos)))
    return kept(TREES, key, partial(_compose, trees, info), _KEPT)


def forget_composed() -> None:
    """Remove all such trees; what they link to stays."""
    remove_tree(cache_directory() / TREES)


def _packages(base: RootInfo, layers: Sequence[LayerInfo]) -> dict[str, str]:
    texts = dict(base.packages)
    for layer in layers:
        texts |= layer.packages
    return texts


def _compose(trees: Sequence[Path], info: RootInfo, directory: Path) -> None:
    tree = directory / TREE_DIRECTORY
    tree.mkdir()
    for source in trees:
        _link(source, tree)
    status = "\n".join((path / STATUS_FILE).read_text(encoding="utf-8") for path in trees)
    for name in (STATUS_FILE, _LOADER_CACHE):
        # What is written to it would be written to the root tree's.
        (tree / name).unlink(missing_ok=True)
    (tree / STATUS_FILE).write_text(status, encoding="utf-8")
    cache_libraries(tree, Runner(cache_directory() / "image" / "logs" / "composed.log"))
    for name in (STATUS_FILE, _LOADER_CACHE):
        (tree / name).chmod(0o644)
    (directory / INFO_FILE).write_text(info.model_dump_json(indent=2) + "\n", encoding="utf-8")


def _link(source: Path, target: Path) -> None:
    """Have all that is in a tree in another one, too; directories are made anew, files are the same."""
    for parent, directories, names in os.walk(source):
        place = target / Path(parent).relative_to(source)
        if place.is_symlink():
            place.unlink()
        place.mkdir(exist_ok=True)
        place.chmod(0o755)
        for name in (*directories, *names):
            file = Path(parent, name)
            if file.is_symlink() or name in names:
                (place / name).unlink(missing_ok=True)
                _same(file, place / name)


def _same(file: Path, place: Path) -> None:
    try:
        os.link(file, place, follow_symlinks=False)
    except OSError:
        # Not every file system has links, and of one file there may be only so many.
        shutil.copy2(file, place, follow_symlinks=False)
