"""The memory of labs: a file in the host's memory, which serves the labs of a core one after the other.

A lab touches some 50 MB of its memory. For a new file the host has to find and clear that, in pages
of 2 MiB where it can (patch 0017). A file that served a lab before has its pages, and the lab's kernel
sets them to zero at once (patch 0014), so a lab sees the same memory either way.

It is in no directory: `/dev/shm` may be small, as it is in containers.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

MEMORY_VARIABLE = "UML_MEMORY_FD"
"""Tells the lab kernel which descriptor its memory is."""

_KEPT_SHARE = 4
_BLOCK_BYTES = 512


@dataclass
class LabMemory:
    """A lab's memory.

    Attributes:
        descriptor: of the file.
        size_mib: the lab's memory.
        reusable: set when the lab has ended well, so that no process of it is left.
    """

    descriptor: int
    size_mib: int
    reusable: bool = False

    @property
    def worth_keeping(self) -> bool:
        """Whether clearing it again is cheap: it need not be if one lab of many took much."""
        taken = os.fstat(self.descriptor).st_blocks * _BLOCK_BYTES
        return self.reusable and taken * _KEPT_SHARE <= self.size_mib * 2**20


@dataclass
class _Idle:
    """Files that no lab uses, by the cores of the labs that they served."""

    files: dict[int, LabMemory] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, core: int) -> LabMemory | None:
        with self.lock:
            return self.files.pop(core, None)

    def put(self, core: int, memory: LabMemory) -> LabMemory | None:
        """Keep a file; returns the one whose place it takes."""
        with self.lock:
            former = self.files.pop(core, None)
            self.files[core] = memory
            return former


_idle = _Idle()


@contextmanager
def lab_memory(core: int | None, size_mib: int) -> Iterator[LabMemory]:
    """Memory for a lab.

    Args:
        core: the core that the lab is pinned to. Labs of one core follow each other, so the next of
            the same size takes over the file; that of a lab without a core is its own.
        size_mib: how much memory the lab has.
    """
    memory = None if core is None else _idle.take(core)
    if memory is not None and memory.size_mib != size_mib:
        os.close(memory.descriptor)
        memory = None
    memory = memory or LabMemory(os.memfd_create("headway-memory"), size_mib)
    memory.reusable = False
    unused: LabMemory | None = memory
    try:
        yield memory
        if core is not None and memory.worth_keeping:
            unused = _idle.put(core, memory)
    finally:
        if unused is not None:
            os.close(unused.descriptor)
