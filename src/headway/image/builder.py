"""Building an image: what is missing of it, one build at a time."""

from __future__ import annotations

import datetime
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

from pydantic import BaseModel

from headway.cache import remove_tree
from headway.contract.names import AGENT_PROGRAM
from headway.errors import HeadwayError
from headway.image.apt import PrivateApt
from headway.image.cached import CachedLayer, CachedPart
from headway.image.image import Image, Layout
from headway.image.infos import (
    INFO_FILE,
    PROGRAMS_DIRECTORY,
    TREE_DIRECTORY,
    KernelInfo,
    LayerInfo,
    NativeInfo,
    RootInfo,
    ToolchainInfo,
    base_of,
)
from headway.image.kernel import build_kernel, find_source
from headway.image.keys import LayerInputs
from headway.image.layertree import build_layer
from headway.image.modules import install_module
from headway.image.native import build_native
from headway.image.offline import offline_refusal
from headway.image.options import ImageOptions
from headway.image.packagelist import PackageList
from headway.image.parallel import together
from headway.image.prerequisites import (
    PREREQUISITES,
    SCRIPT_PREREQUISITES,
    ensure,
)
from headway.image.process import Runner, RunningTools
from headway.image.progress import BuildProgress, SilentProgress
from headway.image.releases import install_release
from headway.image.roottree import build_root
from headway.image.selection import Chosen, select
from headway.image.shipped import shipped
from headway.image.sources import debian_mirror
from headway.image.toolchain import Toolchain, bring_toolchain, toolchain_apt
from headway.image.treeown import are_shipped
from headway.image.unpacked import installed, open_to_everyone

_Step = Callable[["_Build"], None]


def build(
    options: ImageOptions | None = None,
    progress: BuildProgress | None = None,
    layers: Iterable[str] = (),
) -> Image:
    """The image for these options; what the cache does not have of it is built.

    Missing tools are installed if this user may. A build that is interrupted leaves nothing but
    its downloads, which the next one uses, and parts that are whole.

    Args:
        options: where the image comes from; by default what the environment says.
        progress: is told how it goes; by default nobody is.
        layers: names of layers that its root tree has.

    Raises:
        HeadwayError: a tool is missing, the mirror cannot be reached, a patch does not apply, a
            compilation fails, no space is left: always with the log file that tells more. Or
            something is missing, and nothing may be downloaded.
        WrongInputError: the options cannot be right, or this machine has no Debian mirror and
            none is stated.
    """
    layout = Layout.of_package(options or ImageOptions.from_environment())
    wanted = frozenset(layers)
    if image := layout.image(wanted):
        return image
    progress = progress or SilentProgress()
    with layout.store.locked(progress.note) as lock:
        if image := layout.image(wanted):
            return image
        _Build(layout, lock, progress).run(wanted)
    image = layout.image(wanted)
    assert image is not None
    return image


def renew(options: ImageOptions | None = None, progress: BuildProgress | None = None) -> None:
    """Make the root tree and all layers that are there anew, of what the mirror offers today.

    Each stays as it is until the new one is whole; a layer that fails has to be fetched again.

    Args:
        options: as for `build`.
        progress: as for `build`.

    Raises:
        HeadwayError: as for `build`.
        WrongInputError: as for `build`.
    """
    layout = Layout.of_package(options or ImageOptions.from_environment())
    progress = progress or SilentProgress()
    with layout.store.locked(progress.note) as lock:
        there = [name for name, layer in layout.layers.items() if layer.info()]
        _Build(layout, lock, progress).renew(there)


def toolchain(
    options: ImageOptions | None = None, progress: BuildProgress | None = None
) -> Toolchain:
    """The toolchain, brought if it is not there.

    Args:
        options: as for `build`.
        progress: as for `build`.

    Raises:
        HeadwayError: it cannot be brought, or a tool that it needs is missing.
        WrongInputError: as for `build`.
    """
    layout = Layout.of_package(options or ImageOptions.from_environment())
    if brought := layout.brought():
        # Nobody waits for another's build of an image, which takes minutes.
        return brought
    progress = progress or SilentProgress()
    with layout.store.locked(progress.note) as lock:
        return _Build(layout, lock, progress).toolchain()


