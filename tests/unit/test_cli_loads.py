"""What commands load before they do something: what is not needed costs each of them a second."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit import made_results as made

HEAVY = (
    "PIL", "asyncio", "cryptography", "distributed", "duckdb", "ibis", "jinja2", "justhtml", "matplotlib", "numpy",
    "polars", "pydantic", "rich", "scipy", "scipy.stats", "typer", "warcio", "headway.analysis", "headway.diagnosis",
    "headway.programs.curl", "headway.report", "headway.study.setting",
)  # fmt: skip
LOADED = f"""
import atexit, sys
heavy = {HEAVY!r}
atexit.register(lambda: print(*(one for one in heavy if one in sys.modules), file=sys.stderr))
"""
STUB_BOOT = """
import types
from pathlib import Path
from headway.contract.outcome import Outcome
from headway.lab import machine
ended = types.SimpleNamespace(name="command", exit_status=0)
machine.Machine.boot = lambda *_, **__: Outcome("ok", "", 0, "", ended=(ended,))
"""
STUB_LAB = f"""{STUB_BOOT}
from headway.lab import bodies, ready
bodies.served_bodies = lambda *_: Path.cwd()  # made once, and found every time
image = types.SimpleNamespace(kernel=Path.cwd(), root=Path.cwd(), native=Path.cwd())
ready.ready_image = lambda **_: image
ready.ready_machine = lambda image: machine.Machine(image, Path.cwd())
"""


def loaded(directory: Path, words: tuple[str, ...], first: str = "", status: int = 0) -> set[str]:
    """Which of the heavy modules a command has loaded when it ends, with this status."""
    command = f"{LOADED}{first}\nsys.argv = {['headway', *words]!r}\n"
    ended = subprocess.run(
        [sys.executable, "-c", f"{command}from headway.cli import main\nmain()"],
        env=os.environ | {"HEADWAY_CACHE": str(directory)},
        cwd=directory,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == status, ended.stderr
    return set(ended.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        ((), ""),
        (("--version",), ""),
        (("--help",), "typer"),
        (("help",), "typer"),
        (("run", "--help"), "typer"),
        (("help", "check"), "typer"),
        (("exec", "--help"), "typer"),
        (("doctor", "--help"), "typer"),
        (("census", "--help"), "typer"),
        (("record", "--help"), "typer"),
        (("image",), "typer"),
        (("sites", "--help"), "typer"),
        (("list",), "typer"),
        (("list", "studies"), "typer rich"),
    ],
    ids=" ".join,
)
def test_a_command_loads_what_it_needs(tmp_path: Path, words: tuple[str, ...], needed: str) -> None:
    assert loaded(tmp_path, words) <= set(needed.split())


PLANNED = {"typer", "pydantic", "rich", "headway.study.setting", "headway.programs.curl"}


@pytest.mark.parametrize(
    "words", [("plan", "quickstart"), ("validate", "quickstart")], ids=" ".join
)
def test_a_plan_needs_no_tables_no_statistics_and_no_pictures(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    assert loaded(tmp_path, words) <= PLANNED


def test_a_plan_on_a_machine_that_has_measured_labs_needs_no_more(tmp_path: Path) -> None:
    """Then costs are fitted to what labs took, in least squares."""
    labs = {"labs": 1.0, "features": [[2.0, 1.0, 1.0, 4.0]] * 4, "targets": [0.1, 0.1, 0.1, 0.4]}
    costs = tmp_path / "costs.json"
    costs.write_text(json.dumps({"curl h2 nginx": labs}), encoding="utf-8")
    assert loaded(tmp_path, ("plan", "quickstart")) <= PLANNED


def test_a_report_of_two_runs_needs_no_scipy_and_no_program(tmp_path: Path) -> None:
    made.saved(tmp_path / "two", made.runs({"h2": [1.0], "h3": [1.5]}))
    found = loaded(tmp_path, ("report", "two"))
    assert {"headway.report", "polars"} <= found
    assert not found & {"scipy", "justhtml", "cryptography", "distributed", "headway.programs.curl"}


@pytest.mark.parametrize(
    "words",
    [("report",), ("claims",), ("figure",), ("export", "-o", "made.zip")],
    ids=" ".join,
)
def test_a_directory_without_results_is_refused_before_what_reads_them_is_loaded(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "none").mkdir()
    found = loaded(tmp_path, (*words, "none"), status=2)
    assert not found & {"numpy", "polars", "PIL", "headway.analysis", "headway.report"}


def test_a_command_in_a_lab_needs_no_statistics_and_no_tables(tmp_path: Path) -> None:
    words = ("exec", "--rtt", "20 ms", "--", "true")
    assert loaded(tmp_path, words, STUB_LAB) <= {"typer", "pydantic"}


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (("--rtt", "20 ms", "--", "true"), ("--rtt", "20 ms", "--", "false")),
        (("--rtt=20 ms", "--seed", "3", "true"), ("--seed=3", "--rtt", "20 ms", "curl", "--", "x")),
        (("--loss", "1 %", "--rate", "5 Mbit/s", "--", "true"), ("--rate=5 Mbit/s", "--loss=1 %", "w")),
        (("--clock", "cpu", "--", "true"), ("--clock=cpu", "true")),
        (("--jitter", "1 ms", "--rtt", "9 ms", "--rtt", "8 ms", "--", "x"), ("--rtt=8 ms", "--jitter=1 ms", "x")),
    ],
)  # fmt: skip
def test_a_command_with_options_of_an_earlier_one_loads_no_models(
    tmp_path: Path, first: tuple[str, ...], again: tuple[str, ...]
) -> None:
    """So whatever way options are written, both who read them read the same."""
    assert "pydantic" in loaded(tmp_path, ("exec", *first), STUB_LAB)
    assert not loaded(tmp_path, ("exec", *again), STUB_BOOT)


@pytest.mark.parametrize(
    "other",
    [
        ("--rtt", "21 ms", "--", "true"),
        ("--rtt", "20 ms", "--seed", "2", "--", "true"),
        ("--rtt", "20 ms", "--clock", "real", "--", "true"),
        ("--rtt", "20 ms", "--mount", ".", "--", "true"),
        ("--rtt", "20 ms", "--", "chromium"),
    ],
)
def test_a_command_with_other_options_is_given_a_lab_of_its_own(
    tmp_path: Path, other: tuple[str, ...]
) -> None:
    loaded(tmp_path, ("exec", "--rtt", "20 ms", "--", "true"), STUB_LAB)
    assert "pydantic" in loaded(tmp_path, ("exec", *other), STUB_LAB)


def test_what_is_loaded_is_noticed(tmp_path: Path) -> None:
    """Otherwise no test here could fail."""
    assert {"rich", "numpy"} <= loaded(tmp_path, ("--version",), "import numpy, rich")


def test_the_package_is_the_command() -> None:
    for words in (["--version"], ["rnu"]):
        ended = [
            subprocess.run([sys.executable, *how, *words], capture_output=True, text=True)
            for how in (["-m", "headway"], ["-c", "from headway.cli import main; main()"])
        ]
        said = [(one.returncode, one.stdout, one.stderr) for one in ended]
        assert said[0] == said[1] != (0, "", "")
