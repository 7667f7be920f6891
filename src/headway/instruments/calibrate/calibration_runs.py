"""Runs of a study with other values of its knobs, each a contender of one study that grows."""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from headway.campaign.feasibility import checked_plan
from headway.campaign.session import conduct
from headway.campaign.task import Task
from headway.campaign.watcher import Watcher
from headway.columns import Record, Status
from headway.errors import WrongInputError, nearest
from headway.foreign.documents import toml_tables
from headway.instruments.calibrate.search import KnobRange, Values, assigned, named
from headway.instruments.calibrate.target import SERIES, Target
from headway.records.manifest import read_manifest
from headway.records.store import Start, read_records
from headway.study.bulk import BulkPart
from headway.study.load import find_source, study_from
from headway.study.merging import merged, with_value

_LEFT_OUT = ("contenders", "quick", "claims", "published", "published_file", "comparisons")
"""What is of a study's own contenders."""
FAR = 1e6
"""Distance of a run that failed, or measured nothing of the target."""


@dataclass(frozen=True)
class Tryout:
    """A study whose knobs are tried.

    Attributes:
        tables: the study's, without contenders.
        base: the contender that is changed.
        knobs: what is changed of it.
        target: what it is to reach.
        out: directory of the runs.
        jobs: labs at a time.
        command: what makes these results again.
    """

    tables: Mapping[str, Any]
    base: Mapping[str, Any]
    knobs: tuple[KnobRange, ...]
    target: Target
    out: Path
    jobs: int | None
    command: str

    def measure(
        self, known: Collection[Values], wanted: Sequence[Values], watcher: Watcher
    ) -> list[list[float]]:
        """Carry out runs with these values, and tell by how much they differ from the target; what is there stays.

        Args:
            known: the values that were tried before.
            wanted: those that are to be tried.
            watcher: whom to tell how it goes.
        """
        conduct(self._task([*dict.fromkeys([*self.begun, *known, *wanted])]), watcher)
        runs = self.runs()
        return [self._residuals(runs.get(named(self.knobs, values), ())) for values in wanted]

    @cached_property
    def begun(self) -> tuple[Values, ...]:
        """Values that an interrupted search has tried, or was about to: results may grow, but not shrink."""
        manifest = read_manifest(self.out)
        told_experiments = manifest.study.experiments if manifest else ()
        result = (
            self._values(table)
            for told_experiment in told_experiments
            for table in told_experiment.contenders.values()
        )
        return tuple(values for values in result if values is not None)

    def _values(self, contender: Mapping[str, Any]) -> Values | None:
        """The knobs' values in a contender's table; None if it does not set all of them."""
        values: list[int | str] = []
        for knob in self.knobs:
            at: Any = contender
            for part in knob.key.split("."):
                at = at.get(part) if isinstance(at, Mapping) else None
            if at is None or not (knob.words or str(at).isdecimal()):
                return None
            values.append(str(at) if knob.words else int(at))
        return tuple(values)

    def runs(self) -> dict[str, list[Record]]:
        """All runs, by contender."""
        cores: dict[str, list[Record]] = {}
        for record in read_records(self.out):
            cores.setdefault(record.contender, []).append(record)
        return cores

    def _residuals(self, runs: Sequence[Record]) -> list[float]:
        """The means over repetitions; far away if a repetition failed, or did not measure the target."""
        result = [
            self.target.residuals(run.model_dump()) if run.status is Status.OK else None
            for run in runs
        ]
        known = [values for values in result if values is not None]
        if not known or len(known) < len(result):
            return [FAR] * self.target.size
        return [math.fsum(of_all) / len(known) for of_all in zip(*known, strict=True)]

    def _task(self, values: Sequence[Values]) -> Task:
        study = study_from({**self.tables, "contenders": self._contenders(values)})
        return Task(
            study,
            study.name,
            self.out,
            self.command,
            go_on="the same command goes on",
            start=Start.RESUME,
            keep_going=True,
            jobs=self.jobs,
        )

    def _contenders(self, values: Sequence[Values]) -> dict[str, Any]:
        contenders = {}
        for point in values:
            table: dict[str, Any] = copy.deepcopy(dict(self.base))
            for key, value in assigned(self.knobs, point).items():
                table = with_value(table, key.split("."), _written(key, value))
            contenders[named(self.knobs, point)] = table
        return contenders

    def check(self) -> None:
        """Refuse what no value of the knobs can make right, before anything is run.

        Raises:
            WrongInputError: the study with the ends of all ranges, or one of their words, is not right; it has several
                cells; or its runs do not measure what the target is of.
        """
        most = max(len(knob.ends) for knob in self.knobs)
        ends = [
            tuple(knob.ends[place % len(knob.ends)] for knob in self.knobs) for place in range(most)
        ]
        metrics = {"metrics": list(self.target.values)} if self.target.values else {}
        tables = {**self.tables, **metrics, "contenders": self._contenders(ends)}
        try:
            study = study_from(tables)
            runs = checked_plan(study, study.name)
        except WrongInputError as error:
            # Its contenders are made, and stand in no file of the user's.
            if "contenders." in (error.where or ""):
                raise WrongInputError(error.message, where="--knobs") from None
            raise
        cells = len({(run.experiment, run.cell) for run in runs})
        if cells != 1:
            raise WrongInputError(
                f"has {cells} cells, and a calibration takes one: choose levels by --set",
                where=study.name,
            )
        workloads = runs[0].setting.workloads
        if not self.target.values and not any(
            isinstance(workload, BulkPart) for workload in workloads
        ):
            raise WrongInputError(
                f"has the workload {workloads[0].kind}, of which no series is known; a target of {SERIES} over time "
                "takes bulk",
                where=study.name,
            )


def _written(key: str, value: int | str) -> int | str:
    """A knob's value is a text."""
    return str(value) if ".knobs." in f".{key}" else value


def read_tables(
    study: str, changes: Mapping[str, Any], contender: str | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tables of a study without its contenders, and the one that is to be calibrated.

    Args:
        study: name of a built-in study, or a file.
        changes: tables that take the place of what it says.
        contender: which one of its contenders; it has none, or only one, if None.

    Raises:
        WrongInputError: there is no such study or contender.
    """
    source = find_source(study)
    try:
        raw = toml_tables(source.text)
    except ValueError as error:
        raise WrongInputError(f"not a TOML file: {error}", where=source.name) from None
    if "experiments" in raw:
        raise WrongInputError(
            "has several experiments; a calibration takes a study of one", where=source.name
        )
    raw = merged(raw, changes)
    contenders = raw.get("contenders", {})
    names = list(contenders)
    wanted = contender or (names[0] if len(names) == 1 else None)
    if names and wanted not in names:
        hint = nearest(wanted, names) if wanted else ""
        reason = hint or f"; it has {', '.join(names)}"
        raise WrongInputError(f"needs one of its contenders{reason}", where="--contender")
    base = contenders[wanted] if wanted in names else {}
    axes = dict(raw.get("axes", {}))
    if "protocol" in axes and len(axes["protocol"]) == 1:
        base = {"protocol": axes.pop("protocol")[0], **base}
    kept = {key: value for key, value in raw.items() if key not in (*_LEFT_OUT, "axes", "baseline")}
    return ({**kept, "axes": axes} if axes else kept), base
