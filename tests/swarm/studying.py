"""A drawn setting as a study of a user's: run, reported, asked why and for its packets, by the commands."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import tomlkit

from tests.swarm.drawing import Tables

_MAY_FAIL = 1
"""Status of a study whose runs failed, which is no defect."""


def faults_of_study(tables: Tables, directory: Path) -> Iterator[str]:
    """What of the commands ends otherwise than in order.

    Args:
        tables: of a study that can be planned.
        directory: for the study and its results; it is removed.
    """
    directory.mkdir(parents=True)
    study = directory / "study.toml"
    study.write_text(tomlkit.dumps(tables))
    results = directory / "results"
    for words in (
        ("plan", str(study)),
        ("run", str(study), "--out", str(results), "--allow-failures"),
        ("report", str(results)),
        ("look", str(results)),
        ("export", str(results), "--out", str(directory / "archive.zip")),
    ):
        command = [sys.executable, "-m", "headway", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, _MAY_FAIL) or "defect in Headway" in done.stderr:
            last = done.stderr.strip().splitlines()[-2:]
            yield f"`headway {words[0]}` ends with {done.returncode}: {' / '.join(last)}"
            break
    shutil.rmtree(directory)
