"""Images in the cache: listed, described and removed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from headway.cache import PARTIAL_SUFFIX, directory_size, remove_tree
from headway.image.cached import CachedLayer
from headway.image.image import Image, Layout
from headway.image.infos import NativeInfo
from headway.image.options import ImageOptions
from headway.image.toolchain import Toolchain


@dataclass(frozen=True)
class ImageStatus:
    """What the cache holds; each part of it is looked at when it is first asked for.

    Attributes:
        layout: where the parts of the image for some options are.
    """

    layout: Layout

    @cached_property
    def image(self) -> Image | None:
        """The image for these options without layers, if it is built."""
        return self.layout.image()

    @property
    def layers(self) -> dict[str, CachedLayer]:
        """Those on its root tree, by name, there or not."""
        return self.layout.layers

    @property
    def programs(self) -> NativeInfo | None:
        """Headway's own programs; None if there is none but the agent."""
        return self.layout.native.info()

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Titles of its parts that are not there."""
        return tuple(part.kind.title for part in self.layout.missing())

    @cached_property
    def toolchain(self) -> Toolchain | None:
        """What compiles them; None if it has yet to be brought."""
        return self.layout.brought()

    @cached_property
    def size_bytes(self) -> int:
        """Size of the image's parts that are there."""
        others = self.layout.others()
        return _size(entry for entry in self.layout.entries() if entry not in others)

    @cached_property
    def other(self) -> tuple[str, ...]:
        """Names of parts that these options do not use."""
        return tuple(entry.name for entry in self.layout.others())

    @cached_property
    def other_size_bytes(self) -> int:
        """Their size."""
        return _size(self.layout.others())

    @property
    def path(self) -> Path:
        """The directory that holds all of them."""
        return self.layout.store.directory


def find(options: ImageOptions | None = None, layers: Iterable[str] = ()) -> Image | None:
    """The image for these options, if it has been built; needs no network.

    Args:
        options: where the image comes from; by default what the environment says.
        layers: names of layers that its root tree has.

    Raises:
        WrongInputError: the environment's options cannot be right.
    """
    return Layout.of_package(options or ImageOptions.from_environment()).image(layers)


def status(options: ImageOptions | None = None) -> ImageStatus:
    """What the cache holds of the image for these options, and besides it.

    Args:
        options: as for `find`.

    Raises:
        WrongInputError: as for `find`.
    """
    return ImageStatus(Layout.of_package(options or ImageOptions.from_environment()))


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


def _size(entries: Iterable[Path]) -> int:
    return sum(map(directory_size, entries))
