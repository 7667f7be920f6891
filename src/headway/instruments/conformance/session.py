"""A session: the cases of a sender are carried out as a study, and each of its runs is judged."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.campaign.feasibility import checked_plan
from headway.campaign.session import conduct
from headway.campaign.task import Task
from headway.campaign.watcher import Watcher
from headway.columns import Record, Status
from headway.contract.names import QLOG_DIRECTORY
from headway.errors import WrongInputError
from headway.instruments.conformance.case import ConformanceCase
from headway.instruments.conformance.courses import read_course
from headway.instruments.conformance.drawing import picture
from headway.instruments.conformance.scenario import JUDGED_FLOW
from headway.instruments.conformance.senders import TestedSender
from headway.instruments.conformance.verdict import (
    ConformanceResult,
    ConformanceVerdict,
    Examination,
    NotApplicableError,
    concluded,
)
from headway.planning.deployment import FLOWS_DIRECTORY
from headway.records.store import ARTIFACTS, Start, Store
from headway.report.svg import svg_file
from headway.study.experiment import Study
from headway.study.load import study_from
from headway.study.user_programs import OutsideProgram

PICTURES = "pictures"
_CLIENT = "headway-client"


@dataclass(frozen=True)
class Session:
    """How cases are carried out.

    Attributes:
        out: directory of the results, which has one of a study for each sender.
        seed: of everything random.
        command: what makes the results again, for manifests.
        keeps_all: whether logs and captures stay of runs that pass, too.
        jobs: labs at a time; one per core if None.
        outside: programs from outside.
        start: what is to be done with existing results.
    """

    out: Path
    seed: int
    command: str
    watcher: Watcher
    keeps_all: bool = False
    jobs: int | None = None
    outside: tuple[OutsideProgram, ...] = ()
    start: Start = Start.NEW

    def carry_out(
        self, sender: TestedSender, cases: Sequence[ConformanceCase]
    ) -> list[ConformanceVerdict]:
        """Try a sender in cases; a verdict for each, in their order.

        Raises:
            HeadwayError: a lab cannot be booted, or results are in the way.
        """
        obstacles = {case.name: self._obstacle(sender, case) for case in cases}
        able = [case for case in cases if not obstacles[case.name]]
        verdicts = {
            name: ConformanceVerdict(name, sender.title, ConformanceResult.NOT_APPLICABLE, reason)
            for name, reason in obstacles.items()
            if reason
        }
        if able:
            verdicts |= self._tried(sender, able)
        return [verdicts[case.name] for case in cases]

    def _obstacle(self, sender: TestedSender, case: ConformanceCase) -> str:
        """Why a case cannot be tried with a sender; empty if it can."""
        if reason := sender.obstacle(case):
            return reason
        try:
            checked_plan(self._study(sender, [case]), case.name)
        except WrongInputError as error:
            return f"it cannot play the scenario: {error.message}"
        return ""

    def _study(self, sender: TestedSender, cases: Iterable[ConformanceCase]) -> Study:
        """A study with an experiment for each case."""
        tables: dict[str, Any] = {
            "name": f"conformance-{sender.slug}".lower().replace(".", "-"),
            "variation": "none",
            "seed": self.seed,
            "protocol": sender.protocol,
            "client": {"program": _CLIENT},
            "experiments": {
                case.name: {
                    **case.scenario.tables(),
                    "client": {"program": _CLIENT, **case.scenario.client},
                    "server": sender.host(case),
                    "capture": _capture(sender, case),
                }
                for case in cases
            },
        }
        return study_from(tables, programs=self.outside)

    def _tried(
        self, sender: TestedSender, cases: Sequence[ConformanceCase]
    ) -> dict[str, ConformanceVerdict]:
        directory = self.out / sender.slug
        task = Task(
            study=self._study(sender, cases),
            name=sender.title,
            out=directory,
            command=self.command,
            go_on="the same command with --resume goes on",
            start=self.start,
            keep_going=True,
            jobs=self.jobs,
        )
        conduct(task, self.watcher)
        with Store.open(directory, Start.RESUME) as store:
            records = {record.experiment: record for record in store.each()}
        return {case.name: self._judged(sender, case, records[case.name]) for case in cases}

    def _judged(
        self, sender: TestedSender, case: ConformanceCase, record: Record
    ) -> ConformanceVerdict:
        run = self.out / sender.slug / ARTIFACTS / record.run_id
        if record.status is not Status.OK:
            return ConformanceVerdict(
                case.name,
                sender.title,
                ConformanceResult.FAILED,
                f"the transfer did not end well: {record.error}",
            )
        name = f"{PICTURES}/{sender.slug}-{case.name}.svg"
        verdict = judge(case, sender.title, run, self.out, name)
        if not self.keeps_all and verdict.result is ConformanceResult.PASSED:
            _thin(run)
        return verdict


def judge(
    case: ConformanceCase, sender: str, run: Path, out: Path, name: str
) -> ConformanceVerdict:
    """Judge a run that ended well, and draw it.

    Args:
        case: the case.
        sender: title of the sender.
        run: directory of the run.
        out: directory of the results.
        name: file of the picture there.
    """
    course = read_course(_flow_directory(run), run)
    if course is None:
        return ConformanceVerdict(
            case.name,
            sender,
            ConformanceResult.NOT_APPLICABLE,
            "nothing tells its window: it left no qlog of it, and no packets that can be opened",
        )
    if case.needs_window and course.is_of_packets:
        return ConformanceVerdict(
            case.name,
            sender,
            ConformanceResult.NOT_APPLICABLE,
            "the program writes no qlog, and what is in flight does not tell this window",
            evidence=course.source.value,
        )
    examination = Examination()
    try:
        case.check(course, examination)
        result, reason = concluded(examination)
    except NotApplicableError as error:
        result, reason = ConformanceResult.NOT_APPLICABLE, str(error)
    sheet = picture(course, examination, f"{case.name}: {sender}, {result.value}")
    file = out / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(svg_file(sheet, f"{case.name}: {sender}", reason), encoding="utf-8")
    return ConformanceVerdict(
        case.name,
        sender,
        result,
        reason,
        tuple(examination.numbers),
        course.source.value,
        name,
    )


def _flow_directory(run: Path) -> Path:
    """Where a run has what it left of the flow that is judged."""
    flow = run / FLOWS_DIRECTORY / JUDGED_FLOW
    return flow if flow.is_dir() else run


def _capture(sender: TestedSender, case: ConformanceCase) -> dict[str, bool]:
    """What a run has to leave: of QUIC its packets, and qlog where the program writes it."""
    if sender.is_tcp:
        return {}
    has_log = sender.server.writes_qlog
    # Every host and router captures: of several flows only what nothing else tells.
    return {"packets": not (has_log and case.scenario.rivals), "qlog": has_log}


def _thin(run: Path) -> None:
    """Remove what is large: logs and captures."""
    for directory in {run, _flow_directory(run)}:
        shutil.rmtree(directory / QLOG_DIRECTORY, ignore_errors=True)
    for capture in run.glob("*.pcapng"):
        capture.unlink()
