"""Images: what they consist of, and where in the cache that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from headway.cache import PARTIAL_SUFFIX, EntryDirectory, cache_directory, digest, remove_tree
from headway.image.cached import CachedLayer, CachedPart
from headway.image.infos import (
    INFO_FILE,
    KERNEL_FILE,
    PROGRAMS_DIRECTORY,
    TREE_DIRECTORY,
    AgentInfo,
    ImageInfo,
    KernelInfo,
    LayerInfo,
    NativeInfo,
    RootInfo,
    ToolchainInfo,
    described,
)
from headway.image.keys import (
    OWN_PROGRAMS,
    KernelInputs,
    NativeInputs,
    RootInputs,
    all_layers,
)
from headway.image.options import ImageOptions
from headway.image.toolchain import KEY, Toolchain
from headway.sealed import seal

_CARGO_DIRECTORY = "cargo"
_PROGRAMS_KEPT = 10


@dataclass(frozen=True)
class Image:
    """What a lab boots: kernel, root tree, own programs; in the cache and never changed there.

    Attributes:
        path: the directory that holds them.
        kernel: the stripped kernel, an ordinary program.
        root: the root tree.
        native: the directory of Headway's own programs: of all, or of the agent alone.
        key: a hash of everything that kernel, root tree and own programs are made from, apart from what
            Debian's mirror offered on the day of the build; `info` has that. Layers have keys of their own.
        info: how it was made.
        layers: the keys of the layers that the root tree has, by name.
        base: the key of kernel and root tree alone: studies that use no own program need no other.
    """

    path: Path
    kernel: Path
    root: Path
    native: Path
    key: str
    info: ImageInfo
    layers: Mapping[str, str] = field(default_factory=dict)
    base: str = ""

    @classmethod
    def of(
        cls,
        kernel: Path,
        root: Path,
        native: Path,
        key: str,
        layers: Mapping[str, str] | None = None,
        base: str = "",
    ) -> Image | None:
        """The image whose parts are in these entries; None if one of them is not there."""
        infos = (
            described(KernelInfo, kernel),
            described(RootInfo, root),
            described(NativeInfo, native),
        )
        if infos[0] is None or infos[1] is None or infos[2] is None:
            return None
        return cls(
            path=kernel.parent,
            kernel=kernel / KERNEL_FILE,
            root=root / TREE_DIRECTORY,
            native=native / PROGRAMS_DIRECTORY,
            key=key,
            info=ImageInfo(infos[0], infos[1], infos[2]),
            layers=layers or {},
            base=base,
        )


@dataclass(frozen=True)
class Layout:
    """Where in the cache the parts of an image are, or will be.

    Attributes:
        options: where the image comes from.
        kernel_inputs: what its kernel is made from.
        root_inputs: what its root tree is made from.
        native_inputs: what its own programs are made from.
        store: the cache.
    """

    options: ImageOptions
    kernel_inputs: KernelInputs
    root_inputs: RootInputs
    native_inputs: NativeInputs
    store: EntryDirectory

    @classmethod
    def of_package(cls, options: ImageOptions) -> Layout:
        """The layout of the image that Headway ships the inputs of."""
        store = EntryDirectory(cache_directory() / "image", seal)
        return cls(
            options,
            KernelInputs.of_package(),
            RootInputs.of_package(),
            NativeInputs.of_package(),
            store,
        )

    @cached_property
    def kernel(self) -> CachedPart[KernelInfo]:
        return CachedPart(KernelInfo, self.kernel_inputs.key(self.options), self.store)

    @cached_property
    def root(self) -> CachedPart[RootInfo]:
        """The root tree."""
        return CachedPart(RootInfo, self.root_inputs.key(self.options), self.store)

    @cached_property
    def layers(self) -> dict[str, CachedLayer]:
        """All layers on the root tree, by name."""
        return {
            name: CachedLayer(LayerInfo, inputs.key(self.options), self.store, inputs, self.root)
            for name, inputs in all_layers().items()
        }

    @cached_property
    def native(self) -> CachedPart[NativeInfo]:
        """The own programs."""
        return CachedPart(NativeInfo, self.native_inputs.key, self.store)

    @cached_property
    def agent(self) -> CachedPart[AgentInfo]:
        """The agent alone, which is compiled sooner."""
        return CachedPart(AgentInfo, self.native_inputs.key, self.store)

    @property
    def parts(self) -> tuple[CachedPart[Any], ...]:
        """All that every image consists of."""
        return (self.kernel, self.root, self.agent)

    @property
    def additions(self) -> dict[str, CachedPart[Any]]:
        """What studies add that need it, by name: the other own programs, and layers on the root tree."""
        return {OWN_PROGRAMS: self.native, **self.layers}

    @property
    def key(self) -> str:
        """The key of the image, whatever layers a study adds."""
        return digest(self.kernel.key, self.root.key, self.native.key)

    def missing(self, layers: Iterable[str] = ()) -> list[CachedPart[Any]]:
        """What is not there of an image with layers, by their names."""
        parts = (*self.parts, *(self.additions[name] for name in sorted(layers)))
        return [part for part in parts if part.info() is None]

    @cached_property
    def toolchain(self) -> CachedPart[ToolchainInfo]:
        """What compiles the kernel and the own programs, or is to be brought for that."""
        return CachedPart(ToolchainInfo, KEY, self.store)

    @property
    def cargo_directory(self) -> Path:
        """Directory of what cargo has compiled; it makes later compilations shorter."""
        return self.store.entry(_CARGO_DIRECTORY)

    def brought(self) -> Toolchain | None:
        """The toolchain; None if it is still to be brought."""
        info = self.toolchain.info()
        return Toolchain(self.toolchain.entry, info) if info else None

    def image(self, layers: Iterable[str] = ()) -> Image | None:
        """The image with layers, by their names; None if a part of it is not there."""
        names = frozenset(layers)
        if self.missing(names):
            return None
        programs = self.native if OWN_PROGRAMS in names else self.agent
        wanted = [self.layers[name] for name in sorted(names - {OWN_PROGRAMS})]
        if wanted:
            # Loading it takes a moment, and most studies have no layers.
            from headway.image.composed import composed
        root = composed(self.root, wanted) if wanted else self.root.entry
        keys = {layer.inputs.name: layer.key.rpartition("-")[2] for layer in wanted}
        base = digest(self.kernel.key, self.root.key)
        return Image.of(self.kernel.entry, root, programs.entry, self.key, keys, base)

    def entries(self) -> list[Path]:
        """All parts in the cache, for whatever inputs, and what cargo has compiled."""
        return sorted(
            entry
            for kind in (
                "kernel-*",
                "root-*",
                "layer-*",
                "native-*",
                "agent-*",
                "toolchain-*",
                "rust-*",
                _CARGO_DIRECTORY,
            )
            for entry in self.store.directory.glob(kind)
            if not entry.name.endswith(PARTIAL_SUFFIX)
        )

    def forget_old_programs(self) -> None:
        """Keep only the last own programs: of all that a developer made, labs may run from those.

        The store's lock must be held.
        """
        for kind in (NativeInfo, AgentInfo):
            made = self.store.directory.glob(f"{kind.entries}-*/{INFO_FILE}")
            newest = sorted(made, key=lambda info: info.stat().st_mtime_ns, reverse=True)
            for info in newest[_PROGRAMS_KEPT:]:
                remove_tree(info.parent)

    def others(self) -> list[Path]:
        """Those entries that are of no use for this image."""
        parts = (*self.parts, *self.additions.values())
        own = {*(part.name for part in parts), self.toolchain.name, _CARGO_DIRECTORY}
        return [entry for entry in self.entries() if entry.name not in own]