@dataclass(frozen=True)
class _Build:
    """One build; the lock is held."""

    layout: Layout
    lock: int
    progress: BuildProgress
    running: RunningTools = field(default_factory=RunningTools)
    updated: set[Path] = field(default_factory=set)

    @property
    def _downloads(self) -> Path:
        return self.layout.store.entry("apt")

    @cached_property
    def _mirror(self) -> str:
        return self.layout.options.mirror or debian_mirror()

    def run(self, layers: Iterable[str]) -> None:
        """Make what is missing of the image with these layers."""
        layout = self.layout
        self._take_shipped(layers)
        missing = [part.name for part in layout.missing(layers)]
        if not missing:
            return
        if layout.options.offline:
            raise HeadwayError(offline_refusal(layout.missing(layers)))
        grown = [
            name
            for name, layer in sorted(layout.layers.items())
            if name in layers and layer.name in missing
        ]
        # The longest first: what is downloaded and unpacked for one fills the gaps of another.
        made: dict[str, _Step] = {
            layout.kernel.name: _Build._kernel,
            layout.root.name: partial(_Build._root, layers=grown),
        }
        steps = [made[name] for name in missing if name in made]
        own = [part for part in (layout.agent, layout.native) if part.name in missing]
        if own:
            steps.append(partial(_Build._own_programs, parts=own))
        if grown and layout.root.name not in missing:
            steps.append(partial(_Build._layers, layers=grown))
        rooted = layout.root.name in missing and not are_shipped()
        compiles = bool(own) or layout.kernel.name in missing or rooted
        self._make_together(steps, grown, compiles=compiles)

    def _take_shipped(self, layers: Iterable[str]) -> None:
        """Copy what `headway-lab` has of what is missing."""
        for part in self.layout.missing(layers):
            if entry := shipped(part.name):
                copy = partial(shutil.copytree, entry, dirs_exist_ok=True)
                self.layout.store.make(part.name, copy)

    def renew(self, layers: Sequence[str]) -> None:
        """Make the root tree and layers anew."""
        if self.layout.options.offline:
            raise HeadwayError(offline_refusal([self.layout.root]))
        self._make_together(
            [partial(_Build._root, layers=layers)], layers, compiles=not are_shipped()
        )

    def _make_together(
        self, steps: Sequence[_Step], layers: Iterable[str], *, compiles: bool
    ) -> None:
        scripts = any(self.layout.layers[name].inputs.modules for name in layers)
        needed = (*PREREQUISITES, *(SCRIPT_PREREQUISITES if scripts else ()))
        ensure(needed, self._runner("tools"), self.progress)
        if compiles:
            self.toolchain()
        makers = [partial(self._part, make) for make in steps]
        together(makers, self.running.end, self.progress.note)
        remove_tree(self._downloads)

    def _part(self, make: _Step) -> None:
        with self.progress.part() as progress:
            make(replace(self, progress=progress))

    def toolchain(self) -> Toolchain:
        """The toolchain, brought if need be."""
        if brought := self.layout.brought():
            return brought
        ensure(PREREQUISITES, self._runner("tools"), self.progress)
        part = self.layout.toolchain
        apt = toolchain_apt(self._downloads / part.name, self._mirror, self._runner("toolchain"))

        def fill(directory: Path) -> BaseModel:
            return ToolchainInfo(
                key=part.key,
                suite=apt.suite,
                mirror=self._mirror,
                packages=bring_toolchain(apt, directory, self.progress),
                built=_now(),
            )

        self._make(part.name, fill)
        remove_tree(apt.directory)
        return self._brought()

    def _brought(self) -> Toolchain:
        brought = self.layout.brought()
        assert brought is not None, "it was brought before"
        return brought

    def _root(self, layers: Iterable[str]) -> None:
        """The root tree, and layers on it."""
        runner = self._runner(self.layout.root.name)
        inputs = self.layout.root_inputs

        def fill(directory: Path) -> BaseModel:
            packages = build_root(
                self._selected(inputs.packages, runner),
                inputs,
                self.layout.brought(),
                directory,
                runner,
                self.progress,
            )
            return RootInfo(
                key=self.layout.root.key,
                suite=self.layout.options.suite,
                mirror=self._mirror,
                asked=(*inputs.packages.names, *(wheel.name for wheel in inputs.wheels)),
                packages=packages,
                built=_now(),
            )

        self._make(self.layout.root.name, fill)
        self._layers(layers)

    def _layers(self, layers: Iterable[str]) -> None:
        for layer in (self.layout.layers[name] for name in layers):
            # One that was made for such a root tree is there, if that alone was missing.
            if layer.info() is None:
                self._layer(layer)

    def _layer(self, layer: CachedLayer) -> None:
        runner = self._runner(layer.name)
        root, tree = layer.root.info(), layer.root.entry / TREE_DIRECTORY
        assert root is not None, "it is made before its layers"

        def fill(directory: Path) -> BaseModel:
            chosen = self._selected(layer.inputs.packages, runner, present=installed(tree))
            packages = build_layer(chosen, layer.inputs, tree, directory, runner, self.progress)
            return LayerInfo(
                key=layer.key,
                base=base_of(root),
                mirror=self._mirror,
                packages=packages | self._beside_debian(layer.inputs, tree, directory, runner),
                built=_now(),
            )

        self._make(layer.name, fill)

    def _beside_debian(
        self, inputs: LayerInputs, root: Path, directory: Path, runner: Runner
    ) -> dict[str, str]:
        """Put scripts and a Python package's release into a layer's tree; their versions."""
        tree = directory / TREE_DIRECTORY
        for module in inputs.modules:
            self.progress.step(f"downloading {module.package}")
            install_module(module, tree, directory / module.name, runner, self.progress.note)
        if inputs.release:
            self.progress.step(f"downloading {inputs.release.package}")
            install_release(inputs.release, root, tree, runner)
        open_to_everyone(tree)
        values = (*inputs.modules, *((inputs.release,) if inputs.release else ()))
        return {value.package: value.version for value in values}

    def _selected(self, wanted: PackageList, runner: Runner, present: str = "") -> list[Chosen]:
        """What of which suite is to be downloaded, besides packages that are there."""
        place, suite = self._downloads / "root", self.layout.options.suite
        own = self._apt(place / suite, suite, runner, wanted.left_out, present)
        others = [
            self._apt(place / name, name, runner, wanted.left_out)
            for name in wanted.foreign_suites
            if name != suite
        ]
        return select(own, others, wanted, self.progress)

    def _kernel(self) -> None:
        runner = self._runner(self.layout.kernel.name)
        suites = self.layout.options.kernel_suites
        self.progress.step("looking for a kernel source")
        place = self._downloads / "kernel"
        apts = (self._apt(place / suite, suite, runner) for suite in suites)
        source = find_source(apts, self.progress.advance)
        inputs, toolchain = self.layout.kernel_inputs, self._brought()

        def fill(directory: Path) -> BaseModel:
            version = build_kernel(source, inputs, toolchain, directory, runner, self.progress)
            return KernelInfo(
                key=self.layout.kernel.key,
                version=version,
                package=source.package,
                suite=source.apt.suite,
                mirror=self._mirror,
                patches=tuple(name for name, _ in inputs.patches),
                compiler=toolchain.compiler,
                built=_now(),
            )

        self._make(self.layout.kernel.name, fill)

    def _own_programs(self, parts: Sequence[CachedPart[NativeInfo]]) -> None:
        """Programs of Headway's own, one part after the other: cargo works on one at a time."""
        for part in parts:
            self._make(part.name, partial(self._compiled, part))
        self.layout.forget_old_programs()

    def _compiled(self, part: CachedPart[NativeInfo], directory: Path) -> BaseModel:
        inputs, toolchain, agent = self.layout.native_inputs, self._brought(), self.layout.agent
        programs = directory / PROGRAMS_DIRECTORY
        programs.mkdir()
        is_all = part is not agent
        names = inputs.programs if is_all else (AGENT_PROGRAM,)
        copied = (AGENT_PROGRAM,) if is_all else ()
        for name in copied:
            # The same agent for all labs, whatever else is compiled beside it.
            shutil.copy(agent.entry / PROGRAMS_DIRECTORY / name, programs)
        build_native(
            inputs,
            [name for name in names if name not in copied],
            toolchain,
            self.layout.cargo_directory,
            programs,
            self._runner(part.kind.entries),
            self.progress,
        )
        return part.kind(
            key=inputs.key,
            version=f"{inputs.version} (rustc {toolchain.rust})",
            programs=names,
            built=_now(),
        )

    def _make(self, name: str, fill: Callable[[Path], BaseModel]) -> None:
        def fill_and_describe(directory: Path) -> None:
            info = fill(directory)
            (directory / INFO_FILE).write_text(
                info.model_dump_json(indent=2) + "\n", encoding="utf-8"
            )

        self.layout.store.make(name, fill_and_describe)

    def _apt(
        self,
        directory: Path,
        suite: str,
        runner: Runner,
        left_out: tuple[str, ...] = (),
        present: str = "",
    ) -> PrivateApt:
        return PrivateApt(directory, self._mirror, suite, runner, left_out, present, self.updated)

    def _runner(self, name: str) -> Runner:
        log = self.layout.store.directory / "logs" / f"{name}.log"
        log.unlink(missing_ok=True)
        return Runner(log, self.lock, self.running)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC).replace(microsecond=0)
