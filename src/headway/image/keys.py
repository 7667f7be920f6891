"""Inputs of an image, besides what Debian's mirror offers on the day; and its keys."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from headway.cache import digest
from headway.contract.names import AGENT_PROGRAM
from headway.errors import HeadwayError
from headway.image import kconfig, toolchain
from headway.image.modules import Module, parse_modules
from headway.image.options import ImageOptions
from headway.image.packagelist import PackageList, sections
from headway.image.releases import Release, parse_release
from headway.image.wheels import Wheel, parse_wheels
from headway.overriding import override

_HERE = Path(__file__).parent
_KERNEL_RECIPE = "1"
"""To be changed whenever `build_kernel` makes another kernel from the same inputs."""
_IN_PACKAGE, _IN_SOURCE_TREE = _HERE.parent / "native", _HERE.parents[2] / "native"
_NATIVE = _IN_PACKAGE if _IN_PACKAGE.is_dir() else _IN_SOURCE_TREE
_NATIVE_RECIPE = "native.py"
OWN_PROGRAMS = "headway"
"""Name by which Headway's own programs are added to an image, as layers are by theirs."""
_POLICY = "deny.toml"
"""Says which crates may be used; nothing is compiled from it."""
_RECIPE = (
    "roottree.py",
    "treeown.py",
    "unpacked.py",
    "init.c",
    "random_device.c",
    "selection.py",
    "wheels.py",
    "pki.py",
)
_LAYER_RECIPE = ("layertree.py",)
_MAIN = "src/main.rs"


@dataclass(frozen=True)
class KernelInputs:
    """What a kernel is made from.

    Attributes:
        options: configuration options and their values.
        patches: names and contents of the patches, in the order in which they are applied.
    """

    options: tuple[tuple[str, str], ...]
    patches: tuple[tuple[str, bytes], ...]

    @classmethod
    def of_package(cls) -> KernelInputs:
        """The inputs that Headway ships."""
        asked = kconfig.options((_HERE / "kernel.config").read_text(encoding="utf-8"))
        patches = sorted((_HERE / "patches").glob("*.patch"))
        return cls(
            tuple(sorted(asked.items())), tuple((file.name, file.read_bytes()) for file in patches)
        )

    def key(self, options: ImageOptions) -> str:
        """The key of the kernel that these inputs make."""
        return digest(
            _KERNEL_RECIPE,
            toolchain.KEY,
            options.mirror or "",
            *options.kernel_suites,
            *(f"{name}={value}" for name, value in self.options),
            *(part for patch in self.patches for part in patch),
        )


@dataclass(frozen=True)
class RootInputs:
    """What a root tree is made from, or a layer on it.

    Attributes:
        packages: the Debian packages.
        wheels: the programs that Debian does not have.
        recipe: the files that make the tree: it is made again when they change.
    """

    packages: PackageList
    wheels: tuple[Wheel, ...]
    recipe: tuple[bytes, ...]

    @classmethod
    def of_package(cls) -> RootInputs:
        """The inputs of the tree that every lab has."""
        return _of_section("", _RECIPE)

    def key(self, options: ImageOptions) -> str:
        """The key of the root tree that these inputs make."""
        return digest(
            toolchain.KEY,
            options.mirror or "",
            options.suite,
            *self.packages.lines(),
            *(wheel.requirement for wheel in self.wheels),
            *self.recipe,
        )


@dataclass(frozen=True)
class LayerInputs(RootInputs):
    """What a layer on the root tree is made from: programs that a lab has if its study names one of them.

    Attributes:
        name: of the layer.
        words: by which a command is known to need it.
        modules: scripts of npm's registry.
        release: a release of a Python package that stands beside Debian's.
    """

    name: str = ""
    words: tuple[str, ...] = ()
    modules: tuple[Module, ...] = ()
    release: Release | None = None

    @property
    def programs(self) -> frozenset[str]:
        """Names of its packages, wheels, modules and release, as adapters of programs state them."""
        others = (
            *(wheel.name for wheel in self.wheels),
            *(module.package for module in self.modules),
        )
        released = (self.release.package,) if self.release else ()
        return self.packages.programs | frozenset((*others, *released))

    @override
    def key(self, options: ImageOptions) -> str:
        """The key of the layer, which depends on the tree below it."""
        scripts = (f"{module.package} {module.integrity} {module.file}" for module in self.modules)
        below = RootInputs.of_package().key(options)
        released = self.release.requirements if self.release else ()
        return f"{self.name}-{digest(below, super().key(options), *scripts, *released)}"


