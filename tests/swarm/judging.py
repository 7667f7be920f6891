"""From a seed to a verdict, and from a failing setting to a small one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from headway.errors import normalised
from headway.lab.machine import Machine
from tests.swarm.carrying import Trial, TwiceBooted, carried
from tests.swarm.drawing import Tables, drawn
from tests.swarm.restating import differences, exact, turned
from tests.swarm.shrinking import shrunk
from tests.swarm.studying import faults_of_study
from tests.swarm.truths import violations


@dataclass(frozen=True)
class Verdict:
    """What was found of a setting.

    Attributes:
        tables: of the study.
        violations: what is wrong, a sentence each.
        reason: why it was refused, or its run failed; empty if neither.
        status: how its run ended, or ``refused``.
    """

    tables: Tables
    violations: tuple[str, ...]
    reason: str
    status: str


REFUSED = "refused"
_REPORTED_EVERY = 20
"""Of so many settings one becomes a study with its report."""


class Judge:
    """Carries out settings in a directory and judges them."""

    def __init__(self, machine: Machine, directory: Path, cpu: int | None) -> None:
        self._machine = TwiceBooted(**vars(machine))
        self._directory, self._cpu = directory, cpu

    def of_seed(self, seed: int) -> Verdict:
        """The verdict on what a seed draws; of some, of their study's report, too."""
        verdict = self.of_tables(drawn(seed))
        if seed % _REPORTED_EVERY or verdict.status == REFUSED or verdict.violations:
            return verdict
        faults = tuple(faults_of_study(verdict.tables, self._directory / "study"))
        return replace(verdict, violations=faults)

    def of_tables(self, tables: Tables) -> Verdict:
        """The verdict on a study's tables."""
        place = self._directory / "trial"
        trial = carried(tables, self._machine, place, self._cpu)
        found = (*violations(tables, trial), *self._restated(tables, trial))
        shutil.rmtree(place, ignore_errors=True)
        reason = trial.refusal or (trial.record.error if trial.record else "") or ""
        return Verdict(tables, found, reason, _status(trial))

    def _restated(self, tables: Tables, trial: Trial) -> Iterator[str]:
        """What depends on the end from which links are stated."""
        if trial.refusal or "links" not in tables:
            return
        stated = exact(tables)
        trials = [
            carried(each, self._machine, self._directory / "restated" / name, self._cpu)
            for name, each in (("first", stated), ("second", turned(stated)))
        ]
        yield from differences(*trials)
        shutil.rmtree(self._directory / "restated", ignore_errors=True)

    def smallest(self, verdict: Verdict) -> Tables:
        """The smallest tables whose first violation is of the same kind."""
        kind = normalised(verdict.violations[0])

        def fails(tables: Tables) -> bool:
            return any(normalised(one) == kind for one in self.of_tables(tables).violations)

        return shrunk(verdict.tables, fails)


def _status(trial: Trial) -> str:
    if trial.refusal:
        return REFUSED
    return str(trial.record.status) if trial.record else "broken"
