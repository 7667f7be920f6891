"""The memory of labs: who gets a file that served a lab before."""

from __future__ import annotations

import os

import pytest

from headway.lab.memory import lab_memory

CORE = 1_000_000
"""No lab runs there, so nobody else's file is taken."""
SIZE_MIB = 8


def served(*, core: int = CORE, size_mib: int = SIZE_MIB, well: bool = True) -> int:
    """Which file a lab had, by its inode."""
    with lab_memory(core, size_mib) as memory:
        memory.reusable = well
        return os.fstat(memory.descriptor).st_ino


@pytest.fixture(autouse=True)
def _nothing_is_left() -> None:
    served(well=False)


def test_the_next_lab_of_a_core_has_the_file_of_the_one_before() -> None:
    assert served() == served()


def test_a_lab_without_a_core_has_a_file_of_its_own() -> None:
    with lab_memory(None, SIZE_MIB) as memory:
        memory.reusable = True
        descriptor = memory.descriptor
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_two_labs_at_a_time_have_two_files() -> None:
    with lab_memory(CORE, SIZE_MIB) as one, lab_memory(CORE, SIZE_MIB) as other:
        assert os.fstat(one.descriptor).st_ino != os.fstat(other.descriptor).st_ino


@pytest.mark.parametrize(("core", "size_mib"), [(CORE, 16), (CORE + 1, SIZE_MIB)])
def test_a_lab_of_another_size_or_core_has_another_file(core: int, size_mib: int) -> None:
    with lab_memory(CORE, SIZE_MIB) as memory:
        memory.reusable = True
        kept = os.dup(memory.descriptor)
    try:
        other = served(core=core, size_mib=size_mib, well=False)
        assert other != os.fstat(kept).st_ino
    finally:
        os.close(kept)


@pytest.mark.parametrize(("wrote", "well"), [(1, False), (3, True)])
def test_the_file_of_a_lab_that_failed_or_took_much_is_not_kept(wrote: int, well: bool) -> None:
    with lab_memory(CORE, SIZE_MIB) as memory:
        os.pwrite(memory.descriptor, bytes(wrote * 2**20), 0)
        memory.reusable = well
        descriptor = memory.descriptor
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_the_file_of_a_lab_that_was_interrupted_is_not_kept() -> None:
    with pytest.raises(KeyboardInterrupt), lab_memory(CORE, SIZE_MIB) as memory:
        memory.reusable = True
        descriptor = memory.descriptor
        raise KeyboardInterrupt
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
