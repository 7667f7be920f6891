"""The order of repetitions: every group of contenders goes from look to look until it is known well enough."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from headway.columns import Record
from headway.planning.interim_looks import Group, group_of, looks_of
from headway.planning.runs import Run
from headway.records.archived_study import archived_study
from headway.records.manifest import ArchivedExperiment
from headway.study.experiment import Study


@dataclass
class Rounds:
    """What is due of a study's runs, as their results come.

    What is due follows from the results alone: whoever goes on with a study comes to the same runs, as does one whose
    runs end in another order.

    Attributes:
        runs: all of them, in their order.
        looks: of each experiment.
        told: each experiment that goes on until its intervals are narrow.
    """

    runs: Sequence[Run]
    looks: dict[str, tuple[int, ...]]
    told: dict[str, ArchivedExperiment]
    _names: dict[Group, list[tuple[int, str]]] = field(init=False)
    _judged: dict[tuple[Group, int], bool] = field(default_factory=dict)

    @classmethod
    def of(cls, study: Study, runs: Sequence[Run]) -> Rounds:
        """Those of a study, none of whose results are known."""
        looks = {experiment.name: looks_of(experiment) for experiment in study.experiments}
        told_experiments = {
            experiment.name: experiment
            for experiment in archived_study(study).experiments
            if experiment.repetitions.until is not None
        }
        return cls(runs, looks, told_experiments)

    def __post_init__(self) -> None:
        names = defaultdict(list)
        for run in self.runs:
            names[group_of(run)].append((run.rep, run.run_id))
        self._names = dict(names)

    @property
    def may_end_sooner(self) -> bool:
        """Whether there may be fewer runs than are planned."""
        return bool(self.told)

    def due(self, done: AbstractSet[str], records: Sequence[Record]) -> list[Run]:
        """The runs that are to be carried out next, in their order; none if there is nothing left to do.

        Args:
            done: names of the runs that are not to be carried out any more.
            records: all there are.
        """
        results: dict[Group, list[Record]] = defaultdict(list)
        for record in records if self.told else ():
            if record.run_id in done:
                contender = record.contender if record.flows else ""
                results[Group(record.experiment, record.cell, contender)].append(record)
        until = {
            group: self._until(group, names, done, results[group])
            for group, names in self._names.items()
        }
        return [
            run for run in self.runs if run.run_id not in done and run.rep <= until[group_of(run)]
        ]

    @property
    def groups(self) -> int:
        """How many groups go on until they are known well enough."""
        return sum(group.experiment in self.told for group in self._names)

    @property
    def stopped(self) -> int:
        """How many of them stopped before their last look, as far as `due` has been asked."""
        return sum(self._judged.values())

    def _until(
        self,
        group: Group,
        names: Sequence[tuple[int, str]],
        done: AbstractSet[str],
        records: Sequence[Record],
    ) -> int:
        """The look to which a group goes on: the first one that is not complete, or at which it stops."""
        *looks, last = self.looks[group.experiment]
        for look in looks:
            complete = all(name in done for rep, name in names if rep <= look)
            if not complete or self._is_narrow(group, look, records):
                return look
        return last

    def _is_narrow(self, group: Group, look: int, records: Sequence[Record]) -> bool:
        known = self._judged.get((group, look))
        if known is None:
            # Imported here because statistics take seconds to load, which most studies need not wait for.
            from headway.analysis.stopping import ended_records, standings

            told_experiment = self.told[group.experiment]
            ended = ended_records(
                (record for record in records if record.rep <= look), told_experiment.metrics[0]
            )
            known = all(standing.narrow for standing in standings(told_experiment, ended))
            self._judged[group, look] = known
        return known
