"""Tries the tests of the lab kernel's patches with kernels that lack them: each is to fail.

    python tools/without_patch.py            # all patches
    python tools/without_patch.py 0003 0008  # these

A patch that others build on is left out together with them; a kernel that lacks only those others is
tried first, with which the test is to pass. The exit status is 1 if a test did otherwise. Kernels
stay in the cache's kernels-without/; each takes some minutes to compile.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from headway.cache import cache_directory
from headway.image import ImageOptions
from headway.image.apt import PrivateApt
from headway.image.builder import toolchain
from headway.image.image import Layout
from headway.image.infos import INFO_FILE, KERNEL_FILE
from headway.image.kernel import build_kernel, find_source
from headway.image.keys import KernelInputs
from headway.image.process import Runner
from headway.image.progress import PlainProgress
from headway.image.sources import debian_mirror

_LAB = "tests/lab"


@dataclass(frozen=True)
class PatchTest:
    """What fails without a patch.

    Attributes:
        patch: its number.
        test: the test.
        built_on_it: patches that do not apply without it.
    """

    patch: str
    test: str
    built_on_it: tuple[str, ...] = ()


_BUSY_WAITS = "0009"
_STAND_IN = Path(__file__).with_name("without-busy-waits.patch")
"""Labs read counters of the patch of busy waits; this one lets kernels without it have them, too."""
_TRIALS = f"{_LAB}/test_patches.py"
_PAGE_FAULTS = "0011"
_INSIDE = ("0019", "0020", "0021")
"""Let the kernel run within its processes; built on most patches of how it runs them."""
_FILES = "0012"
"""Built on the patch of what hostfs keeps."""
_FOR_EVER = "test_who_waits_for_ever_is_ended_at_the_virtual_limit"
TESTS = (
    PatchTest("0001", f"{_TRIALS}::test_timers_that_count_ticks_end_within_a_millisecond"),
    PatchTest(
        "0002",
        f"{_TRIALS}::test_clocks_are_read_without_a_system_call",
        ("0016", "0022", _BUSY_WAITS, *_INSIDE),
    ),
    PatchTest(
        "0003",
        f"{_LAB}/test_determinism.py::test_every_reader_of_clocks_and_entropy_reads_the_same",
    ),
    PatchTest("0004", f"{_TRIALS}::test_files_stay_in_memory_when_nobody_has_them_open", (_FILES,)),
    PatchTest("0005", f"{_TRIALS}::test_the_time_stamp_counter_follows_virtual_time", _INSIDE),
    PatchTest("0006", f"{_TRIALS}::test_who_does_not_sleep_is_not_woken"),
    PatchTest("0008", f"{_LAB}/test_counts.py::test_reordered"),
    PatchTest(
        _BUSY_WAITS,
        f"{_LAB}/test_busy_waits.py::{_FOR_EVER}[for-ever-computing-forced ticks]",
        ("0016", "0022", *_INSIDE),
    ),
    PatchTest("0010", f"{_LAB}/test_hosts.py::test_every_host_has_its_own_settings"),
    PatchTest(
        _PAGE_FAULTS,
        f"{_TRIALS}::test_who_writes_to_a_private_page_gets_those_that_follow",
        _INSIDE,
    ),
    PatchTest(
        _FILES,
        f"{_LAB}/test_surroundings.py::test_nothing_of_files_and_of_the_machine_is_seen",
    ),
    PatchTest(
        "0014",
        f"{_TRIALS}::test_nothing_is_left_of_an_earlier_lab_in_its_memory",
        ("0017", *_INSIDE),
    ),
    PatchTest(
        "0015", f"{_TRIALS}::test_what_is_read_ahead_comes_by_one_call_of_the_host", ("0018",)
    ),
    PatchTest("0016", f"{_LAB}/test_processors.py::test_a_sender_is_as_fast_as_its_packets_let_it"),
    PatchTest("0017", f"{_TRIALS}::test_memory_comes_as_huge_pages", _INSIDE),
    PatchTest("0018", f"{_TRIALS}::test_a_large_file_does_not_fill_the_memory"),
    PatchTest(
        "0019",
        f"{_TRIALS}::test_a_call_is_no_switch_between_processes_of_the_host",
        ("0020", "0021"),
    ),
    PatchTest(
        "0020", f"{_TRIALS}::test_a_call_that_repeats_does_not_go_through_the_host", ("0021",)
    ),
    PatchTest("0021", f"{_TRIALS}::test_a_32_bit_call_is_a_fault_and_faults_are_told_as_by_linux"),
    PatchTest("0022", f"{_TRIALS}::test_a_timer_of_user_time_expires_for_who_reads_clocks"),
)


def main() -> int:
    """Try the patches that are named, or all."""
    asked = sys.argv[1:] or [one.patch for one in TESTS]
    if unknown := set(asked) - {one.patch for one in TESTS}:
        print(f"without_patch: there is no patch {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    verdicts = [_try(one) for one in TESTS if one.patch in asked]
    return 0 if all(verdicts) else 1


def _try(one: PatchTest) -> bool:
    passed = not one.built_on_it or _passes(one.test, one.built_on_it)
    failed = not _passes(one.test, (one.patch, *one.built_on_it))
    words = "fails without it" if failed else "PASSES WITHOUT IT"
    if one.built_on_it:
        also = " and ".join(one.built_on_it)
        words += f" and {also}; {'passes' if passed else 'FAILS'} without {also} only"
    print(f"{one.patch}: {one.test} {words}", flush=True)
    return passed and failed


def _passes(test: str, left_out: tuple[str, ...]) -> bool:
    """Whether a test, or any of its cases, passes with a kernel that lacks patches."""
    cache = _cache_with(_kernel_without(left_out))
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-n0", test],
        env={**os.environ, "HEADWAY_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    last = found.stdout.strip().splitlines()[-1:]
    print(f"  without {' '.join(left_out)}: {' '.join(last)}", flush=True)
    if found.returncode not in (0, 1) or "skipped" in found.stdout:
        raise SystemExit(f"without_patch: {test} was not tried:\n{found.stdout}{found.stderr}")
    return " passed" in found.stdout


def _kernel_without(left_out: tuple[str, ...]) -> Path:
    """A kernel with all patches but these, compiled unless it is there."""
    directory = cache_directory() / "kernels-without" / "-".join(left_out)
    kernel = directory / KERNEL_FILE
    if kernel.exists():
        return kernel
    shipped = KernelInputs.of_package()
    patches = [patch for patch in shipped.patches if patch[0][:4] not in left_out]
    if _BUSY_WAITS in left_out:
        patches.append((_STAND_IN.name, _STAND_IN.read_bytes()))
    options = ImageOptions.from_environment()
    mirror = options.mirror or debian_mirror()
    runner = Runner(directory.with_suffix(".log"))
    apts = (
        PrivateApt(directory.parent / "apt" / suite, mirror, suite, runner)
        for suite in options.kernel_suites
    )
    progress = PlainProgress(sys.stderr)
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    source = find_source(apts, progress.advance)
    inputs = KernelInputs(shipped.options, tuple(patches))
    build_kernel(source, inputs, toolchain(options, progress), directory, runner, progress)
    return kernel


def _cache_with(kernel: Path) -> Path:
    """A cache whose image has another kernel, and all else from the cache that there is."""
    own, cache = cache_directory(), kernel.parent / "cache"
    layout = Layout.of_package(ImageOptions.from_environment())
    image = layout.image()
    if image is None:
        raise SystemExit("without_patch: there is no image; `headway image build` makes it")
    shutil.rmtree(cache, ignore_errors=True)
    (cache / "image" / layout.kernel.name).mkdir(parents=True)
    # Layers, too: a test that asks for all would have them built once more, for each kernel.
    for part in (layout.root, layout.agent, layout.toolchain, *layout.additions.values()):
        if part.info() is not None:
            (cache / "image" / part.name).symlink_to(part.entry)
    for entry in own.iterdir():
        if entry.name not in ("image", kernel.parents[1].name):
            (cache / entry.name).symlink_to(entry)
    entry = cache / "image" / layout.kernel.name
    shutil.copyfile(image.kernel.parent / INFO_FILE, entry / INFO_FILE)
    (entry / KERNEL_FILE).symlink_to(kernel)
    return cache


if __name__ == "__main__":
    sys.exit(main())
