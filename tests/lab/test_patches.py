"""What each patch of the lab kernel does for programs that no other test looks at.

`tools/without_patch.py` boots kernels that lack a patch, with which its tests are to fail.
"""

from __future__ import annotations

import itertools
import os
import platform
import shlex
import shutil
import signal
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from headway.contract.orders import Namespace, Orders
from headway.contract.program import Program
from headway.lab.cores import available_cores
from headway.lab.machine import BootImage, Machine, SharedDirectory
from headway.lab.memory import lab_memory
from headway.study.clock import Clock
from tests.lab.compiled import compiled, preloadable

pytestmark = pytest.mark.lab

NAME = "patches"
PROGRAM = f"headway-{NAME}"
MS = 1_000_000
CLOCK_TICK_NS = 256
HOST_COUNTS = struct.Struct("4q")
"""What `host_calls.c` counts."""
COUNTS = "counts"
CALLS = 20_000
"""That the trial `calls` makes."""
PAGES = 64
KEPT_PAGES = 8192
"""How many of a large file stay in memory behind what was read ahead: 32 MiB."""
MIB = 2**20

Carry = Callable[..., list[int]]


@pytest.fixture
def carry_out(machine: Machine, tmp_path: Path) -> Carry:
    """Carry out one trial of the program in a lab; the numbers that it tells."""
    extra = compiled(NAME, tmp_path)
    # One whose calls the kernel may replace, as those of Headway's own programs
    (extra / NAME).rename(extra / PROGRAM)
    (extra / "ballast").write_bytes(bytes(PAGES * 4096))
    with (extra / "large").open("wb") as large:
        large.truncate(3 * KEPT_PAGES * 4096)

    def carry(
        trial: str,
        *,
        image: BootImage | None = None,
        virtual_tsc: bool = False,
        clock: Clock = Clock.VIRTUAL,
    ) -> list[int]:
        equipped = replace(machine, image=image or machine.image)
        argv = (f"/lab/extras/{NAME}/{PROGRAM}", trial)
        orders = Orders((Namespace("client"),), programs=(Program("trial", "client", argv),))
        core = available_cores()[0]
        outcome = equipped.boot(
            orders,
            tmp_path / "lab",
            seed=1,
            cpu=core,
            virtual_tsc=virtual_tsc,
            clock=clock,
            shown={f"extras/{NAME}": SharedDirectory(extra)},
        )
        assert outcome.reason is None
        assert [ended.exit_status for ended in outcome.ended] == [0]
        lines = (tmp_path / "lab" / "trial.out").read_text().splitlines()
        return [int(line.removeprefix(f"{trial} ")) for line in lines]

    return carry


def test_timers_that_count_ticks_end_within_a_millisecond(carry_out: Carry) -> None:
    took = carry_out("tick")
    assert len(took) == 5
    assert all(3 * MS <= one <= 4.1 * MS for one in took)


def test_clocks_are_read_without_a_system_call(carry_out: Carry) -> None:
    assert carry_out("reading") == [0]


def test_a_reading_of_a_clock_takes_as_long_with_a_system_call(carry_out: Carry) -> None:
    assert carry_out("steps") == [CLOCK_TICK_NS] * 8


def test_files_stay_in_memory_when_nobody_has_them_open(carry_out: Carry) -> None:
    assert carry_out("kept") == [0, PAGES]


def test_the_time_stamp_counter_follows_virtual_time(carry_out: Carry) -> None:
    clock, counter = carry_out("counter", virtual_tsc=True)
    assert 5 * MS <= counter <= clock <= counter + 2 * CLOCK_TICK_NS


@dataclass(frozen=True)
class Watched:
    """An image whose kernel's calls of the host are counted."""

    kernel: Path
    root: Path
    native: Path


def preloaded(machine: Machine, place: Path, name: str, *options: str) -> Watched:
    """The machine's image with a kernel that is given options, and for which a library is preloaded.

    All of it is in one directory, wherever that is moved.
    """
    library = preloadable(name, place)
    shutil.copy(machine.image.kernel, place / "linux")
    kernel = place / "watched-kernel"
    kernel.write_text(
        '#!/bin/sh\nhere=$(dirname "$0")\n'
        f'exec env LD_PRELOAD="$here/{library.relative_to(place)}" HOST_CALLS="$here/{COUNTS}" '
        f'"$here/linux" {shlex.join(options)} "$@"\n'
    )
    kernel.chmod(0o755)
    return Watched(kernel, machine.image.root, machine.image.native)


