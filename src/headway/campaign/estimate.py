"""An estimate of how long a study will take, on this machine or more of its kind, from the measured cost of labs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from headway.campaign.costs import Cost, CostModel
from headway.campaign.work import WorkOfBoots
from headway.errors import counted
from headway.planning.boots import Boot, InFull, boots
from headway.planning.runs import Run, distinct_paths
from headway.study.clock import Clock
from headway.study.gc_pause import lasting_objects

_SELF_TEST_S = 1.0
"""Processor time of one path's self-test."""


@dataclass(frozen=True)
class Estimate:
    """How long runs take.

    Attributes:
        runs: how many are carried out; others have the setting and seed of one of these.
        processor_s: processor time of all labs together, and of reading what they leave; seconds.
        waiting_s: wall time of labs beside that, in which they wait for the real clock.
        labs: how many run at a time.
        longest_s: time of the lab that takes longest, which no more cores make shorter; seconds.
        self_tests: paths whose emulation is measured first.
        kinds: kinds of runs.
        unmeasured: those of them that this machine has not carried out yet.
        labs_measured: labs of these kinds that it has.
    """

    runs: int
    processor_s: float
    waiting_s: float
    labs: int
    longest_s: float
    self_tests: int
    kinds: tuple[str, ...]
    unmeasured: tuple[str, ...]
    labs_measured: int

    @property
    def wall_s(self) -> float:
        """Wall time of the study on cores that do nothing else, seconds: no shorter than that of one lab."""
        return max(self.cores_s / self.labs, self.longest_s)

    @property
    def cores_s(self) -> float:
        """Time that the study has cores, those of all labs together; seconds."""
        return self.processor_s + self.waiting_s + self.self_tests * _SELF_TEST_S

    @property
    def basis(self) -> str:
        """What it rests on, in words."""
        shipped = "figures that come with Headway"
        if not self.labs_measured:
            return f"{shipped}; this machine has not carried out such runs yet"
        own = f"{counted(self.labs_measured, 'lab')} of this machine"
        if not self.unmeasured:
            return own
        return f"{own}; for {_some(self.unmeasured)} {shipped}, scaled to this machine"


class Estimator:
    """Estimates how long runs take.

    Args:
        labs: how many labs run at a time.
        model: costs of labs.
    """

    def __init__(self, labs: int, model: CostModel) -> None:
        self._labs, self._model = labs, model
        self._costs: dict[str, Cost] = {}
        self._work, self._told = WorkOfBoots(), InFull()

    @lasting_objects()
    def of(self, runs: Sequence[Run]) -> Estimate:
        """How long these runs take; those that are the same are carried out once."""
        needed = boots(runs, self._told)
        kinds = tuple(dict.fromkeys(self._work.of(boot)[0] for boot in needed))
        processor_s = [self._processor_s(boot) for boot in needed]
        waiting_s = [self._waiting_s(boot) for boot in needed]
        return Estimate(
            runs=sum(len(boot.runs) for boot in needed),
            processor_s=math.fsum(processor_s),
            waiting_s=math.fsum(waiting_s),
            labs=self._labs,
            longest_s=max(map(sum, zip(processor_s, waiting_s, strict=True)), default=0.0),
            self_tests=len(distinct_paths(runs)),
            kinds=kinds,
            unmeasured=tuple(kind for kind in kinds if not self._model.is_measured(kind)),
            labs_measured=self._model.labs_measured(kinds),
        )

    def _waiting_s(self, boot: Boot) -> float:
        if boot.runs[0].setting.clock is Clock.VIRTUAL:
            return 0.0
        return self._work.of(boot)[1].virtual_s

    def _processor_s(self, boot: Boot) -> float:
        kind, work = self._work.of(boot)
        if kind not in self._costs:
            self._costs[kind] = self._model.cost(kind)
        return self._costs[kind].processor_s(work)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:2])
    return shown if len(names) <= 2 else f"{shown} and {len(names) - 2} more kinds"
