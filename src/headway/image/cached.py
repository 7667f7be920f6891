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

_InfoT = TypeVar("_InfoT", bound=Info, covariant=True)


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
        info_t = described(self.kind, self.entry)
        return info_t if info_t and is_whole(self.entry, info_t.needed) else None


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
        layer_info, root = super().info(), self.root.info()
        return layer_info if layer_info and root and layer_info.base == base_of(root) else None
