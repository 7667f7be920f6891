"""The command line's manners: one clear line, and the right exit status."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from headway import cli


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["headway", *words])
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "nosuch", "--out", "x"), "no such file, and no built-in study"),
        (("validate", "quikstart"), "did you mean 'quickstart'"),
        (("run", "quickstart"), "--out"),
        (("run", "quickstart", "--out", "x", "--jobs", "4096"), "cores"),
        (("run", "quickstart", "--uot", "x"), "--uot"),
        (("rum", "quickstart"), "rum"),
        (("shell", "--rate", "10"), '10 has no unit; write a rate as "10 Mbit/s"'),
        (("shell", "--loss", "200 %"), "--loss: a ratio cannot be above 100 %"),
        (("exec", "--rtt", "-5 ms", "--", "true"), "cannot be negative"),
        (("list", "things"), "is not one of studies, programs"),
        (("report", "no-such-directory"), "no runs.parquet"),
    ],
)
def test_wrong_input_ends_with_status_2_and_says_why(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    said: str,
) -> None:
    assert run(monkeypatch, *words) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert "Traceback" not in captured.err


def study(tmp_path: Path, text: str) -> str:
    file = tmp_path / "study.toml"
    file.write_text('name = "s"\n[workload]\nsize = "1 MB"\n' + text)
    return str(file)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[server]\nprogram = "ngnix"', "no server program 'ngnix'; did you mean 'nginx'?"),
        (
            '[server]\nprogram = "nginx"\nknobs = { quic_gsp = "on" }',
            "nginx has no knob 'quic_gsp'; did you mean 'quic_gso'?",
        ),
    ],
)
def test_a_program_or_knob_that_does_not_exist_is_named(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    text: str,
    said: str,
) -> None:
    assert run(monkeypatch, "validate", study(tmp_path, text)) == 2
    assert said in capsys.readouterr().err


def test_a_directory_with_files_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    for more in ((), ("--replace",)):
        assert run(monkeypatch, "run", "quickstart", "--out", str(tmp_path), *more) == 2
    assert (tmp_path / "thesis.tex").read_text() == "x"
    assert "holds files already" in capsys.readouterr().err


def test_validate_counts_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["headway", "validate", "quickstart"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert not ended.value.code
    assert "180 runs in 12 cells" in capsys.readouterr().out