def host_calls(machine: Machine, directory: Path, *options: str) -> tuple[Watched, Path]:
    """The machine's image with a kernel whose calls of the host are counted, and the file of these."""
    place = directory / "watched"
    place.mkdir()
    counts = place / COUNTS
    counts.write_bytes(bytes(HOST_COUNTS.size))
    return preloaded(machine, place, "host_calls", *options), counts


_SI_KERNEL = 0x80
INSIDE_OFF = "kernel-inside=off"


def test_a_call_is_no_switch_between_processes_of_the_host(
    carry_out: Carry, machine: Machine, tmp_path: Path
) -> None:
    image, counts = host_calls(machine, tmp_path)
    carry_out("calls", image=image)
    _, waits, *_ = HOST_COUNTS.unpack(counts.read_bytes())
    assert 0 < waits < CALLS // 10


def test_who_does_not_sleep_is_not_woken(
    carry_out: Carry, machine: Machine, tmp_path: Path
) -> None:
    """With the kernel in a process of its own. One process at a time runs on the lab's core."""
    image, counts = host_calls(machine, tmp_path, INSIDE_OFF)
    carry_out("calls", image=image)
    vain_wakes, waits, *_ = HOST_COUNTS.unpack(counts.read_bytes())
    assert waits > CALLS // 10
    assert vain_wakes < CALLS // 10


def test_the_kernel_is_inside_wherever_the_host_has_its_libraries(
    machine: Machine, tmp_path: Path
) -> None:
    """A host may refuse to place them, and the heap, where they always are: containers do."""
    place = tmp_path / "random"
    place.mkdir()
    image = preloaded(machine, place, "random_addresses")
    maps = ("grep", "-c", "kernel", "/proc/self/maps")
    orders = Orders((Namespace("client"),), programs=(Program("trial", "client", maps),))
    outcome = replace(machine, image=image).boot(orders, tmp_path / "lab", seed=1)
    assert outcome.reason is None
    assert (tmp_path / "lab" / "trial.out").read_text() == "1\n"


def test_a_call_that_repeats_does_not_go_through_the_host(carry_out: Carry) -> None:
    """The syscall instruction is another one then, of code that only the process itself can see."""
    assert carry_out("replaced") == [0, 1]


def test_a_call_that_repeats_goes_on_after_a_signal(carry_out: Carry) -> None:
    """It is made again, at the instruction that is not there any more."""
    assert carry_out("restarted") == [1] * 10


def test_calls_leave_all_other_registers_alone(carry_out: Carry) -> None:
    """Those of two processes in turns, whose calls repeat."""
    assert carry_out("registers") == [0]


def test_a_process_that_is_careless_ends_alone(carry_out: Carry) -> None:
    """With alignment checks, an impossible base of its thread's data, and an impossible stack."""
    assert carry_out("careless") == [3]


def test_a_32_bit_call_is_a_fault_and_faults_are_told_as_by_linux(carry_out: Carry) -> None:
    """Signal, code, and whether the address is right."""
    general_protection = [int(signal.SIGSEGV), _SI_KERNEL, 1]
    assert carry_out("faults") == [*general_protection * 2, int(signal.SIGILL), 1]


def test_a_timer_of_user_time_expires_for_who_reads_clocks(carry_out: Carry) -> None:
    assert carry_out("user") == [1]


def test_memory_that_nobody_wrote_to_is_zero_after_a_lab_of_another_clock(
    carry_out: Carry,
) -> None:
    """The page of zeros is where the kernel of the lab before had its image."""
    carry_out("zeros")
    assert carry_out("zeros", clock=Clock.CPU) == [0, 0]


def test_who_writes_to_a_private_page_gets_those_that_follow(carry_out: Carry) -> None:
    """Seven of them, and none beyond the end of the mapping; those before; all of a sequence."""
    assert carry_out("ahead") == [8, 8 + 4, 12 + 8, PAGES]


