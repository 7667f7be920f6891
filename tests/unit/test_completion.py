"""Completion: what may come next, and the shells that ask."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headway.cli.completion import Shell, candidates
from headway.errors import WrongInputError

HEADWAY = Path(sys.executable).with_name("headway")
STUDY = (
    'name = "s"\nworkload.size = "1 kB"\n[experiments.first]\nquestion = "?"\n[experiments.other]\n'
)
PROGRAMS = '[server.mine]\nargv = ["x"]\nprotocols = ["h3"]\n'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.toml").write_text(STUDY)
    (tmp_path / "a b.toml").write_text(STUDY)
    (tmp_path / "programs.toml").write_text(PROGRAMS)
    (tmp_path / "broken.toml").write_text("name = ")
    (tmp_path / "results" / "s" / "artifacts" / "cell-h2-001").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(*words: str) -> list[str]:
    *before, incomplete = words
    return [value for value, _ in candidates(before, incomplete)]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("ru",), ["run"]),
        (("image", "st"), ["status"]),
        (("help", "ex"), ["export", "exec"]),
        (("run", "quick"), ["quickstart"]),
        (("run", "mi"), ["mine.toml"]),
        (("run", "a"), ["api", "a b.toml"]),
        (("run", "res"), ["results/"]),
        (("reproduce", "kos"), ["kosek2022"]),
        (("reproduce", "quick"), []),
        (("run", "quickstart", "--ou"), ["--out"]),
        (("run", "quickstart", "--out", "res"), ["results/"]),
        (("run", "quickstart", "--out=res"), ["--out=results/"]),
        (("run", "mine.toml", "--only", ""), ["first", "other"]),
        (("run", "broken.toml", "--only", ""), []),
        (("run", "kosek2022", "--only", "goo"), ["goodput"]),
        (("run", "x", "--set", "path.rt"), ["path.rtt="]),
        (("run", "x", "--set", "server.program=mi"), ["server.program=mine"]),
        (("run", "x", "--set", "server.program=ngi"), ["server.program=nginx", "server.program=nginx-1.26"]),
        (("run", "x", "--set", "server.congestion_control=bb"), ["server.congestion_control=bbr", "server.congestion_control=bbr3"]),
        (("list", "pro"), ["programs", "profiles"]),
        (("list", "programs", "haprox"), ["haproxy"]),
        (("list", "studies", "quick"), ["quickstart"]),
        (("list", "profiles", "4g-g"), ["4g-good"]),
        (("check", "quickstart", "--program", "caddy"), ["caddy"]),
        (("sites", "show", "sander-19"), ["sander-19"]),
        (("exec", "--clock", "vir"), ["virtual"]),
        (("report", "res"), ["results/"]),
        (("packets", "results/s", ""), ["cell-h2-001"]),
        (
            ("image", "add", ""),
            [
                "quic-go-client",
                "quic-go-client-0.54",
                "quic-go-interop-client",
                "quic-go-interop-server",
                "x-net-interop",
            ],
        ),
        (("completion", "b"), ["bash"]),
        (("nosuch", ""), []),
    ],
    ids=lambda words: " ".join(words) or "''",
)  # fmt: skip
def test_what_may_come_next(words: tuple[str, ...], expected: list[str]) -> None:
    assert found(*words) == expected


def test_each_candidate_says_what_it_is() -> None:
    assert dict(candidates([], "pla"))["plan"].startswith("Show what a study would run")
    assert dict(candidates(["run", "x"], "--jo"))["--jobs"].startswith("Run this many labs")


ASKED = {
    Shell.BASH: """
source <(headway completion bash)
COMP_WORDS=(headway {words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_headway headway
printf '%s\\n' "${{COMPREPLY[@]}}"
""",
    Shell.ZSH: """
compdef() {{ :; }}
_describe() {{ print -l -- "${{(@)whole%%:*}}"; }}
compadd() {{ print -l -- "${{@[4,-1]}}"; }}
eval "$(headway completion zsh)"
words=(headway {words})
CURRENT=$#words
_headway
""",
    Shell.FISH: """
headway completion fish | source
complete --do-complete 'headway {line}' | string split --fields 1 \\t
""",
}
"""Scripts that ask as the shell itself does when Tab is pressed."""


@pytest.mark.parametrize(
    ("shell", "words", "expected"),
    [
        *((shell, ("ru",), ["run"]) for shell in Shell),
        *((shell, ("run", "quick"), ["quickstart"]) for shell in Shell),
        *((shell, ("run", "mine.toml", "--only", "fir"), ["first"]) for shell in Shell),
        *((shell, ("run", "x", "--out", "resul"), ["results/"]) for shell in Shell),
        (Shell.BASH, ("run", "x", "--set", "server.program", "=", "mi"), ["mine"]),
        (Shell.BASH, ("run", "x", "--out", "=", "resul"), ["results/"]),
        (Shell.BASH, ("run", "a"), ["api", "a\\ b.toml"]),
        (Shell.ZSH, ("run", "x", "--set", "server.program=mi"), ["server.program=mine"]),
        (Shell.FISH, ("run", "x", "--set", "server.program=mi"), ["server.program=mine"]),
    ],
)
def test_a_shell_completes(
    here: Path, shell: Shell, words: tuple[str, ...], expected: list[str]
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    told = {"words": " ".join(map(repr, words)), "line": " ".join(words)}
    without_start = {Shell.BASH: "--norc", Shell.ZSH: "-f", Shell.FISH: "--no-config"}[shell]
    done = subprocess.run(
        [shell, without_start, "-c", ASKED[shell].format(**told)],
        env=os.environ | {"PATH": f"{HEADWAY.parent}:{os.environ['PATH']}", "HOME": str(here)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines() == expected, done.stderr


def test_the_shell_is_the_users(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from headway.cli.completion import completion

    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    completion()
    assert "complete --command headway" in capsys.readouterr().out
    monkeypatch.setenv("SHELL", "/bin/dash")
    with pytest.raises(WrongInputError, match="needs a shell: bash, zsh, fish"):
        completion()


def test_a_shell_that_is_not_known_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from headway.cli.commands import carry_out
    from headway.cli.streams import Streams

    monkeypatch.setenv("_HEADWAY_COMPLETE", "csh")
    with pytest.raises(SystemExit) as ended:
        carry_out(lambda: None, Streams())
    assert ended.value.code == 2
    assert "_HEADWAY_COMPLETE: needs a shell: bash, zsh, fish" in capsys.readouterr().err
