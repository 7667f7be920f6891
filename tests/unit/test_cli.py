"""The command line's manners: one clear line, and the right exit status."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from headway import cli
from headway.campaign import feasibility
from headway.campaign.local import LocalExecutor
from headway.cli.changes import parsed_changes
from headway.cli.entries import COMMANDS
from headway.cli.group import command_line
from headway.cli.plan_tables import duration
from headway.contract.outcome import Outcome
from headway.errors import WrongInputError
from headway.programs.curl import Curl
from headway.records.store import read_records
from headway.study.load import load_study
from tests.stub_lab import StubMachine, replace_labs

COLUMNS = "200"


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["headway", *words])
    monkeypatch.setenv("COLUMNS", COLUMNS)
    try:
        cli.main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def test_more_labs_than_cores_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "run", "quickstart", "--out", "x", "--jobs", "4096") == 2
    assert capsys.readouterr().err.startswith("headway: --jobs: ")


def study(tmp_path: Path, text: str) -> str:
    file = tmp_path / "study.toml"
    file.write_text('name = "s"\n[workload]\nsize = "1 MB"\n' + text)
    return str(file)


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory for results, of a study without labs and without a report."""
    replace_labs(monkeypatch)
    for shown in ("_show", "_show_part"):
        monkeypatch.setattr(f"headway.cli.study.{shown}", lambda *_, **__: None)
    return tmp_path / "out"


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err


def test_a_directory_with_files_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    for more in ((), ("--replace",), ("--resume",)):
        assert run(monkeypatch, "run", "quickstart", "--out", str(tmp_path), *more) == 2
        assert "holds files already" in said(capsys)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_results_are_resumed_replaced_or_refused(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    out: Path,
) -> None:
    words = ("run", study(tmp_path, ""), "--out", str(out))
    assert run(monkeypatch, *words, "--resume") == 0
    assert run(monkeypatch, *words) == 2
    assert "--resume goes on with them, --replace removes them" in said(capsys)
    assert run(monkeypatch, *words, "--resume") == 0
    assert "1 of 1 runs are done already" in said(capsys)
    assert run(monkeypatch, *words, "--replace") == 0
    assert "are done already" not in said(capsys)
    assert run(monkeypatch, "run", "quickstart", "--out", str(out), "--resume") == 2
    assert "another study: s there, quickstart now" in said(capsys)


def test_an_interrupt_tells_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    out: Path,
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(LocalExecutor, "execute", interrupted)
    words = ("run", study(tmp_path, ""), "--out", str(out))
    assert run(monkeypatch, *words, "--replace") == 130
    lines = said(capsys)
    assert f"0 of 1 runs are kept in {out}; `headway {' '.join(words)} --resume` goes on" in lines


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_command_that_has_not_begun_ends_without_a_word_too_many(
    tmp_path: Path, name: str
) -> None:
    """The signal comes while the command's modules are loaded."""
    module = tmp_path / "typer.py"
    module.write_text(f"import os, signal\nos.kill(os.getpid(), signal.{name})\n")
    command = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.argv = ['headway', 'run']\n"
    command += "from headway.cli import main; main()"
    ended = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True)
    assert ended.returncode == 128 + signal.Signals[name]
    assert (ended.stdout, ended.stderr) == ("", "headway: interrupted\n")


def test_what_a_command_was_started_to_ignore_stays_ignored(tmp_path: Path) -> None:
    module = tmp_path / "typer.py"
    module.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGHUP)\nraise SystemExit(5)")
    command = f"import signal, sys; sys.path.insert(0, {str(tmp_path)!r}); sys.argv.append('run')\n"
    command += "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
    command += "from headway.cli import main; main()"
    assert subprocess.run([sys.executable, "-c", command]).returncode == 5


