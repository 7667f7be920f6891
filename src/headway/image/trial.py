"""A kernel that has just been compiled is booted once: one that cannot boot is no part of an image."""

from __future__ import annotations

import shutil
from pathlib import Path

from headway.errors import HeadwayError
from headway.image.process import Runner, scrubbed_environment
from headway.image.progress import BuildProgress
from headway.image.toolchain import Toolchain

_SOURCE = Path(__file__).with_suffix(".c")
_WORKS = "headway: the kernel works"
_LONGEST_S = 600
"""For a kernel that hangs; a boot takes well below a second."""
# As a lab in virtual time has them (`headway.lab.machine`).
_ARGUMENTS = (
    *("mem=128M", "rootfstype=hostfs", "hostfs=/proc/self/cwd", "rootflags=root/.", "ro"),
    *("norandmaps", "seccomp=on", "entropy-seed=1", "uml_dir=./", "con=null", "con0=fd:0,fd:1"),
    *("quiet", "panic=-1", "time-travel=inf-cpu", "time-travel-start=1000000000"),
    f"init=/{_SOURCE.stem}",
)


def try_kernel(
    kernel: Path, toolchain: Toolchain, directory: Path, runner: Runner, progress: BuildProgress
) -> None:
    """Boot a kernel with a program that needs two processes and the virtual clock.

    Args:
        kernel: the kernel.
        toolchain: what compiled it.
        directory: for the trial; nothing of it stays.
        runner: runs it.
        progress: is told how it goes.

    Raises:
        HeadwayError: it does not boot, or what runs in it does not work.
    """
    progress.step("booting the kernel once")
    stage = directory / _SOURCE.stem
    root = stage / "root"
    root.mkdir(parents=True)
    try:
        runner.run(
            ["gcc", "-O2", "-static", "-o", root / _SOURCE.stem, _SOURCE],
            purpose="compiling the kernel's first program",
            environment=toolchain.environment(scrubbed_environment()),
        )
        _boot(kernel, toolchain, stage, runner)
    finally:
        shutil.rmtree(stage)


def _boot(kernel: Path, toolchain: Toolchain, stage: Path, runner: Runner) -> None:
    lines: list[str] = []
    purpose = f"booting the kernel that {toolchain.compiler} made"
    runner.run(
        ["timeout", "--signal=KILL", str(_LONGEST_S), kernel, *_ARGUMENTS],
        purpose=purpose,
        environment=scrubbed_environment(TMPDIR=str(stage)),
        directory=stage,
        on_line=lines.append,
    )
    if _WORKS not in lines:
        raise HeadwayError(f"{purpose} failed: its processes do not work (log: {runner.log})")