def test_who_writes_to_a_page_of_a_file_gets_copies_of_those_that_follow(carry_out: Carry) -> None:
    assert carry_out("copied") == [8, 8 + 4, 12 + 8]


def test_what_is_read_ahead_comes_by_one_call_of_the_host(
    carry_out: Carry, machine: Machine, tmp_path: Path
) -> None:
    image, counts = host_calls(machine, tmp_path)
    carry_out("kept", image=image)
    *_, reads = HOST_COUNTS.unpack(counts.read_bytes())
    assert 0 < reads < PAGES


def test_a_large_file_does_not_fill_the_memory(carry_out: Carry) -> None:
    (kept,) = carry_out("dropped")
    assert KEPT_PAGES <= kept <= KEPT_PAGES + 2 * PAGES


def test_processes_keep_the_file_of_the_memory(
    carry_out: Carry, machine: Machine, tmp_path: Path
) -> None:
    image, counts = host_calls(machine, tmp_path, INSIDE_OFF)
    carry_out("ahead", image=image)
    _, waits, messages, _ = HOST_COUNTS.unpack(counts.read_bytes())
    assert waits > 0
    assert messages == 0


def test_nothing_is_left_of_an_earlier_lab_in_its_memory(machine: Machine, tmp_path: Path) -> None:
    """The next lab of a core has the same file, in which nothing stands that the first one wrote."""
    core = available_cores()[0]
    writes = "x = b'left by the first lab'.join([b''] * 100_000)"

    def boot(name: str, *argv: str) -> tuple[int, bool]:
        """Which file a lab had, and whether something is left of the first one in it."""
        orders = Orders((Namespace("client"),), programs=(Program("trial", "client", argv),))
        assert machine.boot(orders, tmp_path / name, seed=1, cpu=core).reason is None
        with lab_memory(core, machine.memory_mib) as memory:
            memory.reusable = True
            content = os.pread(memory.descriptor, machine.memory_mib * 2**20, 0)
            return os.fstat(memory.descriptor).st_ino, b"left by the first lab" * 100 in content

    def writes_below_16_mib() -> None:
        """Write there as a lab might have: that part is mapped by other means than the rest."""
        with lab_memory(core, machine.memory_mib) as memory:
            memory.reusable = True
            os.pwrite(memory.descriptor, b"left by the first lab" * 200, 16 * MIB - 8192)

    first, left_at_first = boot("first", "python3", "-c", writes)
    writes_below_16_mib()
    second, left_at_last = boot("second", "true")
    assert (left_at_first, left_at_last) == (True, False)
    assert first == second


def test_memory_comes_as_huge_pages(machine: Machine, tmp_path: Path) -> None:
    """What the host holds of it are whole blocks, but for those of the executable."""
    if not _has_huge_pages():
        pytest.skip("this host gives no huge pages to files in memory")
    core = available_cores()[0]
    with lab_memory(core, machine.memory_mib):
        pass  # that of an earlier lab, which is not used again
    orders = Orders((Namespace("client"),), programs=(Program("trial", "client", ("true",)),))
    assert machine.boot(orders, tmp_path / "lab", seed=1, cpu=core).reason is None
    with lab_memory(core, machine.memory_mib) as memory:
        borders = [at for at in itertools.chain(*_held(memory.descriptor)) if at > 16 * MIB]
    assert borders
    assert all(at % (2 * MIB) == 0 for at in borders)


def _held(file: int) -> Iterator[tuple[int, int]]:
    """The parts of a file that the host holds (lseek(2))."""
    size = os.fstat(file).st_size
    hole = 0
    while hole < size:
        try:
            data = os.lseek(file, hole, os.SEEK_DATA)
        except OSError:  # none is left
            return
        hole = os.lseek(file, data, os.SEEK_HOLE)
        yield data, hole


def _has_huge_pages() -> bool:
    """Whether this host's kernel may give some to a file in memory that is asked for (madvise(2), MADV_COLLAPSE)."""
    setting = Path("/sys/kernel/mm/transparent_hugepage/shmem_enabled")
    version = tuple(map(int, platform.release().split(".")[:2]))
    return version >= (6, 1) and setting.exists() and "[deny]" not in setting.read_text()
