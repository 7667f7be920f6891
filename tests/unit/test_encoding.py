"""Outputs that cannot encode a character get it in ASCII, and files are read and written as UTF-8."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import headway
from headway.cli.encoding import in_ascii

ROOT = Path(headway.__file__).parent
IN_LABS = ("guest", "aioquic")
"""What runs in labs, whose locale is always the same."""
ENVIRONMENTS = (
    {"PYTHONIOENCODING": "latin-1"},
    {"PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
)
STUDY = """
name = "s"
question = "Is h3 ≥ h2 → faster?"
protocol = "h3"
"""
COMMAND = "import sys; from headway.cli import main; sys.exit(main())"


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda one: " ".join(one.values()))
@pytest.mark.parametrize("words", [("plan", "größe.toml"), ("validate", "größe.toml")])
def test_no_character_ends_a_command(
    tmp_path: Path, environment: dict[str, str], words: tuple[str, ...]
) -> None:
    (tmp_path / "größe.toml").write_text(STUDY, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *words],
        cwd=tmp_path,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )
    told = (done.stdout + done.stderr).decode("latin-1")
    assert "defect" not in told and "Traceback" not in told
    assert done.returncode == 0, told


REPORTED = """
name = "s"
question = "Is h3 ≥ h2 → faster?"
repetitions = 2
axes.protocol = ["h2", "h3"]
path.rtt = "30 ms"
workload.size = "10 kB"
"""


@pytest.mark.parametrize(
    "environment",
    [pytest.param(ENVIRONMENTS[0], marks=pytest.mark.nightly), *ENVIRONMENTS[1:]],
    ids=lambda one: " ".join(one.values()),
)
def test_no_character_ends_a_study_its_report_or_a_check(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "größe.toml").write_text(REPORTED, encoding="utf-8")
    stub = [sys.executable, "-m", "tests.stub_lab", "never", "0", "SIGTERM", str(tmp_path / "log")]
    out = tmp_path / "späte"
    study = str(tmp_path / "größe.toml")
    for words in (
        ["run", study, "--out", str(out)],
        ["report", str(out)],
        ["check", study, "--base", str(out), "--head", str(out), "--out", str(tmp_path / "c")],
    ):
        done = subprocess.run(
            [*stub, *words], env={**os.environ, **environment}, capture_output=True, check=False
        )
        told = (done.stdout + done.stderr).decode("latin-1")
        assert "defect" not in told and "Traceback" not in told
        assert done.returncode == 0, told
        assert "same" in told


def test_what_is_refused_is_said(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text('name = "s"\nprotocol = "größer → h3"\n', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "validate", str(file)],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert "grosser -> h3" in done.stderr.decode("ascii")


@pytest.mark.parametrize(
    ("character", "said"),
    [
        ("≥", ">="),
        ("−", "-"),
        ("±", "+-"),
        ("→", "->"),
        ("│", "|"),
        ("┏", "+"),
        ("█", "#"),
        ("é", "e"),
        ("語", "?"),
    ],
)
def test_characters_have_a_stand_in(character: str, said: str) -> None:
    assert in_ascii(character) == said


def unencoded(file: Path) -> list[str]:
    """Calls that leave the encoding of a text to the machine."""
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        keywords = {one.arg for one in node.keywords}
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        as_text = name in ("read_text", "write_text") or (
            "text" in keywords and name in ("run", "Popen")
        )
        if as_text and "encoding" not in keywords:
            found.append(f"{file.name}:{node.lineno}: {ast.unparse(node)}")
    return found


def test_texts_name_their_encoding() -> None:
    files = [file for file in ROOT.rglob("*.py") if file.relative_to(ROOT).parts[0] not in IN_LABS]
    assert not [call for file in files for call in unencoded(file)]
