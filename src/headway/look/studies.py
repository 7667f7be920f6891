"""The account of a study: what it asks, and how much it would run."""

from __future__ import annotations

from pathlib import Path

from headway.foreign.kinds.model import Identity
from headway.look.account import FileContents, FileFact
from headway.planning.runs import plan
from headway.study.experiment import Study
from headway.study.load import load_study


def content(path: Path, _identity: Identity) -> FileContents:
    """What a study file holds.

    Raises:
        WrongInputError: it is not a valid study.
    """
    study = load_study(str(path))
    runs = plan(study)
    experiments = [experiment.name for experiment in study.experiments if experiment.name]
    facts = [
        FileFact("name", study.name),
        FileFact("question", study.question or "not asked"),
        FileFact("experiments", ", ".join(experiments) or "one"),
        FileFact("contenders", ", ".join(_contenders(study))),
        FileFact("cells", str(len({(run.experiment, run.cell) for run in runs}))),
        FileFact("runs", str(len(runs))),
    ]
    return FileContents(tuple(facts))


def _contenders(study: Study) -> list[str]:
    """Names in the order of the file."""
    return list(dict.fromkeys(name for part in study.experiments for name in part.contenders))