def test_a_lost_terminal_is_written_to_no_more() -> None:
    """What is said after SIGHUP finds nobody, which is no further error."""
    leader, follower = pty.openpty()
    command = """
import os, signal
from headway.cli.interruption import Interruption
with Interruption() as interruption:
    interruption.ends_in_order()
    try:
        os.read(0, 1)  # the end of its input: the terminal is gone
        os.kill(os.getpid(), signal.SIGHUP)
    except KeyboardInterrupt:
        os.write(2, b"said to nobody")
os._exit(interruption.exit_status)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", command],
        stdin=subprocess.PIPE,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    os.close(leader)
    process.communicate()
    assert process.returncode == 129


def test_a_study_whose_runs_all_fail_says_so(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    out: Path,
) -> None:
    def failing(*_: object, **__: object) -> Outcome:
        return Outcome("failed", "nginx ended early", 0, "")

    monkeypatch.setattr(StubMachine, "boot", failing)
    monkeypatch.setattr("headway.diagnosis.transfer.Transfer.save", lambda *_: None)
    assert run(monkeypatch, "run", study(tmp_path, ""), "--out", str(out)) == 1
    assert "no run succeeded; the first reason: nginx ended early" in said(capsys)


def test_a_program_that_is_not_installed_is_said_at_once(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    out: Path,
) -> None:
    monkeypatch.setattr(Curl, "extra", "quic-go-client")
    monkeypatch.setattr(feasibility, "installed_extras", dict)
    assert run(monkeypatch, "run", study(tmp_path, ""), "--out", str(out)) == 2
    assert "curl is not installed; `headway image add quic-go-client` adds it" in said(capsys)
    assert not out.exists()
    assert run(monkeypatch, "validate", study(tmp_path, "")) == 0


def test_a_paper_is_reproduced_into_its_own_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, out: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("headway.cli.study.reproduces", lambda _: True)
    assert out.parent == tmp_path
    assert run(monkeypatch, "reproduce", "quickstart", "--jobs", "1") == 0
    assert len(read_records(tmp_path / "results" / "quickstart")) == 360
    manifest = json.loads((tmp_path / "results" / "quickstart" / "manifest.json").read_text())
    assert manifest["command"] == "headway reproduce quickstart --jobs 1"


def test_a_study_is_carried_out_into_a_directory_of_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, out: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert out.parent == tmp_path
    assert run(monkeypatch, "run", study(tmp_path, "")) == 0
    assert len(read_records(tmp_path / "results" / "s")) == 1


def test_a_report_of_runs_that_are_not_there_prints_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    replace_labs(monkeypatch)
    monkeypatch.setattr("headway.report.Report.write", lambda *_: tmp_path)
    words = ("run", study(tmp_path, ""), "--out", str(tmp_path / "out"))
    assert run(monkeypatch, *words) == 0
    capsys.readouterr()
    assert run(monkeypatch, "report", str(tmp_path / "out"), "--run", "nosuch") == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "there is no run 'nosuch'; runs are called like 'cell-h2-001'" in printed.err


def test_report_passes_runs_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shown = []
    monkeypatch.setattr("headway.cli.study._show", lambda *what: shown.append(what))
    assert run(monkeypatch, "report", str(tmp_path), "--run", "a-h2-001", "--run", "a-h3-001") == 0
    assert shown == [(tmp_path, ("a-h2-001", "a-h3-001"))]


def test_validate_counts_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "validate", "quickstart") == 0
    assert "360 runs in 12 cells" in capsys.readouterr().out


def test_validate_checks_the_short_form_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = study(tmp_path, '[quick]\npath.rtt = "9"\n')
    assert [run(monkeypatch, command, file) for command in ("plan", "validate")] == [0, 2]


def test_plan_shows_runs_axes_and_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path))
    assert run(monkeypatch, "plan", "quickstart", "--jobs", "2") == 0
    shown = capsys.readouterr().out
    assert re.search(r"quickstart +12 +3 +10 +360", shown)
    assert re.search(r"path.rtt +20 ms, 100 ms\b", shown)
    assert re.search(r"contender +h1, h2, h3\b", shown)
    assert re.search(r"360 runs take about \d+ (s|min), 2 labs at a time", shown)
    assert "this machine has not carried out such runs yet" in shown
    assert "can be significant" not in shown


def repeated(tmp_path: Path, repetitions: int) -> str:
    file = tmp_path / "repeated.toml"
    file.write_text(f'name = "s"\nrepetitions = {repetitions}\nworkload.size = "1 MB"\n')
    return str(file)


@pytest.mark.parametrize(("repetitions", "told"), [(3000, True), (30, False)])
def test_plan_says_how_far_it_is_if_there_are_many_runs(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    repetitions: int,
    told: bool,
) -> None:
    file = repeated(tmp_path, repetitions)
    assert run(monkeypatch, "plan", file) == 0
    lines = said(capsys).splitlines()
    assert ("planning 3,000 runs, contenders of cells: 1 to do" in lines) is told
    assert ("estimating how long 3,000 runs take" in lines) is told


def test_a_study_says_that_it_is_planned(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    out: Path,
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(LocalExecutor, "execute", stopped)
    file = repeated(tmp_path, 3000)
    assert run(monkeypatch, "run", file, "--out", str(out)) == 130
    lines = said(capsys).splitlines()
    assert lines[0] == "planning 3,000 runs, contenders of cells: 1 to do"


def test_plan_says_what_needs_no_lab_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path))
    file = tmp_path / "study.toml"
    experiment = '[experiments.{}]\naxes.path.rtt = ["20 ms", "{} ms"]\n'
    both = experiment.format("near", 40) + experiment.format("far", 80)
    file.write_text(f'name = "s"\nrepetitions = 10\n{both}')
    assert run(monkeypatch, "plan", str(file), "--jobs", "2") == 0
    assert "10 of them need no lab of their own: another experiment" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("", ["headway list studies ", "headway list programs "]),
        ("studies", ["quickstart", "liu2024"]),
        ("studies liu2024", ["liu2024"]),
        ("programs", ["curl ", "envoy ", "nginx ", "QUIC PEP"]),
        ("programs nginx", ["nginx (server)", "nginx (proxy)", "knob quic_gso = off"]),
        ("programs curl", ["workloads: download, parallel", "can: writes qlog"]),
        ("profiles", ["4g-good", "source: "]),
        ("profiles 4g-good", ["4g-good"]),
        ("workloads", ["download", "migration", "key after: bytes that the client has received"]),
        ("sites", ["sander-19"]),
        ("sites sander-19", ["sander-19"]),
    ],
)
def test_lists_name_what_there_is(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: str,
    named: list[str],
) -> None:
    assert run(monkeypatch, "list", *words.split()) == 0
    shown = capsys.readouterr().out
    for name in named:
        assert name in shown
    for other in ("sander-20 ", "3g-bad", "quickstart (", "envoy (", "kosek2022"):
        assert " " not in words or other not in shown


ALONE = ((), ("help",), ("--help",), ("help", "run"), ("run", "--help"), ("image",), ("sites",))


@pytest.mark.parametrize("words", ALONE, ids=" ".join)
@pytest.mark.parametrize("columns", [60, 80, 120])
def test_help_is_no_failure_and_cuts_nothing(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    columns: int,
) -> None:
    monkeypatch.setattr("tests.unit.test_cli.COLUMNS", str(columns))
    assert run(monkeypatch, *words) == 0
    shown = capsys.readouterr().out
    assert "..." not in shown.replace("COMMAND ...", "").replace("]...", "")
    assert max(map(len, shown.splitlines())) <= columns


def test_what_is_asked_for_without_a_word_is_told_in_ten_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch) == 0
    shown = capsys.readouterr().out
    assert len(shown.splitlines()) == 10
    for named in re.findall(r"headway ([a-z]+)", shown):
        assert named in COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_a_summary_is_what_the_command_says_of_itself(name: str) -> None:
    command: Any = command_line()
    found = command.get_command(command.context_class(command), name)
    assert (found.help or "").split("\n\n")[0] == COMMANDS[name].summary


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(42.4, "42 s"), (600, "10 min"), (7000, "117 min"), (3 * 3600 + 25 * 60, "3 h 25 min")],
)
def test_times_are_said_as_people_do(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


PUBLISHED = """
[contenders]
h2 = { protocol = "h2" }
[[published]]
contender = "h2"
metric = "total_s"
value = 9.0
unit = "s"
source = "nobody"
"""


@pytest.mark.parametrize(
    ("text", "words", "labs", "status", "line"),
    [
        ("", (), {}, 0, ""),
        ("", (), {"check_passes": False}, 1, "The emulation failed its own test"),
        ("", ("--allow-failures",), {"check_passes": False}, 1, "The emulation failed its own test"),
        ("", (), {"fails": "-002"}, 1, "1 of 2 runs failed, such as cell-h2-002: curl: refused"),
        ("", ("--allow-failures",), {"fails": "-002"}, 0, ""),
        ("", ("--allow-failures",), {"fails": "-00"}, 1, "no run succeeded; the first reason: curl"),
        (PUBLISHED, (), {}, 0, ""),
        (PUBLISHED, ("--strict",), {}, 1, "our runs contradict 1 of 1 published values, such as total_s of h2"),
        (PUBLISHED.replace("9.0", "1.1"), ("--strict",), {}, 0, ""),
    ],
)  # fmt: skip
def test_the_exit_status_says_whether_the_results_may_be_used(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    text: str,
    words: tuple[str, ...],
    labs: dict[str, Any],
    status: int,
    line: str,
) -> None:
    failing = labs.pop("fails", None)
    replace_labs(
        monkeypatch,
        **labs,
        fails=lambda name: "curl: refused" if failing and failing in name else None,
    )
    monkeypatch.setattr("headway.diagnosis.transfer.Transfer.save", lambda *_: None)
    for shown in ("_show", "_show_part"):
        monkeypatch.setattr(f"headway.cli.study.{shown}", lambda *_, **__: None)
    file = tmp_path / "study.toml"
    file.write_text(f'name = "s"\nrepetitions = 2\n[workload]\nsize = "1 MB"\n{text}')
    command = ("run", str(file), "--out", str(tmp_path / "out"), *words)
    assert run(monkeypatch, *command) == status
    assert line in said(capsys)
    # The same is said of results that are there already.
    assert run(monkeypatch, *command, "--resume") == status
    assert line in said(capsys)


def test_reproducing_has_the_same_exit_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], out: Path
) -> None:
    monkeypatch.setattr("headway.diagnosis.transfer.Transfer.save", lambda *_: None)
    replace_labs(monkeypatch, fails=lambda name: "refused" if name.endswith("h3-004") else None)
    monkeypatch.setattr("headway.cli.study.reproduces", lambda _: True)
    words = ("reproduce", "quickstart", "--jobs", "1", "--out", str(out))
    assert run(monkeypatch, *words) == 1
    assert "12 of 360 runs failed" in said(capsys)
    assert run(monkeypatch, *words, "--resume", "--allow-failures") == 0


def test_values_of_keys_are_toml_or_words() -> None:
    given = ["server.program=nginx", 'path = { rtt = "9 ms" }', "repetitions=3", "path.loss=1 %"]
    assert parsed_changes(given) == {
        "server": {"program": "nginx"},
        "path": {"rtt": "9 ms", "loss": "1 %"},
        "repetitions": 3,
    }
    for wrong in ("", "=3", "a b = 3", 'a = "'):
        with pytest.raises(WrongInputError, match="is not an assignment"):
            parsed_changes([wrong])


def test_a_changed_study_is_another_one() -> None:
    study = load_study("report-card", changes=parsed_changes(["server.congestion_control=bbr"]))
    beside = next(one for one in study.experiments if one.name == "beside-others")
    flows = beside.setting({"path.queue": "1 BDP"}, "beside cubic").flows
    controls = {name: str(flow.server.tcp_congestion_control) for name, flow in flows.items()}
    assert controls == {"candidate": "bbr", "cubic": "cubic"}


def test_a_part_of_a_study_keeps_claims_about_the_rest() -> None:
    part = parsed_changes(["repetitions=10", 'axes.path.loss=["0 %", "2 %"]'])
    study = load_study("sander2022", changes=part).only(["loss"])
    assert study.experiments[0].levels("path.loss") == ["0 %", "2 %"]
    wheres = [claim.where.get("path.loss") for claim in study.experiments[0].claims]
    assert "5 %" in wheres


def test_a_hop_is_changed_by_its_name() -> None:
    wanted = ["hops.proxy-st.tcp_pep.upstream.congestion_control=cubic"]
    for changes, control in ((None, "reno"), (parsed_changes(wanted), "cubic")):
        study = load_study("kosek2022", changes=changes)
        goodput = next(one for one in study.experiments if one.name == "goodput")
        pep = goodput.setting(next(goodput.grid()), "TCP-PEP").hops["proxy-st"].tcp_pep
        assert pep and pep.upstream.congestion_control.tcp == control
    with pytest.raises(WrongInputError, match="no hop 'proxy-sk'; did you mean 'proxy-st'"):
        load_study("kosek2022", changes=parsed_changes(["hops.proxy-sk.path.loss=1 %"]))
