"""Parts of images in the cache: where each is, and whether it is there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from headway.cache import EntryDirectory
from headway.image.infos import Info, LayerInfo, RootInfo, base_of, described
from headway.image.keys import LayerInputs
from headway.overriding import override
from headway.sealed import is_whole

_InfoT = TypeVar("_InfoT", bound=Info)


@dataclass(frozen=True)
class CachedPart(Generic[_InfoT]):
    """A part of an image, in the cache or to be made there.

    Attributes:
        kind: how it is described.
        key: a hash of what it is made from.
        store: the cache.
    """

    kind: type[_InfoT]
    key: str
    store: EntryDirectory

    @property
    def name(self) -> str:
        """Name of its entry."""
        return f"{self.kind.entries}-{self.key}"

    @property
    def entry(self) -> Path:
        return self.store.entry(self.name)

    def info(self) -> _InfoT | None:
        """How it was made; None if it is not there, or not what it was when it was made."""
        found = described(self.kind, self.entry)
        return found if found and is_whole(self.entry, found.needed) else None


@dataclass(frozen=True)
class CachedLayer(CachedPart[LayerInfo]):
    """A layer on the root tree.

    Attributes:
        inputs: what it is made from.
        root: the root tree, without which no layer is there.
    """

    inputs: LayerInputs
    root: CachedPart[RootInfo]

    @override
    def info(self) -> LayerInfo | None:
        """How it was made; None if it is not there, or was made for a root tree of other packages."""
        found, root = super().info(), self.root.info()
        return found if found and root and found.base == base_of(root) else None
