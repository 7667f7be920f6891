"""The guard that gives a lab up: what counts is what it does itself, not how busy the host is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from headway.lab.usage import Usage
from headway.study.clock import Clock
from headway.study.units import Duration

DEFAULT_CPU_LIMIT = Duration(300 * 10**9)
_IDLE_LIMIT = Duration(60 * 10**9)
_SLEEPS_PER_WAKING = 100
_NO_WAKING = Duration(0)
_LOOKS_WHILE_IDLE = 6
_SHORTEST_PAUSE_S = 0.1
_MOST_PROCESSES = 1000
"""Of a lab's processes each is one of this machine, too; twice as many take all of a lab's memory."""
_LONGEST_PAUSE_S = 1.0
"""If there is an excess to look for: a lab writes some hundred MB a second."""


@dataclass(frozen=True)
class LabLimits:
    """When a lab is given up.

    Attributes:
        cpu: after this much processor time of all its processes.
        idle: after it has slept for this long without a break, wall time; None for never. A lab that
            waits for a processor does not sleep.
        waking: processor time that it may take meanwhile, and sleep all the same: in real time its
            agent wakes now and then.
        processes: when it has more than so many at a time.
    """

    cpu: Duration = DEFAULT_CPU_LIMIT
    idle: Duration | None = _IDLE_LIMIT
    waking: Duration = _NO_WAKING
    processes: int = _MOST_PROCESSES

    @classmethod
    def of(cls, cpu: Duration, clock: Clock, *, lasts: Duration, interactive: bool) -> LabLimits:
        """The limits of a lab.

        Args:
            cpu: processor time that it may use.
            clock: how its time passes. Where idle time is skipped, a lab that sleeps hangs; in real
                time, it may sleep for as long as its orders last.
            lasts: that time.
            interactive: it may wait for a person.
        """
        if interactive:
            return cls(cpu, None)
        if clock is Clock.REAL:
            idle = Duration(_IDLE_LIMIT + lasts)
            return cls(cpu, idle, waking=Duration(idle // _SLEEPS_PER_WAKING))
        return cls(cpu, _IDLE_LIMIT)


@dataclass
class Guard:
    """Looks at a lab now and then, and says when it is to be given up.

    Attributes:
        limits: when that is.
        usage: tells what the lab has used so far.
        clock: tells seconds of wall time.
        excess: tells what else the lab has too much of, in words; None if nothing is looked for.
    """

    limits: LabLimits
    usage: Callable[[], Usage]
    clock: Callable[[], float] = time.monotonic
    excess: Callable[[], str | None] | None = None
    _used_s: float = 0.0
    _used_when_active_s: float = 0.0
    _active_at_s: float = field(init=False)

    def __post_init__(self) -> None:
        self._active_at_s = self.clock()

    @property
    def next_look_s(self) -> float:
        """In how many seconds to look again: no limit can be exceeded by much before."""
        # A lab has one processor, so that it cannot use more of it than time passes.
        looks = [self.limits.cpu.s - self._used_s]
        if self.limits.idle is not None:
            looks.append(self.limits.idle.s / _LOOKS_WHILE_IDLE)
        if self.excess is not None:
            looks.append(_LONGEST_PAUSE_S)
        return max(min(looks), _SHORTEST_PAUSE_S)

    def exceeded(self) -> str | None:
        """Look; which limit the lab has exceeded, in words, if it has one."""
        usage = self.usage()
        if usage.cpu_s >= self.limits.cpu.s:
            return f"the lab was ended after {self.limits.cpu} of processor time"
        if usage.processes > self.limits.processes:
            most = f"{self.limits.processes:,} processes"
            return f"the lab was ended because more than {most} ran in it"
        self._used_s = max(self._used_s, usage.cpu_s)
        woken_s = self._used_s - self._used_when_active_s
        if not usage.asleep or woken_s > self.limits.waking.s:
            self._active_at_s, self._used_when_active_s = self.clock(), self._used_s
        idle = self.limits.idle
        if idle is not None and self.clock() - self._active_at_s >= idle.s:
            return f"the lab was ended after it had done nothing for {idle}"
        return self.excess() if self.excess else None
