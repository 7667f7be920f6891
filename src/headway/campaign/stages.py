"""The order of a study with faults: runs without one come first, since they tell which packets there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from headway.columns import Record, Status
from headway.planning.runs import Run
from headway.records.runkey import run_key
from headway.study.experiment import Experiment, Study
from headway.study.fault import Fault
from headway.study.path import Way


@dataclass(frozen=True)
class Stages:
    """A study's runs: those that are carried out in any case, and those of packets that there may be.

    Equal seeds give equal packets up to the fault, so that what a run without a fault does not have, none with one has.

    Attributes:
        study: the study.
        certain: its runs without a fault, or of a fault that somebody named.
        possible: runs of a sweep's positions.
    """

    study: Study
    certain: Sequence[Run]
    possible: Sequence[Run]

    @classmethod
    def of(cls, study: Study, runs: Sequence[Run]) -> Stages:
        """Those of some of a study's runs."""
        sweeps = {experiment.name for experiment in study.experiments if experiment.faults}
        swept = [run.experiment in sweeps and _happens(run.setting.fault) for run in runs]
        pairs = list(zip(runs, swept, strict=True))
        return cls(
            study,
            [run for run, answer in pairs if not answer],
            [run for run, answer in pairs if answer],
        )

    def that_come(self, records: Iterable[Record]) -> list[Run]:
        """The runs of packets that the runs without a fault had; none of a run that did not end well."""
        known = {
            record.setting_key: record
            for record in records
            if record.setting_key and record.packets_up is not None and record.status is Status.OK
        }
        experiments = {experiment.name: experiment for experiment in self.study.experiments}
        return [run for run in self.possible if _comes(run, experiments[run.experiment], known)]


def _happens(fault: Fault | None) -> bool:
    return fault is not None and fault.happens


def _comes(run: Run, experiment: Experiment, known: Mapping[str, Record]) -> bool:
    fault, sweep = run.setting.fault, experiment.faults
    if fault is None or sweep is None:
        return True
    record = known.get(run_key(_without_fault(run, fault)))
    if record is None:
        return False
    up = fault.direction is Way.UP
    there = (record.packets_up if up else record.packets_down) or 0
    if sweep.of_handshake:
        there = (record.handshake_packets_up if up else record.handshake_packets_down) or 0
    return max(fault.packets) <= there


def _without_fault(run: Run, fault: Fault) -> Run:
    setting = run.setting.model_copy(update={"fault": fault.none})
    return replace(run, setting=setting)
