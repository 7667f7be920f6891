"""Images: finding them in the cache, describing and removing them."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from headway.cache import (
    PARTIAL_SUFFIX,
    EntryDirectory,
    cache_directory,
    digest,
    directory_size,
    remove_tree,
)
from headway.image.keys import KernelInputs, NativeInputs, RootInputs
from headway.image.options import ImageOptions
from headway.image.rust import BroughtRust, RustToolchain, entry_name, own_version
from headway.image.toolchain import numbers

INFO_FILE = "info.json"
KERNEL_FILE = "linux"
TREE_DIRECTORY = "tree"
PROGRAMS_DIRECTORY = "bin"
_CARGO_DIRECTORY = "cargo"
_PROGRAMS_KEPT = 10


class _Info(BaseModel):
    """How a part of an image was made."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    title: ClassVar[str]
    """What people call such a part."""
    entries: ClassVar[str]
    """How names of its entries begin."""

    key: str


class KernelInfo(_Info):
    """How a cached kernel was made."""

    title = "kernel"
    entries = "kernel"

    version: str
    """Version of Debian's source package, as ``7.2.12-1``."""
    package: str
    suite: str
    mirror: str
    patches: tuple[str, ...]
    built: datetime.datetime


class RootInfo(_Info):
    """How a cached root tree was made."""

    title = "root tree"
    entries = "root"

    suite: str
    mirror: str
    asked: tuple[str, ...]
    """The packages that were asked for."""
    packages: dict[str, str]
    """Versions of all packages in the tree, by name."""
    built: datetime.datetime


class NativeInfo(_Info):
    """How Headway's own programs in the cache were made."""

    title = "Headway's own programs"
    entries = "native"

    version: str
    """The workspace's version, its sources' key and the compiler: ``0.1.0+1f2e3d4c (rustc 1.85.0)``."""
    programs: tuple[str, ...]
    built: datetime.datetime


_InfoT = TypeVar("_InfoT", bound=_Info)
_Described = TypeVar("_Described", bound=BaseModel)


@dataclass(frozen=True)
class ImageInfo:
    """How an image was made."""

    kernel: KernelInfo
    root: RootInfo
    native: NativeInfo

    @property
    def kernel_version(self) -> str:
        """Version of Debian's kernel source package, as ``7.2.12-1``."""
        return self.kernel.version

    @property
    def suite(self) -> str:
        """Debian suite of the root tree."""
        return self.root.suite

    @property
    def packages(self) -> dict[str, str]:
        """Versions of all packages in the root tree, by name."""
        return self.root.packages

    @property
    def versions(self) -> dict[str, str]:
        """Versions of all packages in the root tree and of Headway's own programs, by name."""
        return self.packages | dict.fromkeys(self.native.programs, self.native.version)


@dataclass(frozen=True)
class Image:
    """What a lab boots: kernel, root tree, own programs; in the cache and never changed there.

    Attributes:
        path: the directory that holds them.
        kernel: the stripped kernel, an ordinary program.
        root: the root tree.
        native: the directory of Headway's own programs.
        key: a hash of everything that kernel and root tree are made from, apart from what Debian's
            mirror offered on the day of the build; `info` has that, and the versions of the rest.
        info: how it was made.
    """

    path: Path
    kernel: Path
    root: Path
    native: Path
    key: str
    info: ImageInfo

    @classmethod
    def of(cls, kernel: Path, root: Path, native: Path, key: str) -> Image | None:
        """The image whose parts are in these entries; None if one of them is not there."""
        infos = _read(KernelInfo, kernel), _read(RootInfo, root), _read(NativeInfo, native)
        if infos[0] is None or infos[1] is None or infos[2] is None:
            return None
        return cls(
            path=kernel.parent,
            kernel=kernel / KERNEL_FILE,
            root=root / TREE_DIRECTORY,
            native=native / PROGRAMS_DIRECTORY,
            key=key,
            info=ImageInfo(infos[0], infos[1], infos[2]),
        )


