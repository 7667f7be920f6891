"""A new instrument is one folder: what it has is found where the core's own is, by kind."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.imports import REPOSITORY, ROOT

GUIDE = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILES = {
    "__init__.py": '"""The slowest runs."""\n',
    # As CONTRIBUTING.md has it.
    "commands.py": re.search(r"## An instrument\n.*?```python\n(.*?)```", GUIDE, re.DOTALL)[1],  # type: ignore[index]
    "cli.py": '''
from headway.terminal import say

def slowest() -> None:
    """Show the slowest runs of results."""
    say("none yet")
''',
    "columns.py": '''
from headway.columns.column import Columns, metric
from headway.columns.outcome import Requests

class Slowness(Columns):
    """How slow."""

    slowness_s: float | None = metric("How slow.", "slowness")

FAMILIES = {Slowness: Requests}
''',
    "metrics/total.py": """
from headway.diagnosis.metrics.measure import measure

@measure
def _slowness(finished):
    return {"slowness_s": finished.measured.total_s}
""",
    "figures.py": """
from headway.report.figures.kind import Kind
from headway.report.section import Section

KIND = Kind(place=9999, section=Section.RESULTS, draw=lambda subject: None)
""",
    "tables/slowest.py": """
from headway.report.section import Section
from headway.report.tables.kind import TableKind

KIND = TableKind(place=9999, section=Section.NUMBERS, name="slowest")
""",
    "metrics/__init__.py": "",
    "tables/__init__.py": "",
    "studies/slowest.toml": 'question = "Which run is slowest?"\n',
}
FOUND = """
import json
from headway.columns import METRICS, Record
from headway.diagnosis.metrics.measure import MEASURES
from headway.diagnosis import metrics
from headway.report.figures import known_kinds
from headway.report.tables import known_tables
columns = list(Record.model_fields)
print(json.dumps({
    "metric": "slowness_s" in METRICS,
    "behind": columns[columns.index("slowness_s") - 1],
    "measured": [one.__name__ for one in MEASURES].count("_slowness"),
    "figure": known_kinds()[-1].place,
    "table": next(one.name for one in known_tables() if one.place == 9999),
}))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Headway's package with an instrument more."""
    package = tmp_path / "headway"
    (package / "instruments").mkdir(parents=True)
    for entry in ROOT.iterdir():
        if entry.name != "instruments":
            (package / entry.name).symlink_to(entry)
    for entry in (ROOT / "instruments").iterdir():
        (package / "instruments" / entry.name).symlink_to(entry)
    for name, text in FILES.items():
        file = package / "instruments" / "slowest" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return package


def carried_out(package: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": str(package.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_its_command_is_listed_and_carried_out(package: Path) -> None:
    shown = carried_out(package, "-m", "headway", "--help").splitlines()
    names = [line.split()[0] for line in shown if line.startswith("  ")]
    assert names.index("slowest") > names.index("claims")
    assert names.index("slowest") < names.index("packets")
    assert carried_out(package, "-m", "headway", "slowest") == "none yet\n"


def test_its_studies_are_listed(package: Path) -> None:
    assert "Which run is slowest?" in carried_out(package, "-m", "headway", "list", "studies")


def test_its_columns_figures_and_tables_are_found(package: Path) -> None:
    from headway.columns.outcome import Requests

    assert json.loads(carried_out(package, "-c", FOUND)) == {
        "metric": True,
        "behind": list(Requests.model_fields)[-1],
        "measured": 1,
        "figure": 9999,
        "table": "slowest",
    }
