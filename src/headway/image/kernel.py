"""The lab kernel: Debian's kernel source, our patches and configuration, compiled for user mode."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.errors import HeadwayError
from headway.image import kconfig
from headway.image.apt import PrivateApt
from headway.image.infos import KERNEL_FILE
from headway.image.keys import KernelInputs
from headway.image.process import Runner, scrubbed_environment
from headway.image.progress import BuildProgress
from headway.image.toolchain import Toolchain
from headway.image.trial import try_kernel

OLDEST_KERNEL = (6, 16)
"""The first kernel whose user mode has the fast hand-off to user processes (``seccomp=on``)."""

_SOURCE_PACKAGE = re.compile(r"linux-source-(\d+)\.(\d+)")
_SPACE_NEEDED = 3 * 2**30
_COMPILED = re.compile(r"^  [A-Z][A-Z0-9]* +\S")
# Lines of the compile log; only the progress display depends on it.
_EXPECTED_LINES = 1549
# Nothing of these is compiled for user mode; they are two thirds of the source. What says how a kernel is
# configured stays.
_LEFT_OUT = (
    "Documentation/*/*",
    "arch/[a-tv-w]*/*.[chS]",
    "arch/*/boot/dts",
    *(
        f"drivers/{name}/*.[ch]"
        for name in (
            *("clk", "gpu", "iio", "infiniband", "media", "net/ethernet", "net/wireless"),
            *("pinctrl", "scsi", "staging", "usb"),
        )
    ),
    "sound/*.[ch]",
    "tools/perf",
    "tools/testing",
)
# Compiled by whom and when, and beside which other tools, would otherwise be part of the binary.
_REPRODUCIBLE = {
    "KBUILD_BUILD_TIMESTAMP": "1970-01-01 00:00:00 UTC",
    "KBUILD_BUILD_USER": "headway",
    "KBUILD_BUILD_HOST": "lab",
    "KBUILD_BUILD_VERSION": "1",
}
_ABSENT_TOOLS = ("RUSTC=no-rustc", "PAHOLE=no-pahole")


@dataclass(frozen=True)
class KernelSource:
    """A source package found in a suite.

    Attributes:
        apt: the apt that can download it.
        package: its name, as linux-source-7.2.
    """

    apt: PrivateApt
    package: str


def find_source(apts: Iterable[PrivateApt], advance: Callable[[float], None]) -> KernelSource:
    """The newest kernel source of the first suite that has one that is new enough.

    Args:
        apts: one for each suite, in the order in which they are asked.
        advance: is told what fraction of a package list has arrived.

    Raises:
        HeadwayError: no suite has one.
    """
    asked = []
    problem = None
    for apt in apts:
        asked.append(apt.suite)
        try:
            apt.update(advance)
        except HeadwayError as error:
            # A frozen or partial mirror may lack one suite and have the next.
            problem = error
            continue
        newest = apt.newest(_SOURCE_PACKAGE)
        if newest and newest[1] >= OLDEST_KERNEL:
            return KernelSource(apt, newest[0])
    oldest = ".".join(str(number) for number in OLDEST_KERNEL)
    raise HeadwayError(
        f"the Debian mirror offers no kernel source from {oldest} on in {', '.join(asked)}"
        + (f"; {problem}" if problem else "")
    )


def build_kernel(
    source: KernelSource,
    inputs: KernelInputs,
    toolchain: Toolchain,
    directory: Path,
    runner: Runner,
    progress: BuildProgress,
) -> str:
    """Compile the lab kernel.

    Args:
        source: where the source comes from.
        inputs: what else it is made from.
        toolchain: what compiles it.
        directory: is given the kernel and its ``config``; everything else is removed from it.
        runner: runs the tools.
        progress: is told how it goes.

    Returns:
        The version of Debian's source package.

    Raises:
        HeadwayError: no space, no network, a patch that does not apply, an option that cannot be
            had, a failed compilation, or a kernel that does not boot.
    """
    free = shutil.disk_usage(directory).free
    if free < _SPACE_NEEDED:
        raise HeadwayError(
            f"compiling the kernel needs 3 GiB in {directory.parent}, and {free / 2**30:.1f} GiB"
            " are free (HEADWAY_CACHE names another place)"
        )
    progress.step(f"downloading {source.package}")
    package = next(
        package
        for package in source.apt.closure([source.package])
        if package.name == source.package
    )
    archive = source.apt.download([package], progress.advance)[0]
    tree = directory / "source"
    tree.mkdir()
    progress.step("unpacking the kernel source")
    tools = toolchain.environment(scrubbed_environment(**_REPRODUCIBLE))
    _unpack(archive, source.package, tree, runner, tools)
    progress.step("patching and configuring the kernel")
    _patch(inputs.patches, tree, runner, tools)
    make = _Make(tree, runner, tools)
    _configure(inputs.options, make)
    progress.step("compiling the kernel")
    _compile(make, progress)
    shutil.copyfile(tree / ".config", directory / "config")
    runner.run(
        ["strip", "-o", directory / KERNEL_FILE, tree / "linux"],
        purpose="stripping the kernel",
        environment=tools,
    )
    (directory / KERNEL_FILE).chmod(0o755)
    shutil.rmtree(tree)
    try_kernel(directory / KERNEL_FILE, toolchain, directory, runner, progress)
    return package.version


def _unpack(
    archive: Path, package: str, tree: Path, runner: Runner, tools: Mapping[str, str]
) -> None:
    inner = f"./usr/src/{package}.tar.xz"
    left_out = " ".join(f"--exclude='{package}/{path}'" for path in _LEFT_OUT)
    runner.run(
        [
            "bash",
            "-o",
            "pipefail",
            "-ec",
            f'dpkg-deb --fsys-tarfile "$1" | tar -xO "$2" | xz -dc -T0'
            f' | tar -x -C "$3" --strip-components=1 --no-same-owner --anchored {left_out}',
            "unpack",
            archive,
            inner,
            tree,
        ],
        purpose="unpacking the kernel source",
        environment=tools,
    )


def _patch(
    patches: Sequence[tuple[str, bytes]], tree: Path, runner: Runner, tools: Mapping[str, str]
) -> None:
    for name, content in patches:
        file = tree / name
        file.write_bytes(content)
        runner.run(
            ["patch", "-p1", "--forward", "--batch", "--input", name],
            purpose=f"applying {name} to the kernel",
            environment=tools,
            directory=tree,
        )
        file.unlink()


@dataclass(frozen=True)
class _Make:
    tree: Path
    runner: Runner
    tools: Mapping[str, str]

    def __call__(
        self, *targets: str, purpose: str, on_line: Callable[[str], None] | None = None
    ) -> None:
        self.runner.run(
            ["make", "ARCH=um", *_ABSENT_TOOLS, *targets],
            purpose=purpose,
            environment=self.tools,
            directory=self.tree,
            on_line=on_line,
        )


def _configure(asked: Sequence[tuple[str, str]], make: _Make) -> None:
    purpose = "configuring the kernel"
    make("tinyconfig", purpose=purpose)
    config = make.tree / ".config"
    with config.open("a", encoding="utf-8") as file:
        file.writelines(f"{name}={value}\n" for name, value in asked)
    make("olddefconfig", purpose=purpose)
    if wrong := kconfig.unresolved(
        dict(asked), kconfig.options(config.read_text(encoding="utf-8"))
    ):
        raise HeadwayError(
            f"the kernel's configuration differs from the requested one: {', '.join(wrong)}"
            f" (log: {make.runner.log})"
        )


def _compile(make: _Make, progress: BuildProgress) -> None:
    compiled = 0

    def count(line: str) -> None:
        nonlocal compiled
        if _COMPILED.match(line):
            compiled += 1
            progress.advance(min(compiled / _EXPECTED_LINES, 0.99))

    jobs = len(os.sched_getaffinity(0))
    make(f"-j{jobs}", "linux", purpose="compiling the kernel", on_line=count)
