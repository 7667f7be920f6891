"""Images in the cache: listed, described and removed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from headway.cache import PARTIAL_SUFFIX, directory_size, remove_tree
from headway.image.cached import CachedLayer
from headway.image.image import Image, Layout
from headway.image.options import ImageOptions
from headway.image.toolchain import Toolchain


@dataclass(frozen=True)
class ImageStatus:
    """What the cache holds.

    Attributes:
        image: the image for these options without layers, if it is built.
        layers: those on its root tree, by name, there or not.
        missing: titles of its parts that are not there.
        toolchain: what compiles them; None if it has yet to be brought.
        size_bytes: size of the image's parts that are there.
        other: names of parts that these options do not use.
        other_size_bytes: their size.
        path: the directory that holds all of them.
    """

    image: Image | None
    layers: dict[str, CachedLayer]
    missing: tuple[str, ...]
    toolchain: Toolchain | None
    size_bytes: int
    other: tuple[str, ...]
    other_size_bytes: int
    path: Path


def find(options: ImageOptions | None = None, layers: Iterable[str] = ()) -> Image | None:
    """The image for these options, if it has been built; needs no network.

    Args:
        options: where the image comes from; by default what the environment says.
        layers: names of layers that its root tree has.

    Raises:
        WrongInputError: the environment's options cannot be right.
    """
    return Layout.of_package(options or ImageOptions.from_environment()).image(layers)


def lacking(names: Iterable[str], options: ImageOptions | None = None) -> tuple[str, ...]:
    """Those of these layers that the cache does not have, by name, sorted.

    Args:
        names: of layers.
        options: as for `find`.

    Raises:
        WrongInputError: as for `find`.
    """
    wanted = sorted(names)
    if not wanted:
        return ()
    layers = Layout.of_package(options or ImageOptions.from_environment()).layers
    return tuple(name for name in wanted if layers[name].info() is None)


def status(options: ImageOptions | None = None) -> ImageStatus:
    """What the cache holds of the image for these options, and besides it.

    Args:
        options: as for `find`.

    Raises:
        WrongInputError: as for `find`.
    """
    layout = Layout.of_package(options or ImageOptions.from_environment())
    others = layout.others()
    own = [entry for entry in layout.entries() if entry not in others]
    return ImageStatus(
        image=layout.image(),
        layers=layout.layers,
        missing=tuple(part.kind.title for part in layout.missing()),
        toolchain=layout.brought(),
        size_bytes=sum(directory_size(entry) for entry in own),
        other=tuple(entry.name for entry in others),
        other_size_bytes=sum(directory_size(entry) for entry in others),
        path=layout.store.directory,
    )


def remove(options: ImageOptions | None = None, *, only_others: bool = False) -> int:
    """Remove images, and what compiles them, from the cache; waits for a build to end first.

    No lab may be running from what is removed.

    Args:
        options: as for `find`.
        only_others: keep the image for these options.

    Returns:
        Bytes that were freed.

    Raises:
        HeadwayError: the cache cannot be written to.
        WrongInputError: as for `find`.
    """
    layout = Layout.of_package(options or ImageOptions.from_environment())
    if not layout.store.directory.is_dir():
        return 0
    from headway.image.composed import forget_composed

    freed = 0
    with layout.store.locked():
        forget_composed()
        for entry in layout.others() if only_others else layout.entries():
            freed += directory_size(entry)
            # An entry is there completely or not at all, also while it goes.
            going = entry.rename(entry.with_name(entry.name + PARTIAL_SUFFIX))
            remove_tree(going)
    return freed
