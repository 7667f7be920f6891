"""Builds that are compared: of a program, a file of programs, or existing results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.errors import WrongInputError
from headway.planning.runs import plan
from headway.records.manifest import MANIFEST_FILE
from headway.study.experiment import Study
from headway.study.load import load_study
from headway.study.outsidefile import read_programs, with_build
from headway.study.user_programs import OutsideProgram

_ALWAYS: dict[str, Any] = {"capture": {"packets": True}}
"""Without captures nothing tells where two runs begin to differ."""


@dataclass(frozen=True)
class StudySource:
    """How a study is read for both sides.

    Attributes:
        name: file or name of the study.
        quick: whether its short form is meant.
        programs: file of programs from outside, if it is not the usual one.
        repetitions: how many, if not as many as the study says.
    """

    name: str
    quick: bool = False
    programs: Path | None = None
    repetitions: int | None = None

    def load(self, programs: tuple[OutsideProgram, ...] | None = None) -> Study:
        """The study, which keeps its packets."""
        if programs is None and self.programs is not None:
            programs = read_programs(self.programs)
        repetitions = {} if self.repetitions is None else {"repetitions": self.repetitions}
        return load_study(
            self.name, quick=self.quick, programs=programs, changes={**_ALWAYS, **repetitions}
        )


def is_results(place: Path) -> bool:
    """Whether a directory holds results."""
    return (place / MANIFEST_FILE).is_file()


def study_of(source: StudySource, build: Path, program: str | None, option: str) -> Study:
    """The study with a build.

    Args:
        source: the study.
        build: an executable or an image's archive, which takes the place of a program's, or a file of
            programs.
        program: whose place it takes, as ``NAME`` or ``server.NAME``; the only one that the study has
            if None.
        option: that names the build, for messages.

    Raises:
        WrongInputError: it is neither, or nothing says whose place it takes.
    """
    if build.is_dir() or not build.exists():
        what = "holds no results" if build.is_dir() else "does not exist"
        raise WrongInputError(f"{build} {what}", where=option)
    if build.suffix == ".toml":
        return source.load(read_programs(build))
    known = used_programs(source.load())
    for study in known:
        study.check_whole()
    target = _target(known, program, option)
    return source.load(
        tuple(
            with_build(outside_program, build) if outside_program == target else outside_program
            for outside_program in known
        )
    )


def used_programs(study: Study) -> tuple[OutsideProgram, ...]:
    """The programs from outside that a study uses."""
    outside_programs = {program for run in plan(study) for program in run.setting.programs}
    return tuple(sorted(outside_programs, key=lambda outside_program: outside_program.directory))


def _target(known: tuple[OutsideProgram, ...], program: str | None, option: str) -> OutsideProgram:
    able = [
        outside_program
        for outside_program in known
        if outside_program.executable or outside_program.image
    ]
    named = [
        outside_program
        for outside_program in able
        if program in (None, outside_program.name, f"{outside_program.role}.{outside_program.name}")
    ]
    if len(named) == 1:
        return named[0]
    listed = (
        ", ".join(f"{outside_program.role}.{outside_program.name}" for outside_program in able)
        or "none"
    )
    if not able:
        reason = "the study uses no program from outside, so a build has no executable or image to replace"
    elif program is None:
        reason = f"which program is this a build of? --program names it; there are {listed}"
    else:
        reason = f"--program {program} names {len(named)} of the study's programs: {listed}"
    raise WrongInputError(reason, where=option)
