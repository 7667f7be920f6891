"""A typed view of ``manifest.json``: what the analysis and the report read of it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.analysis.experiment import Experiment, experiment_from
from headway.errors import WrongInputError


@dataclass(frozen=True)
class SelfTest:
    """One check of the emulation: what was asked of a path and what was measured on it."""

    name: str
    path: str
    expected: float | None
    measured: float | None
    low: float | None
    high: float | None
    unit: str
    passed: bool


@dataclass(frozen=True)
class ProgramSetting:
    """One setting that an adapter gave a program, and why."""

    program: str
    setting: str
    value: str
    why: str


@dataclass(frozen=True)
class Manifest:
    """What is known of a campaign beside its runs; text that is absent is empty."""

    name: str
    question: str
    experiments: tuple[Experiment, ...]
    study: str
    versions: tuple[tuple[str, str], ...]
    kernel: str
    image: str
    host: str
    created: str
    command: str
    self_test: tuple[SelfTest, ...]
    settings: tuple[ProgramSetting, ...]
    notes: tuple[str, ...] = ()

    @property
    def warning(self) -> str:
        """What a reader must know before anything else: checks of the emulation that failed."""
        failed = [f"{test.name} ({test.path})" for test in self.self_test if not test.passed]
        if not failed:
            return ""
        return (
            f"The emulation failed its own test: {'; '.join(failed)}. Do not rely on the results."
        )


def read_manifest(file: Path) -> Manifest:
    """Read a manifest; one that is missing is empty, so that runs alone can be analysed.

    Raises:
        WrongInputError: the file is not a JSON object.
    """
    if not file.exists():
        return manifest_from({})
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise WrongInputError(f"is not JSON: {error}", where=str(file)) from error
    if not isinstance(raw, dict):
        raise WrongInputError("is not a JSON object", where=str(file))
    return manifest_from(raw)


def manifest_from(raw: Mapping[str, Any]) -> Manifest:
    """The typed view of a manifest's JSON object."""
    study = raw.get("study") or {}
    if not isinstance(study, dict):
        study = {"name": str(study)}
    return Manifest(
        name=_text(study.get("name")),
        question=_text(study.get("question")),
        experiments=tuple(experiment_from(entry) for entry in study.get("experiments") or ()),
        study=json.dumps(study, indent=2, ensure_ascii=False) if study else "",
        versions=_versions(raw.get("versions")),
        kernel=_text(raw.get("kernel")),
        image=_text(raw.get("image")),
        host=_text(raw.get("host")),
        created=_text(raw.get("created")),
        command=_command(raw.get("command")),
        self_test=tuple(_self_test(entry) for entry in raw.get("self_test") or ()),
        settings=tuple(_setting(entry) for entry in raw.get("settings") or ()),
        notes=tuple(_text(note) for note in raw.get("notes") or ()),
    )


def _text(value: Any) -> str:
    """A value as a line of text; tables become ``key value`` lists."""
    if value is None:
        return ""
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_text(part)}" for key, part in value.items())
    if isinstance(value, list):
        return ", ".join(_text(part) for part in value)
    return str(value)


def _versions(value: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        return ()
    return tuple((str(program), _text(version)) for program, version in sorted(value.items()))


def _command(value: Any) -> str:
    return shlex.join(map(str, value)) if isinstance(value, list) else _text(value)


def _self_test(entry: Mapping[str, Any]) -> SelfTest:
    return SelfTest(
        name=_text(entry.get("name")),
        path=_text(entry.get("path")),
        expected=_number(entry.get("expected")),
        measured=_number(entry.get("measured")),
        low=_number(entry.get("low")),
        high=_number(entry.get("high")),
        unit=_text(entry.get("unit")),
        passed=bool(entry.get("passed")),
    )


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _setting(entry: Mapping[str, Any]) -> ProgramSetting:
    fields = ("program", "setting", "value", "why")
    return ProgramSetting(**{name: _text(entry.get(name)) for name in fields})
