"""Infos: how the parts of an image were made, as their entries in the cache say."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from headway.cache import digest
from headway.overriding import override

INFO_FILE = "info.json"
KERNEL_FILE = "linux"
TREE_DIRECTORY = "tree"
PROGRAMS_DIRECTORY = "bin"


class Info(BaseModel):
    """How a part of an image was made."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    title: ClassVar[str]
    """What people call such a part."""
    entries: ClassVar[str]
    """How names of its entries begin."""

    key: str
    built: datetime.datetime

    @property
    def needed(self) -> tuple[str, ...]:
        """Files and directories of an entry without which it is none."""
        return (TREE_DIRECTORY,)


class KernelInfo(Info):
    """How a cached kernel was made."""

    title = "kernel"
    entries = "kernel"

    version: str
    """Version of Debian's source package, as ``7.2.12-1``."""
    package: str
    suite: str
    mirror: str
    patches: tuple[str, ...]
    compiler: str
    """What compiled and linked it, as ``gcc 12.2.0-14+deb12u1, binutils 2.40-2``."""

    @property
    @override
    def needed(self) -> tuple[str, ...]:
        return (KERNEL_FILE,)


class RootInfo(Info):
    """How a cached root tree was made."""

    title = "root tree"
    entries = "root"

    suite: str
    mirror: str
    asked: tuple[str, ...]
    """The packages that were asked for."""
    packages: dict[str, str]
    """Versions of all packages in the tree, by name."""


class LayerInfo(Info):
    """How a cached layer on the root tree was made."""

    title = "layer"
    entries = "layer"

    base: str
    """Which packages the root tree had: a layer fits no other one."""
    mirror: str
    packages: dict[str, str]
    """Versions of all packages in the layer, by name."""


class NativeInfo(Info):
    """How Headway's own programs in the cache were made."""

    title = "Headway's own programs"
    entries = "native"

    version: str
    """The workspace's version, its sources' key and the compiler: ``0.1.0+1f2e3d4c (rustc 1.85.0)``."""
    programs: tuple[str, ...]

    @property
    def packages(self) -> dict[str, str]:
        """Their version, by the name of each."""
        return dict.fromkeys(self.programs, self.version)

    @property
    @override
    def needed(self) -> tuple[str, ...]:
        return tuple(f"{PROGRAMS_DIRECTORY}/{name}" for name in self.programs)


class AgentInfo(NativeInfo):
    """How the agent, which every lab runs, was made: that alone, of all own programs."""

    title = "Headway's agent"
    entries = "agent"


class ToolchainInfo(Info):
    """How a toolchain in the cache was made."""

    title = "toolchain"
    entries = "toolchain"

    suite: str
    mirror: str
    packages: dict[str, str]
    """Versions of all packages that were unpacked, by name."""


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
        return self.packages | self.native.packages


def base_of(root: RootInfo) -> str:
    """A key of what layers on a root tree depend on."""
    return digest(*(word for pair in sorted(root.packages.items()) for word in pair))


def described(kind: type[_Described], entry: Path) -> _Described | None:
    """What an entry says of how it was made; None if it is not there, or says nothing of the kind."""
    try:
        return kind.model_validate_json((entry / INFO_FILE).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None
