"""Boots of labs, and the runs of each: repetitions may share one, and what is the same is done once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headway.study.clock import Clock
from headway.study.setting import Setting

if TYPE_CHECKING:
    from headway.planning.runs import Run

REPETITIONS_OF_A_BOOT = 10
"""How many repetitions may share the start of a browser. More of them would interleave contenders less."""


@dataclass(frozen=True)
class Boot:
    """One start of a lab.

    Attributes:
        runs: what it carries out: one run, or repetitions that share the start of a browser.
        alike: for each of them the runs of other experiments that have its setting and its seed, and so its result.
    """

    runs: tuple[Run, ...]
    alike: tuple[tuple[Run, ...], ...]

    @classmethod
    def of(cls, runs: tuple[Run, ...]) -> Boot:
        """A lab for these runs alone."""
        return cls(runs, ((),) * len(runs))

    def also_for(self, runs: tuple[Run, ...]) -> Boot:
        """The same lab, for the same runs of another experiment, too."""
        pairs = zip(self.alike, runs, strict=True)
        return replace(self, alike=tuple((*others, run) for others, run in pairs))

    @property
    def served(self) -> tuple[Run, ...]:
        """All runs that have their results by it: each with those that are like it."""
        pairs = zip(self.runs, self.alike, strict=True)
        return tuple(member for run, others in pairs for member in (run, *others))

    def serves(self, experiment: str) -> bool:
        """Whether a run of an experiment has its result by it."""
        return any(run.experiment == experiment for run in self.served)


def boots(runs: Sequence[Run], full_text: InFull | None = None) -> list[Boot]:
    """Runs by the labs that carry them out, in the order of each lab's first run.

    Most have a lab of their own; repetitions that may share one do so, up to
    `REPETITIONS_OF_A_BOOT` of them. A lab whose runs are those of another experiment's serves
    both, in virtual time, in which they are equal. Within an experiment nothing is shared: who
    compares a program with itself wants to see that the results are equal, not to be told so.

    Args:
        runs: of a study, in order.
        full_text: their settings in full, as far as they are known already.
    """
    result: list[Boot] = []
    alike: defaultdict[tuple[str, tuple[int, ...]], list[int]] = defaultdict(list)
    full_text = full_text or InFull()
    for group in _groups(runs):
        first = group[0]
        places = alike[full_text.of(first.setting), tuple(run.seed for run in group)]
        others = places if first.setting.clock is Clock.VIRTUAL else ()
        place = next(
            (number for number in others if not result[number].serves(first.experiment)), None
        )
        if place is None:
            places.append(len(result))
            result.append(Boot.of(group))
        else:
            result[place] = result[place].also_for(group)
    return result


def _groups(runs: Sequence[Run]) -> list[tuple[Run, ...]]:
    groups: list[list[Run]] = []
    open_groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        place = run.cell, run.contender
        group = open_groups.get(place)
        if group is None or len(group) == REPETITIONS_OF_A_BOOT or group[0].setting != run.setting:
            group = []
            groups.append(group)
            if run.setting.may_share_a_boot:
                open_groups[place] = group
        group.append(run)
    return [tuple(group) for group in groups]


class InFull:
    """Settings in full, by their identity: repetitions share one."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Setting, str]] = {}

    def of(self, setting: Setting) -> str:
        """A setting as JSON."""
        known = self._known.get(id(setting))
        if known is None:
            known = self._known[id(setting)] = setting, setting.model_dump_json()
        return known[1]
