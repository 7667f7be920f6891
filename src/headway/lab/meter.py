"""The meter of what a run takes of this machine: time that passes, and its processors' time."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass
class Meter:
    """Measures from when it is made, in the thread that carries out the run.

    Attributes:
        labs_s: processor time of labs that have ended.
    """

    labs_s: float = 0.0
    _began_s: float = field(default_factory=time.perf_counter)
    _thread_began_s: float = field(default_factory=time.thread_time)

    @property
    def wall_s(self) -> float:
        """Wall time."""
        return time.perf_counter() - self._began_s

    @property
    def processor_s(self) -> float:
        """Processor time of its labs and of this thread."""
        return self.labs_s + time.thread_time() - self._thread_began_s
