"""Building an image: what is missing of it, one build at a time."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

from pydantic import BaseModel

from headway.cache import remove_tree
from headway.image.apt import PrivateApt
from headway.image.image import (
    INFO_FILE,
    PROGRAMS_DIRECTORY,
    Image,
    KernelInfo,
    Layout,
    NativeInfo,
    RootInfo,
)
from headway.image.kernel import build_kernel, find_source
from headway.image.native import build_native
from headway.image.options import ImageOptions
from headway.image.parallel import together
from headway.image.prerequisites import (
    KERNEL_PREREQUISITES,
    NATIVE_PREREQUISITES,
    ROOT_TREE_PREREQUISITES,
    ensure,
    missing,
)
from headway.image.process import Runner, RunningTools
from headway.image.progress import BuildProgress, SilentProgress
from headway.image.roottree import build_root
from headway.image.rust import (
    RustToolchain,
    bring_rust,
    host_suite,
    own_obstacle,
    own_version,
    rust_apt,
)
from headway.image.selection import select
from headway.image.sources import debian_mirror

_FOR_RUST = (*ROOT_TREE_PREREQUISITES, *NATIVE_PREREQUISITES)


def build(options: ImageOptions | None = None, progress: BuildProgress | None = None) -> Image:
    """The image for these options; what the cache does not have of it is built.

    Missing tools are installed if this user may. A build that is interrupted leaves nothing but
    its downloads, which the next one uses.

    Args:
        options: where the image comes from; by default what the environment says.
        progress: is told how it goes; by default nobody is.

    Raises:
        HeadwayError: a tool is missing, the mirror cannot be reached, a patch does not apply, a
            compilation fails, no space is left: always with the log file that tells more.
        WrongInputError: the options cannot be right, or this machine has no Debian mirror and
            none is stated.
    """
    layout = Layout.of_package(options or ImageOptions.from_environment())
    if image := layout.image():
        return image
    progress = progress or SilentProgress()
    with layout.store.locked(progress.note) as lock:
        if image := layout.image():
            return image
        _Build(layout, lock, progress).run()
    image = layout.image()
    assert image is not None
    return image


def rust_toolchain(
    options: ImageOptions | None = None, progress: BuildProgress | None = None
) -> RustToolchain:
    """A Rust toolchain for Headway's own programs; Debian's is brought if ``PATH`` has none.

    Args:
        options: as for `build`.
        progress: as for `build`.

    Raises:
        HeadwayError: it cannot be brought, or a tool that it needs is missing.
        WrongInputError: as for `build`.
    """
    layout = Layout.of_package(options or ImageOptions.from_environment())
    found = layout.rust()
    if found and not missing(_FOR_RUST):
        # Nothing is to be brought, and nobody waits for another's build of an image, which takes minutes.
        return found
    progress = progress or SilentProgress()
    with layout.store.locked(progress.note) as lock:
        return _Build(layout, lock, progress).rust()


@dataclass(frozen=True)
class _Build:
    """One build; the lock is held."""

    layout: Layout
    lock: int
    progress: BuildProgress
    running: RunningTools = field(default_factory=RunningTools)

    @property
    def _downloads(self) -> Path:
        return self.layout.store.entry("apt")

    @cached_property
    def _mirror(self) -> str:
        return self.layout.options.mirror or debian_mirror()

    def run(self) -> None:
        layout = self.layout
        # The longest first: what is downloaded and unpacked for one fills the gaps of another.
        made = {
            layout.kernel.name: (KERNEL_PREREQUISITES, _Build._kernel),
            layout.root.name: ((), _Build._root),
            layout.native.name: (NATIVE_PREREQUISITES, _Build._native),
        }
        steps = [made[part.name] for part in layout.missing]
        needed = [*ROOT_TREE_PREREQUISITES, *(tool for tools, _ in steps for tool in tools)]
        ensure(needed, self._runner("tools"), self.progress)
        makers = [partial(self._part, make) for _, make in steps]
        together(makers, self.running.end, self.progress.note)
        remove_tree(self._downloads)

    def _part(self, make: Callable[[_Build], None]) -> None:
        with self.progress.part() as progress:
            make(replace(self, progress=progress))

    def rust(self) -> RustToolchain:
        """The toolchain, brought if need be."""
        ensure(_FOR_RUST, self._runner("tools"), self.progress)
        found = self.layout.rust()
        return found if found else self._bring_rust()

    def _root(self) -> None:
        runner = self._runner(self.layout.root.name)
        inputs, suite = self.layout.root_inputs, self.layout.options.suite
        wanted = inputs.packages
        own, *others = (
            self._apt(self._downloads / "root" / name, name, runner, wanted.left_out)
            for name in dict.fromkeys([suite, *wanted.foreign_suites])
        )

        def fill(directory: Path) -> BaseModel:
            chosen = select(own, others, wanted, self.progress)
            packages = build_root(chosen, inputs, directory, runner, self.progress)
            return RootInfo(
                key=self.layout.root.key,
                suite=suite,
                mirror=self._mirror,
                asked=(*wanted.names, *(wheel.name for wheel in inputs.wheels)),
                packages=packages,
                built=_now(),
            )

        self._make(self.layout.root.name, fill)

    def _kernel(self) -> None:
        runner = self._runner(self.layout.kernel.name)
        suites = self.layout.options.kernel_suites
        self.progress.step("looking for a kernel source")
        place = self._downloads / "kernel"
        apts = (self._apt(place / suite, suite, runner) for suite in suites)
        source = find_source(apts, self.progress.advance)
        inputs = self.layout.kernel_inputs

        def fill(directory: Path) -> BaseModel:
            version = build_kernel(source, inputs, directory, runner, self.progress)
            return KernelInfo(
                key=self.layout.kernel.key,
                version=version,
                package=source.package,
                suite=source.apt.suite,
                mirror=self._mirror,
                patches=tuple(name for name, _ in inputs.patches),
                built=_now(),
            )

        self._make(self.layout.kernel.name, fill)

    def _native(self) -> None:
        rust = self.rust()
        inputs = self.layout.native_inputs

        def fill(directory: Path) -> BaseModel:
            programs = directory / PROGRAMS_DIRECTORY
            programs.mkdir()
            return NativeInfo(
                key=inputs.key,
                version=f"{inputs.version} (rustc {rust.version})",
                programs=build_native(
                    inputs,
                    rust,
                    self.layout.cargo_directory,
                    programs,
                    self._runner("native"),
                    self.progress,
                ),
                built=_now(),
            )

        self._make(self.layout.native.name, fill)
        self.layout.forget_old_programs()

    def _bring_rust(self) -> RustToolchain:
        inputs = self.layout.native_inputs
        needed = inputs.needed_rust
        self.progress.note(
            f"{own_obstacle(own_version(inputs.directory), needed)}: taking Debian's"
        )
        runner = self._runner("rust")
        suite = host_suite()
        apt = rust_apt(self._downloads / "rust" / suite, self._mirror, suite, runner)
        name = self.layout.rust_name
        self._make(name, lambda directory: bring_rust(apt, needed, directory, self.progress))
        remove_tree(apt.directory)
        rust = self.layout.rust()
        assert rust is not None, "it is there now, and new enough"
        return rust

    def _make(self, name: str, fill: Callable[[Path], BaseModel]) -> None:
        def fill_and_describe(directory: Path) -> None:
            info = fill(directory)
            (directory / INFO_FILE).write_text(
                info.model_dump_json(indent=2) + "\n", encoding="utf-8"
            )

        # An entry without a readable description counts as not there.
        remove_tree(self.layout.store.entry(name))
        self.layout.store.make(name, fill_and_describe)

    def _apt(
        self, directory: Path, suite: str, runner: Runner, left_out: tuple[str, ...] = ()
    ) -> PrivateApt:
        return PrivateApt(directory, self._mirror, suite, runner, left_out)

    def _runner(self, name: str) -> Runner:
        log = self.layout.store.directory / "logs" / f"{name}.log"
        log.unlink(missing_ok=True)
        return Runner(log, self.lock, self.running)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC).replace(microsecond=0)