@dataclass(frozen=True)
class ImageStatus:
    """What the cache holds.

    Attributes:
        image: the image for these options, if it is built.
        missing: titles of its parts that are not there.
        rust: the Rust toolchain that compiles them; None if Debian's has yet to be brought.
        size_bytes: size of the image's parts that are there.
        other: names of parts that these options do not use.
        other_size_bytes: their size.
        path: the directory that holds all of them.
    """

    image: Image | None
    missing: tuple[str, ...]
    rust: RustToolchain | None
    size_bytes: int
    other: tuple[str, ...]
    other_size_bytes: int
    path: Path


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
        """How it was made; None if it is not there."""
        return _read(self.kind, self.entry)


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
        store = EntryDirectory(cache_directory() / "image")
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
    def native(self) -> CachedPart[NativeInfo]:
        """The own programs."""
        return CachedPart(NativeInfo, self.native_inputs.key, self.store)

    @property
    def parts(self) -> tuple[CachedPart[Any], ...]:
        """All that an image consists of."""
        return (self.kernel, self.root, self.native)

    @property
    def missing(self) -> list[CachedPart[Any]]:
        """Those that are not there."""
        return [part for part in self.parts if part.info() is None]

    @cached_property
    def rust_name(self) -> str:
        """Name of the entry of the toolchain that is brought if this machine has none."""
        return entry_name()

    @property
    def cargo_directory(self) -> Path:
        """Directory of what cargo has compiled; it makes later compilations shorter."""
        return self.store.entry(_CARGO_DIRECTORY)

    def rust(self) -> RustToolchain | None:
        """The Rust toolchain that is new enough: in ``PATH``, or brought before; None if none."""
        needed = self.native_inputs.needed_rust
        tree = self.store.entry(self.rust_name)
        brought = _read(BroughtRust, tree)
        for version, place in (
            (own_version(self.native_inputs.directory), None),
            (brought.version if brought else None, tree),
        ):
            if version is not None and numbers(version) >= numbers(needed):
                return RustToolchain(version, place)
        return None

    def image(self) -> Image | None:
        """The image; None if a part of it is not there."""
        key = digest(self.kernel.key, self.root.key)
        return Image.of(self.kernel.entry, self.root.entry, self.native.entry, key)

    def entries(self) -> list[Path]:
        """All parts in the cache, for whatever inputs, and what cargo has compiled."""
        return sorted(
            entry
            for kind in ("kernel-*", "root-*", "native-*", "rust-*", _CARGO_DIRECTORY)
            for entry in self.store.directory.glob(kind)
            if not entry.name.endswith(PARTIAL_SUFFIX)
        )

    def forget_old_programs(self) -> None:
        """Keep only the last own programs: of all that a developer made, labs may run from those.

        The store's lock must be held.
        """
        made = self.store.directory.glob(f"native-*/{INFO_FILE}")
        newest = sorted(made, key=lambda info: info.stat().st_mtime_ns, reverse=True)
        for info in newest[_PROGRAMS_KEPT:]:
            remove_tree(info.parent)

    def others(self) -> list[Path]:
        """Those entries that are of no use for this image."""
        own = {*(part.name for part in self.parts), self.rust_name, _CARGO_DIRECTORY}
        return [entry for entry in self.entries() if entry.name not in own]


def _read(kind: type[_Described], entry: Path) -> _Described | None:
    try:
        return kind.model_validate_json((entry / INFO_FILE).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def find(options: ImageOptions | None = None) -> Image | None:
    """The image for these options, if it has been built; needs no network.

    Args:
        options: where the image comes from; by default what the environment says.

    Raises:
        WrongInputError: the environment's options cannot be right.
    """
    return Layout.of_package(options or ImageOptions.from_environment()).image()


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
        missing=tuple(part.kind.title for part in layout.missing),
        rust=layout.rust(),
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
    freed = 0
    with layout.store.locked():
        for entry in layout.others() if only_others else layout.entries():
            freed += directory_size(entry)
            # An entry is there completely or not at all, also while it goes.
            going = entry.rename(entry.with_name(entry.name + PARTIAL_SUFFIX))
            remove_tree(going)
    return freed
