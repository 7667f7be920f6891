"""A check from two builds to what is found: both are carried out, unless results are there already."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headway.analysis import load_results
from headway.campaign.resume_check import GoingOn
from headway.campaign.session import conduct
from headway.campaign.task import Task
from headway.campaign.watcher import Watcher
from headway.errors import WrongInputError, counted
from headway.instruments.check.builds import StudySource, is_results, study_of
from headway.instruments.check.faultcheck import judge_faults
from headway.instruments.check.reports import CheckReport
from headway.instruments.check.verdict import BASE, HEAD, Side, judge_builds
from headway.records.store import Start, refresh_table
from headway.statistics.pairs import fewest_pairs
from headway.study.experiment import Study

MARKDOWN_FILE, JUNIT_FILE, BENCHMARK_FILE = "check.md", "junit.xml", "benchmark.json"


@dataclass(frozen=True)
class BuildCheck:
    """What is to be compared, and how.

    Attributes:
        source: the study.
        base: a build, a file of programs, or a directory of results; None if there is none yet.
        head: the same.
        program: whose builds they are, if the study has several programs from outside.
        out: directory for the results.
        tolerance: by how much the head may be slower, a share.
        command: what makes the results again, for manifests.
        start: what is to be done with results that the directory holds.
        jobs: labs at a time; one per core if None.
    """

    source: StudySource
    base: Path | None
    head: Path
    program: str | None
    out: Path
    tolerance: float
    command: str
    start: Start = Start.NEW
    jobs: int | None = None


def carry_out_check(check: BuildCheck, watcher: Watcher) -> CheckReport | None:
    """Carry out what is not there yet, and compare; None without a base.

    Raises:
        WrongInputError: what is to be compared is not there, or cannot be compared.
        HeadwayError: as for `conduct`.
    """
    studies = {
        side: study_of(check.source, build, check.program, f"--{side}")
        for side, build in ((BASE, check.base), (HEAD, check.head))
        if build and not is_results(build)
    }
    if check.base:
        for study in studies.values():
            _check_repetitions(study, check.source.name)
    # Results that are there first: what cannot be compared with them is not carried out.
    places = {BASE: check.base, HEAD: check.head}
    there = next((place for side, place in places.items() if place and side not in studies), None)
    base = _side(check, BASE, check.base, studies, watcher, there) if check.base else None
    head = _side(check, HEAD, check.head, studies, watcher, there)
    if base is None:
        return None
    _check_comparable(base, head, str(check.base))
    report = CheckReport(
        head.results.manifest.study.name,
        judge_builds(base, head),
        check.tolerance,
        judge_faults(base, head),
    )
    check.out.mkdir(parents=True, exist_ok=True)
    for name, text in (
        (MARKDOWN_FILE, report.markdown()),
        (JUNIT_FILE, report.junit()),
        (BENCHMARK_FILE, report.benchmark()),
    ):
        (check.out / name).write_text(text, encoding="utf-8")
    return report


def _side(
    check: BuildCheck,
    name: str,
    build: Path,
    studies: dict[str, Study],
    watcher: Watcher,
    compared_with: Path | None,
) -> Side:
    """Results of one side, carried out if they are not there."""
    directory = build
    if name in studies:
        directory = check.out / name
        watcher.note(f"{name}: {build}")
        task = Task(
            study=studies[name],
            name=check.source.name,
            out=directory,
            command=check.command,
            go_on="the same command with --resume goes on",
            start=check.start,
            compared_with=compared_with,
            keep_going=True,
            jobs=check.jobs,
        )
        conduct(task, watcher)
    refresh_table(directory)
    return Side(load_results(directory), directory)


def _check_repetitions(study: Study, name: str) -> None:
    """Refuse a gate that could never close: one slower contender among all that are compared must show."""
    for experiment in study.experiments:
        if experiment.faults:
            # Equal packets up to the fault: what it costs is exact.
            continue
        if experiment.repetitions.until is not None:
            raise WrongInputError(
                "both builds have the same repetitions, and not as many as each takes: "
                "--repetitions says how many",
                where=name,
            )
        compared = len(list(experiment.grid())) * len(experiment.contenders)
        least = fewest_pairs(compared)
        if experiment.repetitions.most < least:
            raise WrongInputError(
                f"of {counted(experiment.repetitions.most, 'repetition')} a difference that is one of "
                f"{counted(compared, 'comparison')} cannot be significant; --repetitions {least} is the "
                "least",
                where=name,
            )


def _check_comparable(base: Side, head: Side, where: str) -> None:
    before, now = (side.results.manifest for side in (base, head))
    GoingOn(before, now, where).check_comparable()