@cache
def all_layers() -> dict[str, LayerInputs]:
    """The inputs of all layers that Headway ships, by name."""
    names = [name for name in sections(_read("packages.txt")) if name]
    return {name: _layer(name) for name in names}


@cache
def own_programs() -> frozenset[str]:
    """Names of Headway's own programs but for the agent, which every lab has."""
    sources = (main.relative_to(_NATIVE) for main in _NATIVE.glob(f"*/{_MAIN}"))
    return frozenset(_programs(sources)) - {AGENT_PROGRAM}


def _programs(sources: Iterable[Path]) -> Iterator[str]:
    """Names of the programs of these sources, which have a main function each."""
    return (f"headway-{source.parts[0]}" for source in sources if source.match(f"*/{_MAIN}"))


def _layer(name: str) -> LayerInputs:
    made = _of_section(name, _LAYER_RECIPE)
    words = sections(_read("packages.txt"))[name].words
    scripts = sections(_read("modules.txt"))
    modules = parse_modules(scripts[name].text) if name in scripts else ()
    releases = sections(_read("releases.txt"))
    release = parse_release(name, releases[name].text) if name in releases else None
    return LayerInputs(made.packages, made.wheels, made.recipe, name, words, modules, release)


def _of_section(name: str, recipe: tuple[str, ...]) -> RootInputs:
    """The inputs that stand below one heading of the lists; what the whole tree lacks, every layer does."""
    list_sections = sections(_read("packages.txt"))
    wheels = sections(_read("wheels.txt"))
    packages = PackageList.parse(list_sections[name].text)
    return RootInputs(
        packages.without(PackageList.parse(list_sections[""].text).left_out),
        parse_wheels(wheels[name].text) if name in wheels else (),
        tuple((_HERE / text).read_bytes() for text in recipe),
    )


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class NativeInputs:
    """What Headway's own programs are made from.

    Attributes:
        directory: the Rust workspace.
        sources: its files, by their path in it.
        recipe: the module that compiles them: they are compiled again when it changes.
    """

    directory: Path
    sources: tuple[tuple[str, bytes], ...]
    recipe: bytes

    @classmethod
    def of_package(cls) -> NativeInputs:
        """The inputs that Headway's source tree has.

        Raises:
            HeadwayError: this Headway is installed without its source tree.
        """
        return cls.of_workspace(_NATIVE)

    @classmethod
    def of_workspace(cls, directory: Path) -> NativeInputs:
        """The inputs of a workspace: all files that are not hidden, not compiled, and not for people alone.

        Raises:
            HeadwayError: there is none.
        """
        if not (directory / "Cargo.toml").is_file():
            raise HeadwayError(
                f"the sources of Headway's own programs are not in {directory}; install Headway"
                " from its source tree, as `make quickstart` does"
            )
        sources = tuple(
            (str(file.relative_to(directory)), file.read_bytes())
            for file in sorted(_sources(directory))
        )
        return cls(directory, sources, (_HERE / _NATIVE_RECIPE).read_bytes())

    @property
    def programs(self) -> tuple[str, ...]:
        """Names of the programs, sorted: those of crates that have a main function."""
        return tuple(sorted(_programs(Path(name) for name, _ in self.sources)))

    @property
    def version(self) -> str:
        """Their version, and which sources that was: ``0.1.0+1f2e3d4c``."""
        return f"{self._package['version']}+{self.key[:8]}"

    @property
    def key(self) -> str:
        """The key of the programs that these inputs make."""
        return digest(
            toolchain.KEY, self.recipe, *(part for source in self.sources for part in source)
        )

    @property
    def _package(self) -> dict[str, Any]:
        manifest = tomllib.loads(dict(self.sources)["Cargo.toml"].decode())
        package: dict[str, Any] = manifest["workspace"]["package"]
        return package


def _sources(directory: Path) -> Iterator[Path]:
    for parent, directories, names in os.walk(directory):
        directories[:] = [name for name in directories if name != "target" and name[0] != "."]
        yield from (Path(parent, name) for name in names if _is_input(name))


def _is_input(name: str) -> bool:
    return name[0] != "." and name != _POLICY and not name.endswith(".md")
